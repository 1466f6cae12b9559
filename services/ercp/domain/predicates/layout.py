"""Lists, tables and rows of a text: what is an item, what is its label, what stands over a column (ADR 0116).

Linear in the text: every line is looked at once.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum, unique
from itertools import groupby
from typing import Final

from services.ercp.domain.predicates.facts import Span, TextFacts

_LINE: Final = re.compile(r"[^\n]+")
_ITEM: Final = re.compile(
    r"\s{0,12}(?P<mark>[-*•+\u2013]|\(?\d{1,3}[.)]|\d{1,3}(?:\.\d{1,3}){1,3}\.?|\(?[a-z][.)]|\([A-Z]\))\s{1,4}(?P<body>\S.*)"
)
_LABELLED: Final = re.compile(r"\s{0,12}(?P<label>[^\s:|.!?][^:|.!?\n]{0,60}?)\s?:\s+(?P<body>\S.*)")
_TIMED: Final = re.compile(
    r"\s{0,12}(?P<label>\d{1,2}[:.]\d\d(?:\s?[ap]\.?m\.?)?)\s*[-\u2013:]?\s+(?P<body>\S.*)",
    re.IGNORECASE,
)
_RULE: Final = frozenset("|:+=- \t")
_LEAST_ROWS: Final = 2


@unique
class Kind(StrEnum):
    """What a block of lines is."""

    LIST = "list"
    TABLE = "table"
    ROWS = "rows"


@dataclass(frozen=True, slots=True)
class Row:
    """An item or a row: its place, the mark or label before it, what it says, and the cells of a table's row."""

    span: Span
    label: str
    body: str
    cells: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Block:
    """Lines of one kind that follow each other.

    Attributes:
        heads: over the columns of a table; empty for anything else.
        intro: the line before the block.
    """

    kind: Kind
    rows: tuple[Row, ...]
    heads: tuple[str, ...] = ()
    intro: str = ""


def blocks_of(facts: TextFacts) -> Sequence[Block]:
    """Return the lists, tables and rows of a text, read once."""
    found = facts.selected.get(Block)
    if not isinstance(found, tuple):
        found = facts.selected[Block] = tuple(_blocks(facts.text))
    return found


def _blocks(text: str) -> Iterator[Block]:
    lines = [(match.group(), match.start(), match.end()) for match in _LINE.finditer(text) if match.group().strip()]
    intro = ""
    for kind, group in groupby(lines, key=lambda line: _kind(line[0])):
        listed = list(group)
        if kind is not None and len(listed) >= _LEAST_ROWS:
            yield _table(listed, intro) if kind is Kind.TABLE else _listed(kind, listed, intro)
        intro = listed[-1][0].strip()


def _kind(line: str) -> Kind | None:
    if line.lstrip().startswith("|"):
        return Kind.TABLE
    if _TIMED.fullmatch(line):
        return Kind.ROWS
    if _ITEM.fullmatch(line):
        return Kind.LIST
    return Kind.ROWS if _LABELLED.fullmatch(line) else None


def _listed(kind: Kind, lines: Sequence[tuple[str, int, int]], intro: str) -> Block:
    rows = []
    for line, start, end in lines:
        match = _ITEM.fullmatch(line) if kind is Kind.LIST else _TIMED.fullmatch(line) or _LABELLED.fullmatch(line)
        assert match is not None
        label = match["mark"] if kind is Kind.LIST else match["label"]
        rows.append(Row(Span(start, end), label.strip(), match["body"].strip()))
    return Block(kind, tuple(rows), intro=intro)


def _table(lines: Sequence[tuple[str, int, int]], intro: str) -> Block:
    cut = [(_cells(line), start, end) for line, start, end in lines if not set(line) <= _RULE]
    has_rule = len(cut) < len(lines)
    heads = cut[0][0] if cut and has_rule else ()
    rows = [Row(Span(start, end), cells[0], " | ".join(cells[1:]), cells) for cells, start, end in cut[bool(heads) :]]
    return Block(Kind.TABLE, tuple(rows), heads, intro)


def _cells(line: str) -> tuple[str, ...]:
    return tuple(cell.strip() for cell in line.strip().strip("|").split("|"))
