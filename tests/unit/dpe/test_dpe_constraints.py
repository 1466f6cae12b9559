"""What constraints that an answer was held against do to its report, and what they leave alone (ADR 0078)."""

import json
from dataclasses import replace
from operator import attrgetter
from pathlib import Path

import pytest
from crp.dpe.v1 import claim_pb2, constraint_pb2

from services.common.reading.text_types import Claim, ClaimType, Span
from services.common.rpc.canonical import message_json
from services.common.taxonomy import ConstraintState
from services.dpe.convert.responses import analyze_response
from services.dpe.domain.constraints import ConstraintVerdict, held_against
from services.dpe.domain.findings import Verdict
from services.dpe.domain.remediation import plan_of
from tests.each import each
from tests.fakes.dpe_world import analyse
from tests.unit.dpe.test_dpe_verdicts import near_models

VECTORS = json.loads((Path(__file__).parents[2] / "vectors/dpe/constraint.json").read_text(encoding="utf-8"))["vectors"]
UNTOUCHED = (
    *("text", "attribution", "fabrication", "distortion", "contradiction", "entailment", "coherence", "repetition"),
    *("completeness", "flow", "omission", "personal_data", "regulatory", "quality", "fidelity.score_without"),
)
FACT = "The boiling point of water is 100 °C at sea level."


def verdict(answer, constraint_id, state, denied=(), inner=None):
    spans = [Span(answer.index(words), answer.index(words) + len(words)) for words in denied]
    if inner is not None:
        spans = [Span(span.start + inner[0], span.start + inner[1]) for span in spans]
    why = "The text does not say." if state == "UNKNOWN" else ""
    return ConstraintVerdict(constraint_id, ConstraintState(state), "A rule.", tuple(spans), why, "solver")


async def analysed(answer, *facts, verdicts=(), support=0.2, entailment=(0.2, 0.7, 0.1)):
    using = near_models(entailment, support)
    return await analyse(answer, *facts, using=using, constraint_verdicts=tuple(verdicts))


@each("vector", VECTORS, ids=[vector["test_id"] for vector in VECTORS])
async def test_a_violated_constraint_is_one_contradiction(vector):
    given, expected = vector["input"], vector["expected"]
    verdicts = [verdict(given["answer"], **each) for each in given["verdicts"]]
    finished = await analysed(
        given["answer"],
        *given["facts"],
        verdicts=verdicts,
        support=given["support"],
        entailment=tuple(given["entailment"]),
    )
    report = analyze_response(finished).report
    assert report.fidelity_score == pytest.approx(expected["fidelity_score"], abs=1e-12), vector["source"]
    assert report.HasField("constraint_outcomes") == bool(verdicts)
    if verdicts:
        told = report.constraint_outcomes
        assert told.fidelity_score_without == pytest.approx(expected["fidelity_score_without"], abs=1e-12)
        assert (told.violated_count, told.not_computed_count) == (expected["violated"], expected["not_computed"])
        assert [each.verdict.constraint_id for each in told.outcomes] == [each.constraint_id for each in verdicts]
    found = {
        claim.claim_id: {
            "basis": claim_pb2.VerdictBasis.Name(claim.judgement.basis).removeprefix("VERDICT_BASIS_"),
            "verdict_without": claim_pb2.ClaimVerdict.Name(
                claim.judgement.constraint_conflict.verdict_without
            ).removeprefix("CLAIM_VERDICT_"),
            "constraint_ids": list(claim.judgement.constraint_conflict.constraint_ids),
        }
        for claim in report.claims
        if claim.judgement.HasField("constraint_conflict")
    }
    assert found == expected["contradicted"]
    assert all(
        claim.verdict == claim_pb2.CLAIM_VERDICT_CONTRADICTED for claim in report.claims if claim.claim_id in found
    )


async def test_the_report_names_what_was_held_and_why_the_rest_was_not():
    text = f"{FACT} Ice melts at 0 °C."
    verdicts = [
        verdict(text, "r1", "VIOLATED", ["0 °C at sea"]),
        verdict(text, "r2", "UNKNOWN"),
        verdict(text, "r3", "HELD"),
    ]
    report = analyze_response(await analysed(text, FACT, verdicts=verdicts)).report
    denied, unknown, held = report.constraint_outcomes.outcomes
    assert (denied.verdict.state, list(denied.claim_ids), denied.claims_total) == (
        constraint_pb2.CONSTRAINT_STATE_VIOLATED,
        ["c1"],
        1,
    )
    assert (denied.verdict.nl_text, denied.verdict.detector) == ("A rule.", "solver")
    span = denied.verdict.spans[0]
    assert text[span.start : span.end] == "0 °C at sea"
    assert (unknown.verdict.state, unknown.verdict.why) == (
        constraint_pb2.CONSTRAINT_STATE_UNKNOWN,
        "The text does not say.",
    )
    assert (held.verdict.state, list(held.claim_ids)) == (constraint_pb2.CONSTRAINT_STATE_HELD, [])


async def test_without_constraints_a_report_has_the_members_that_it_had_before():
    report = message_json(analyze_response(await analysed(FACT, FACT)).report)
    text = json.dumps(report)
    # The hash is over every member of the JSON form, the empty ones too: a new one would change that of every report.
    assert "constraint" not in text


async def test_what_the_constraints_do_not_touch():
    """Attribution, what the models say, findings of the stages, quality score and tier stay what they are."""
    text = f"{FACT} The sea is 4 km deep."
    plain = (await analysed(text, FACT)).analysis.outputs
    denied = (await analysed(text, FACT, verdicts=[verdict(text, "r1", "VIOLATED", [text])])).analysis.outputs
    assert denied.fidelity.score < plain.fidelity.score
    assert denied.risk.base_score == pytest.approx(plain.risk.base_score + 0.25 * 0.15 / 2)
    for name in UNTOUCHED:
        assert attrgetter(name)(denied) == attrgetter(name)(plain), name
    for claim_id, judgement in denied.fidelity.judgements.items():
        before = plain.fidelity.judgements[claim_id]
        alike = replace(judgement, verdict=before.verdict, basis=before.basis, conflict=None, why=before.why)
        assert alike == before


async def test_a_risk_near_its_bound_goes_up_a_level():
    text, row = "The valve is blue.", (0.3, 0.6, 0.1)
    plain = (await analysed(text, FACT, entailment=row)).analysis.outputs.risk
    denied = (await analysed(text, FACT, verdicts=[verdict(text, "r1", "VIOLATED", [text])], entailment=row)).analysis
    risk = denied.outputs.risk
    assert (str(plain.composite_level), str(risk.composite_level)) == ("LOW", "MEDIUM")
    assert (str(risk.level), str(risk.floors[0].reason)) == ("HIGH", "CONTRADICTED_BY_RULE")
    assert denied.outputs.risk.composite_score - plain.composite_score == pytest.approx(0.25 * 0.15)


async def test_the_remedy_counts_them_and_names_the_claims_but_no_word_of_a_constraint():
    text = "Please boil the water."
    verdicts = [verdict(text, f"r{number}", "VIOLATED", [text]) for number in range(7)]
    finished = await analysed(text, FACT, verdicts=verdicts)
    (step, *_) = plan_of(finished.analysis).steps
    assert (str(step.reason), step.claim_ids) == ("RISK_HIGH", ("c1",))
    assert "7 constraints that were not obeyed" in step.instruction
    assert "A rule." not in step.instruction


class TestWhichClaimsAreMet:
    @staticmethod
    def met(*spans, claims):
        given = ConstraintVerdict("r1", ConstraintState.VIOLATED, spans=tuple(Span(*span) for span in spans))
        return held_against([given], claims)[0].claim_ids

    @staticmethod
    def claim(number, start, end, kind=ClaimType.FACTUAL):
        return Claim(f"c{number}", "x", start, end, 0, kind, 0.5)

    def test_claims_that_overlap_each_other_are_all_met(self):
        claims = [self.claim(1, 0, 100), self.claim(2, 10, 20), self.claim(3, 30, 40)]
        assert self.met((35, 36), claims=claims) == ("c1", "c3")
        assert self.met((20, 30), claims=claims) == ("c1",)

    def test_many_spans_over_many_claims_take_one_look_at_each(self):
        claims = [self.claim(number, 10 * number, 10 * number + 9) for number in range(5_000)]
        spans = [(start, 50_000) for start in range(64)]
        assert len(self.met(*spans, claims=claims)) == 5_000

    def test_meta_statements_are_not(self):
        assert self.met((0, 5), claims=[self.claim(1, 0, 9, ClaimType.META)]) == ()


async def test_more_claims_than_are_listed_are_counted():
    text = " ".join(f"Valve {number} is blue." for number in range(120))
    report = analyze_response(await analysed(text, verdicts=[verdict(text, "r1", "VIOLATED", [text])])).report
    (outcome,) = report.constraint_outcomes.outcomes
    assert (len(outcome.claim_ids), outcome.claims_total) == (100, 120)
    many = [verdict(FACT, f"r{number}", "VIOLATED", [FACT]) for number in range(25)]
    report = analyze_response(await analysed(FACT, FACT, verdicts=many)).report
    conflict = report.claims[0].judgement.constraint_conflict
    assert (list(conflict.constraint_ids)[-1], conflict.constraints_total) == ("r19", 25)


async def test_a_claim_that_nothing_else_judged_is_contradicted_all_the_same():
    finished = await analyse(
        "The valve is blue.", FACT, constraint_verdicts=(verdict("The valve is blue.", "r1", "VIOLATED", ["blue"]),)
    )
    judgement = finished.analysis.outputs.fidelity.judgements["c1"]
    assert (judgement.verdict, judgement.conflict.verdict_without) == (Verdict.CONTRADICTED, Verdict.NONE)
    told = analyze_response(finished).report.claims[0].judgement.constraint_conflict
    assert told.verdict_without == claim_pb2.CLAIM_VERDICT_UNSPECIFIED
