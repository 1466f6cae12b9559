"""The changes themselves: the same ones in every run, by kind."""

import sqlite3
from contextlib import closing

from tests.fakes.raw import fields, groups, pages
from tests.fakes.raw.changes import KEYS, Change
from tests.fakes.raw.judging import Judged, tables_of
from tests.fakes.raw.template import Template

__all__ = ["CHANGES", "GROUPS", "Change", "catalogue", "nobody_found", "of_group"]

CHANGES = 2_000
"""At least."""


def catalogue(template: Template) -> list[Change]:
    """Return every change that can be made to the file, by name; constraints forbid some, and those are none."""
    sessions = template.sessions
    judged = {sessions[role] for role in ("victim", "other", "erased")}
    rows = tables_of(template.rows, judged)
    several = {table: every for table, every in rows.items() if len(every) > 1}
    one, two = sessions["victim"], sessions["other"]
    generated = [
        *fields.field_changes(rows, takes=1),
        *_thinned(fields.swapped_values(several), 2),
        *_thinned(groups.row_changes(several), 2),
        *groups.cut_trails(template, one),
        *groups.log_changes(template, one),
        *groups.session_changes(one, two),
        *groups.tombstone_changes(template, sessions["buried"], one),
        *groups.copies(((one, "victim"), (two, "other"))),
        *pages.page_changes(template),
        *pages.file_changes(template),
    ]
    return _possible(template, generated)


def _thinned(changes, every):
    return [change for change in changes if change.number % every == 0]


def _possible(template, changes):
    with closing(sqlite3.connect(template.now)) as source, closing(sqlite3.connect(template.older)) as older:
        return [change for change in changes if change.edit is not None or _can_be_made(source, older, change)]


def _can_be_made(source, older, change):
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        source.backup(connection)
        if change.attaches:
            connection.execute("ATTACH ':memory:' AS older")
            _copy_into(older, connection)
        try:
            change.run(connection)
        except sqlite3.Error:
            return False
        return True


def _copy_into(older, connection):
    for table in KEYS:
        (text,) = older.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (table,)).fetchone()
        connection.execute(text.replace(f"CREATE TABLE {table}", f"CREATE TABLE older.{table}", 1))
        rows = older.execute(f"SELECT * FROM {table}").fetchall()
        if rows:
            marks = ", ".join("?" * len(rows[0]))
            connection.executemany(f"INSERT INTO older.{table} VALUES ({marks})", rows)


GROUPS = {
    "values": ("a value",),
    "rows": ("a row", "two rows", "a session's seal"),
    "ends": ("the end", "a whole session", "an erasure", "a whole tombstone", "a tombstone", "the log"),
    "copies": ("a part of", "a session's older", "a table's", "the database's"),
    "pages": ("a page", "two pages", "the file"),
}


def of_group(changes: list[Change], group: str) -> list[Change]:
    return [change for change in changes if change.kind.startswith(GROUPS[group])]


def nobody_found(change: Change, judged: Judged) -> str:
    """Return what nobody found although somebody must; empty when nothing is amiss."""
    if not judged.missed:
        return ""
    return f"{change.kind}/{change.name}: nobody found what became of {judged.missed}"
