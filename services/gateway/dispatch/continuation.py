"""The window that the gateway adds to an answer by itself (SPEC-005 §10.3)."""

from dataclasses import replace
from typing import Final

from services.common.taxonomy import DispatchStrategy
from services.gateway.domain.admitted import AdmittedDispatch
from services.gateway.domain.command import Agent, Continuation, Part, derived_id
from services.gateway.domain.remedies import Focus

_OWN: Final = frozenset({DispatchStrategy.PULL, DispatchStrategy.REFLEXIVE, DispatchStrategy.AGENTIC})
"""Strategies whose windows are continued as they began; parallel ones are continued in a line."""


def continuing(admitted: AdmittedDispatch, last: Part, focus: Focus, number: int) -> AdmittedDispatch:
    """Return the query of the ``number``-th window that the gateway adds to an answer by itself."""
    command = admitted.command
    return replace(
        admitted,
        command=replace(
            command,
            request_id=derived_id(command.request_id, f"continuation/{number}"),
            continuation=Continuation(
                session_token=last.committed.session_token,
                session_id=last.draft.place.session_id,
                continuation_ids=(last.committed.continuation_id,),
            ),
            # What the query's window held is no part of the next one's context (SPEC-003 §14.2).
            context=replace(command.context, if_match="", active_fact_ids=()),
            agent=Agent(loop_depth=command.agent.loop_depth, safety_budget=command.agent.safety_budget),
        ),
        strategy=admitted.strategy if admitted.strategy in _OWN else DispatchStrategy.PUSH,
        focus=focus,
        cache_status="",
        # Told of and recorded with the window of the query.
        suspicions=(),
    )
