"""What keeps the level from being lower, and that nothing which was left out lowers it (ADR 0093)."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from crp.common.v1 import taxonomy_pb2
from crp.dpe.v1 import report_pb2
from hypothesis import given
from hypothesis import strategies as st

from services.common.taxonomy import GroundingMode, RiskLevel, StageStatus
from services.dpe.convert.report import report_message
from services.dpe.domain.analysis import Analysis, AnalysisInput
from services.dpe.domain.findings import FloorReason, RiskFloor, Verdict
from services.dpe.domain.floors import floors_of
from services.dpe.domain.models import ModelAnswers
from services.dpe.domain.outcome import Reason, StageOutcome
from services.dpe.domain.policy import Policy
from services.dpe.domain.results import Outputs, Risk
from services.dpe.domain.risk import base_score, classified
from services.dpe.domain.stage_row import RiskSignal
from services.dpe.domain.stages import s01_claims, s02_attribution, s03_fidelity, s04_entailment, s05_risk
from services.dpe.gazetteer import load_gazetteer
from tests.each import each
from tests.fakes.dpe_world import TableEntailment, TableGrounding, app, facts, models
from tests.unit.dpe.test_dpe_vectors import EverythingNear

VECTORS = json.loads((Path(__file__).parents[2] / "vectors/dpe/floor.json").read_text(encoding="utf-8"))["vectors"]
FACT = "Claims files are kept for 10 years after the file is closed."
WRONG = "Claims files are kept for 3 years after the file is closed."
SURE = (0.9, 0.05, 0.05)
LEVELS = tuple(RiskLevel)


async def analysed(answer, *contents, superseded=(), support=0.9, entailment=SURE, policy=None, query="", **more):
    parts = models()
    parts.embedding._calibration = EverythingNear()
    using = app(
        policy=policy,
        embedding=parts.embedding,
        entailment=TableEntailment(lambda *_: entailment),
        grounding=TableGrounding(lambda _: support),
    )
    known = tuple(replace(fact, superseded=index in superseded) for index, fact in enumerate(facts(*contents)))
    return await using.analyze(AnalysisInput("s1", "w1", 1, query, answer, known, **more))


@pytest.mark.parametrize("vector", VECTORS, ids=[vector["test_id"] for vector in VECTORS])
async def test_the_level_is_the_worst_of_the_composites_and_the_floors(vector):
    told, expected = vector["input"], vector["expected"]
    finished = await analysed(
        told["answer"],
        *told["facts"],
        superseded=told["superseded"],
        support=told["support"],
        entailment=tuple(told["entailment"]),
        policy=Policy(level_floors=told["level_floors"]),
        grounding_mode=GroundingMode[told["grounding_mode"]],
    )
    risk = finished.analysis.outputs.risk
    found = [[str(floor.level), str(floor.reason), list(floor.claim_ids)] for floor in risk.floors]
    assert found == expected["floors"], vector["source"]
    assert (str(risk.composite_level), str(risk.level)) == (expected["composite_level"], expected["level"])


async def test_the_report_names_each_floor_with_claims_and_facts_and_is_hashed_with_them():
    report = report_message(await analysed(WRONG, "The fee is 5 euros.", FACT))
    floor, unfounded = report.risk_floors
    assert unfounded.reason == report_pb2.RISK_FLOOR_REASON_FABRICATED
    assert floor.level == taxonomy_pb2.RISK_LEVEL_HIGH
    assert floor.reason == report_pb2.RISK_FLOOR_REASON_CONTRADICTED_BY_RULE
    assert (list(floor.claim_ids), list(floor.fact_ids), list(floor.stages)) == (["c1"], ["f2"], [])
    assert (report.risk_level, report.composite_level) == (
        taxonomy_pb2.RISK_LEVEL_HIGH,
        taxonomy_pb2.RISK_LEVEL_MEDIUM,
    )
    bare = report_message(await analysed(WRONG, "The fee is 5 euros.", FACT, policy=Policy(level_floors=False)))
    assert not bare.risk_floors
    assert bare.composite_score == report.composite_score
    assert bare.policy_hash != report.policy_hash
    assert bare.report_hash != report.report_hash


async def test_every_reason_of_the_domain_is_one_of_the_contract():
    assert {f"RISK_FLOOR_REASON_{reason}" for reason in FloorReason} == {
        name for name, value in report_pb2.RiskFloorReason.items() if value
    }


async def test_a_chunk_whose_claim_an_exact_rule_contradicts_is_not_entailed():
    wrong = (await analysed(f"{WRONG} {FACT}", FACT)).analysis.outputs.entailment
    right = (await analysed("After it is closed a claims file is kept for 10 years.", FACT)).analysis.outputs.entailment
    assert (wrong.score, wrong.contradiction, wrong.contradicted_chunks) == (0.0, 1.0, 1)
    assert (right.score, right.contradicted_chunks) == (pytest.approx(SURE[0]), 0)


async def test_what_an_encoder_alone_contradicts_stays_what_the_encoder_says():
    outputs = await analysed("The valve is blue.", "The valve is green.", support=0.2, entailment=(0.05, 0.15, 0.8))
    entailment = outputs.analysis.outputs.entailment
    assert (entailment.score, entailment.contradicted_chunks) == (pytest.approx(0.05), 0)


async def test_what_no_fact_bears_out_is_no_floor_of_the_models_own_knowledge_in_open_mode():
    """ADR 0015: a claim that is PARAMETRIC does not count there."""
    answer, fact = "Cats sleep a lot.", "The fee is 5 euros."
    for mode, reasons in ((GroundingMode.CONTEXT_PREFERRED, ["UNSUPPORTED"]), (GroundingMode.OPEN, [])):
        found = await analysed(answer, fact, support=0.1, entailment=(0.1, 0.8, 0.1), grounding_mode=mode)
        risk, (item,) = found.analysis.outputs.risk, found.analysis.outputs.attribution.by_claim.values()
        assert str(item.type) == "PARAMETRIC"
        assert [str(floor.reason) for floor in risk.floors] == reasons


async def test_a_claim_that_nothing_could_be_said_about_is_undecided():
    parts = models()
    parts.embedding._calibration = EverythingNear()
    using = app(embedding=parts.embedding)
    finished = await using.analyze(
        AnalysisInput("s1", "w1", 1, "What?", "The valve is blue.", facts("The valve is green."))
    )
    floors = {floor.reason: floor for floor in finished.analysis.outputs.risk.floors}
    assert floors[FloorReason.UNDECIDED].claim_ids == ("c1",)
    assert floors[FloorReason.NOT_COMPUTED].stages == ("3b", "3", "4")


def cut_analysis(signals, cut, level_floors=True, incomplete=None):
    """Return an analysis after stage 4 in which the deadline took the stages of ``cut``."""
    given = AnalysisInput("s", "w", 1, "q", "a", (), incomplete_level=incomplete)
    outcomes = tuple(
        StageOutcome(stage, StageStatus.SKIPPED, Reason.DEADLINE_TOO_SHORT)
        if stage.key.number in cut
        else StageOutcome(stage, StageStatus.COMPLETED)
        for stage in (s01_claims.STAGE, s02_attribution.STAGE, s03_fidelity.STAGE, s04_entailment.STAGE)
    )
    analysis = Analysis(given, Policy(level_floors=level_floors), load_gazetteer(), ModelAnswers(), Outputs(), outcomes)
    return analysis, signals


@given(
    st.lists(st.floats(0.0, 1.0), min_size=4, max_size=4),
    st.sets(st.sampled_from([1, 2, 3, 4]), min_size=1),
)
def test_what_a_deadline_leaves_out_never_lowers_the_level(signals, cut):
    """With any signals that the whole analysis would have had, the cut one is at least as bad."""
    whole = classified(base_score(signals, Policy().weights))
    analysis, _ = cut_analysis(signals, cut)
    lost = {signal for outcome in analysis.outcomes if outcome.key.number in cut for signal in outcome.stage.signals}
    left = tuple(None if kind in lost else value for kind, value in zip(RiskSignal, signals, strict=True))
    base = base_score(left, Policy().weights)
    risk = s05_risk._levelled(analysis, Risk(left, base, base, RiskLevel.MEDIUM, degraded=True))
    assert LEVELS.index(risk.level) >= LEVELS.index(whole)
    assert LEVELS.index(risk.level) >= LEVELS.index(RiskLevel.MEDIUM)
    assert risk.composite_level is classified(base)


def test_an_incomplete_analysis_is_at_least_what_the_policy_asks_for():
    analysis, signals = cut_analysis((0.0, 0.0, 0.0, 0.0), {4}, incomplete=RiskLevel.HIGH)
    risk = s05_risk._levelled(analysis, Risk(signals, 0.0, 0.0, RiskLevel.MEDIUM, degraded=True))
    assert risk.level is RiskLevel.HIGH
    assert [(floor.level, floor.reason, floor.stages) for floor in risk.floors] == [
        (RiskLevel.MEDIUM, FloorReason.NOT_COMPUTED, ("4",)),
        (RiskLevel.MEDIUM, FloorReason.LEFT_OUT, ("4",)),
        (RiskLevel.HIGH, FloorReason.INCOMPLETE_UNDER_POLICY, ("4",)),
    ]


async def test_a_whole_analysis_is_not_touched_by_what_the_policy_asks_of_an_incomplete_one():
    finished = await analysed(FACT, FACT, incomplete_level=RiskLevel.CRITICAL)
    assert finished.analysis.outputs.risk.level is RiskLevel.LOW
    assert finished.analysis.outputs.risk.floors == ()


def test_with_the_bare_document_only_what_was_not_computed_keeps_the_level_up():
    """ADR 0018 stays: §7.2 has no composite for signals that nobody computed."""
    analysis, _ = cut_analysis((0.0,) * 4, {4}, level_floors=False)
    assert floors_of(analysis, RiskLevel.CRITICAL) == (
        RiskFloor(RiskLevel.MEDIUM, FloorReason.NOT_COMPUTED, stages=("4",)),
    )


MISADDED = "The team closes 31 tickets: 14 bugs, 9 feature requests and 6 chores."
ADDED = "We close 29 tickets: 14 bugs, 9 feature requests and 6 chores."


def misreckoned(finished):
    return [floor for floor in finished.analysis.outputs.risk.floors if floor.reason is FloorReason.MISRECKONED]


async def test_an_answer_whose_own_numbers_do_not_add_up_is_high_and_told_what_comes_out():
    finished = await analysed(MISADDED, FACT)
    (floor,) = misreckoned(finished)
    assert floor == RiskFloor(RiskLevel.HIGH, FloorReason.MISRECKONED, ("c1",), details=("14 + 9 + 6 is 29, not 31",))
    (told,) = [one for one in report_message(finished).risk_floors if one.details]
    assert told.reason == report_pb2.RISK_FLOOR_REASON_MISRECKONED
    assert list(told.details) == ["14 + 9 + 6 is 29, not 31"]


async def test_numbers_that_add_up_and_slips_of_the_document_itself_are_no_floor():
    assert misreckoned(await analysed(ADDED, FACT)) == []
    assert misreckoned(await analysed(MISADDED, MISADDED)) == []
    assert misreckoned(await analysed(MISADDED, MISADDED.replace(" and", "\nand"))) == []
    own = "Note that 31 tickets: 14 bugs, 9 feature requests and 6 chores were closed."
    assert misreckoned(await analysed(MISADDED, own)) == []


async def test_the_bare_document_knows_no_reckoning():
    assert misreckoned(await analysed(MISADDED, FACT, policy=Policy(level_floors=False))) == []


async def test_sentences_that_do_not_follow_one_another_are_not_reckoned_together():
    lease, end = "The lease runs for 12 months from 1 March 2027.", "So you have the flat until 31 August 2027."
    assert misreckoned(await analysed(f"{lease} {end}", FACT))
    assert misreckoned(await analysed(f"{lease} The deposit is small for everybody. {end}", FACT)) == []


LORRIES = "Permits are not issued to lorries."
ASKED = "Are permits issued to lorries?"


def reversals(finished):
    return [floor for floor in finished.analysis.outputs.risk.floors if floor.reason is FloorReason.ANSWER_REVERSED]


@each(
    ("query", "answer", "said"),
    [
        (ASKED, f"Yes. {LORRIES}", ("Yes", LORRIES)),
        (ASKED, "Yes, permits are not issued to lorries.", ("Yes", "permits are not issued to lorries.")),
        ("Can lorries get permits?", "Yes. Lorries can't get permits.", ("Yes", "Lorries can't get permits.")),
    ],
)
async def test_a_yes_that_its_own_statement_denies_is_not_low(query, answer, said):
    (floor,) = reversals(await analysed(answer, LORRIES, query=query))
    why = f'"{said[0]}" to "{query}", yet "{said[1]}"'
    assert floor == RiskFloor(RiskLevel.MEDIUM, FloorReason.ANSWER_REVERSED, ("c1",), details=(why,))


@each(
    ("query", "answer"),
    [
        (ASKED, f"No. {LORRIES}"),
        ("Can I cancel my booking?", "Yes, you can cancel your booking at no cost."),
        ("Is parking free?", "Yes. Parking is free of charge."),
        ("Do members get refunds?", "Yes. Members hardly get refunds."),
        ("Is the late fee £80?", "No. The late fee is £90, not £80."),
        ("Do all members get a guest pass?", "No. Premium members get a guest pass."),
        ("Are dogs allowed?", "Yes. Dogs are allowed, though not in the pool."),
        ("Does the tenant pay the landlord?", "No. The landlord pays the tenant."),
        ("Can I smoke on the balcony?", "No, smoking on the balcony is prohibited."),
        (ASKED, LORRIES),
        (ASKED, "Yes."),
        ("Are permits not issued to lorries?", f"Yes. {LORRIES}"),
        ("Are permits not issued to lorries?", f"No. {LORRIES}"),
        ("To whom are permits issued?", f"Yes. {LORRIES}"),
        (f"{ASKED} Who pays?", f"Yes. {LORRIES}"),
        ("Are permits issued to lorries or vans?", f"Yes. {LORRIES}"),
        ("Are permits issued to lorries?", "Yes, but permits are not issued to lorries on Sundays."),
        ("Are permits issued to lorries?", "Yes. Permits are not issued to lorries unless they are small."),
        ("Are permits issued to red lorries?", f"Yes. {LORRIES}"),
        ("Are permits issued to lorries?", f"Yes. {LORRIES[:-1]} that carry glass, gas, oil, sand and gravel."),
    ],
)
async def test_nothing_is_reversed_where_the_statement_is_not_all_that_was_asked(query, answer):
    assert reversals(await analysed(answer, LORRIES, query=query)) == []


async def test_an_answer_of_opinions_alone_is_not_low():
    risk = (await analysed("It is a great gym.", FACT)).analysis.outputs.risk
    assert [(floor.reason, floor.claim_ids) for floor in risk.floors] == [(FloorReason.UNDECIDED, ("c1",))]
    assert risk.level is RiskLevel.MEDIUM
    beside = (await analysed(f"It is a great gym. {FACT}", FACT)).analysis.outputs.risk
    assert (beside.floors, beside.level) == ((), RiskLevel.LOW)


async def test_a_word_alone_is_undecided_whatever_the_encoders_say():
    finished = await analysed("Yes.", LORRIES, support=0.1)
    assert finished.analysis.outputs.fidelity.verdicts == {"c1": Verdict.UNDECIDED}
    assert [floor.reason for floor in finished.analysis.outputs.risk.floors] == [FloorReason.UNDECIDED]
    assert finished.analysis.outputs.risk.level is RiskLevel.MEDIUM


async def test_what_askers_tell_of_themselves_is_not_held_against_the_facts():
    fact, answer = "Lunch is refunded up to £12 a day.", "Your lunch was £62 a day."
    told = await analysed(answer, fact, query="I've lost the receipt for a lunch of £62 a day. Can I claim it?")
    other = await analysed(answer, fact, query="I've paid £62 a day for parking. What of lunch?")
    asked = await analysed(answer, fact, query="Is lunch refunded up to £62 a day?")
    reasons = [[floor.reason for floor in one.analysis.outputs.risk.floors] for one in (told, asked, other)]
    assert [FloorReason.CONTRADICTED_BY_RULE in one for one in reasons] == [False, True, True]
