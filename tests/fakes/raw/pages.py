"""Pages of the closed file: zeroed, flipped, cut short, exchanged; and the file itself put back or cut off."""

import os
import shutil
import sqlite3
from contextlib import closing
from itertools import pairwise

from tests.fakes.raw.changes import Change

HEADER_BYTES = 100
READS = {
    "sessions": "SELECT * FROM sessions WHERE tenant_id = ? AND session_id = ?",
    "windows": "SELECT * FROM windows WHERE tenant_id = ? AND session_id = ? ORDER BY window_number, window_id",
    "edges": "SELECT * FROM edges WHERE tenant_id = ? AND session_id = ? ORDER BY target_id, source_id",
    "events": "SELECT * FROM events WHERE tenant_id = ? AND session_id = ? AND sequence > -1 ORDER BY sequence",
    "reports": "SELECT * FROM reports WHERE tenant_id = ? AND report_id > '' AND session_id = ? ORDER BY report_id",
    "leaves": "SELECT * FROM leaves WHERE tenant_id = ? AND session_id = ? ORDER BY leaf_index",
}


def page_bytes(path):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("PRAGMA page_size").fetchone()[0]


def page_changes(template):
    """Damage each page in each way; the first, which says what the file is, alone."""
    size = page_bytes(template.now)
    count = template.now.stat().st_size // size
    ways = {"zeroed": lambda old: bytes(len(old)), "half gone": _half, "bits flipped": _flipped}
    for number in range(1, count):
        for place, (way, change) in enumerate(ways.items()):
            if number % len(ways) == place:
                yield Change("a page damaged", f"{number} {way}", edit=_written(number * size, change, size))
    for one, two in pairwise(range(1, count, 2)):
        yield Change("two pages exchanged", f"{one} and {two}", edit=_exchanged(one * size, two * size, size))


def file_changes(template):
    """Cut the file off, or put an older one in its place."""
    length, size = template.now.stat().st_size, page_bytes(template.now)
    places = {f"{n} of 8 parts": length * n // 8 for n in range(8)} | {"its last page": length - size}
    places |= {"half of its last page": length - size // 2, "one byte": length - 1}
    for name, place in places.items():
        yield Change("the file cut off", name, edit=lambda path, _, place=place: os.truncate(path, place))
    for n in range(12):
        yield Change("the database's older copy", str(n), edit=lambda path, older: shutil.copyfile(older, path))


def _half(old):
    return old[: len(old) // 2] + bytes(len(old) - len(old) // 2)


def _flipped(old):
    """Flip a bit in every 97th byte behind the page's own header."""
    return bytes(byte ^ 4 if place > 100 and place % 97 == 0 else byte for place, byte in enumerate(old))


def _written(at, change, size):
    def edit(path, _older):
        with path.open("r+b") as file:
            file.seek(at)
            old = file.read(size)
            file.seek(at)
            file.write(change(old))

    return edit


def _exchanged(one, two, size):
    def edit(path, _older):
        with path.open("r+b") as file:
            pages = []
            for at in (one, two):
                file.seek(at)
                pages.append(file.read(size))
            for at, page in zip((two, one), pages, strict=True):
                file.seek(at)
                file.write(page)

    return edit


def reads_of(path, whose):
    """Return what plain SQLite reads of a session in the way in which a store looks for it; ``None`` where it cannot.

    Ids come from the index that a row is found by, so that a row may say otherwise in a place that nobody reads.
    """
    with closing(sqlite3.connect(path)) as connection:
        connection.text_factory = bytes
        return {table: _rows(connection, statement, whose) for table, statement in READS.items()}


def _rows(connection, statement, whose):
    try:
        return connection.execute(statement, whose).fetchall()
    except sqlite3.Error:
        return None
