"""What only facts bear out that do not hold now is SUPERSEDED, and they contradict nothing (ADR 0109)."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from crp.ckf.v1 import ckf_pb2
from crp.dpe.v1 import claim_pb2
from crp.dpe.v1 import provenance_service_pb2 as pb
from crp.envelope.v1 import envelope_pb2

from services.dpe.convert.report import report_message
from services.dpe.convert.requests import analysis_input
from services.dpe.domain.analysis import AnalysisInput
from services.dpe.domain.findings import Basis, FloorReason, Verdict
from tests.fakes.dpe_world import TableEntailment, TableGrounding, app, facts, models
from tests.unit.dpe.test_dpe_vectors import EverythingNear

OLD, NEW = "The late fee of the club is 10 euros.", "The late fee of the club is 25 euros."


def said(text):
    return " ".join(text.split()).casefold()


def using():
    parts = models()
    parts.embedding._calibration = EverythingNear()

    def nli(premise, hypothesis):
        return (0.96, 0.02, 0.02) if said(hypothesis) in said(premise) else (0.02, 0.02, 0.96)

    def support(request):
        return 0.95 if any(said(request.claim) in said(passage) for passage in request.passages) else 0.05

    return app(embedding=parts.embedding, entailment=TableEntailment(nli), grounding=TableGrounding(support))


async def analysed(answer, *contents, superseded=(), **more):
    known = tuple(
        replace(fact, superseded=index in superseded, **(more if index in superseded else {}))
        for index, fact in enumerate(facts(*contents))
    )
    return await using().analyze(AnalysisInput("s1", "w1", 1, "", answer, known))


def verdicts(finished):
    return [str(verdict) for verdict in finished.analysis.outputs.fidelity.verdicts.values()]


def floors(finished):
    return [floor.reason for floor in finished.analysis.outputs.risk.floors]


@pytest.mark.parametrize(
    ("answer", "contents", "superseded", "verdict"),
    [
        (OLD, (OLD,), {0}, "SUPERSEDED"),
        (OLD, (OLD, NEW), {0}, "SUPERSEDED"),
        (OLD, (NEW, OLD), {1}, "SUPERSEDED"),
        (NEW, (OLD, NEW), {0}, "SUPPORTED"),
        (NEW, (OLD,), {0}, "UNSUPPORTED"),
        (OLD, (OLD, OLD), {0}, "SUPPORTED"),
        (OLD, (NEW,), set(), "CONTRADICTED"),
        ("The late fee of the club is 40 euros.", (NEW, OLD), {1}, "CONTRADICTED"),
    ],
)
async def test_the_facts_that_hold_are_asked_first_and_alone(answer, contents, superseded, verdict):
    finished = await analysed(answer, *contents, superseded=superseded)
    assert verdicts(finished) == [verdict]
    risk = finished.analysis.outputs.risk
    assert (str(risk.level) == "LOW") == (verdict == "SUPPORTED")
    assert (FloorReason.SUPERSEDED_FACT in floors(finished)) == (verdict == "SUPERSEDED")


async def test_an_outdated_claim_is_no_distortion_of_the_present_and_shows_both_sides():
    finished = await analysed(OLD, NEW, OLD, superseded={1}, time="stood there until 2026-03-03 and does not hold now")
    outputs = finished.analysis.outputs
    assert outputs.distortion.found == ()
    judgement = outputs.fidelity.judgements["c1"]
    assert (judgement.verdict, judgement.basis) == (Verdict.SUPERSEDED, Basis.QUOTATION)
    assert [item.fact_id for item in judgement.evidence] == ["f2", "f1"]
    assert judgement.why.endswith("That stood there until 2026-03-03 and does not hold now.")
    assert outputs.attribution.by_claim["c1"].evidence[0].fact_id == "f2"


async def test_a_claim_that_holds_is_not_doubted_for_an_outdated_fact_beside_it():
    alone, beside = await analysed(NEW, NEW), await analysed(NEW, OLD, NEW, superseded={0})
    assert verdicts(alone) == verdicts(beside) == ["SUPPORTED"]
    assert beside.analysis.outputs.entailment.score == alone.analysis.outputs.entailment.score
    assert beside.analysis.outputs.risk.composite_score == alone.analysis.outputs.risk.composite_score


async def test_what_is_left_out_of_an_outdated_fact_is_no_omission():
    known = tuple(replace(fact, superseded=True, importance_weight=0.95) for fact in facts(OLD))
    finished = await using().analyze(AnalysisInput("s1", "w1", 1, "", "The club is open.", known))
    assert finished.analysis.outputs.omission.found == ()


async def test_a_fact_past_its_time_to_live_bears_out_with_a_floor_of_its_own():
    known = (replace(facts(OLD)[0], expired=True),)
    finished = await using().analyze(AnalysisInput("s1", "w1", 1, "", OLD, known))
    assert verdicts(finished) == ["SUPPORTED"]
    assert floors(finished) == [FloorReason.EXPIRED_FACT]


def envelope_fact(reason, **more):
    return envelope_pb2.EnvelopeFact(
        fact_id="f1", content=OLD, status=ckf_pb2.FACT_STATUS_STALE, stale_reason=reason, **more
    )


@pytest.mark.parametrize(
    ("fact", "superseded", "expired", "time"),
    [
        (envelope_fact("STALE_REASON_SUPERSEDED", ended_at=datetime(2026, 3, 3, 9, tzinfo=UTC)), True, False,
         "stood there until 2026-03-03 and does not hold now"),
        (envelope_fact("STALE_REASON_NO_LONGER_VALID", ended_at=datetime(2026, 1, 1, tzinfo=UTC)), True, False,
         "was valid until 2025-12-31 and does not hold now"),
        (envelope_fact("STALE_REASON_NOT_YET_VALID", valid_from=datetime(2027, 1, 1, tzinfo=UTC)), True, False,
         "is not valid before 2027-01-01"),
        (envelope_fact("STALE_REASON_EXPIRED"), False, True, "is past its time to live"),
        (envelope_fact(None), True, False, "stood there before and does not hold now"),
        (envelope_pb2.EnvelopeFact(fact_id="f1", content=OLD), False, False, ""),
    ],
)  # fmt: skip
def test_what_the_envelope_says_of_time_is_read(fact, superseded, expired, time):
    request = pb.AnalyzeRequest(envelope=envelope_pb2.ContextEnvelope(facts=[fact]))
    (read,) = analysis_input(request).facts
    assert (read.superseded, read.expired, read.time) == (superseded, expired, time)


async def test_the_report_names_the_day_and_what_sources_disagree_on():
    ended = envelope_fact("STALE_REASON_SUPERSEDED", ended_at=datetime(2026, 3, 3, 9, tzinfo=UTC))
    sides = [envelope_pb2.EnvelopeFact(fact_id=f"n{n}", content=NEW.replace("25", str(n))) for n in (25, 30)]
    values = [envelope_pb2.ConflictingValue(fact_id=f"n{n}", text=f"{n} euros") for n in (25, 30)]
    unknown = envelope_pb2.SourceConflict(values=[values[0], envelope_pb2.ConflictingValue(fact_id="gone", text="1")])
    conflicts = [envelope_pb2.SourceConflict(values=values), unknown]
    envelope = envelope_pb2.ContextEnvelope(facts=[ended, *sides], conflicts=conflicts)
    request = pb.AnalyzeRequest(response_text=f"{OLD} {NEW}", envelope=envelope, window_number=1)
    report = report_message(await using().analyze(analysis_input(request)))
    outdated, present = report.claims
    assert outdated.verdict == claim_pb2.CLAIM_VERDICT_SUPERSEDED
    first = outdated.judgement.evidence[0]
    assert (first.stale_reason, first.ended_at.seconds) == (ckf_pb2.STALE_REASON_SUPERSEDED, 1772528400)
    assert present.verdict == claim_pb2.CLAIM_VERDICT_SUPPORTED
    (told,) = report.source_disagreements
    assert [value.text for value in told.values] == ["25 euros", "30 euros"]
    assert "c2" in told.claim_ids
