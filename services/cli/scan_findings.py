"""A finding of ``groundtrail scan``: where, how grave, what for; one for each place, however many rules agree."""

from bisect import bisect_right
from collections.abc import Iterator
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
        if self.line:
            return f":{self.line}:{self.column}"
        return f" ({self.place})" if self.place else ""


def findings_in(text: str, *, place: str = "", lined: bool = False) -> Iterator[Finding]:
    """Yield the findings of a text, in its order. CPU-bound, linear.

    Args:
        text: what to search.
        place: where it stands in its document.
        lined: lines and columns are told.
    """
    breaks = [at for at, char in enumerate(text) if char == "\n"] if lined else []
    for start, piece in _pieces(text):
        for match in _heaviest(find_injections(piece).matches):
            yield _finding(text, start, match, breaks, place, lined=lined)


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    start = 0
    while start < len(text):
        end = start + PIECE_CHARS
        if end < len(text):
            cut = text.rfind("\n", start, end)
            end = cut + 1 if cut > start else end
        yield start, text[start:end]
        start = end


def _heaviest(matches: tuple[Match, ...]) -> list[Match]:
    """Return of matches that overlap the heaviest."""
    kept: list[Match] = []
    for match in sorted(matches, key=lambda one: (one.start, one.end)):
        if kept and match.start < kept[-1].end:
            if match.weight > kept[-1].weight:
                kept[-1] = match
        else:
            kept.append(match)
    return kept


def _finding(text: str, start: int, match: Match, breaks: list[int], place: str, *, lined: bool) -> Finding:
    first, last = start + match.start, start + match.end
    line, column = _position(first, breaks) if lined else (0, 0)
    end_line, end_column = _position(last, breaks) if lined else (0, 0)
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
        place,
        match.layers,
    )


def _position(at: int, breaks: list[int]) -> tuple[int, int]:
    line = bisect_right(breaks, at - 1)
    return line + 1, at - (breaks[line - 1] if line else -1)
