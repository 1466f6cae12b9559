"""What the properties of a node may hold: a node that holds anything else is a fault of that record (ADR 0101).

Neo4j types no property: any may be text, number, list, or gone. As ``sqlite.typed_rows`` does for rows.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from services.common.adapters.neo4j.values import Properties, moment
from services.common.adapters.stored_values import UNREADABLE, Parse, number_of, shown
from services.common.errors import UnreadableRecordError

_MISSING: Final = object()


@dataclass(frozen=True, slots=True)
class NodeShape:
    """The properties of one kind of record.

    Attributes:
        kind: as a fault names it.
        named: the properties that make up the record's id.
        plain: the type of each property that is a field of the record as it stands.
        parsed: what else is read: by field, the property and how.
        optional: those that nodes of an earlier version do not have.
    """

    kind: str
    named: Sequence[str]
    plain: Mapping[str, type]
    parsed: Mapping[str, tuple[str, Parse]] = field(default_factory=dict)
    optional: frozenset[str] = frozenset()

    def read(self, row: Properties) -> dict[str, Any]:
        """Return the record's fields.

        Raises:
            UnreadableRecordError: RECORD_UNREADABLE: names the first property that holds what it cannot.
        """
        fields: dict[str, Any] = {}
        for name, kind in self.plain.items():
            value = row.get(name, _MISSING)
            if value is _MISSING and name in self.optional:
                continue
            if type(value) is not kind:
                raise self.unreadable(row, name)
            fields[name] = value
        for name, (source, parse) in self.parsed.items():
            if source in self.optional and source not in row:
                continue
            try:
                fields[name] = parse(row[source])
            except UNREADABLE:
                raise self.unreadable(row, source) from None
        return fields

    def unreadable(self, row: Properties, name: str) -> UnreadableRecordError:
        """Return the error for a property that cannot be read."""
        record_id = " -> ".join(shown(row.get(part)) for part in self.named)
        session_id = row.get("session_id")
        return UnreadableRecordError.of_field(
            self.kind, record_id, name, session_id=session_id if isinstance(session_id, str) else ""
        )


def listed(parse: Parse) -> Callable[[Any], tuple[Any, ...]]:
    """Return what reads a list of which ``parse`` reads each member."""

    def read(values: Any) -> tuple[Any, ...]:
        if type(values) is not list:
            raise TypeError
        return tuple(parse(value) for value in values)

    return read


def text_of(value: Any) -> str:
    """Read a text; TypeError for anything else."""
    if type(value) is not str:
        raise TypeError
    return value


def whole_of(value: Any) -> int:
    """Read a number that counts; an error for anything else."""
    if type(value) is not int:
        raise TypeError
    return number_of(value)


def moment_of(value: Any) -> datetime:
    """Read a moment; an error for anything but whole microseconds."""
    if type(value) is not int:
        raise TypeError
    return moment(value)


def real_of(value: Any) -> float:
    """Read a number; Neo4j may have been given a whole one."""
    if type(value) not in (int, float):
        raise TypeError
    return float(value)


def bytes_of(value: Any) -> bytes:
    """Read bytes, which the driver gives as either type."""
    if not isinstance(value, bytes | bytearray):
        raise TypeError
    return bytes(value)
