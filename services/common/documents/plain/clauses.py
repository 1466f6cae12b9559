"""Numbered clauses and headings that stand in one paragraph, as policies are typed: no blank line between them.

A line begins a clause where its number of several parts follows from another one ("1.2" from "1.1"): "1.5 litres" at
the beginning of a line does not, nor do measurements that happen to count on. A line is a heading of its own where it
is short, closes nothing and was broken off although the next word had room, or where it has a number and is in capitals
and what stands below it is not.
"""

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from services.common.reading.units import UNIT_WORDS

_CLAUSE: Final = re.compile(r"\s*(\d{1,3}(?:\.\d{1,3})+)\.?\s+(?=(?P<word>\S{1,40}))")
_MEASURES: Final = frozenset(
    {*UNIT_WORDS, *["%", "‰", "$", "€", "£", "percent", "times", "thousand", "million", "billion"]}
)
_NUMBER: Final = re.compile(r"\s*(?:\u00a7\s?)?(\d{1,3}(?:\.\d{1,3})*)\.?\s+(?=[^\W\d_])")
_ENDED: Final = (".", "!", "?", ":", ";", ",", '."', ".)")
_HEADING_CHARS: Final = 90
_MIN_WORDS: Final = 3
_MIN_LETTERS: Final = 3
_UNIT_LETTERS: Final = 3
"""Letters of a unit that is written in capitals, as "KG" or "KWH"; "MINUTES" in capitals is a word."""
_MOST_TITLES: Final = 2

_Parts = tuple[int, ...]


class Part(NamedTuple):
    """Lines of a paragraph, from ``start`` to before ``end``."""

    start: int
    end: int
    is_heading: bool


def clause_numbers(lines: Sequence[str]) -> frozenset[_Parts]:
    """Return the numbers of several parts with which lines begin that count on from each other or from a heading."""
    found = {_parts(match[1]) for line in lines if (match := _clause_at(line))}
    above = {_parts(match[1]) for line in lines if (match := _NUMBER.match(line))}
    known: set[_Parts] = set()
    for number in sorted(found):
        *parents, last = number
        first = last == 1 and ((*parents, 2) in found or tuple(parents) in above)
        if first or (*parents, last - 1) in known:
            known.add(number)
    return frozenset(known)


def parts_of_paragraph(lines: Sequence[str], clauses: frozenset[_Parts], width: int) -> list[Part]:
    """Return the clauses and headings of a paragraph; one part where it is one.

    Args:
        lines: of the paragraph.
        clauses: numbers that begin clauses in the text, as ``clause_numbers`` gives them.
        width: characters of the longest line of the text.
    """
    starts = {0}
    for index, line in enumerate(lines):
        match = _clause_at(line)
        if match and _parts(match[1]) in clauses:
            starts.add(index)
    heads = {index for index in range(len(lines)) if _heads_clause(lines, index, clauses)}
    heads.update(_headings(lines, starts, clauses, width))
    starts.update(heads, (index + 1 for index in heads), _below_titles(lines, clauses))
    ordered = [*sorted(starts), len(lines)]
    return [Part(start, end, start in heads) for start, end in itertools.pairwise(ordered)]


def large_heading(line: str, below: str, clauses: frozenset[_Parts]) -> int:
    """Return the parts of the number of a heading in capitals: 2 of "1.1 MINUTES OF MEETING"; 0 where it is none.

    Args:
        line: one line; a number without a full stop may be that of a house, and one of several parts that counts on
            from no other is an amount: "9.99 EUROS PER MONTH".
        clauses: numbers that begin clauses in the text, as ``clause_numbers`` gives them.
        below: what stands below it: something that is not in capitals, and does not go on with a small letter.
    """
    number = _NUMBER.match(line)
    if number is None or "." not in number[0] or not _is_large(line) or (_CLAUSE.match(line) and not _clause_at(line)):
        return 0
    parts = _parts(number[1])
    goes_on = not below.strip() or below.lstrip()[:1].islower() or _in_capitals(below)
    return 0 if goes_on or (len(parts) > 1 and parts not in clauses) else len(parts)


def _clause_at(line: str) -> re.Match[str] | None:
    """Return the number of several parts with which a line begins, unless it is of a measurement: "1.1 kg"."""
    match = _CLAUSE.match(line)
    word = match["word"].rstrip(".,;:)") if match else ""
    is_name = word[:1].isupper() and (word[1:].islower() or (word.isupper() and len(word) > _UNIT_LETTERS))
    return None if word.lower() in _MEASURES and not is_name else match


def _parts(number: str) -> _Parts:
    return tuple(int(part) for part in number.split("."))


def _heads_clause(lines: Sequence[str], index: int, clauses: frozenset[_Parts]) -> bool:
    """Say whether a line is a heading with a number, and the first clause below it stands in the next line."""
    if index + 1 >= len(lines) or not _is_short(lines[index]):
        return False
    own, below = _NUMBER.match(lines[index]), _clause_at(lines[index + 1])
    return own is not None and below is not None and _parts(below[1]) in clauses & {(*_parts(own[1]), 1)}


def _headings(lines: Sequence[str], starts: set[int], clauses: frozenset[_Parts], width: int) -> Iterator[int]:
    """Yield the numbered headings that a sentence follows: "1. Scope", then what is said of it."""
    numbered = [index for index, line in enumerate(lines) if index in starts or _NUMBER.match(line)]
    for index, end in zip(numbered, [*numbered[1:], len(lines)], strict=True):
        said = lines[index + 1 : end]
        if not said or not _NUMBER.match(lines[index]) or not _is_short(lines[index]):
            continue
        word = said[0].split()[0]
        broken_off = len(lines[index].rstrip()) + 1 + len(word) <= width and _says(said)
        if (broken_off and (word[:1].isupper() or word[:1].isdigit())) or large_heading(lines[index], said[0], clauses):
            yield index


def _below_titles(lines: Sequence[str], clauses: frozenset[_Parts]) -> Iterator[int]:
    """Yield the line below those in capitals at the top, where it says something or begins a clause."""
    end = 0
    while end < len(lines) and _is_large(lines[end]):
        end += 1
    if 0 < end <= _MOST_TITLES and end < len(lines):
        match = _clause_at(lines[end])
        numbered = _NUMBER.match(lines[end])
        if (match and _parts(match[1]) in clauses) or numbered or _says(lines[end:]):
            yield end


def _is_short(line: str) -> bool:
    text = line.strip()
    return len(text) <= _HEADING_CHARS and not text.endswith(_ENDED)


def _is_large(line: str) -> bool:
    return _in_capitals(line) and _is_short(line)


def _in_capitals(line: str) -> bool:
    letters = [character for character in line if character.isalpha()]
    return len(letters) >= _MIN_LETTERS and "".join(letters).isupper()


def _says(lines: Sequence[str]) -> bool:
    """Say whether lines are a sentence: words, up to a full stop."""
    return lines[-1].rstrip().endswith((".", "!", "?", '."', ".)")) and len(" ".join(lines).split()) >= _MIN_WORDS
