"""``EncoderGroundingModel`` over a tiny encoder that reads 96 tokens, and a combiner that can be worked out by hand.

``yes`` anywhere in a pair gives it a support logit of 4; without, it is 0. ``no`` is the one token with a logit of 4
for being unsupported; others have 0. The combiner adds the encoder's logit and a half of 2 * token recall - 1.
"""

import hashlib
import json
import math

import numpy as np
import pytest

from services.common.adapters.encoders.grounding import SUPPORT_BY_SIGNALS, open_grounding
from services.common.adapters.encoders.tokenizer import EncoderTokenizer
from services.common.errors import ErrorReason, UnavailableError
from services.common.model_repository import ModelRepository, ModelRepositoryError
from services.common.ports.grounding import GroundingRequest
from services.common.settings.inference import InferenceSettings
from tests.fakes.combiners import tiny_combiner
from tests.fakes.tiny_encoders import TinyEncoder, write_repository

SETTINGS = InferenceSettings(intra_op_threads=1)
FILLER = "Mountains rise over there. "


def repository(root, combiner=None, role="combiner", **encoder):
    text = combiner if isinstance(combiner, str) else json.dumps(tiny_combiner() | (combiner or {}))
    write_repository(root, TinyEncoder("grounding", "grounding", **({"max_tokens": 96} | encoder)))
    (root / "grounding" / "combiner.json").write_text(text, encoding="utf-8")
    manifest = json.loads((root / "MANIFEST.json").read_text(encoding="utf-8"))
    digest = hashlib.sha256(text.encode()).hexdigest()
    entry = {"path": "combiner.json", "role": role, "bytes": len(text), "sha256": digest}
    manifest["models"][0]["files"].append(entry)
    (root / "MANIFEST.json").write_text(json.dumps(manifest), encoding="utf-8")
    return ModelRepository.open(root)


@pytest.fixture
async def opened(tmp_path):
    models = []

    async def build(**options):
        models.append(await open_grounding(SETTINGS, repository(tmp_path, **options)))
        return models[-1]

    yield build
    for model in models:
        await model.close()


def support(recall, logit):
    return 1 / (1 + math.exp(-((2 * recall - 1) / 2 + logit)))


@pytest.mark.parametrize(
    ("claim", "passages", "recall", "logit"),
    [
        ("red blue", ("red yes",), 0.5, 4.0),
        ("red blue", ("green",), 0.0, 0.0),
        ("red blue", ("", "red blue"), 1.0, 0.0),
        ("red blue", (FILLER * 20, "A red yes. " + FILLER * 20), 0.5, 4.0),
    ],
    ids=["supported", "not", "words alone", "one window of several"],
)
async def test_support_is_what_encoder_and_signals_say_together(opened, claim, passages, recall, logit):
    model = await opened()
    (verdict,) = await model.judge([GroundingRequest(claim, passages)])
    assert verdict.support == pytest.approx(support(recall, logit), abs=1e-6)
    assert verdict.supported is (verdict.support >= model.threshold)
    assert verdict.encoder_support == pytest.approx(1 / (1 + math.exp(-logit)), abs=1e-6)
    assert dict(verdict.signals) == {
        "token_recall": recall,
        SUPPORT_BY_SIGNALS: pytest.approx(support(recall * 2 - 0.5, 0)),
    }


@pytest.mark.parametrize("passages", [(), ("",), ("  ", "...")], ids=["none", "empty", "no word"])
async def test_nothing_to_read_supports_nothing(opened, passages):
    (verdict,) = await (await opened()).judge([GroundingRequest("w7 w8", passages)])
    assert (verdict.support, verdict.supported, verdict.encoder_support) == (0.0, False, None)
    assert (verdict.spans, verdict.evidence) == ((), ())


async def test_evidence_names_the_passages_read_nearest_first(opened):
    passages = (FILLER * 8, "Green. ", "Red blue green. ")
    (verdict,) = await (await opened()).judge([GroundingRequest("red blue green", passages)])
    assert verdict.evidence[:2] == (2, 1)


@pytest.mark.parametrize(("most", "read"), [(None, 2), (2, 2), (9, 2), (1, 1)])
async def test_no_more_windows_are_read_than_are_asked_for(opened, monkeypatch, most, read):
    model, items = await opened(), []
    run = model._backend.run

    async def counted(batch):
        items.extend(batch)
        return await run(batch)

    monkeypatch.setattr(model._backend, "run", counted)
    passages = (f"Red {FILLER * 20}", f"Blue {FILLER * 20}", f"Green {FILLER * 20}")
    await model.judge([GroundingRequest("red blue green", passages, None, most)])
    assert len(items) == read


async def test_spans_are_the_words_that_no_window_supports(opened):
    claim = "red no, no blue no"
    (verdict,) = await (await opened()).judge([GroundingRequest(claim, ("green",))])
    assert not verdict.supported
    assert [claim[span.start : span.end] for span in verdict.spans] == ["no, no", "no"]
    assert [span.score for span in verdict.spans] == pytest.approx([1 / (1 + math.exp(-4))] * 2, abs=1e-6)


async def test_a_supported_claim_has_no_spans(opened):
    (verdict,) = await (await opened()).judge([GroundingRequest("red no", ("red yes",))])
    assert verdict.supported
    assert verdict.spans == ()


async def test_spans_of_a_short_answer_lie_in_the_answer(opened):
    request = GroundingRequest("no", ("green",), "Who has no w5?")
    (verdict,) = await (await opened()).judge([request])
    assert [(span.start, span.end) for span in verdict.spans] == [(0, 2)]


async def test_the_weakest_piece_of_a_long_claim_rules(opened):
    sentence = "w1 " * 30
    good, bad = f"Yes {sentence}.".replace("Yes", "W1 yes"), f"W2 {sentence}."
    model = await opened()
    both, one = await model.judge(
        [GroundingRequest(f"{good} {good}", ("w1",)), GroundingRequest(f"{good} {bad}", ("w1",))]
    )
    assert both.encoder_support == pytest.approx(1 / (1 + math.exp(-4)), abs=1e-6)
    assert one.encoder_support == pytest.approx(0.5, abs=1e-6)


@pytest.mark.parametrize("words", [80, 300], ids=["beside a window", "beyond the encoder"])
async def test_a_statement_that_is_too_long_is_cut_into_pieces_and_every_word_is_read(opened, words):
    claim = "red " * words + "no"
    (verdict,) = await (await opened()).judge([GroundingRequest(claim, ("green",))])
    assert [claim[span.start : span.end] for span in verdict.spans] == ["no"]


@pytest.mark.parametrize(("mark", "times"), [("-", 6), (" ", 4)], ids=["one run", "sentences"])
async def test_a_long_statement_is_not_tokenized_again_for_each_half(opened, monkeypatch, mark, times):
    """Each half was tokenized to learn that it is too long: ten times the characters of a run of digits."""
    model, read = await opened(), []
    encodings = EncoderTokenizer.encodings

    def counted(self, texts):
        read.extend(texts)
        return encodings(self, texts)

    monkeypatch.setattr(EncoderTokenizer, "encodings", counted)
    claim = f"1{mark}" * 4_000 + " no"
    (verdict,) = await model.judge([GroundingRequest(claim, ("red",))])
    assert [claim[span.start : span.end] for span in verdict.spans] == ["no"]
    assert sum(map(len, read)) < times * len(claim)


async def test_verdicts_do_not_depend_on_the_requests_beside_them(opened):
    model = await opened()
    requests = [
        GroundingRequest("w1 " * size + "no", (FILLER * size, "w9 yes."), None if size % 2 else "Who has w5?")
        for size in range(1, 20)
    ]
    together = await model.judge(requests)
    assert together == [(await model.judge([request]))[0] for request in requests]
    assert await model.judge([]) == []


async def test_an_empty_claim_is_judged_and_has_no_spans(opened):
    (verdict,) = await (await opened()).judge([GroundingRequest("", ("w1",))])
    assert verdict.spans == ()
    assert verdict.encoder_support == pytest.approx(0.5, abs=1e-6)


async def test_nan_is_an_error_and_no_verdict(opened):
    model = await opened()
    with pytest.raises(UnavailableError) as caught:
        await model.judge([GroundingRequest("w1", ("broken",))])
    assert caught.value.reason is ErrorReason.MODEL_UNAVAILABLE


async def test_the_fingerprint_covers_the_combiner(opened, tmp_path):
    model = await opened()
    other = repository(tmp_path / "other", {"spans": {"threshold": 0.6}})
    assert other.entry("grounding").fingerprint != model.fingerprint


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"role": "config"}, "as combiner; `python -m training.combiner` makes it"),
        ({"combiner": "{}"}, r"combiner\.json: the file: both is missing"),
        ({"max_tokens": 60}, "max_tokens of grounding leaves 56"),
        ({"changes": {"max_tokens": None}}, "max_tokens of grounding leaves -4"),
    ],
    ids=["not a combiner", "empty combiner", "too short an encoder", "unknown length"],
)
async def test_parts_that_do_not_fit_stop_the_start(tmp_path, options, message):
    with pytest.raises(ModelRepositoryError, match=message):
        await open_grounding(SETTINGS, repository(tmp_path, **options))


async def test_signals_keep_the_order_of_the_combiner(opened):
    names = ["novel_names*question", "token_recall"]
    model = await opened(
        combiner={
            "signals": tiny_combiner()["signals"]
            | {"names": names, "means": [0.0, 0.0], "scales": [1.0, 1.0], "weights": [0.0, 0.0]}
        }
    )
    (verdict,) = await model.judge([GroundingRequest("w1", ("w1",))])
    assert [name for name, _ in verdict.signals] == ["novel_names", "question", "token_recall", SUPPORT_BY_SIGNALS]
    assert np.isfinite([value for _, value in verdict.signals]).all()
