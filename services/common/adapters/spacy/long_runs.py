"""Runs without white space, made short enough for spaCy's tokenizer, and the way back to the places in the source.

The tokenizer takes one mark after another from either end of a run and looks at all the rest each time: the work grows
with the square of a run's length, in C, with the interpreter's lock held. So a run of more than ``LONGEST_RUN`` code
points is broken by blanks, and what people write as a ruler (marks in a row) is shortened first: the marks beyond say
nothing about names, and each would be a token to compute.

Pure. A text without such a run is given back as it is: what people write is read exactly as it stands.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

LONGEST_RUN: Final = 256
"""Code points; the longest words, paths and links of documents are shorter."""
LONGEST_MARKS: Final = 64
"""Of the marks in a row of a longer run so many are kept."""
_RUN: Final = re.compile(r"\S+")
_MARKS: Final = re.compile(rf"([\W_]{{{LONGEST_MARKS}}})[\W_]+")
"""Within a run, which has no white space."""


@dataclass(frozen=True, slots=True)
class ShortRuns:
    """A text that can be tokenised in time, and where its stretches stand in the source.

    Attributes:
        text: the source, perhaps with blanks more and marks less.
        starts: where each stretch begins in ``text``.
        origins: where each of them begins in the source.
    """

    text: str
    starts: tuple[int, ...] = (0,)
    origins: tuple[int, ...] = (0,)

    def place(self, start: int, end: int) -> tuple[int, int] | None:
        """Return where a stretch of ``text`` stands in the source; ``None`` when it reaches over marks left out."""
        low, high = self._origin(start), self._origin(end - 1) + 1
        return None if high - low > end - start else (low, high)

    def _origin(self, at: int) -> int:
        index = bisect_right(self.starts, at) - 1
        return self.origins[index] + at - self.starts[index]


def with_short_runs(source: str) -> ShortRuns:
    """Return the text for the tokenizer."""
    if max(map(len, source.split()), default=0) <= LONGEST_RUN:
        return ShortRuns(source)
    parts: list[str] = []
    starts, origins = [0], [0]
    size = done = 0
    for run in _RUN.finditer(source):
        if run.end() - run.start() <= LONGEST_RUN:
            continue
        gap = source[done : run.start()]
        for start, end in _pieces(source, *run.span()):
            parts += (gap, source[start:end])
            starts.append(size + len(gap))
            origins.append(start)
            size += len(gap) + end - start
            gap = " "
        done = run.end()
        starts.append(size)
        origins.append(done)
    parts.append(source[done:])
    return ShortRuns("".join(parts), tuple(starts), tuple(origins))


def _pieces(source: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the stretches of a long run that are read, each of at most ``LONGEST_RUN``."""
    for low, high in _without_rulers(source, start, end):
        at = low
        while high - at > LONGEST_RUN:
            cut = _cut(source, at)
            yield at, cut
            at = cut
        yield at, high


def _without_rulers(source: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    for marks in _MARKS.finditer(source, start, end):
        yield start, marks.end(1)
        start = marks.end()
    if start < end:
        yield start, end


def _cut(source: str, start: int) -> int:
    """Return where the piece from ``start`` ends: behind the last mark of its second half, else at its full length."""
    full = start + LONGEST_RUN
    for at in range(full, full - LONGEST_RUN // 2, -1):
        if not source[at - 1].isalnum():
            return at
    return full
