"""What a first encoder leaves open is read again by a second one, and by nobody else (ADR 0206)."""

import hashlib
import json

import numpy as np
import pytest
from prometheus_client import CollectorRegistry
from pydantic import ValidationError

from services.common.adapters.encoders.reranking import EncoderReranker
from services.common.adapters.encoders.second_reading import SecondReadEntailment, SecondReadGrounding
from services.common.composition import Adapters
from services.common.errors import ErrorReason, UnavailableError
from services.common.model_repository import ModelRepositoryError
from services.common.ports.grounding import GroundingRequest, GroundingVerdict
from services.common.queue_counts import QueueCounts
from services.common.reading_counts import ReadingCounts
from services.common.settings import Settings
from services.common.settings.inference import InferenceSettings
from services.common.settings.second_reading import SecondReadingSettings
from tests.fakes.combiners import tiny_combiner
from tests.fakes.tiny_encoders import TinyEncoder, write_repository

TERMS = SecondReadingSettings(low=0.2, high=0.8, neutral_below=0.7)


def verdict(support, encoder_support=0.5):
    return GroundingVerdict(support, support >= 0.5, encoder_support, (), (), ())


class Judge:
    """A grounding model that gives each claim the support that stands in it."""

    def __init__(self, name, shift=0.0, error=None):
        self.fingerprint, self.threshold, self.at_rest = f"{name}@1", 0.5, False
        self.queue_counts = QueueCounts(name)
        self.asked, self.checked = [], 0
        self._shift, self._error = shift, error

    async def judge(self, requests):
        self.asked.append([request.claim for request in requests])
        if self._error:
            raise self._error
        return [verdict(float(r.claim) + self._shift, 0.5 if r.passages else None) for r in requests]

    async def check(self):
        self.checked += 1


def requests(*supports, passages=("w1",)):
    return [GroundingRequest(str(support), passages) for support in supports]


async def test_what_is_open_is_judged_again_in_one_call_and_the_second_answer_stands():
    first, second, counts = Judge("small"), Judge("large", shift=0.1), ReadingCounts()
    model = SecondReadGrounding(first, second, TERMS, counts)
    found = await model.judge(requests(0.1, 0.2, 0.5, 0.79, 0.8, 0.95))
    assert [round(one.support, 2) for one in found] == [0.1, 0.3, 0.6, 0.89, 0.8, 0.95]
    assert second.asked == [["0.2", "0.5", "0.79"]]
    assert (counts.of("grounding", "first"), counts.of("grounding", "second")) == (6, 3)


async def test_the_second_is_not_asked_where_nothing_is_open():
    second = Judge("large")
    model = SecondReadGrounding(Judge("small"), second, TERMS, ReadingCounts())
    assert [one.support for one in await model.judge(requests(0.1, 0.9))] == [0.1, 0.9]
    assert await model.judge([]) == []
    assert second.asked == []


async def test_a_claim_that_no_encoder_could_read_is_not_judged_again():
    second = Judge("large")
    model = SecondReadGrounding(Judge("small"), second, TERMS, ReadingCounts())
    (found,) = await model.judge(requests(0.5, passages=()))
    assert found.encoder_support is None
    assert second.asked == []


async def test_a_second_reader_that_is_down_is_not_hidden():
    down = UnavailableError(ErrorReason.MODEL_UNAVAILABLE, "large is down")
    model = SecondReadGrounding(Judge("small"), Judge("large", error=down), TERMS, ReadingCounts())
    with pytest.raises(UnavailableError, match="large is down"):
        await model.judge(requests(0.5))


async def test_both_and_the_bounds_are_in_the_fingerprint_and_both_are_checked():
    first, second = Judge("small"), Judge("large")
    model = SecondReadGrounding(first, second, TERMS, ReadingCounts())
    assert model.fingerprint == "small@1 large@1 read again 0.2-0.8"
    assert model.threshold == 0.5
    await model.check()
    assert (first.checked, second.checked) == (1, 1)
    assert not model.at_rest
    second.at_rest = True
    assert model.at_rest


class Pairs(Judge):
    """An entailment model that calls a pair neutral with the probability that is its hypothesis."""

    def __init__(self, name, max_tokens, entailed):
        super().__init__(name)
        self.max_tokens, self._entailed = max_tokens, entailed

    async def classify(self, pairs):
        self.asked.append(list(pairs))
        neutral = np.array([float(hypothesis) for _, hypothesis in pairs], dtype=np.float32)
        rest = 1 - neutral
        return np.stack([rest * self._entailed, neutral, rest * (1 - self._entailed)], axis=1)


async def test_pairs_that_are_not_surely_neutral_are_read_again():
    first, second, counts = Pairs("small", 128, 0.0), Pairs("large", 96, 1.0), ReadingCounts()
    model = SecondReadEntailment(first, second, TERMS, counts)
    scores = await model.classify([("a", "0.9"), ("b", "0.1"), ("c", "0.75")])
    assert second.asked == [[("b", "0.1")]]
    assert scores.round(2).tolist() == np.array([[0, 0.9, 0.1], [0.9, 0.1, 0], [0, 0.75, 0.25]], np.float32).tolist()
    assert (counts.of("entailment", "first"), counts.of("entailment", "second")) == (3, 1)
    assert model.max_tokens == 96
    assert model.fingerprint == "small@1 large@1 read again 0.7"
    assert len(await model.classify([("a", "0.9")])) == 1
    assert len(second.asked) == 1


def test_readings_are_counted_for_a_scraper():
    registry, counts = CollectorRegistry(), ReadingCounts()
    registry.register(counts)
    counts.read("grounding", 10, 2)
    counts.read("grounding", 5, 1)
    name = "groundtrail_encoder_readings_total"
    assert registry.get_sample_value(name, {"kind": "grounding", "reader": "first"}) == 15
    assert registry.get_sample_value(name, {"kind": "grounding", "reader": "second"}) == 3


@pytest.mark.parametrize("fields", [{"low": 0.5, "high": 0.5}, {"low": -0.1}, {"high": 1.1}, {"neutral_below": 0.0}])
def test_bounds_that_leave_nothing_open_are_refused(fields):
    with pytest.raises(ValidationError):
        SecondReadingSettings(**fields)


@pytest.fixture
def two(tmp_path):
    """A repository with two models of each kind, and the settings that name them."""
    names = {"grounding": "grounding", "large": "grounding", "nli": "entailment", "other": "entailment"}
    write_repository(tmp_path, *(TinyEncoder(name, kind, max_tokens=96) for name, kind in names.items()))
    manifest = json.loads((tmp_path / "MANIFEST.json").read_text(encoding="utf-8"))
    for entry in manifest["models"]:
        if entry["kind"] == "grounding":
            threshold = {"threshold": 0.4} if entry["name"] == "large" else {}
            data = tiny_combiner()
            data["both"] |= threshold
            text = json.dumps(data)
            (tmp_path / entry["name"] / "combiner.json").write_text(text, encoding="utf-8")
            digest = hashlib.sha256(text.encode()).hexdigest()
            entry["files"].append({"path": "combiner.json", "role": "combiner", "bytes": len(text), "sha256": digest})
    (tmp_path / "MANIFEST.json").write_text(json.dumps(manifest), encoding="utf-8")
    return tmp_path


def settings(root, **terms):
    inference = InferenceSettings(
        model_repository=root, intra_op_threads=1, second_reading=SecondReadingSettings(**terms)
    )
    return Settings(inference=inference)


async def test_a_process_opens_the_second_readers_that_its_settings_name(two):
    wanted = settings(two, grounding_model="large", low=0.3, high=0.7, entailment_model="other")
    async with Adapters(wanted) as adapters:
        grounding, entailment = await adapters.grounding(), await adapters.entailment()
        assert isinstance(grounding, SecondReadGrounding)
        assert isinstance(entailment, SecondReadEntailment)
        assert await adapters.grounding() is grounding
        assert await adapters.entailment() is entailment
        assert isinstance(await adapters.reranker(), EncoderReranker)
        open_, sure = GroundingRequest("red blue", ("red green",)), GroundingRequest("red", ("red yes",))
        verdicts = await grounding.judge([open_, sure])
        assert [one.supported for one in verdicts] == [True, True]  # .5: beside the second one's threshold of .4
        assert adapters.reading_counts.of("grounding", "second") == 1
        assert len(await entailment.classify([("w1 yes", "w2")])) == 1
        assert adapters.reading_counts.of("entailment", "second") == 1
        assert {counts.name for counts in adapters.queue_counts} == {"grounding", "large", "nli", "other"}


async def test_without_a_name_nothing_is_read_again(two):
    async with Adapters(settings(two)) as adapters:
        assert not isinstance(await adapters.grounding(), SecondReadGrounding)
        assert not isinstance(await adapters.entailment(), SecondReadEntailment)


@pytest.mark.parametrize(
    ("terms", "message"),
    [
        ({"grounding_model": "absent"}, "holds no model absent.*SECOND_READING__GROUNDING_MODEL names another"),
        (
            {"entailment_model": "large"},
            "large is a model for grounding, not for entailment; set .*SECOND_READING__ENTAILMENT_MODEL",
        ),
    ],
    ids=["not there", "of another kind"],
)
async def test_a_second_reader_that_cannot_be_used_stops_the_start_and_its_setting_is_named(two, terms, message):
    async with Adapters(settings(two, **terms)) as adapters:
        with pytest.raises(ModelRepositoryError, match=message) as found:
            await (adapters.grounding() if "grounding_model" in terms else adapters.entailment())
        assert "INFERENCE__GROUNDING_MODEL" not in str(found.value)
        assert "INFERENCE__ENTAILMENT_MODEL" not in str(found.value)
