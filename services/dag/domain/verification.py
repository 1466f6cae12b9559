"""What a verification is of, and what it finds (SPEC-004 §9.4): the stored chain, its integrity, the first fault."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from services.common.ports.sessions import AuditEventRecord, ReportRecord, SessionSnapshot
from services.common.ports.transparency_log import LogLeaf
from services.common.taxonomy import ChainIntegrity


@dataclass(frozen=True, slots=True)
class Fault:
    """The first record that does not hold.

    Attributes:
        record_kind: event, session, window, edge, report or leaf; log where a page of the log is damaged.
        record_id: its id; ``source -> target`` for an edge, the sequence for an event; for a leaf its
            record's id, or its index where it has none.
        detail: what does not hold, without content.
    """

    record_kind: str
    record_id: str
    detail: str


@dataclass(frozen=True, slots=True)
class StoredChain:
    """One session as it is stored: events up to the snapshot's last, reports of its windows, its leaves by index."""

    snapshot: SessionSnapshot
    events: tuple[AuditEventRecord, ...]
    reports: tuple[ReportRecord, ...]
    leaves: tuple[LogLeaf, ...] = ()


@dataclass(frozen=True, slots=True)
class Verification:
    """What was found.

    Attributes:
        windows_verified, windows_total: committed windows that were recomputed and match; all committed ones.
        events_verified, events_total: the same of audit events.
        integrity: TRUNCATED when the content was erased and what is left holds.
        fault: set exactly when BROKEN.
        tips: HMACs of the committed leaves, sorted.
        partial_reason: set exactly when PARTIAL.
        quality_before: for each adopted leaf, the quality history up to and including it at the other instance.
    """

    integrity: ChainIntegrity
    windows_verified: int
    windows_total: int
    events_verified: int
    events_total: int
    fault: Fault | None = None
    tips: tuple[str, ...] = ()
    partial_reason: str = ""
    quality_before: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def not_read(fault: Fault) -> Verification:
    """Return what is found of a chain of which a record does not parse: nothing was recomputed."""
    return Verification(ChainIntegrity.BROKEN, 0, 0, 0, 0, fault=fault)
