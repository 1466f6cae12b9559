"""The plan of remedies as the dpe service sends it, in the gateway's words (SPEC-005 §19)."""

from crp.dpe.v1 import provenance_service_pb2 as pb

from services.gateway import wire
from services.gateway.domain.remedy_plan import Excerpt, RemedyPlan, RemedyStep


def remedy_plan(plan: pb.RemediationPlan) -> RemedyPlan:
    """Read a plan; a step that this version does not know, in whatever part of it, is no step that it can take."""
    return RemedyPlan(
        steps=tuple(_step(step) for step in plan.steps if _is_known(step)),
        temperature=plan.temperature if plan.HasField("temperature") else None,
        max_redispatches=plan.max_redispatches,
        stages_not_computed=tuple(plan.stages_not_computed),
    )


def _is_known(step: pb.RemediationStep) -> bool:
    return (
        step.action in wire.REMEDIES
        and step.force in wire.REMEDY_FORCES
        and step.call in wire.REMEDY_CALLS
        and all(condition in wire.REMEDY_CONDITIONS for condition in step.conditions)
    )


def _step(step: pb.RemediationStep) -> RemedyStep:
    return RemedyStep(
        remedy=wire.REMEDIES[step.action],
        force=wire.REMEDY_FORCES[step.force],
        call=wire.REMEDY_CALLS[step.call],
        stage_number=step.stage_number,
        reason=step.reason,
        instruction=step.instruction,
        sub_queries=tuple(step.sub_queries),
        conditions=tuple(wire.REMEDY_CONDITIONS[condition] for condition in step.conditions),
        excerpts=tuple(
            Excerpt(each.placeholder, each.window_id, each.span.start, each.span.end, each.repeated)
            for each in step.excerpts
        ),
        audit_events=tuple(step.accounting.audit_events),
    )
