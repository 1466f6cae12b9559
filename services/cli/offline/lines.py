"""The lines of an export, in their order: events, analyses, leaves, the log's, and facts, which the command adds.

Every line is canonical JSON (RFC 8785), so that what is hashed is what any reader of the file sees; a line that was
written anew, with a field twice or in another order, is named as such.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum, unique
from typing import Any, Final

from services.cli.export_file import ANALYSIS, FACT
from services.common.encoding import canonical_json, iso_micros
from services.common.ports.sessions import AuditEventRecord
from services.dag.transparency import exporting

_OF_EVENTS: Final = frozenset({"event_id", "event_type", "hmac", "sequence", "session_id"})
_ENOUGH_OF_AN_EVENT: Final = 3
"""So many of an event's members show that a line was one: one that lost some is a bad record, not another file's."""
_EVENT_PREFIX: Final = "AUDIT_EVENT_TYPE_"


@dataclass(frozen=True, slots=True)
class Fault:
    """The first thing that does not hold.

    Attributes:
        line: its number in the file, from 1; 0 for what concerns no line.
        record_kind: event, window, report, leaf, log, fact, checkpoint or line.
        record_id: sequence of an event, id of anything else.
        detail: what does not hold, without content.
    """

    line: int
    record_kind: str
    record_id: str
    detail: str


class BadLineError(Exception):
    """Ends the check at the first thing that does not hold."""

    def __init__(self, line: int, record_kind: str, record_id: str, detail: str) -> None:
        super().__init__(detail)
        self.fault = Fault(line, record_kind, record_id, detail)


@unique
class Part(IntEnum):
    """The parts of an export, in their order."""

    EVENT = 0
    ANALYSIS = 1
    LEAF = 2
    LOG = 3
    FACT = 4


_PARTS: Final = {ANALYSIS: Part.ANALYSIS, exporting.LEAF: Part.LEAF, exporting.LOG: Part.LOG, FACT: Part.FACT}


@dataclass(frozen=True, slots=True)
class Line:
    """One line; ``number`` counts from 1."""

    number: int
    text: str = field(repr=False)
    value: dict[str, Any] = field(repr=False)


def read_lines(texts: Sequence[str]) -> dict[Part, list[Line]]:
    """Return the lines of each part.

    Raises:
        BadLineError: a line is no canonical JSON object, or stands where it must not.
    """
    found: dict[Part, list[Line]] = {part: [] for part in Part}
    last = Part.EVENT
    for number, text in enumerate(texts, start=1):
        line = Line(number, text, _object(number, text, is_last=number == len(texts)))
        part = _part(line)
        if part < last:
            raise BadLineError(number, "line", str(number), f"is out of place: a line of kind {part.name.lower()}")
        found[part].append(line)
        last = part
    return found


def has_record(texts: Iterable[str]) -> bool:
    """Say whether any line is, or ever was, one of an export: whatever else became of the file, it is judged as one."""
    return any(_is_record(value) for value in _objects(texts))


def is_ocsf(texts: Iterable[str]) -> bool:
    """Say whether the lines are events for a SIEM, which hold no proofs."""
    return any("class_uid" in value and "activity_id" in value for value in _objects(texts))


def _objects(texts: Iterable[str]) -> Iterator[dict[str, Any]]:
    for text in texts:
        try:
            value = json.loads(text.removeprefix("\ufeff"))
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            yield value


def _is_record(value: dict[str, Any]) -> bool:
    kind = value.get("record")
    return (isinstance(kind, str) and kind in _PARTS) or len(_OF_EVENTS & value.keys()) >= _ENOUGH_OF_AN_EVENT


def event_record(line: Line) -> AuditEventRecord:
    """Return the event of a line.

    Raises:
        BadLineError: a field is missing or of another kind.
    """
    value = line.value
    try:
        data = "" if value["data"] is None else canonical_json(_dict(value["data"])).decode()
        return AuditEventRecord(
            session_id=_str(value["session_id"]),
            sequence=int(_str(value["sequence"])),
            event_id=_str(value["event_id"]),
            event_type=_str(value["event_type"]).removeprefix(_EVENT_PREFIX),
            timestamp=_moment(_str(value["timestamp"])),
            window_id=_str(value["window_id"]),
            data=data,
            hmac=_str(value["hmac"]),
            data_sha256=_str(value.get("data_sha256", "")),
        )
    except (KeyError, ValueError, TypeError):
        raise BadLineError(line.number, "event", str(value.get("sequence", "")), "is no audit event") from None


def _object(number: int, text: str, *, is_last: bool) -> dict[str, Any]:
    try:
        value = json.loads(text)
        same = canonical_json(value).decode() == text
    except (ValueError, RecursionError):
        why = "is no JSON, and the file ends with it: it may have been cut, or not be here whole" if is_last else ""
        raise BadLineError(number, "line", str(number), why or "is no JSON") from None
    if not isinstance(value, dict) or not same:
        raise BadLineError(number, "line", str(number), "is not as it was exported: it is no canonical JSON object")
    return value


def _part(line: Line) -> Part:
    if "record" not in line.value:
        return Part.EVENT
    part = _PARTS.get(str(line.value["record"]))
    if part is None:
        raise BadLineError(line.number, "line", str(line.number), "is of a kind that this version does not know")
    return part


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    iso_micros(moment)  # refuses a moment without a timezone
    return moment


def _str(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _dict(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError
    return value
