"""A finding of ``groundtrail scan``: where, how grave, what for; one for each place, however many rules agree."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from services.common.injection.searching import Match, find_injections

LEVELS: Final = {"low": 0.0, "medium": 0.5, "high": 0.7}
"""Least weight of each level."""
PIECE_CHARS: Final = 200_000
"""A longer text is searched in pieces of about so much, parted between lines."""
_AROUND: Final = 40
_MAX_EXCERPT: Final = 200


@dataclass(frozen=True, slots=True)
class Finding:
    """One place.

    Attributes:
        line: from 1; 0 where the document has no lines.
        column: from 1; 0 likewise.
        place: page or part, as people say it; empty in a text.
        rule_id: the rule of the largest weight.
        layers: which disguises were taken off.
    """

    level: str
    weight: float
    rule_id: str
    pattern_class: str
    tells: str
    excerpt: str
    line: int = 0
    column: int = 0
    end_line: int = 0
    end_column: int = 0
    place: str = ""
    layers: tuple[str, ...] = ()

    @property
    def where(self) -> str:
        """The place behind the file's name."""
        at = f":{self.line}:{self.column}" if self.line else ""
        return f"{at} ({self.place})" if self.place else at


@dataclass(frozen=True, slots=True)
class Spot:
    """A match with its place in a whole text.

    Attributes:
        start: in the whole text.
        end: one past its last character there.
        place: what part of the text that is, as people say it.
    """

    match: Match
    start: int
    end: int
    place: str = ""


def findings_in(text: str, *, place: str = "", lined: bool = False) -> Iterator[Finding]:
    """Yield the findings of a text, in its order. CPU-bound, linear.

    Args:
        text: what to search.
        place: where it stands in its document.
        lined: lines and columns are told.
    """
    breaks = breaks_of(text) if lined else None
    for spot in spots_in(text, place=place):
        yield finding_at(text, spot, breaks)


def spots_in(text: str, offset: int = 0, place: str = "") -> Iterator[Spot]:
    """Yield the heaviest matches of a text that stands at an offset of a whole one."""
    for start, piece in _pieces(text):
        found = (
            Spot(match, offset + start + match.start, offset + start + match.end, place)
            for match in find_injections(piece).matches
        )
        yield from heaviest(found)


def heaviest(spots: Iterable[Spot]) -> list[Spot]:
    """Return of matches that overlap the heaviest, of such of one weight the first."""
    kept: list[Spot] = []
    for spot in sorted(spots, key=lambda one: (one.start, one.end)):
        if kept and spot.start < kept[-1].end:
            if spot.match.weight > kept[-1].match.weight:
                kept[-1] = spot
        else:
            kept.append(spot)
    return kept


def breaks_of(text: str) -> list[int]:
    """Return where the lines of a text end."""
    return [at for at, char in enumerate(text) if char == "\n"]


def finding_at(text: str, spot: Spot, breaks: Sequence[int] | None = None) -> Finding:
    """Return what is told of a match.

    Args:
        text: the whole text.
        spot: the match.
        breaks: where its lines end; ``None`` = lines are not told.
    """
    first, last, match = spot.start, spot.end, spot.match
    line, column = (0, 0) if breaks is None else _position(first, breaks)
    end_line, end_column = (0, 0) if breaks is None else _position(last, breaks)
    weight = round(match.weight, 4)
    level = next(name for name in ("high", "medium", "low") if weight >= LEVELS[name])
    before, after = text[max(0, first - _AROUND) : first], text[last : last + _AROUND]
    excerpt = " ".join(f"{before}{text[first:last][:_MAX_EXCERPT]}{after}".split())
    return Finding(
        level,
        weight,
        match.rule_id,
        str(match.pattern_class),
        match.tells,
        excerpt,
        line,
        column,
        end_line,
        end_column,
        spot.place,
        match.layers,
    )


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    start = 0
    while start < len(text):
        end = start + PIECE_CHARS
        if end < len(text):
            cut = text.rfind("\n", start, end)
            end = cut + 1 if cut > start else end
        yield start, text[start:end]
        start = end


def _position(at: int, breaks: Sequence[int]) -> tuple[int, int]:
    line = bisect_right(breaks, at - 1)
    return line + 1, at - (breaks[line - 1] if line else -1)
