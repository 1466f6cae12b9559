"""A remediation plan as a message (SPEC-005 §19, ADR 0042)."""

from typing import Final

from crp.common.v1 import taxonomy_pb2
from crp.dpe.v1 import provenance_service_pb2 as pb

from services.common.rpc.enums import EnumTable
from services.common.taxonomy import Remedy, RemedyCall, RemedyCondition, RemedyForce
from services.dpe.convert.findings import span_message
from services.dpe.domain.remediation import MAX_REDISPATCHES, REDISPATCH_TEMPERATURE, Plan, Step

_ACTIONS: Final = EnumTable(pb.RemediationAction, Remedy)
_FORCES: Final = EnumTable(pb.RemediationForce, RemedyForce)
_CALLS: Final = EnumTable(pb.RemediationCall, RemedyCall)
_CONDITIONS: Final = EnumTable(pb.RemediationCondition, RemedyCondition)


def plan_message(plan: Plan) -> pb.RemediationPlan:
    """Return the plan; temperature, strategy and seed are set where a re-dispatch is among its steps (§19.2)."""
    message = pb.RemediationPlan(
        steps=[_step(step) for step in plan.steps],
        max_redispatches=MAX_REDISPATCHES,
        stages_not_computed=plan.stages_not_computed,
    )
    if plan.redispatches:
        message.temperature = REDISPATCH_TEMPERATURE
        message.strategy = taxonomy_pb2.DISPATCH_STRATEGY_REFLEXIVE
        message.change_seed = True
    return message


def _step(step: Step) -> pb.RemediationStep:
    cost = step.accounting
    message = pb.RemediationStep(
        action=_ACTIONS.number(step.remedy),
        stage_number=step.stage_number,
        reason=step.reason,
        instruction=step.instruction,
        claim_ids=step.claim_ids,
        sub_queries=step.sub_queries,
        force=_FORCES.number(step.force),
        call=_CALLS.number(step.call),
        conditions=[_CONDITIONS.number(each) for each in step.conditions],
        excerpts=[
            pb.PromptExcerpt(
                placeholder=item.placeholder,
                window_id=item.window_id,
                span=span_message(item.span.start, item.span.end),
                repeated=item.repeated,
            )
            for item in step.excerpts
        ],
        fact_ids=step.fact_ids,
        window_ids=step.window_ids,
        accounting=pb.RemediationAccounting(
            counts_as_redispatch=cost.counts_as_redispatch,
            opens_window=cost.opens_window,
            counts_llm_call=cost.counts_llm_call,
            billed=cost.billed,
            audit_events=cost.audit_events,
        ),
    )
    if step.temperature is not None:
        message.temperature = step.temperature
    return message
