"""Answers of agents' own sessions that an orchestrator's window merges (SPEC-004 §15.1; ADR 0170).

An agent's session is read, never written: it keeps its pointers, its credential and its life. What binds it to the
window that merges it is that window's chained event, which names the agent's windows with their HMACs.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from services.common.errors import ErrorReason, PreconditionError, UnreadableRecordError
from services.common.ports.sessions import AuditEventRecord, SessionSnapshot, WindowRecord
from services.common.taxonomy import WindowStatus
from services.dag.domain.events import OwnEvent
from services.dag.domain.place import NewWindow
from services.dag.domain.view import DagView

NO_ANSWER: Final = "NO_ANSWER"


@dataclass(frozen=True, slots=True, order=True)
class MergedEnd:
    """An agent's answer that a window merged, as the event that opened the window names it."""

    target_id: str
    session_id: str
    window_id: str
    hmac: str
    safety_budget: float


def merged_ends(events: Iterable[AuditEventRecord]) -> tuple[MergedEnd, ...]:
    """Return what windows of a session merged of agents' sessions, by window, session and end; nothing once erased.

    Raises:
        UnreadableRecordError: RECORD_UNREADABLE: an event is not what this service writes.
    """
    found = set[MergedEnd]()
    for event in events:
        if event.event_type != OwnEvent.DISPATCH_STARTED or not event.data:
            continue
        try:
            named = json.loads(event.data).get("agents", {}).items()
            found |= {MergedEnd(event.window_id, window_id=end, **parts) for end, parts in named}
        except (ValueError, TypeError, AttributeError):
            text = "does not say which agents' answers were merged"
            raise UnreadableRecordError("event", str(event.sequence), text, session_id=event.session_id) from None
    return tuple(sorted(found))


@dataclass(frozen=True, slots=True)
class AgentAnswers:
    """What is merged.

    Attributes:
        ends: committed windows that no living window continues, in the order of the sessions and of their windows.
        left_out: sessions that have none.
    """

    ends: tuple[WindowRecord, ...] = ()
    left_out: tuple[str, ...] = ()

    def named(self) -> Mapping[str, Mapping[str, Any]]:
        """Return the ends as the chained event names them, by window id."""
        return {
            end.window_id: {"session_id": end.session_id, "hmac": end.hmac, "safety_budget": end.safety_budget}
            for end in self.ends
        }


def answers_of(agents: Sequence[SessionSnapshot], session_id: str, fresh: NewWindow, *, partial: bool) -> AgentAnswers:
    """Return the latest answers of agents' sessions.

    Args:
        agents: as they are stored; none = nothing is merged.
        session_id: of the session that merges them; it has to be the parent of each.
        fresh: tells which pending windows are given up.
        partial: sessions without an answer may be left out, as long as one has some (§16.3).

    Raises:
        PreconditionError: UNSUPPORTED_STRATEGY: a session that is not under this one; FAN_IN_INCOMPLETE: a window of an
            agent's is PENDING, or a session has no answer.
    """
    ends, left_out = list[WindowRecord](), list[str]()
    for agent in agents:
        if agent.session.parent_session_id != session_id:
            text = "a fan-in merges agents' sessions that were begun under this one"
            raise PreconditionError(ErrorReason.UNSUPPORTED_STRATEGY, text, session_id=agent.session.session_id)
        found = _ends(agent, fresh)
        if not found and not partial:
            raise _incomplete(agent.session.session_id, NO_ANSWER)
        ends += found
        if not found:
            left_out.append(agent.session.session_id)
    if left_out and not ends:
        raise _incomplete(left_out[0], NO_ANSWER)
    return AgentAnswers(tuple(ends), tuple(left_out))


def _ends(agent: SessionSnapshot, fresh: NewWindow) -> list[WindowRecord]:
    dag = DagView.of(agent)
    for window in dag.windows:
        if window.status is WindowStatus.PENDING and not fresh.is_abandoned(window):
            raise _incomplete(window.session_id, WindowStatus.PENDING.value, window_id=window.window_id)
    return list(dag.leaves())


def _incomplete(session_id: str, status: str, window_id: str = "") -> PreconditionError:
    text = f"the fan-in needs the answer of agent's session {session_id}, which is {status}"
    named = {"session_id": session_id, "window_id": window_id, "status": status}
    error = PreconditionError(ErrorReason.FAN_IN_INCOMPLETE, text)
    error.metadata |= {name: value for name, value in named.items() if value}
    return error
