"""What the columns of a row may hold: a row that holds anything else is a fault of that record (ADR 0101).

SQLite keeps what it is given: a text column holds a blob, an integer column a word, a column of JSON half a list. One
comparison of types and one reading of each column that is more than text and number tell such a row from a good one.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from services.common.adapters.stored_values import UNREADABLE, Parse, shown, strings_in
from services.common.errors import UnreadableRecordError

_ESCAPED: Final = "\\u"
"""Half of a character can be written in JSON, and nowhere else that a row comes from."""


@dataclass(frozen=True, slots=True)
class RowShape:
    """The columns of one kind of record.

    Attributes:
        kind: as a fault names it.
        columns: their names, in the order of the row.
        types: which type each value must have; SQLite's NULL is none of them.
        parsed: places of the columns that are read further, and how.
        named: places of the columns that make up the record's id.
        session: place of the session's id; ``None`` for what belongs to none.
        optional: columns that may hold NULL; what reads them further is given it.
    """

    kind: str
    columns: tuple[str, ...]
    types: tuple[type, ...]
    parsed: tuple[tuple[int, Parse], ...]
    named: tuple[int, ...]
    session: int | None
    optional: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls,
        kind: str,
        columns: str,
        *,
        named: Sequence[str],
        types: Mapping[str, type],
        parsed: Mapping[str, Parse],
        optional: Sequence[str] = (),
    ) -> "RowShape":
        """Return the shape of ``columns``, a list as it stands in a statement; what ``types`` leaves out is text."""
        names = tuple(columns.split(", "))
        return cls(
            kind=kind,
            columns=names,
            types=tuple(types.get(name, str) for name in names),
            parsed=tuple((names.index(name), parse) for name, parse in parsed.items()),
            named=tuple(names.index(name) for name in named),
            session=names.index("session_id") if "session_id" in names else None,
            optional=frozenset(optional),
        )

    def read(self, row: Sequence[Any]) -> list[Any]:
        """Return the row's values, those of ``parsed`` columns read.

        Raises:
            UnreadableRecordError: RECORD_UNREADABLE: names the first column that holds what it cannot.
        """
        if tuple(map(type, row)) != self.types:
            self._check_types(row)
        values = list(row)
        for at, parse in self.parsed:
            try:
                values[at] = parse(values[at])
            except UNREADABLE:
                raise self._unreadable(row, at) from None
        return values

    def _check_types(self, row: Sequence[Any]) -> None:
        for at, (value, kind, name) in enumerate(zip(row, self.types, self.columns, strict=True)):
            if type(value) is not kind and not (value is None and name in self.optional):
                raise self._unreadable(row, at)

    def _unreadable(self, row: Sequence[Any], wrong: int) -> UnreadableRecordError:
        name = " -> ".join(shown(row[at]) for at in self.named)
        session_id = "" if self.session is None else shown(row[self.session])
        return UnreadableRecordError.of_field(self.kind, name, self.columns[wrong], session_id=session_id)


def strings_of(text: str) -> tuple[str, ...]:
    """Read a JSON list of strings; ValueError for anything else."""
    if text == "[]":
        return ()
    values = strings_in(_list(text))
    if _ESCAPED in text:
        "".join(values).encode()  # half a character is a UnicodeEncodeError, a ValueError
    return values


def pairs_of(text: str) -> tuple[tuple[str, int], ...]:
    """Read a JSON list of pairs of a string and an integer; ValueError for anything else."""
    if text == "[]":
        return ()
    pairs = [tuple(pair) for pair in _list(text)]
    if any(tuple(map(type, pair)) != (str, int) for pair in pairs):
        raise ValueError
    "".join(pair[0] for pair in pairs).encode()
    return tuple(pairs)


def _list(text: str) -> list[Any]:
    values = json.loads(text)
    if type(values) is not list:
        raise ValueError
    return values
