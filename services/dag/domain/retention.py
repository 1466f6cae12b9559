"""How long sessions stay: a tenant's rules, what they make due, and the events that say so (ADR 0104).

A session goes through at most three stages: an open one that nobody writes to EXPIREs, an ended one is ERASEd, an
erased one becomes a TOMBSTONE. Each has a time of its own, counted from what the stage before left.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum, unique
from typing import Any, Final

from services.common.errors import ErrorReason, PreconditionError
from services.common.ports.sessions import SessionRecord, SessionSnapshot, SessionStatus
from services.dag.domain.ending import end_session
from services.dag.domain.events import OwnEvent, PendingEvent
from services.dag.domain.repeated import is_held
from services.dag.domain.step import Step
from services.dag.domain.verification import StoredChain

IDLE_CAUSE: Final = "IDLE_EXPIRED"
RETAINED: Final = "RETENTION"
"""Reason and subject of what nobody asked for by hand."""
SHORTEST_IDLE: Final = timedelta(hours=1)
"""No rule is shorter: a session that was written to since is not looked at."""


@unique
class Stage(StrEnum):
    """What is done to a session."""

    EXPIRE = "EXPIRE"
    ERASE = "ERASE"
    TOMBSTONE = "TOMBSTONE"


STAGES: Final[Mapping[SessionStatus, Stage]] = {
    SessionStatus.OPEN: Stage.EXPIRE,
    SessionStatus.COMPLETED: Stage.ERASE,
    SessionStatus.TERMINATED: Stage.ERASE,
    SessionStatus.BROKEN: Stage.ERASE,
    SessionStatus.EXPIRED: Stage.ERASE,
    SessionStatus.ERASED: Stage.TOMBSTONE,
}
"""What comes next for a session of each status; nothing does for a tombstone. In the order in which they are walked."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What is in force for a tenant; ``None`` = never.

    Attributes:
        legal_hold: nothing of the tenant is erased or replaced.
    """

    idle_expiry: timedelta | None = None
    erase_after: timedelta | None = None
    tombstone_after: timedelta | None = None
    legal_hold: bool = False

    def after(self, stage: Stage) -> timedelta | None:
        """Return after how long a stage comes."""
        spans = {
            Stage.EXPIRE: self.idle_expiry,
            Stage.ERASE: self.erase_after,
            Stage.TOMBSTONE: self.tombstone_after,
        }
        return spans[stage]

    def due(self, session: SessionRecord, since: datetime | None, now: datetime) -> Stage | None:
        """Return what is due for the session, whatever holds it; ``None`` = nothing.

        Args:
            session: its status counts.
            since: since when it has that status; of an open one its last write.
            now: the present moment.
        """
        stage = STAGES.get(session.status)
        span = self.after(stage) if stage else None
        return stage if span is not None and since is not None and since + span <= now else None

    def not_shorter(self, span: timedelta) -> "Rules":
        """Return the rules with sessions staying open for at least this long."""
        return self if self.idle_expiry is None else replace(self, idle_expiry=max(self.idle_expiry, span))

    def holds(self, session: SessionRecord, stage: Stage) -> bool:
        """Say whether a hold keeps the stage from being done; ending a session takes nothing away."""
        return stage is not Stage.EXPIRE and (self.legal_hold or session.legal_hold)


NEVER: Final = Rules()
"""Nothing ever goes by itself."""


@dataclass(frozen=True, slots=True)
class OwnRules:
    """What a tenant set; ``None`` leaves the deployment's in force, 0 means never.

    Attributes:
        idle_expiry_s: seconds.
        erase_after_days, tombstone_after_days: days.
    """

    idle_expiry_s: int | None = None
    erase_after_days: int | None = None
    tombstone_after_days: int | None = None
    legal_hold: bool = False

    def over(self, deployment: Rules) -> Rules:
        """Return what is in force."""
        return Rules(
            idle_expiry=_span(self.idle_expiry_s, timedelta(seconds=1), deployment.idle_expiry),
            erase_after=_span(self.erase_after_days, timedelta(days=1), deployment.erase_after),
            tombstone_after=_span(self.tombstone_after_days, timedelta(days=1), deployment.tombstone_after),
            legal_hold=self.legal_hold,
        )

    def data(self) -> dict[str, Any]:
        """Return what stands in the RETENTION_SET event."""
        return {
            "idle_expiry_s": self.idle_expiry_s,
            "erase_after_days": self.erase_after_days,
            "tombstone_after_days": self.tombstone_after_days,
            "legal_hold": self.legal_hold,
        }

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> "OwnRules":
        """Read what ``data`` wrote; ValueError for anything else."""
        idle, erase, bury = (data[name] for name in ("idle_expiry_s", "erase_after_days", "tombstone_after_days"))
        if not all(number is None or type(number) is int for number in (idle, erase, bury)):
            raise ValueError("a rule is no number")
        return cls(idle, erase, bury, legal_hold=data["legal_hold"] is True)


def _span(number: int | None, unit: timedelta, deployment: timedelta | None) -> timedelta | None:
    if number is None:
        return deployment
    return number * unit or None


def expire_session(before: SessionSnapshot) -> Step:
    """End a session that nobody wrote to; pending windows fail."""
    return end_session(before, SessionStatus.EXPIRED, IDLE_CAUSE)


def check_not_held(stored: StoredChain, *, tenant_held: bool) -> None:
    """Refuse to erase what is exempt; the trail counts, not the row that repeats it.

    Raises:
        PreconditionError: SESSION_HELD.
    """
    session = stored.snapshot.session
    own = session.legal_hold or is_held(stored.events)
    if own or tenant_held:
        whose = "session" if own else "tenant"
        text = f"a legal hold on the {whose} keeps it from being erased; end the hold first"
        raise PreconditionError(ErrorReason.SESSION_HELD, text, session_id=session.session_id, held=whose)


def hold_session(before: SessionRecord, *, held: bool, reason: str, set_by: str) -> Step:
    """Place or end a legal hold; the event alone says so, and the session's row repeats it."""
    kind = OwnEvent.LEGAL_HOLD_SET if held else OwnEvent.LEGAL_HOLD_RELEASED
    return Step(before, drafts=(PendingEvent(kind, "", {"reason": reason, "set_by": set_by}),))
