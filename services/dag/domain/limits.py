"""Limits of a session (SPEC-004 §11, §15.3, §17.4): each refusal names the limit and what it is."""

from dataclasses import dataclass

from services.common.errors import ErrorReason, LimitExceededError
from services.common.ports.sessions import AuditEventRecord, SessionRecord


@dataclass(frozen=True, slots=True)
class Limits:
    """What bounds a session; fixed when it begins."""

    max_windows: int
    max_fan_out: int
    max_dag_nodes: int
    max_loop_depth: int

    @classmethod
    def of(cls, session: SessionRecord) -> "Limits":
        """Return the session's limits."""
        return cls(session.max_windows, session.max_fan_out, session.max_dag_nodes, session.max_loop_depth)

    def as_tuple(self) -> tuple[int, int, int, int]:
        """Return the limits in the order of the token's ``lim``."""
        return (self.max_windows, self.max_fan_out, self.max_dag_nodes, self.max_loop_depth)

    def check_window_number(self, window_number: int) -> None:
        """Refuse a window beyond the depth (§11.1): LimitExceededError, WINDOW_LIMIT."""
        if window_number > self.max_windows:
            raise _exceeded(ErrorReason.WINDOW_LIMIT, "the session has reached max_windows", self.max_windows)

    def check_nodes(self, windows: int) -> None:
        """Refuse one more window than the DAG may hold (§11.3): LimitExceededError, DAG_NODE_LIMIT.

        Args:
            windows: windows that are there, failed ones included.
        """
        if windows >= self.max_dag_nodes:
            raise _exceeded(ErrorReason.DAG_NODE_LIMIT, "the session has max_dag_nodes windows", self.max_dag_nodes)

    def check_fan_out(self, children: int) -> None:
        """Refuse one more child than a window may have (§11.2): LimitExceededError, FAN_OUT_LIMIT.

        Args:
            children: its children that have not failed.
        """
        if children >= self.max_fan_out:
            raise _exceeded(ErrorReason.FAN_OUT_LIMIT, "the window has max_fan_out children", self.max_fan_out)

    def check_merged(self, ends: int) -> None:
        """Refuse to merge more ends of agents' sessions than a window may have children (§11.2): FAN_OUT_LIMIT."""
        if ends > self.max_fan_out:
            raise _exceeded(ErrorReason.FAN_OUT_LIMIT, "one window merges at most max_fan_out ends", self.max_fan_out)

    def check_loop_depth(self, loop_depth: int) -> None:
        """Refuse an agent that is nested too deeply (§15.3): LimitExceededError, LOOP_DEPTH_LIMIT."""
        if loop_depth > self.max_loop_depth:
            text = "the agent loop depth is over max_loop_depth"
            raise _exceeded(ErrorReason.LOOP_DEPTH_LIMIT, text, self.max_loop_depth)


def check_events(last: AuditEventRecord | None, most: int) -> None:
    """Refuse to append to a chain that holds so many events: LimitExceededError, EVENT_LIMIT.

    Args:
        last: the stored chain's last event.
        most: events from which on appending is refused.
    """
    if last is not None and last.sequence + 1 >= most:
        raise _exceeded(ErrorReason.EVENT_LIMIT, "the session holds max_session_events audit events", most)


def _exceeded(reason: ErrorReason, text: str, limit: int) -> LimitExceededError:
    return LimitExceededError(reason, f"{text}, {limit}", limit=str(limit))
