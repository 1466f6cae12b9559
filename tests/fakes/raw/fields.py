"""Single values: every column of every table, each in every way that SQLite would keep."""

import json
from itertools import pairwise

from tests.fakes.raw.changes import JSON_COLUMNS, KEYS, Change

SEAL_EMPTIED = "a session's seal emptied"
NOT_UTF8 = b"\xff\xfe\x41"
HALF = b"\xed\xa0\x80"
"""Half of a character, as no UTF-8 may hold it."""


def _text_ways(value):
    yield "another first character", "?", (("0" if value[:1] != "0" else "1") + value[1:],)
    yield "another last character", "?", (value[:-1] + ("A" if value[-1:] != "A" else "B"),)
    yield "without its end", "?", (value[:-1],)
    yield "half of it", "?", (value[: len(value) // 2],)
    yield "empty", "?", ("",)
    yield "one character more", "?", (value + "a",)
    yield "in other letters", "?", (value.swapcase(),)
    yield "a blob of the same bytes", "?", (value.encode(),)
    yield "a number", "?", (7,)
    yield "no UTF-8", "CAST(? AS TEXT)", (NOT_UTF8,)
    yield "half a character", "CAST(? AS TEXT)", (value.encode() + HALF,)
    yield "with a zero character", "?", (value[:3] + "\0" + value[3:],)
    yield "very long", "?", (value + "x" * 100_000,)
    yield "NULL", "NULL", ()


def _json_ways(value):
    yield "half of a list", "?", ("[",)
    yield "an object", "?", ("{}",)
    yield "JSON's null", "?", ("null",)
    yield "numbers in a list", "?", ("[1]",)
    yield "lists in a list", "?", ('[["a","b","c"]]',)
    yield "half a character in JSON", "?", ('["\\ud800"]',)
    yield "nested deeply", "?", ("[" * 20_000,)
    yield "a number of many digits", "?", ("[" + "9" * 5_000 + "]",)
    yield "with blanks", "?", (json.dumps(json.loads(value), indent=1) if value != "[]" else "[ ]",)
    yield "no UTF-8", "CAST(? AS TEXT)", (NOT_UTF8,)
    yield "a blob of the same bytes", "?", (value.encode(),)
    yield "one more", "?", (json.dumps([*json.loads(value), *(json.loads(value)[-1:] or ["x"])]),)
    yield "empty", "?", ("",)
    yield "NULL", "NULL", ()


def _integer_ways(value):
    yield "one more", "?", (value + 1,)
    yield "one less", "?", (value - 1,)
    yield "negative", "?", (-1 - value,)
    yield "out of range", "?", (2**62,)
    yield "more than 32 bits", "?", (2**40,)
    yield "a word", "?", ("abc",)
    yield "a fraction", "?", (value + 0.5,)
    yield "a blob", "?", (b"\x01",)
    yield "no UTF-8", "CAST(? AS TEXT)", (NOT_UTF8,)
    yield "the same as text", "?", (str(value),)
    yield "NULL", "NULL", ()


def _real_ways(value):
    yield "half of it", "?", (value / 2,)
    yield "negative", "?", (-value,)
    yield "without end", "?", (float("inf"),)
    yield "a word", "?", ("abc",)
    yield "a blob", "?", (b"\x01",)
    yield "the same as text", "?", (str(value),)
    yield "NULL", "NULL", ()


def _blob_ways(value):
    yield "another first bit", "?", (bytes([value[0] ^ 1]) + value[1:],)
    yield "another last bit", "?", (value[:-1] + bytes([value[-1] ^ 1]),)
    yield "without its end", "?", (value[:-1],)
    yield "without its last 32 bytes", "?", (value[:-32],)
    yield "zeros", "?", (bytes(len(value)),)
    yield "empty", "?", (b"",)
    yield "text", "?", ("abc",)
    yield "a number", "?", (7,)
    yield "NULL", "NULL", ()


def _ways(column, value):
    if isinstance(value, bytes):
        return _blob_ways(value)
    if isinstance(value, float):
        return _real_ways(value)
    if isinstance(value, int):
        return _integer_ways(value)
    return _json_ways(value) if column in JSON_COLUMNS else _text_ways(value)


def where(table, row):
    """Return a condition on the row's key and its values."""
    return " AND ".join(f"{name} = ?" for name in KEYS[table]), tuple(row[name] for name in KEYS[table])


def field_changes(rows, takes):
    """Change one value of one row.

    Args:
        rows: of a table, by table: those that may be changed.
        takes: how many rows each column and way is tried on.
    """
    for table, every in rows.items():
        for column in every[0] if every else ():
            ways = {}
            for row in every:
                for way, expression, values in _ways(column, row[column]):
                    ways.setdefault((way, type(row[column])), []).append((row, expression, values))
            for (way, _), cases in ways.items():
                step = max(1, len(cases) // takes)
                for number, (row, expression, values) in enumerate(cases[::step][:takes]):
                    condition, key = where(table, row)
                    statement = f"UPDATE {table} SET {column} = {expression} WHERE {condition}"
                    name = f"{column}: {way} ({number})"
                    spoils = table if way == "NULL" else ""
                    kind = SEAL_EMPTIED if (column, way) == ("trail_mac", "empty") else f"a value of {table}"
                    yield Change(kind, name, ((statement, (*values, *key)),), spoils=spoils)


def swapped_values(rows):
    """Let two neighbouring rows exchange a value."""
    for table, every in rows.items():
        for number, (one, two) in enumerate(pairwise(every)):
            columns = [name for name in one if one[name] != two[name]]
            for column in columns[number % 3 :: 3]:
                conditions = [where(table, row) for row in (one, two)]
                if column in KEYS[table]:
                    continue  # an exchange of keys is one of all other columns, which rows are (groups.py)
                statements = tuple(
                    (f"UPDATE {table} SET {column} = ? WHERE {condition}", (value, *key))
                    for (condition, key), value in zip(conditions, (two[column], one[column]), strict=True)
                )
                yield Change(f"a value exchanged in {table}", f"{column} {number}", statements)
