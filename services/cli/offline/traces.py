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
from services.ercp.node_key import SIGNATURE, key_id, signature, trace_key

TENANT: Final = "tenant:"
_FINGERPRINT: Final = re.compile(r"sha256:[0-9a-f]{64}")


@unique
class TraceVerdict(StrEnum):
    """What a check found."""

    VALID = "VALID"
    UNSIGNED = "UNSIGNED"
    """Nothing is wrong, but no key was given, so that no signature was checked."""
    OTHER_KEY = "OTHER_KEY"
    """Another key signed it than the one that was given, or follows from tenant and session: nothing was checked."""
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
    if node_key is None:
        return CheckedTrace(TraceVerdict.BROKEN if faults else TraceVerdict.UNSIGNED, len(events), 0, tuple(faults))
    key = _key_of(node_key, session, trace_id)
    parts = [*((f"event {number}", event) for number, event in enumerate(events)), ("the trace", document)]
    unsigned = [place for place, part in parts if key is None or not _holds(key, part)]
    other = _other_key(document, node_key, key) if len(unsigned) == len(parts) and not faults else ""
    if other:
        return CheckedTrace(TraceVerdict.OTHER_KEY, len(events), 0, (other,))
    faults += [f"{place}: the signature does not hold" for place in unsigned]
    verdict = TraceVerdict.BROKEN if faults else TraceVerdict.VALID
    return CheckedTrace(verdict, len(events), len(parts) - len(unsigned), tuple(faults))


def _key_of(node_key: bytes, session: str, trace_id: str) -> bytes | None:
    """Return the key of a trace; an id that is no text has none."""
    try:
        name = trace_session_id(session.removeprefix(TENANT), trace_id) if session.startswith(TENANT) else session
        return trace_key(node_key, name)
    except ValueError:
        return None


def _other_key(document: Mapping[str, Any], node_key: bytes, key: bytes | None) -> str:
    """Say by the key ids that the trace names which key is another; empty where it names these very keys (ADR 0115).

    Asked only where no signature at all holds: with one that does, the key is this one and the rest was altered.
    """
    named, mine = document.get("node_key_id"), key_id(node_key)
    if not isinstance(named, str) or not named:
        return ""  # of a server that named none
    if named != mine:
        return f"the trace was signed with another node key: {named[:40]} signed it, {mine} was given; see --node-key"
    of_trace, own = document.get("trace_key_id"), "" if key is None else key_id(key)
    if of_trace == own:
        return ""
    told = str(of_trace)[:40]
    return (
        f"the key of the trace is another: {told} signed it, {own} follows from this tenant or session; "
        "see --tenant and --session"
    )


def _holds(key: bytes, part: Any) -> bool:
    """Say whether a part is signed; what no canonical JSON can hold (NaN, half a character) nobody has signed."""
    try:
        expected = signature(key, part)
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
