"""Constraint verdicts between the wire and the domain (ADR 0078)."""

from typing import Final

from crp.dpe.v1 import constraint_pb2, report_pb2
from crp.dpe.v1 import provenance_service_pb2 as pb

from services.common.reading.text_types import Span
from services.common.rpc.enums import EnumTable
from services.common.taxonomy import ConstraintState
from services.dpe.convert.findings import span_message
from services.dpe.domain.constraints import ConstraintOutcome, ConstraintVerdict, violated
from services.dpe.domain.results import Outputs

MAX_CLAIMS_LISTED: Final = 100
"""Of the claims that a constraint contradicts; their number stands beside them."""
_STATES: Final = EnumTable(constraint_pb2.ConstraintState, ConstraintState)


def constraint_verdicts(request: pb.AnalyzeRequest) -> tuple[ConstraintVerdict, ...]:
    """Return the verdicts of a validated request, in its order."""
    return tuple(
        ConstraintVerdict(
            each.constraint_id,
            _STATES[each.state],
            each.nl_text,
            tuple(Span(span.start, span.end) for span in each.spans),
            each.why,
            each.detector,
        )
        for each in request.constraint_verdicts.verdicts
    )


def fill_constraints(message: report_pb2.DpeReport, outputs: Outputs) -> None:
    """Add what the constraints did; nothing to a report without any, whose bytes and hash stay what they were."""
    outcomes = outputs.fidelity.constraint_outcomes
    if not outcomes:
        return
    filled = message.constraint_outcomes
    filled.outcomes.extend(_outcome(each) for each in outcomes)
    filled.violated_count = violated(outcomes)
    filled.not_computed_count = sum(1 for each in outcomes if each.verdict.state is ConstraintState.UNKNOWN)
    if outputs.fidelity.score_without is not None:
        filled.fidelity_score_without = outputs.fidelity.score_without


def _outcome(item: ConstraintOutcome) -> constraint_pb2.ConstraintOutcome:
    return constraint_pb2.ConstraintOutcome(
        verdict=_verdict(item.verdict),
        claim_ids=item.claim_ids[:MAX_CLAIMS_LISTED],
        claims_total=len(item.claim_ids),
    )


def _verdict(item: ConstraintVerdict) -> constraint_pb2.ConstraintVerdict:
    return constraint_pb2.ConstraintVerdict(
        constraint_id=item.constraint_id,
        nl_text=item.nl_text,
        state=_STATES.number(item.state),
        spans=[span_message(span.start, span.end) for span in item.spans],
        why=item.why,
        detector=item.detector,
    )
