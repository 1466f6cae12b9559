"""Every formula and threshold of SPEC-005 §3-§12 against its vectors, each threshold on both sides."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from crp.dpe.v1 import report_pb2

from services.common.adapters.memory.embedding import MemoryEmbeddingModel
from services.common.ports.recognition import Entity, EntityKind
from services.common.reading.sentences import sentences
from services.common.reading.text_types import Claim, ClaimType
from services.common.taxonomy import GroundingMode, RepetitionLevel, RiskLevel
from services.dpe.convert.report import report_message
from services.dpe.domain.analysis import Analysis, AnalysisInput
from services.dpe.domain.claim_types import specificity
from services.dpe.domain.discourse import has_transition, topics
from services.dpe.domain.facts import EnvelopeFact
from services.dpe.domain.findings import Attribution, AttributionType, Fabrication
from services.dpe.domain.policy import Policy
from services.dpe.domain.prior_texts import PriorWindow
from services.dpe.domain.regulation.eu_ai_act import Classification, EuAiActClass, Row
from services.dpe.domain.regulation.result import Regulatory
from services.dpe.domain.regulation.system import AiSystem, Domain
from services.dpe.domain.remediation import plan_of
from services.dpe.domain.results import Risk
from services.dpe.domain.stages import s02_attribution, s03_fidelity, s05_risk, s07_repetition, s09_flow
from services.dpe.gazetteer import load_gazetteer
from tests.each import each
from tests.fakes.dpe_world import TableEntailment, analyse, app, changed, statuses

FOLDER = Path(__file__).parents[2] / "vectors" / "dpe"


def vectors(topic, wanted=lambda _: True):
    document = json.loads((FOLDER / f"{topic}.json").read_text(encoding="utf-8"))
    return [
        pytest.param(item["input"], item["expected"], id=item["test_id"])
        for item in document["vectors"]
        if wanted(item["input"])
    ]


class AngleEmbedding(MemoryEmbeddingModel):
    """Gives listed texts a cosine to the first axis, and otherwise no likeness to anything."""

    def __init__(self, cosines):
        super().__init__(512)
        self._cosines = dict(cosines)
        self._slots = {}

    async def embed(self, texts):
        self.calls.append(tuple(texts))
        rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            cosine = self._cosines.get(text, 0.0)
            rows[row, 0] = cosine
            rows[row, self._slots.setdefault(text, 1 + len(self._slots))] = (1.0 - cosine**2) ** 0.5
        return rows


def claims(count, kind=ClaimType.FACTUAL):
    return tuple(Claim(f"c{number}", "x", 0, 1, 0, kind, 0.5) for number in range(1, count + 1))


def blank(**outputs):
    analysis = Analysis(AnalysisInput("s", "w", 1, "q", "x", ()), Policy(), load_gazetteer())
    return changed(analysis, **outputs)


@pytest.mark.parametrize(("given", "expected"), vectors("specificity"))
def test_specificity(given, expected):
    assert specificity(given["text"], given["values"], given["names"]) == pytest.approx(expected["specificity"])


@pytest.mark.parametrize(("given", "expected"), vectors("grounding"))
def test_grounding_percentage(given, expected, monkeypatch):
    kinds = [AttributionType(kind) for kind in given["types"]]
    found = [
        s02_attribution._Compared(Attribution(claim, kind, ()))
        for claim, kind in zip(claims(len(kinds)), kinds, strict=True)
    ]
    monkeypatch.setattr(s02_attribution, "_compare", lambda *_: found)
    analysis = blank(text__claims=claims(len(kinds)))
    analysis = replace(analysis, input=replace(analysis.input, grounding_mode=GroundingMode[given["mode"]]))
    analysis = replace(analysis, models=replace(analysis.models, vectors=object()))
    outputs = s02_attribution.apply(analysis).outputs
    assert outputs.attribution.grounding_pct == (
        None if expected["grounding_pct"] is None else pytest.approx(expected["grounding_pct"], abs=1e-12)
    )
    assert len(outputs.attribution.grounding_violations) == expected["violations"]


@pytest.mark.parametrize(("given", "expected"), vectors("fidelity"))
def test_fidelity(given, expected):
    item = Fabrication("c1", Entity(EntityKind.NUMBER, "5", 0, 1), "5")

    def found(count):
        # The score counts findings and reads nothing of them; the verdicts have no claim to read here.
        return None if count is None else (item,) * count

    opinions = claims(2, ClaimType.OPINION)
    analysis = blank(
        text__claims=(*claims(given["factual_claims"]), *opinions),
        fabrication__found=found(given["fabrications"]),
        distortion__found=found(given["distortions"]),
        contradiction__found=found(given["contradictions"]),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(s03_fidelity, "judgements", lambda *_: {})
        patch.setattr(s03_fidelity, "worded", lambda _, items, __: items)
        ended = s03_fidelity.apply(analysis)
    assert ended.outputs.fidelity.score == pytest.approx(expected["fidelity_score"], abs=1e-12)


@pytest.mark.parametrize(("given", "expected"), vectors("entailment"))
async def test_entailment(given, expected):
    table = {(premise, chunk): tuple(row) for premise, chunk, *row in given["probabilities"]}
    model = TableEntailment(lambda *pair: table.get(pair, (0.0, 1.0, 0.0)), given["max_tokens"])
    finished = await analyse(" ".join(given["answer"]), *given["facts"], using=app(entailment=model))
    found = finished.analysis.outputs.entailment
    assert (found.score, found.neutral, found.contradiction) == pytest.approx(
        (expected["score"], expected["neutral"], expected["contradiction"])
    )
    assert found.response_chunks == expected["chunks"]


@pytest.mark.parametrize(("given", "expected"), vectors("repetition", lambda given: "measure" in given))
def test_repetition_levels(given, expected):
    bounds = {"grams": s07_repetition._GRAM_BOUNDS, "sentences": s07_repetition._SENTENCE_BOUNDS}[given["measure"]]
    assert str(s07_repetition._level(given["ratio"], bounds)) == expected["level"]


@pytest.mark.parametrize(("given", "expected"), vectors("repetition", lambda given: "answer" in given))
async def test_repetition(given, expected):
    outputs = (
        await analyse(
            given["answer"],
            using=app(embedding=AngleEmbedding(given["cosines"])),
            window_number=2,
            prior_windows=(PriorWindow("w0", 1, given["prior"]),),
        )
    ).analysis.outputs
    assert outputs.repetition.overlap == pytest.approx(expected["overlap"])
    assert str(outputs.repetition.level) == expected["level"]


@pytest.mark.parametrize(("given", "expected"), vectors("completeness"))
async def test_completeness(given, expected):
    cosines = {f"part {number}": cosine for number, cosine in enumerate(given["cosines"])}
    embedding = AngleEmbedding(cosines | {"Birds sing.": 1.0})
    finished = await analyse("Birds sing.", using=app(embedding=embedding), sub_queries=tuple(cosines))
    outputs, report = finished.analysis.outputs, report_message(finished)
    assert outputs.completeness.score == pytest.approx(expected["completeness_score"], abs=1e-12)
    assert len(outputs.completeness.uncovered_sub_queries) == expected["uncovered"]
    assert report.completeness_level == report_pb2.CompletenessLevel.Value(f"COMPLETENESS_LEVEL_{expected['level']}")


@pytest.mark.parametrize(("given", "expected"), vectors("omission"))
async def test_omission(given, expected):
    fact = "Hail is covered."
    embedding = AngleEmbedding({fact: 1.0, "Birds sing.": given["similarity"]})
    finished = await analyse("Birds sing.", fact, using=app(embedding=embedding), importance=given["importance"])
    found = [str(item.severity) for item in finished.analysis.outputs.omission.found]
    assert found == ([] if expected["severity"] is None else [expected["severity"]])


@pytest.mark.parametrize(("given", "expected"), vectors("opening", lambda given: "similarity" in given))
async def test_a_weak_opening(given, expected):
    answer, prior = "Birds sing. Dogs bark.", "Cats purr. Cows moo."
    embedding = AngleEmbedding({prior: 1.0, answer: given["similarity"]})
    finished = await analyse(
        answer, using=app(embedding=embedding), window_number=2, prior_windows=(PriorWindow("w0", 1, prior),)
    )
    assert finished.analysis.outputs.flow.signals.opening_coherence == pytest.approx(given["similarity"])
    assert finished.analysis.outcome(s09_flow.STAGE.key).findings == expected["findings"]


@pytest.mark.parametrize(("given", "expected"), vectors("opening", lambda given: "prior" in given))
async def test_what_is_compared_with_what(given, expected):
    using = app()
    await analyse(given["answer"], using=using, window_number=2, prior_windows=(PriorWindow("w0", 1, given["prior"]),))
    asked = {text for call in using._models.embedding.calls for text in call}
    assert {expected["opening"], expected["close"]} <= asked


@pytest.mark.parametrize(
    ("given", "expected"), vectors("opening", lambda given: "opening" in given or given.keys() == {"answer"})
)
async def test_transitions(given, expected):
    if "opening" in given:
        assert has_transition(given["opening"]) == expected["transition"]
        return
    prior = (PriorWindow("w0", 1, "Cats purr. Cows moo."),)
    finished = await analyse(given["answer"], window_number=2, prior_windows=prior)
    assert finished.analysis.outputs.flow.signals.has_transition == expected["transition"]


@pytest.mark.parametrize(("given", "expected"), vectors("opening", lambda given: "topics_of" in given))
def test_topics(given, expected):
    text = given["topics_of"]
    assert sorted(topics(text, sentences(text), ())) == expected["topics"]


@each(("given", "expected"), vectors("amplifiers"))
def test_which_amplifiers_apply(given, expected):
    regulatory = None
    if given["class"]:
        rows = (Row("ROW", "provision", EuAiActClass(given["class"])),)
        system = AiSystem(Domain.GENERAL_INFORMATION, stated_sector=given["sector"])
        regulatory = Regulatory(Classification(rows[0].eu_class, rows), (), system.in_amplified_sector)
    analysis = blank(
        risk=Risk((0.1,) * 4, 0.1, 0.1, RiskLevel.LOW, degraded=False),
        personal_data__gdpr_detected=given["pii"],
        regulatory=regulatory,
        coherence__found=(object(),) * given["cross_window"],
        repetition__level=RepetitionLevel(given["repetition"]),
    )
    analysis = replace(analysis, input=replace(analysis.input, loop_depth=given["loop_depth"]))
    assert list(s05_risk.settle(analysis).amplifiers) == expected["amplifiers"]


@pytest.mark.parametrize(("given", "expected"), vectors("pairs"))
async def test_up_to_how_many_pairs_all_are_compared(given, expected):
    def unlike(count, noun):
        return " ".join(f"{noun}{number} costs {number} euros." for number in range(3, 3 + count))

    prior = (PriorWindow("w0", 1, unlike(given["earlier"], "Thing")),) if given["earlier"] else ()
    finished = await analyse(unlike(given["claims"], "Item"), window_number=1 + len(prior), prior_windows=prior)
    outputs = finished.analysis.outputs
    within = outputs.contradiction.pairs_total, outputs.contradiction.pairs_scored
    across = outputs.coherence.pairs_total, outputs.coherence.pairs_scored
    total, scored = across if prior else within
    assert total == expected["total"]
    assert (scored == total) is expected["all"]


class NoPersonalData:
    """Finds nothing, as the search for personal data does in most texts."""

    fingerprint = "none@1+sha256:5555555555555555"

    async def detect(self, texts):
        return [() for _ in texts]


def neutral(*_):
    return (0.0, 1.0, 0.0)


def unit(fact):
    return fact["content"], fact["importance"]


@pytest.mark.parametrize(("given", "expected"), vectors("language"))
async def test_another_language_is_said_and_not_scored(given, expected):
    using = app(personal_data=NoPersonalData(), entailment=TableEntailment(neutral))
    texts = given["priors"]
    request = AnalysisInput(
        "s1",
        f"w{len(texts) + 1}",
        len(texts) + 1,
        given["query"],
        given["answer"],
        tuple(EnvelopeFact(f"f{number}", *unit(fact)) for number, fact in enumerate(given["facts"], start=1)),
        prior_windows=tuple(PriorWindow(f"w{number}", number, text) for number, text in enumerate(texts, start=1)),
    )
    finished = await using.analyze(request)
    ended, outputs = statuses(finished), finished.analysis.outputs
    assert {key: list(ended[key]) for key in expected["stages"]} == expected["stages"]
    assert outputs.completeness.score == expected["completeness"]
    assert (None if outputs.omission.found is None else len(outputs.omission.found)) == expected["omissions"]
    assert outputs.quality.score == (None if expected["quality"] is None else pytest.approx(expected["quality"]))
    assert list(plan_of(finished.analysis).stages_not_computed) == expected["not_computed"]
    assert outputs.personal_data.gdpr_detected is (None if ended["11"][1] else False)
    if "coherence" in expected:
        assert (outputs.coherence.score, outputs.flow.score) == (expected["coherence"], expected["flow"])
    report = report_message(finished)
    assert report.HasField("completeness_score") == (expected["completeness"] is not None)
    assert bool(report.omission_summary) == (expected["omissions"] is not None)
