"""A change of the raw file, and what is known of it without asking the product: what it altered, and whose it was."""

import base64
import binascii
import hashlib
import json
import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass

KEYS = {
    "sessions": ("tenant_id", "session_id"),
    "windows": ("tenant_id", "window_id"),
    "edges": ("tenant_id", "session_id", "target_id", "source_id"),
    "events": ("tenant_id", "session_id", "sequence"),
    "reports": ("tenant_id", "report_id"),
    "leaves": ("tenant_id", "leaf_index"),
    "trees": ("tenant_id",),
    "heads": ("tenant_id",),
    "cosigned_heads": ("tenant_id",),
    "store_identity": ("store_id",),
    "key_checks": ("key_version",),
    "receipts": ("tenant_id", "rpc", "request_id"),
    "feed_positions": ("consumer", "tenant_id"),
    "feed_claims": ("consumer",),
}
RECORDS = ("sessions", "windows", "edges", "events", "reports")
LOG = ("leaves", "trees", "heads")
BOOKKEEPING = {
    "cosigned_heads": "what witnesses cosigned is no record, and is asked for again",
    "store_identity": "which store it is is no record",
    "key_checks": "which master key the records were made with is no record, and is looked at when a process starts",
    "receipts": "a remembered answer is no record",
    "feed_positions": "how far the event sink has read is no record",
    "feed_claims": "who sends to the event sink is no record",
}
JSON_COLUMNS = {"parent_ids", "facts_included", "facts_deferred"}
SEALED_COLUMNS = {"response_text", "data", "body", "inputs", "failure_reason"}
MARK = "gtseal1."


@dataclass(frozen=True)
class Change:
    """One change.

    Attributes:
        kind: of the table in the docs.
        name: unlike every other's.
        statements: SQL and values, run in one transaction by a plain connection.
        edit: what is done to the closed file instead.
        attaches: whether the statements read the older copy, as ``older``.
        spoils: columns of a table from which NOT NULL is taken away for the change: what a cut in the page can do.
    """

    kind: str
    name: str
    statements: tuple = ()
    edit: Callable | None = None
    attaches: bool = False
    spoils: str = ""

    @property
    def number(self):
        return int.from_bytes(hashlib.sha256(f"{self.kind}/{self.name}".encode()).digest()[:8])

    @property
    def restarts(self):
        """Whether it is made while no server has the file open."""
        return self.edit is not None or self.number % 2 == 0

    @property
    def written_after(self):
        """Whether an honest client goes on with the changed session before anybody looks."""
        return self.number // 2 % 3 == 0

    def make(self, path, older):
        if self.edit is not None:
            self.edit(path, older)
            return
        with closing(sqlite3.connect(path, isolation_level=None, timeout=30)) as connection:
            if self.attaches:
                connection.execute("ATTACH ? AS older", (str(older),))
            self.run(connection)

    def run(self, connection):
        whole = _without_not_null(connection, self.spoils) if self.spoils else None
        connection.execute("BEGIN IMMEDIATE")
        try:
            for statement, values in self.statements:
                connection.execute(statement, values)
            connection.execute("COMMIT")
        except sqlite3.Error:
            connection.execute("ROLLBACK")
            raise
        finally:
            if whole is not None:
                _set_schema(connection, self.spoils, whole)


def _without_not_null(connection, table):
    (whole,) = connection.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (table,)).fetchone()
    _set_schema(connection, table, whole.replace(" NOT NULL", ""))
    return whole


def _set_schema(connection, table, text):
    version = connection.execute("PRAGMA schema_version").fetchone()[0]
    connection.execute("PRAGMA writable_schema = ON")
    connection.execute("UPDATE sqlite_schema SET sql = ? WHERE name = ?", (text, table))
    connection.execute(f"PRAGMA schema_version = {version + 1}")
    connection.execute("PRAGMA writable_schema = RESET")


def rows_of(connection):
    """Return every row of every table as a dict."""
    connection.text_factory = _text
    try:
        found = {}
        for table in KEYS:
            cursor = connection.execute(f"SELECT * FROM {table}")
            names = [column[0] for column in cursor.description]
            found[table] = [dict(zip(names, row, strict=True)) for row in cursor]
        return found
    finally:
        connection.text_factory = str


def rows_in(path):
    with closing(sqlite3.connect(path)) as connection:
        return rows_of(connection)


def _text(raw):
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return bytes(raw)


def said(table, row):
    """Return what a row says, whatever way it is spelt: the bytes under base64, the values under JSON."""
    return tuple((name, type(value).__name__, _meaning(name, value)) for name, value in sorted(row.items()))


def _meaning(name, value):
    if name in JSON_COLUMNS and isinstance(value, str):
        try:
            return json.dumps(json.loads(value))
        except (ValueError, RecursionError):
            return value
    if name in SEALED_COLUMNS and isinstance(value, str) and value.startswith(MARK):
        text = value[len(MARK) :]
        try:
            return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        except (ValueError, binascii.Error):
            return value
    return value


@dataclass(frozen=True)
class Difference:
    """What a change altered.

    Attributes:
        tables: of which rows say something else now.
        sessions: of which.
        named: the records that may be named for it.
        windows: those that an altered row is or belongs to.
        bookkeeping: the tables of no record that it altered.
    """

    tables: frozenset
    sessions: frozenset
    named: frozenset
    windows: frozenset
    bookkeeping: frozenset


def meanings(rows):
    """Return what every table says, to compare with another state."""
    return {table: Counter(said(table, row) for row in rows[table]) for table in KEYS}


def difference(before, after):
    """Compare two states of the file, as ``meanings`` gives them."""
    tables, sessions, named, windows, bookkeeping = set(), set(), set(), set(), set()
    for table in KEYS:
        old, new = before[table], after[table]
        if old == new:
            continue
        (bookkeeping if table in BOOKKEEPING else tables).add(table)
        for changed in ((old - new), (new - old)):
            for row in map(_row, changed):
                if isinstance(row.get("session_id"), str) and table not in BOOKKEEPING:
                    sessions.add(row["session_id"])
                named |= names(table, row)
                windows |= {shown(row[name]) for name in ("window_id", "source_id", "target_id") if row.get(name)}
    return Difference(*map(frozenset, (tables, sessions, named, windows, bookkeeping)))


def _row(meaning):
    return {name: value for name, _, value in meaning}


def names(table, row):
    """Return how a fault may name a row."""
    of = {
        "windows": (("window", "window_id"), ("window", "continuation_id"), ("leaf", "window_id")),
        "events": (("event", "sequence"), ("leaf", "event_id")),
        "reports": (("report", "report_id"),),
        "sessions": (("session", "session_id"),),
        "leaves": (
            ("leaf", "record_id"),
            ("leaf", "leaf_index"),
            ("window", "record_id"),
            ("event", "record_id"),
            ("event", "position"),
        ),
        "trees": (("log", "tenant_id"),),
        "heads": (("log", "tenant_id"),),
    }
    if table == "edges":
        ends = (row["source_id"], row["target_id"])
        return {("edge", " -> ".join(show(end) for end in ends)) for show in (shown, whole)}
    return {(kind, show(row[column])) for kind, column in of.get(table, ()) for show in (shown, whole)}


def whole(value):
    """Return an id as a fault of a record that can be read names it."""
    return value if isinstance(value, str) else shown(value)


def shown(value):
    """Return an id as a fault of a record that does not parse names it: cut, and whatever it has become."""
    if isinstance(value, bytes):
        return value.decode(errors="backslashreplace")[:200]
    return "?" if value is None or isinstance(value, float) else str(value)[:200]
