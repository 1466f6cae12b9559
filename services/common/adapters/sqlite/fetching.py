"""Reading rows whole, whatever stands in them.

Invariants: a read leaves no cursor behind, so that none keeps an old picture of the file; bytes that are no UTF-8 in a
text column come back as bytes, for the row's shape to refuse (``typed_rows``), and not as an error of the whole read.
"""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, TypeAlias

from services.common.errors import UnreadableRecordError

Row: TypeAlias = tuple[Any, ...]
Values: TypeAlias = Sequence[Any] | Mapping[str, Any]
_PRIMARY_CODE: Final = 0xFF
"""SQLite's extended codes keep the primary one in the lowest byte."""


def fetch(connection: sqlite3.Connection, statement: str, values: Values = ()) -> list[Row]:
    """Return every row of a statement."""
    try:
        return connection.execute(statement, values).fetchall()
    except sqlite3.OperationalError as error:
        if getattr(error, "sqlite_errorcode", None) is not None:
            raise
    # SQLite itself is content: a text is no UTF-8, and Python's message about it would hold the text.
    factory = connection.text_factory
    connection.text_factory = _text_or_bytes
    try:
        return connection.execute(statement, values).fetchall()
    finally:
        connection.text_factory = factory


def fetch_one(connection: sqlite3.Connection, statement: str, values: Values = ()) -> Row | None:
    """Return the first row of a statement that has one row at most."""
    rows = fetch(connection, statement, values)
    return rows[0] if rows else None


@contextmanager
def damaged_pages(record_kind: str, record_id: str, session_id: str = "") -> Iterator[None]:
    """Take a damaged page that a read of one record meets for a fault of that record; others may be whole."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorcode", 0) & _PRIMARY_CODE != sqlite3.SQLITE_CORRUPT:
            raise
        detail = "lies on a damaged page of the file"
        raise UnreadableRecordError(record_kind, record_id, detail, session_id=session_id) from error


def _text_or_bytes(raw: bytes) -> str | bytes:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw
