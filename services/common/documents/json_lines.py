"""JSON and JSON Lines (RFC 8259): records become rows that can be read alone, each with its path.

A list of records is a table: a column for each path of a plain value, nested objects by their path (``customer.name``),
lists of plain values in one cell. Lists of records inside of a record become tables of their own below it, whose rows
repeat what the record is called. Text of several lines is read as text, tables in it as tables. An object that is no
record of a list is read as names and values. ``null`` and what is missing say nothing.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

from services.common.document_kinds import MediaType
from services.common.documents.document import Block, BlockKind, Document, Place, Table
from services.common.documents.limits import require_at_most
from services.common.documents.markdown import read_markdown
from services.common.documents.refusals import unsupported_media
from services.common.documents.table_heads import header_columns_of, header_rows_of
from services.common.documents.wording import collapse

MAX_DEPTH: Final = 200
MAX_VALUES: Final = 5_000_000
_MAX_TABLE_ROWS: Final = 10_000
_SPARSE: Final = 3
"""A table may have so many times as many cells as there are values: records of other fields begin a new one."""
_SLACK_CELLS: Final = 100
_KEYS: Final = ("id", "key", "name", "title", "code", "number", "sku", "slug", "uuid", "label")
_NAMES: Final = ("name", "title", "label", "product", "item", "model", "service", "article")
_NAME_CHARS: Final = 80
_MARKDOWN_TABLE: Final = re.compile(r"^ {0,3}\|?(?: ?:?-{3,}:? ?\|)+", re.MULTILINE)
_PLAIN_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_DEPTH_SIGN: Final = re.compile(r"[\[\]{}\"]|\\.", re.DOTALL)

Json: TypeAlias = Any
Column: TypeAlias = str


@dataclass(slots=True)
class _Record:
    """A record while it is read: its plain values by path, and what stands below it."""

    path: str
    values: dict[Column, str] = field(default_factory=dict)
    below: list[tuple[str, str, Json]] = field(default_factory=list)
    """Column, path, value of each list of records, and of each text that holds tables."""

    def name(self) -> tuple[Column, str]:
        """Return the column and value that the record is called by; its first short one where none is usual."""
        for key in _KEYS:
            found = self.values.get(key, "")
            if found and len(found) <= _NAME_CHARS:
                return key, found
        return next(((key, one) for key, one in self.values.items() if len(one) <= _NAME_CHARS), ("", ""))

    def called(self) -> tuple[str, Column]:
        """Return what an object that is in no list is called, and the column that says so; empty where none does.

        Numbers and codes are told with their column: ``id 7``. A first value that merely is short names nothing.
        """
        for key in (*_NAMES, *_KEYS):
            found = self.values.get(key, "")
            if found and len(found) <= _NAME_CHARS:
                return (found if key in _NAMES else f"{key} {found}"), key
        return "", ""


def read_json(text: str, media: MediaType) -> Document:
    """Parse JSON, or one value in each line.

    Raises:
        InvalidRequestError: UNSUPPORTED_MEDIA: no JSON, or cut off; the message says where.
        LimitExceededError: MESSAGE_TOO_LARGE: nested too deeply, or too many values.
    """
    reading = _Reading()
    if media is MediaType.JSON_LINES:
        reading.records([(f"line {number}", value) for number, value in _lines(text)])
    else:
        reading.value(_parsed(text, ""), "$")
    return Document(media.value, reading.title, tuple(reading.blocks))


def _parsed(text: str, where: str) -> Json:
    _check_depth(text)
    try:
        return json.loads(text, parse_float=str, parse_int=str, parse_constant=str)
    except json.JSONDecodeError as error:
        at = where or f"line {error.lineno}, column {error.colno}"
        cut = error.pos >= len(text.rstrip()) or "Unterminated" in error.msg
        why = "it is cut off or damaged" if cut else error.msg[:1].lower() + error.msg[1:]
        raise unsupported_media(f"the document is no JSON at {at}: {why}", detail=at) from error


def _check_depth(text: str) -> None:
    """Refuse what nests deeper than any record does, before the parser's own stack does."""
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return
    depth = deepest = 0
    quoted = False
    for match in _DEPTH_SIGN.finditer(text):
        sign = match[0]
        if sign == '"':
            quoted = not quoted
        elif quoted or sign[0] == "\\":
            continue
        elif sign in "[{":
            depth += 1
            deepest = max(deepest, depth)
        else:
            depth -= 1
    require_at_most("nested elements", deepest, MAX_DEPTH)


def _lines(text: str) -> Iterator[tuple[int, Json]]:
    start, number = 0, 0
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        number += 1
        line = text[start:end].strip()
        start = end + 1
        if line:
            yield number, _parsed(line, f"line {number}")


def _is_plain(value: Json) -> bool:
    return not isinstance(value, dict | list)


def _written(value: Json) -> str:
    """Return a plain value as text; numbers as they are written."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return collapse(str(value))


def _step(path: str, key: str) -> str:
    return f"{path}.{key}" if _PLAIN_NAME.fullmatch(key) else f"{path}[{json.dumps(key, ensure_ascii=False)}]"


class _Reading:
    """Blocks of one document."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.title = ""
        self._values = 0

    def _counted(self, number: int) -> None:
        self._values += number
        require_at_most("values", self._values, MAX_VALUES)

    def value(self, value: Json, path: str) -> None:
        """Read any value at a path."""
        if isinstance(value, list):
            self._list(value, path)
        elif isinstance(value, dict):
            self._object(value, path)
        elif _written(value):
            self._counted(1)
            self.blocks.append(Block(BlockKind.PARAGRAPH, _written(value), place=Place(path=path)))

    def _list(self, values: Sequence[Json], path: str, caption: str = "") -> None:
        if all(_is_plain(value) for value in values):
            self._counted(len(values))
            for index, value in enumerate(values):
                if _written(value):
                    place = Place(path=f"{path}[{index}]")
                    self.blocks.append(Block(BlockKind.LIST_ITEM, _written(value), place=place))
        elif values and all(isinstance(value, list) and all(map(_is_plain, value)) for value in values):
            self._rows(values, path, caption)
        else:
            self.records([(f"{path}[{index}]", value) for index, value in enumerate(values)], caption)

    def _rows(self, rows: Sequence[Sequence[Json]], path: str, caption: str) -> None:
        """Read a list of lists as the rows of a table; a first row of names is its head."""
        width = max(len(row) for row in rows)
        self._counted(width * len(rows))
        grid = tuple((*map(_written, row), *[""] * (width - len(row))) for row in rows)
        heads = header_rows_of(grid)
        places = tuple(Place(path=f"{path}[{index}]") for index in range(len(rows)))
        table = Table(grid, heads, header_columns_of(grid, heads), caption, places=places)
        self.blocks.append(Block(BlockKind.TABLE, "", place=Place(path=path), table=table))

    def _object(self, value: Mapping[str, Json], path: str) -> None:
        """Read an object that is in no list: names and values, nested objects under their names."""
        record = self._record(value, path)
        title = record.values.get("title") or record.values.get("name") or ""
        if not self.title and path == "$":
            self.title = title
        called, key = record.called()
        for column, text in record.values.items():
            term = f"{called}, {column}" if called and column != key else column
            self.blocks.append(Block(BlockKind.DEFINITION, text, place=Place(path=f"{path}.{column}"), term=term))
        for column, where, below in record.below:
            name = f"{called}, {column}" if called else column
            if isinstance(below, list):
                self._list(below, where, name)
            else:
                self._text(str(below), name, where)

    def records(self, values: Sequence[tuple[str, Json]], caption: str = "") -> None:
        """Read a list of records as tables: a new one where the fields become others, or something stands below one."""
        waiting: list[_Record] = []
        columns: dict[Column, None] = {}
        filled = 0
        for path, value in values:
            if not isinstance(value, dict):
                self._records_table(waiting, columns, caption)
                waiting, columns, filled = [], {}, 0
                self.value(value, path)
                continue
            record = self._record(value, path)
            width = len(columns.keys() | record.values.keys())
            filled += len(record.values)
            if waiting and (
                len(waiting) >= _MAX_TABLE_ROWS or width * (len(waiting) + 1) > _SPARSE * filled + _SLACK_CELLS
            ):
                self._records_table(waiting, columns, caption)
                waiting, columns, filled = [], {}, len(record.values)
            waiting.append(record)
            columns.update(dict.fromkeys(record.values))
            if record.below:
                self._records_table(waiting, columns, caption)
                waiting, columns, filled = [], {}, 0
                self._below(record)
        self._records_table(waiting, columns, caption)

    def _records_table(self, records: Sequence[_Record], columns: Mapping[Column, object], caption: str = "") -> None:
        filled = [record for record in records if record.values]
        if not filled or not columns:
            return
        heads = list(columns)
        first = filled[0].name()[0]
        if first in columns and all(record.name()[0] == first for record in filled):
            heads.remove(first)
            heads.insert(0, first)
        rows = [tuple(heads), *(tuple(record.values.get(head, "") for head in heads) for record in filled)]
        names = [row[0] for row in rows[1:]]
        places = (Place(path=filled[0].path), *(Place(path=record.path) for record in filled))
        keyed = int(len(heads) > 1 and all(names) and len(set(names)) == len(names))
        table = Table(tuple(rows), 1, keyed, caption, places=places)
        self.blocks.append(Block(BlockKind.TABLE, "", place=Place(path=filled[0].path), table=table))

    def _below(self, record: _Record) -> None:
        key, name = record.name()
        for column, path, value in record.below:
            if not isinstance(value, list):
                self._text(str(value), f"{name}, {column}" if name else column, path)
                continue
            rows = []
            for index, one in enumerate(value):
                where = f"{path}[{index}]"
                inner = self._record(one, where) if isinstance(one, dict) else _Record(where, {"": _written(one)})
                values = {f"{column}.{inside}" if inside else column: text for inside, text in inner.values.items()}
                rows.append(_Record(where, {key: name, **values} if name else values, inner.below))
            self._group(rows, key)

    def _group(self, rows: Sequence[_Record], key: str) -> None:
        """Write the rows of a nested list; the column that repeats what the record is called stays first."""
        columns: dict[Column, None] = {key: None} if key else {}
        for row in rows:
            columns.update(dict.fromkeys(row.values))
        table_rows = [tuple(columns), *(tuple(row.values.get(column, "") for column in columns) for row in rows)]
        if len(columns) * len(rows) > _SPARSE * sum(len(row.values) for row in rows) + _SLACK_CELLS:
            for row in rows:
                self._records_table([row], row.values)
        elif rows:
            places = (Place(path=rows[0].path), *(Place(path=row.path) for row in rows))
            table = Table(tuple(table_rows), 1, 0, places=places)
            self.blocks.append(Block(BlockKind.TABLE, "", place=Place(path=rows[0].path), table=table))
        for row in rows:
            if row.below:
                self._below(row)

    def _record(self, value: Mapping[str, Json], path: str) -> _Record:
        """Return an object's plain values by their paths below it."""
        record = _Record(path)
        stack = [("", path, iter(value.items()))]
        while stack:
            prefix, where, rest = stack[-1]
            key, one = next(rest, (None, None))
            if key is None:
                stack.pop()
                continue
            column, at = f"{prefix}{key}", _step(where, key)
            self._counted(1)
            if isinstance(one, dict):
                stack.append((f"{column}.", at, iter(one.items())))
            elif isinstance(one, list):
                self._listed(record, column, at, one)
            elif isinstance(one, str) and "\n" in one and _MARKDOWN_TABLE.search(one):
                record.below.append((column, at, one))
            elif _written(one):
                record.values[column] = _written(one)
        return record

    def _listed(self, record: _Record, column: str, path: str, values: Sequence[Json]) -> None:
        if all(_is_plain(value) for value in values):
            self._counted(len(values))
            text = ", ".join(_written(value) for value in values if _written(value))
            if text:
                record.values[column] = text
        elif values:
            record.below.append((column, path, values))

    def _text(self, text: str, context: str, path: str) -> None:
        """Read a text of several lines that holds a table; what stands around the table is said of its place."""
        place = Place(path=path)
        for block in read_markdown(text).blocks:
            if block.table is not None:
                table = replace(block.table, caption=block.table.caption or context)
                self.blocks.append(Block(BlockKind.TABLE, "", place=place, table=table))
            else:
                self.blocks.append(Block(BlockKind.DEFINITION, block.text, place=place, term=context))
