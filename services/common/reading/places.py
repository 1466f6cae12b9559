"""Where the values of a fact stand: what each is said of, by its stretch, sentence or row, heading and fact.

"Kept for 10 years, and for 30 years when a person was injured" says two things of two values. A sentence is cut between
two values into their stretches. A row of a table is cut into cells: a cell belongs to the label of its row and the head
of its column. Linear in the text.
"""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Final, TypeVar, cast

from services.common.ports.recognition import EntityKind
from services.common.reading.bounds import Bound, limit_of
from services.common.reading.clauses import clauses, finite_verb_at
from services.common.reading.labelled_rows import LabelledCell, labelled_row
from services.common.reading.lexicon import APPROXIMATORS, AUXILIARIES, FINITE_VERBS, STOPWORDS
from services.common.reading.polarity import is_negated
from services.common.reading.ratios import SHARE
from services.common.reading.sentences import sentences
from services.common.reading.terms import terms, terms_without, value_terms
from services.common.reading.text_types import Sentence, SentenceKind, Span, Value
from services.common.reading.words import words

_ItemT = TypeVar("_ItemT")
PLACED: Final = frozenset(
    {EntityKind.NUMBER, EntityKind.QUANTITY, EntityKind.MONEY, EntityKind.PERCENT, EntityKind.DATE, EntityKind.TIME}
)
"""Kinds of values that can stand in each other's place."""
_BREAK: Final = re.compile(r"[,;|\n:()]\s|\s[–—-]\s|\b(?:and|but|while|whereas|or|of which|plus)\b", re.IGNORECASE)  # noqa: RUF001
_SEPARATOR: Final = "|"
_ROW: Final = re.compile(r"[^\n]+")
_MIN_CELLS: Final = 2
_EACH: Final = re.compile(r"\b(?:each|every|per|apiece)\b", re.IGNORECASE)
_HEADING_CHARS: Final = 240
_CUE_CHARS: Final = 24
_BEFORE_CHARS: Final = 160
_BEHIND_CHARS: Final = 64
_CUE: Final = re.compile(
    r"\b(?P<word>from|to|until|till|by|since|between|and|of)\s(?:the\s)?$|(?<=[^\W_])\s?[–-]\s?$",  # noqa: RUF001
    re.IGNORECASE,
)
"""A dash between two values is read as "to"."""
_NONE: Final[frozenset[str]] = frozenset()
MAX_STRETCH_CHARS: Final = 1_000
"""Behind so many characters without a break a stretch ends with the value that stands there."""
_Read = tuple[Value | None, frozenset[str], Span]
"""A value of a line, or ``None`` for words without one; the terms of its stretch; the stretch."""


@dataclass(frozen=True, slots=True)
class Beside:
    """A value beside another: its limit, and the upper end where it opens a range ("16 to 22 kg")."""

    value: Value
    side: Bound | None
    upper: Value | None
    in_stretch: bool


@dataclass(frozen=True, slots=True)
class Place:
    """A value with what it is said of, nearest first.

    Attributes:
        stretch: terms of the value's own part of the sentence, or of its cell, the head of its column, its row's label.
        sentence: terms of the sentence or row.
        heading: terms of the fact's first line and of the last heading before the value.
        whole: terms of the whole fact.
        side: limit that is named, a negator taken in.
        cue: preposition right before the value.
        span: of the sentence or row, with offsets in the fact.
        manner: how it stands there, see ``manner``.
        label: term before a number that is a name, such as "Flat 12"; empty when it is none.
        in_table: the line is a row of cells.
        each: its stretch says of how many it is: "each", "per", "apiece".
        negated: its stretch is, besides a negator that is taken into the side.
        before: terms of the stretches before its own, which an ellipsis takes up again.
        beside: the values nearest to it in its line, which may be its conditions.
        cell: the labelled cell that it stands in: "Price per month: £79" of a row that was read from a table.
    """

    fact_index: int
    value: Value
    stretch: frozenset[str]
    sentence: frozenset[str]
    heading: frozenset[str]
    whole: frozenset[str]
    side: Bound | None
    cue: str
    span: Span
    manner: str = ""
    label: str = ""
    in_table: bool = False
    negated: bool = False
    each: bool = False
    before: AbstractSet[str] = _NONE
    beside: tuple[Beside, ...] = ()
    cell: LabelledCell | None = None


def read_places(fact_index: int, text: str, values: Sequence[Value]) -> tuple[Place, ...]:
    """Return the places of a text's values, in order."""
    found: list[tuple[Place, tuple[Beside, ...]]] = []
    lines = [row for line in sentences(text) for row in _rows(text, line)]
    head = _head(text, lines, values)
    heading, columns = _NONE, _Columns()
    whole: set[str] = set()
    at = 0
    for line in lines:
        first = at
        while at < len(values) and values[at].end <= line.end:
            at += 1
        inside = [value for value in values[first:at] if value.start >= line.start]
        cells = _cells(text, line)
        read = list(_in_cells(text, cells, inside, columns) if cells else _in_prose(text, line, inside))
        sentence = frozenset().union(*(own for _, own, _ in read), value_terms(inside))
        whole |= sentence
        if cells or "\n" in text[line.end : line.end + 2]:
            columns = columns.after(text, cells, inside)
        if line.kind is SentenceKind.HEADING or text[line.start : line.end].rstrip().endswith(":"):
            heading = sentence
        span = Span(line.start, line.end)
        row = () if cells else labelled_row(text[line.start : line.end], line.start)
        each = {part: bool(_EACH.search(text, part.start, part.end)) for part in {where for _, _, where in read}}
        here = [
            Place(
                fact_index,
                value,
                own,
                sentence,
                head | heading,
                _NONE,
                *side_and_cue(text, line.start, value),
                span,
                manner(text, value),
                label_of(text, line.start, value),
                bool(cells),
                negated(text, where, value),
                each[where],
                cell=_cell_of(row, value),
            )
            for value, own, where in read
            if value is not None and value.kind in PLACED
        ]
        here = here if cells else _with_before(here, clauses(text, line.start, line.end))
        found += [(place, _beside(here, number)) for number, place in enumerate(here)]
    everything = frozenset(whole)
    return tuple(replace(place, beside=beside, whole=everything) for place, beside in found)


def _cell_of(row: Sequence[LabelledCell], value: Value) -> LabelledCell | None:
    at = bisect_right(row, value.start, key=lambda cell: cell.start) - 1
    return row[at] if at >= 0 and value.end <= row[at].end else None


@dataclass(frozen=True, slots=True, eq=False)
class _Before(AbstractSet[str]):
    """The terms of the stretches of a clause before one of them, kept once for all of its places.

    Attributes:
        first: number of the stretch in which each term of the clause stands first; it may grow while places are read.
        stretch: number of the stretch before which they stand.
    """

    first: Mapping[str, int]
    stretch: int

    def __contains__(self, term: object) -> bool:
        return self.first.get(cast("str", term), self.stretch) < self.stretch

    def __iter__(self) -> Iterator[str]:
        return (term for term, at in self.first.items() if at < self.stretch)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __hash__(self) -> int:
        return self._hash()

    @classmethod
    def _from_iterable(cls, it: Iterable[_ItemT]) -> AbstractSet[_ItemT]:
        return frozenset(it)


def _with_before(line: Sequence[Place], parts: Sequence[Span]) -> list[Place]:
    """Return the places of a line with the terms of the stretches before each, in the same clause."""
    found, first, last, number, at = list[Place](), dict[str, int](), _NONE, 0, 0
    for place in line:
        while at + 1 < len(parts) and place.value.start >= parts[at + 1].start:
            at, first, last, number = at + 1, {}, _NONE, 0
        if place.stretch != last:
            for term in last:
                first.setdefault(term, number)
            number, last = number + 1, place.stretch
        found.append(replace(place, before=_Before(first, number)) if first else place)
    return found


def _beside(line: Sequence[Place], number: int) -> tuple[Beside, ...]:
    """Return the values near a place in its line, and those that the line begins with."""
    near = {*range(_REACH), *range(number - _REACH, number + _REACH + 1)} - {number}
    found: list[Beside] = []
    for other in sorted(at for at in near if 0 <= at < len(line)):
        one = line[other]
        following = line[other + 1] if other + 1 < len(line) else None
        is_range = following is not None and following.cue in {"to", "and"} and following.value.unit == one.value.unit
        upper = following.value if is_range and following is not None else None
        found.append(Beside(one.value, one.side, upper, one.stretch == line[number].stretch))
    return tuple(found)


_REACH: Final = 2


def _rows(text: str, line: Sentence) -> Iterator[Sentence]:
    """Yield the rows of a table that were read as one sentence; any other sentence as it is."""
    if "\n" not in text[line.start : line.end] or _SEPARATOR not in text[line.start : line.end]:
        yield line
        return
    for match in _ROW.finditer(text, line.start, line.end):
        yield replace(line, start=match.start(), end=match.end())


def _head(text: str, lines: Sequence[Sentence], values: Sequence[Value]) -> frozenset[str]:
    """Return the terms of the first line of a text that has more than one."""
    if len(lines) < _MIN_CELLS or _SEPARATOR in text[lines[0].start : lines[0].end]:
        return _NONE
    end = min(lines[0].end, lines[0].start + _HEADING_CHARS)
    return terms(text[lines[0].start : end]) | value_terms(value for value in values if value.end <= end)


_limit_of: Final = lru_cache(maxsize=8)(limit_of)
"""Asked twice of most values, one call behind the other."""


def side_and_cue(text: str, offset: int, value: Value) -> tuple[Bound | None, str]:
    """Return the limit that is named, a negator taken in, and the preposition right before the value."""
    start = max(offset, value.start - _BEFORE_CHARS)
    limit = _limit_of(text[start : value.end + _BEHIND_CHARS], start, value)
    cue = _CUE.search(text[max(0, value.start - _CUE_CHARS) : value.start])
    word = "" if cue is None else (cue["word"] or "to").lower()
    return (None if limit is None else limit[0]), word


def negated(text: str, stretch: Span, value: Value) -> bool:
    """Say whether a value's stretch is negated, a negator aside that is taken into the side of the value."""
    start, end = max(stretch.start, value.start - _BEFORE_CHARS), min(stretch.end, value.end + _BEFORE_CHARS)
    limit = _limit_of(text[start : value.end + _BEHIND_CHARS], start, value)
    if _LETTER.search(text, start, end) is None:  # nothing denies without a word
        return limit is not None and limit[1]
    verbs = [match.start() for match in _SECOND_VERB.finditer(text, start, end)]
    start = max((at for at in verbs if at < value.start), default=start)
    end = min((at for at in verbs if at >= value.end), default=end)
    turn = _NEXT_CLAUSE.search(text, value.end, end)
    end = end if turn is None else turn.start()
    return is_negated(text[start:end]) != (limit is not None and limit[1])


_LETTER: Final = re.compile(r"[^\W\d_]")
_SECOND_VERB: Final = re.compile(
    rf"\b(?:and|but|or)\s(?:{'|'.join(sorted(AUXILIARIES))})(?:\s(?:not|never)|n['\u2019]t)?\b", re.IGNORECASE
)
"""A second verb of the subject, which is denied or not for itself: "has 14 characters and shall not hold a name"."""

_NEXT_CLAUSE: Final = re.compile(r",\s(?:and|but|or)\s", re.IGNORECASE)
"""What is said of the next subject denies nothing of a value before it."""


APPOSED: Final = "apposed"
PART_OF: Final = "part of"
APART_BY: Final = "apart by"
_APART_BY: Final = re.compile(
    r"(?<!\s)\s++(?:more|less|fewer|lower|higher|longer|shorter|dearer|cheaper|larger|smaller|earlier|later|heavier"
    r"|lighter|older|younger)\b",
    re.IGNORECASE,
)
_AGED: Final = re.compile(r"\b(?:at|aged|turned|turns)\s$", re.IGNORECASE)
_OF: Final = re.compile(r"(?<!\s)\s++of\b", re.IGNORECASE)


def manner(text: str, value: Value) -> str:
    """Return how a value stands in its text.

    Between two commas or as an age, as a part of something, as a difference ("1.5 kg less"), or in none of these ways.
    """
    is_bare = value.kind is EntityKind.NUMBER and not value.unit
    if is_bare and text[max(0, value.start - 2) : value.start] == ", " and text[value.end : value.end + 1] == ",":
        return APPOSED
    if is_bare and not value.counted and _AGED.search(text[max(0, value.start - _CUE_CHARS) : value.start]):
        return APPOSED
    if value.unit == SHARE:
        return PART_OF if _OF.match(text, value.end) else ""
    return APART_BY if value.unit and _APART_BY.match(text, value.end) else ""


NUMBERED: Final = "#"
"""Label of the number of a paragraph."""


def label_of(text: str, start: int, value: Value) -> str:
    """Return the term of the word that a number names: "flat" of "Flat 12", "#" of the number of a paragraph."""
    if value.kind is not EntityKind.NUMBER or value.unit or value.counted or not value.text[:1].isdigit():
        return ""
    before = text[max(start, value.start - _CUE_CHARS) : value.start]
    if not before.rpartition("\n")[2].strip() or (before.endswith(", ") and _NUMBERED_TITLE.match(text, value.end)):
        return NUMBERED if text[value.end : value.end + 1] in {" ", ".", ")"} else ""
    match = _LABEL.search(before)
    word = match["word"].lower() if match is not None else ""
    return "" if not word or word in _NO_LABELS or word.endswith(("ed", "en", "ing")) else next(iter(terms(word)), "")


_NUMBERED_TITLE: Final = re.compile(r"\.\s[A-Z][^.:;\n]{1,80}:\s")
"""What follows the number of a section that stands over a row: "Conditions, 2. Vehicle groups: Group: A"."""
_LABEL: Final = re.compile(r"(?<![^\W_])(?P<word>[^\W\d_]+)[\s-]$")
_NO_LABELS: Final = STOPWORDS | FINITE_VERBS | APPROXIMATORS | frozenset({"least", "most", "than", "within", "exactly"})


def stretches(text: str, start: int, end: int, values: Sequence[Value], *, apart: bool = False) -> list[Span]:
    """Return the stretch of each value of ``text[start:end]``: up to the break behind the value before.

    Without a break between two values both have the words of both, unless they are to be kept apart, or have no break
    for longer than any person writes.
    """
    found: list[Span] = []
    begin, since = start, 0
    for number, (value, following) in enumerate(pairwise(values)):
        cut = cut_between(text, value.end, max(value.end, following.start))
        if cut is None and (apart or value.end - begin > MAX_STRETCH_CHARS):
            found += [Span(begin, value.end)] * (number + 1 - since)
            begin, since = value.end, number + 1
        if cut is not None:
            found += [Span(begin, cut.start())] * (number + 1 - since)
            begin, since = cut.end(), number + 1
    return found + [Span(begin, end)] * (len(values) - since)


def cut_between(text: str, start: int, end: int) -> re.Match[str] | None:
    """Return the break between two values: a semicolon, else one right before the second, else the first.

    "Five days for a partner, parent or child; two for a sibling" and "€5 for a man, woman or child, €3 for a dog" break
    behind "child", but "adults pay £5, silver and bronze members £3" breaks behind "£5".
    """
    breaks = list(_BREAK.finditer(text, start, end))
    # Behind a label the cells of a row follow, the label of one is no word of the next.
    labelled = next((at for at, one in enumerate(breaks) if text[one.start()] == ":"), len(breaks))
    apart = next((one for one in breaks[:labelled] if text[one.start()] == ";"), None)
    if apart is not None or not breaks:
        return apart
    is_list = any(one.group().lower() in _IN_LISTS for one in breaks[:-1])
    return breaks[-1] if is_list and not text[breaks[-1].end() : end].strip(_BEFORE_AMOUNTS) else breaks[0]


_IN_LISTS: Final = frozenset({"and", "or"})


_BEFORE_AMOUNTS: Final = " \t\n$€£¥~("


def _in_prose(text: str, line: Sentence, values: Sequence[Value]) -> Iterator[_Read]:
    placed = [value for value in values if value.kind in PLACED]
    if not placed:
        yield None, terms(text[line.start : line.end]), Span(line.start, line.end)
        return
    last, own, shared = None, _NONE, list[Value]()
    subject, is_label = _subject(text, line, placed[0])
    parts = clauses(text, line.start, line.end)
    subject_end = parts[1].start if len(parts) > 1 and not is_label else line.end
    spans = stretches(text, line.start, line.end, placed)
    sharing = defaultdict[Span, list[Value]](list)
    for value, span in zip(placed, spans, strict=True):
        sharing[span].append(value)
    at = 0
    for value, span in zip(placed, spans, strict=True):
        if span != last:
            shared, at = sharing[span], 0
            own, last = terms_without(text, span.start, span.end, shared), span
        yield (
            value,
            own | (subject if value.start < subject_end else _NONE) | value_terms(_others(shared, at)),
            span,
        )
        at += 1


def _others(values: Sequence[Value], at: int) -> list[Value]:
    """Return the values around one of them: of hundreds in one stretch the far ones say nothing of it."""
    return [*values[max(0, at - _AROUND) : at], *values[at + 1 : at + 1 + _AROUND]]


_AROUND: Final = 12


def _subject(text: str, line: Sentence, first: Value) -> tuple[frozenset[str], bool]:
    """Return the terms before the first verb or label, and whether all of the sentence is said of them.

    "Bereavement: five days for a parent; two for a grandparent" is, unless what follows has labels of its own.
    """
    opening = text[line.start : min(first.start, line.start + _HEADING_CHARS)]
    has_more = _LABELLED in text[first.end : line.end]
    last = opening.rfind(_LABELLED)
    is_label = last > 0 and not has_more and finite_verb_at(words(opening[last:])) is None
    lead_in = last if is_label else opening.find(_LABELLED)
    if lead_in > 0:
        return terms(opening[:lead_in]), is_label
    tokens = words(opening)
    at = finite_verb_at(tokens)
    return (terms(text[line.start : line.start + tokens[at].start]) if at else _NONE), False


_LABELLED: Final = ": "


class _Columns:
    """The heads of the columns of the table that is being read."""

    def __init__(self, heads: Sequence[frozenset[str]] = ()) -> None:
        self.heads = heads

    def after(self, text: str, cells: Sequence[Span], values: Sequence[Value]) -> "_Columns":
        """Return the heads for the next line: a first row names its columns, unless its cells name themselves."""
        if len(cells) != len(self.heads):
            named = sum(":" in text[cell.start : cell.end] for cell in cells)
            if len(cells) < _MIN_CELLS or named > 1:
                return _Columns()
            inside = [[value for value in values if cell.start <= value.start < cell.end] for cell in cells]
            return _Columns(
                [
                    terms_without(text, cell.start, cell.end, held) | value_terms(held)
                    for cell, held in zip(cells, inside, strict=True)
                ]
            )
        return self

    def of(self, number: int, cells: int) -> frozenset[str]:
        """Return the head of a cell."""
        return self.heads[number] if len(self.heads) == cells else _NONE


def _cells(text: str, line: Sentence) -> list[Span]:
    if _SEPARATOR not in text[line.start : line.end]:
        return []
    cuts = [line.start - 1, *(at for at in range(line.start, line.end) if text[at] == _SEPARATOR), line.end]
    return [Span(left + 1, right) for left, right in pairwise(cuts)]


def _in_cells(text: str, cells: Sequence[Span], values: Sequence[Value], columns: _Columns) -> Iterator[_Read]:
    at, label = 0, _NONE
    for number, cell in enumerate(cells):
        first = at
        while at < len(values) and values[at].start < cell.end:
            at += 1
        inside = values[first:at]
        own = terms_without(text, cell.start, cell.end, inside)
        context = own | columns.of(number, len(cells)) | label
        if not inside:
            yield None, own, cell
        for place, value in enumerate(inside):
            yield value, context | value_terms(_others(inside, place)), cell
        if not number:
            label = own | value_terms(inside)
