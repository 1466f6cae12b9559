"""The level rests on what the verdicts know; the composite stays SPEC-005 §7.2 (ADR 0121)."""

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.common.reading.text_types import Claim, ClaimType, Span
from services.common.taxonomy import GroundingMode, RiskLevel
from services.dpe.convert.report import report_message
from services.dpe.domain.analysis import AnalysisInput
from services.dpe.domain.findings import Basis, Distortion, DistortionType, Judgement, Verdict
from services.dpe.domain.judged_risk import is_warning_at_most
from services.dpe.domain.policy import Policy
from services.dpe.domain.verdict_eligibility import is_borne_out
from tests.fakes.dpe_world import TableEntailment, TableGrounding, app, facts, models
from tests.unit.dpe.test_dpe_vectors import EverythingNear

FACT = "The minimum term of the plan Max is 24 months."
RIGHT = "For Max you sign up for two years."
OTHER = "The shop in the station sells umbrellas."
UNSURE = (0.1, 0.8, 0.1)


def words(level):
    return str(level).lower()


async def analysed(answer, *contents, support=0.9, policy=None, far=True, open_from=1.0, **more):
    parts = models()
    if not far:
        parts.embedding._calibration = EverythingNear()
    using = app(
        policy=policy,
        embedding=parts.embedding,
        entailment=TableEntailment(lambda *_: UNSURE),
        grounding=TableGrounding(support if callable(support) else lambda _: support, open_from=open_from),
    )
    return await using.analyze(AnalysisInput("s1", "w1", 1, "", answer, facts(*contents), **more))


def risk_of(finished):
    return finished.analysis.outputs.risk


async def test_a_right_answer_in_other_words_is_low_and_its_composite_is_not():
    finished = await analysed(RIGHT, FACT)
    (verdict,) = finished.analysis.outputs.fidelity.verdicts.values()
    risk = risk_of(finished)
    assert verdict is Verdict.SUPPORTED
    assert risk.signals[0] == 1.0, "nothing is near enough to be grounded in (§4.4)"
    assert risk.signals[2] == pytest.approx(0.9)
    assert risk.judged_signals == (0.0, risk.signals[1], 0.0, 0.0)
    assert (risk.composite_level, risk.level) == (RiskLevel.CRITICAL, RiskLevel.LOW)
    assert risk.judged_score == pytest.approx(0.25 * risk.signals[1])


async def test_a_claim_that_is_not_supported_counts_as_it_did():
    finished = await analysed(f"{RIGHT} {OTHER}", FACT, support=lambda request: 0.9 if "Max" in request.claim else 0.1)
    outputs = finished.analysis.outputs
    assert [words(verdict) for verdict in outputs.fidelity.verdicts.values()] == ["supported", "unsupported"]
    assert outputs.risk.judged_signals[0] == pytest.approx(0.5), "one claim of two is grounded"
    assert outputs.risk.judged_signals[2] == outputs.risk.signals[2], "its chunk is the weakest link"
    assert outputs.risk.level is not RiskLevel.LOW


async def test_one_claim_of_a_chunk_that_is_not_supported_keeps_the_chunk_as_it_is():
    answer = "For Max you sign up for two years, and the shop in the station sells umbrellas."
    finished = await analysed(answer, FACT, support=lambda request: 0.1 if "umbrellas" in request.claim else 0.9)
    outputs = finished.analysis.outputs
    assert outputs.entailment.judged_score == pytest.approx(UNSURE[0])


async def test_the_bare_document_is_one_setting_away():
    finished = await analysed(RIGHT, FACT, policy=Policy(level_floors=False))
    risk = risk_of(finished)
    assert risk.level is risk.composite_level is RiskLevel.CRITICAL
    assert (risk.judged_signals, risk.judged_score) == (risk.signals, risk.composite_score)


async def test_the_report_has_both_scores_and_both_values_of_each_signal():
    report = report_message(await analysed(RIGHT, FACT))
    assert report.judged_score < report.composite_score
    values = [(signal.value, signal.judged_value) for signal in report.risk_signals]
    assert values[0] == (1.0, 0.0)
    assert all(judged <= value for value, judged in values)


async def test_in_mode_open_a_supported_claim_of_the_models_own_knowledge_is_counted():
    finished = await analysed(f"{RIGHT} {OTHER}", FACT, grounding_mode=GroundingMode.OPEN, support=lambda _: 0.9)
    assert risk_of(finished).judged_signals[0] in {0.0, None}


@pytest.mark.parametrize("verdict", list(Verdict))
def test_only_supported_is_borne_out(verdict):
    assert is_borne_out(Judgement(verdict, Basis.GROUNDING)) is (verdict is Verdict.SUPPORTED)
    assert not is_borne_out(None)


@given(
    st.lists(st.sampled_from([RIGHT, OTHER, FACT, "Max costs 40 euros.", "It rains."]), min_size=1, max_size=4),
    st.floats(0.0, 1.0),
    st.sampled_from(list(GroundingMode)),
    st.booleans(),
)
async def test_no_signal_and_no_score_is_ever_worse_than_the_composites(sentences, support, mode, far):
    finished = await analysed(" ".join(sentences), FACT, support=support, grounding_mode=mode, far=far)
    risk = risk_of(finished)
    for judged, own in zip(risk.judged_signals, risk.signals, strict=True):
        assert (judged is None) is (own is None)
        assert own is None or judged <= own
    assert risk.composite_score is None or risk.judged_score <= risk.composite_score


OPEN = "Nobody says how the shop in the station keeps its umbrellas dry."


@pytest.mark.parametrize(
    ("support", "more", "level"),
    [
        (0.4, {}, RiskLevel.MEDIUM),
        (0.05, {}, RiskLevel.MEDIUM),
        (0.4, {"policy": Policy(level_floors=False)}, RiskLevel.HIGH),
    ],
    ids=["left-open", "not-supported", "the-bare-document"],
)
async def test_what_models_alone_say_is_a_warning_and_no_finding(support, more, level):
    finished = await analysed(OPEN, FACT, support=support, open_from=0.3, **more)
    risk = risk_of(finished)
    assert risk.composite_level is RiskLevel.HIGH, "§7.4 stays what it is"
    assert risk.level is level


def warned(*verdicts, basis=Basis.GROUNDING, rules=0, score=0.6, text=OTHER):
    """Say whether an answer with these verdicts, and so many findings of rules, is a warning at most."""
    claims = tuple(
        Claim(f"c{number}", text, 0, len(text), number, ClaimType.FACTUAL, 0.0) for number, _ in enumerate(verdicts)
    )
    judgements = {f"c{number}": Judgement(verdict, basis) for number, verdict in enumerate(verdicts)}
    span = Span(0, 1)
    found = tuple(Distortion(DistortionType.NUMBER_CHANGED, "c0", "f1", span, span) for _ in range(rules))
    outputs = SimpleNamespace(
        fidelity=SimpleNamespace(judgements=judgements),
        text=SimpleNamespace(claims=claims),
        distortion=SimpleNamespace(found=found),
    )
    analysis: Any = SimpleNamespace(outputs=outputs)
    return is_warning_at_most(analysis, score)


UNSUPPORTED, SUPPORTED, REFUTED = Verdict.UNSUPPORTED, Verdict.SUPPORTED, Verdict.CONTRADICTED


@pytest.mark.parametrize(
    ("verdicts", "more", "expected"),
    [
        ((UNSUPPORTED, UNSUPPORTED), {}, True),
        ((UNSUPPORTED, UNSUPPORTED), {"score": 0.7}, False),
        ((UNSUPPORTED,), {"score": 0.7, "text": "25 days."}, True),
        ((UNSUPPORTED, UNSUPPORTED), {"rules": 1}, False),
        ((UNSUPPORTED, UNSUPPORTED, UNSUPPORTED, SUPPORTED), {"rules": 1, "score": 0.9}, True),
        ((UNSUPPORTED, UNSUPPORTED, UNSUPPORTED, UNSUPPORTED, SUPPORTED), {"rules": 1}, False),
        ((SUPPORTED, REFUTED), {"basis": Basis.VALUE_CONFLICT, "rules": 1}, False),
        ((SUPPORTED, Verdict.NONE), {}, False),
        ((Verdict.UNDECIDED, Verdict.UNDECIDED), {"score": 0.9}, True),
        ((), {}, False),
    ],
    ids=["unsupported", "of something else", "too short to be near", "a rule signals",
         "a quarter borne out", "a fifth borne out", "refuted",
         "not judged", "left open", "no claim"],
)  # fmt: skip
def test_what_makes_an_answer_high_is_something_that_was_found(verdicts, more, expected):
    assert warned(*verdicts, **more) is expected
