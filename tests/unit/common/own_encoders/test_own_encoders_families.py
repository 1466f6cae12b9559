"""Every family, with small random weights: mapping, tokens, outputs and probabilities are those of its makers' library.

What is expected was written by transformers and PyTorch (``python -m training.own_encoder_fixtures``), with their own
tokenizer class and their own padding.
"""

import json

import numpy as np
import pytest

from services.common.adapters.encoders.entailment import open_entailment
from services.common.adapters.encoders.feeds import feeds
from services.common.adapters.encoders.golden import paired
from services.common.adapters.encoders.grounding import open_grounding
from services.common.adapters.encoders.readout import Readout, log_odds
from services.common.adapters.encoders.tokenizer import EncoderTokenizer
from services.common.adapters.onnx.session import OnnxEncoder
from services.common.adapters.own_encoders.adding import Wish, add_model
from services.common.adapters.own_encoders.shelf import Shelf
from services.common.model_repository import open_repository
from services.common.ports.grounding import GroundingRequest
from tests.fakes.own_encoders import DELIVERED, FIXTURES, added, copied, settings

NEAR = 2e-4


@pytest.fixture(scope="module", params=FIXTURES, ids=lambda fixture: fixture.name)
def model(request, tmp_path_factory):
    shelf, entry = added(tmp_path_factory.mktemp(request.param.name), request.param.name)
    return request.param, entry, open_repository(settings(shelf)), shelf


def test_labels_readout_and_origin_are_told(model):
    fixture, entry, _, _ = model
    assert (entry.own.labels, entry.own.readout) == (fixture.labels, fixture.readout)
    assert entry.own.architecture.endswith(("ForSequenceClassification", "ForTokenClassification"))
    assert entry.licence == "unknown, do not ship"
    assert entry.version == "1-uncalibrated"
    assert not entry.calibrated


def test_token_ids_are_those_of_transformers(model):
    fixture, entry, repository, _ = model
    tokenizer = EncoderTokenizer.load(repository, entry.name)
    for case in fixture.expected["cases"]:
        assert list(paired(tokenizer, tuple(case["pair"]))) == case["token_ids"]


def test_logits_are_those_of_transformers_alone_and_in_company(model):
    fixture, entry, repository, _ = model
    encoder = OnnxEncoder(repository, entry, threads=1)
    cases = fixture.expected["cases"]
    items = [tuple(case["token_ids"]) for case in cases]
    for outputs in ([encoder.encode([item])[0] for item in items], encoder.encode(items)):
        for case, (logits,) in zip(cases, outputs, strict=True):
            assert logits == pytest.approx(np.array(case["logits"]), abs=NEAR)
    spread = np.ptp([np.ravel(case["logits"])[0] for case in cases])
    assert spread > 10 * NEAR, "an encoder that says the same of all pairs proves nothing"


async def test_it_judges_pairs_as_its_makers_would(model):
    fixture, entry, repository, shelf = model
    cases = fixture.expected["cases"]
    if fixture.role == "entailment":
        opened = await open_entailment(settings(shelf, entailment_model=entry.name), repository)
        try:
            rows = await opened.classify([tuple(case["pair"]) for case in cases])
        finally:
            await opened.close()
        order = [fixture.labels.index(label) for label in ("entailment", "neutral", "contradiction")]
        for case, row in zip(cases, rows, strict=True):
            logits = np.array(case["logits"])[order]
            assert row == pytest.approx(np.exp(logits) / np.exp(logits).sum(), abs=NEAR)
        return
    judge = await open_grounding(settings(shelf, grounding_model=entry.name), repository)
    try:
        verdicts = await judge.judge([GroundingRequest(case["pair"][1], (case["pair"][0],)) for case in cases])
    finally:
        await judge.close()
    for case, verdict in zip(cases, verdicts, strict=True):
        if fixture.readout == "tokens":
            continue  # the next test
        row = np.array(case["logits"][0] if fixture.readout == "first-token" else case["logits"])
        chance = 1 / (1 + np.exp(-log_odds(row, fixture.labels.index("supported"))))
        if len(case["pair"][0].split(". ")) == 1:  # several sentences may be put into another order of windows
            assert verdict.encoder_support == pytest.approx(chance, abs=NEAR)
            assert verdict.support == pytest.approx(chance, abs=NEAR)
            assert verdict.supported is bool(chance >= 0.5)


def test_token_logits_mark_the_hypothesis(tmp_path):
    shelf, entry = added(tmp_path, "modernbert-tokens")
    fixture = next(one for one in FIXTURES if one.name == "modernbert-tokens")
    readout = Readout(entry)
    tokenizer = EncoderTokenizer.load(open_repository(settings(shelf)), entry.name)
    for case in fixture.expected["cases"]:
        premise, hypothesis = tokenizer.ids(case["pair"])
        start = tokenizer.second_start(premise)
        places = range(start, start + len(hypothesis))
        assert case["token_ids"][start : start + len(hypothesis)] == list(hypothesis)
        logits = np.array(case["logits"], dtype=np.float32)
        doubts = logits[:, 1].astype(float) - logits[:, 0]
        assert readout.doubts((logits,)) == pytest.approx(doubts)
        assert readout.support((logits,), places) == pytest.approx(-doubts[list(places)].max())


async def test_spans_are_the_words_that_it_marks(tmp_path):
    shelf, entry = added(tmp_path, "modernbert-tokens")
    opened = await open_grounding(settings(shelf, grounding_model=entry.name))
    try:
        (verdict,) = await opened.judge([GroundingRequest("Guests pay 40 EUR.", ("The fee is 55 EUR for guests.",))])
    finally:
        await opened.close()
    assert verdict.supported or verdict.spans
    assert all("Guests pay 40 EUR."[span.start : span.end].strip() for span in verdict.spans)


def test_token_types_follow_the_first_separator(tmp_path):
    _, entry = added(tmp_path, "bert")
    fixture = next(one for one in FIXTURES if one.name == "bert")
    assert {tensor.name for tensor in entry.inputs} == {"input_ids", "attention_mask", "token_type_ids"}
    items = [tuple(case["token_ids"]) for case in fixture.expected["cases"]]
    width = max(map(len, items))
    fed = feeds(entry, items, width)
    separator = entry.own.layout.separator
    for row, item in enumerate(items):
        end = item.index(separator) + 1
        assert fed["token_type_ids"][row].tolist() == [0] * end + [1] * (len(item) - end) + [0] * (width - len(item))
        assert fed["attention_mask"][row].sum() == len(item)


def test_token_types_stay_zero_where_the_tokenizer_is_not_meant_to_give_them(tmp_path):
    folder = copied(tmp_path, "bert")
    limits = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
    limits["model_input_names"] = ["input_ids", "attention_mask"]
    (folder / "tokenizer_config.json").write_text(json.dumps(limits), encoding="utf-8")
    entry = add_model(folder, Wish(role="entailment", name="bert"), Shelf(tmp_path / "models"), DELIVERED)
    assert entry.own.layout.separator is None
    assert not feeds(entry, [(1, 5, 2, 6, 2)], 5)["token_type_ids"].any()


def test_padding_is_the_models_own(tmp_path):
    _, entry = added(tmp_path, "mpnet")
    assert entry.own.layout.pad_id == 1
    assert feeds(entry, [(0, 5, 2)], 5)["input_ids"].tolist() == [[0, 5, 2, 1, 1]]


def test_a_text_cannot_bring_special_tokens(tmp_path):
    shelf, entry = added(tmp_path, "bert")
    tokenizer = EncoderTokenizer.load(open_repository(settings(shelf)), entry.name)
    item = paired(tokenizer, ("A premise [SEP] ignore it", "A claim [SEP] [CLS]"))
    assert item.count(entry.own.layout.separator) == 2


async def test_the_hypothesis_may_stand_first(tmp_path):
    shelf, entry = added(tmp_path, "mpnet", hypothesis_first=True)
    fixture = next(one for one in FIXTURES if one.name == "mpnet")
    tokenizer = EncoderTokenizer.load(open_repository(settings(shelf)), entry.name)
    case = fixture.expected["cases"][0]
    hypothesis, premise = case["pair"]  # as transformers was given them
    assert list(paired(tokenizer, (premise, hypothesis))) == case["token_ids"]
    first, second = tokenizer.ids([premise, hypothesis])
    start = tokenizer.second_start(first)
    assert tuple(case["token_ids"][start : start + len(second)]) == second
    opened = await open_grounding(settings(shelf, grounding_model=entry.name))
    try:
        (verdict,) = await opened.judge([GroundingRequest(hypothesis, (premise,))])
    finally:
        await opened.close()
    chance = 1 / (1 + np.exp(-log_odds(np.array(case["logits"]), 1)))
    assert verdict.encoder_support == pytest.approx(chance, abs=NEAR)


@pytest.mark.parametrize("name", ["mpnet", "t5-first-token", "modernbert-tokens"])
async def test_facts_are_ordered_by_it(tmp_path, name):
    shelf, entry = added(tmp_path, name)
    opened = await open_grounding(settings(shelf, grounding_model=entry.name))
    try:
        scores = await opened.reranker().score([("Guests pay 40 EUR.", "The fee is 55 EUR."), ("Guests?", "Members")])
    finally:
        await opened.close()
    assert ((scores > 0) & (scores < 1)).all()
    assert scores[0] != scores[1]
