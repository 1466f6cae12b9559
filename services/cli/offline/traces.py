"""Checking an exported ERCP trace by itself: form, order, fingerprints, with the node key every signature (ADR 0073).

A trace's key follows from the node key and the trace's session, whose id follows from tenant and trace.
"""

import hmac
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum, unique
from pathlib import Path
from typing import Any, Final

from services.common.ids import trace_session_id
from services.ercp.domain.trace import from_document
from services.ercp.node_key import SIGNATURE, signature, trace_key

TENANT: Final = "tenant:"
_FINGERPRINT: Final = re.compile(r"sha256:[0-9a-f]{64}")


@unique
class TraceVerdict(StrEnum):
    """What a check found."""

    VALID = "VALID"
    UNSIGNED = "UNSIGNED"
    """Nothing is wrong, but no key was given, so that no signature was checked."""
    BROKEN = "BROKEN"


@dataclass(frozen=True, slots=True)
class CheckedTrace:
    """A finished check; ``faults`` name what does not hold, in order."""

    verdict: TraceVerdict
    events: int
    signatures: int
    faults: tuple[str, ...] = ()


def read_trace(source: Path) -> Any:
    """Read an exported trace.

    Raises:
        ValueError: the file holds no JSON in UTF-8, or an object names a field twice, so that readers may differ on it.
        OSError: it cannot be read.
    """
    try:
        return json.loads(source.read_text(encoding="utf-8"), object_pairs_hook=_once)
    except RecursionError:
        msg = "nested too deeply"
        raise ValueError(msg) from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        msg = "an object names a field twice"
        raise ValueError(msg)
    return fields


def check_trace(document: Any, node_key: bytes | None, session: str) -> CheckedTrace:
    """Check what GetTrace answered, as JSON.

    Args:
        document: of the file.
        node_key: 32 bytes; ``None`` leaves the signatures unchecked.
        session: id of the trace's session, or ``tenant:`` and the tenant's id.
    """
    events = document.get("trace_events") if isinstance(document, Mapping) else None
    if not isinstance(events, list):
        return CheckedTrace(TraceVerdict.BROKEN, 0, 0, ("the file holds no trace",))
    trace_id = str(document.get("trace_id", ""))
    faults = [f"event {number}: {fault}" for number, event in enumerate(events) for fault in _of_event(event, trace_id)]
    faults += _of_order(events)
    checked = 0
    if node_key is not None:
        for place, part in [*((f"event {n}", event) for n, event in enumerate(events)), ("the trace", document)]:
            holds = _holds(node_key, session, trace_id, part)
            checked += holds
            faults += [] if holds else [f"{place}: the signature does not hold"]
    clean = TraceVerdict.UNSIGNED if node_key is None else TraceVerdict.VALID
    return CheckedTrace(TraceVerdict.BROKEN if faults else clean, len(events), checked, tuple(faults))


def _holds(node_key: bytes, session: str, trace_id: str, part: Any) -> bool:
    """Say whether a part is signed; what no canonical JSON can hold (NaN, half a character) nobody has signed."""
    try:
        name = trace_session_id(session.removeprefix(TENANT), trace_id) if session.startswith(TENANT) else session
        expected = signature(trace_key(node_key, name), part)
        return hmac.compare_digest(str(part.get(SIGNATURE, "")).encode(), expected.encode())
    except (ValueError, TypeError, AttributeError):
        return False


def _of_event(event: Any, trace_id: str) -> Iterator[str]:
    try:
        read = from_document(event)
        fingerprint = read.identity.fingerprint
    except (KeyError, ValueError, TypeError, AttributeError):
        yield "is no trace event"
        return
    if read.trace_id != trace_id:
        yield "is of another trace"
    if not _FINGERPRINT.fullmatch(str(event.get("model_fingerprint"))):
        yield "has no model fingerprint"
    elif event["model_fingerprint"] != fingerprint:
        yield "has a model fingerprint that does not follow from its model identity"


def _of_order(events: list[Any]) -> Iterator[str]:
    times = [str(event.get("timestamp")) for event in events if isinstance(event, Mapping)]
    if times != sorted(times):
        yield "the events are not in the order of their times"
    ids = [str(event.get("event_id")) for event in events if isinstance(event, Mapping)]
    if len(set(ids)) != len(ids):
        yield "an event stands in the trace twice"
