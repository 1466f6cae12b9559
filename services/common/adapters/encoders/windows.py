"""How texts that an encoder cannot read at once are read in parts, and what the parts say together (ADR 0032).

Nothing is ever cut off: every token of a text is in at least one part. Pure: it sees token counts, token ids and
probabilities, never a text or a model.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from services.common.ports.entailment import CONTRADICTION, ENTAILMENT, NEUTRAL

OVERLAP_DIVISOR: Final = 4
"""Windows over a premise share at least a quarter of their width with the next: room for a long sentence whole."""
HYPOTHESIS_DIVISOR: Final = 2
"""A piece of a hypothesis takes at most half of what is read at once; the other half is for the premise."""

Span: TypeAlias = tuple[int, int]
"""Start and end of a run of tokens, the end exclusive."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What the encoder reads at once: a window of the premise with a piece of the hypothesis."""

    premise: Span
    hypothesis: Span


def balanced(length: int, limit: int) -> list[Span]:
    """Cut ``length`` tokens into as few runs of at most ``limit`` as possible, whose lengths differ by at most 1.

    Zero tokens are one empty run.
    """
    count = max(1, -(-length // limit))
    return [(length * part // count, length * (part + 1) // count) for part in range(count)]


def overlapping(length: int, width: int) -> list[Span]:
    """Cover ``length`` tokens by windows of ``width`` that overlap by at least a quarter of it, evenly spread.

    What fits into one window is one window, of its own length.
    """
    if length <= width:
        return [(0, length)]
    overlap = width // OVERLAP_DIVISOR
    count = -(-(length - overlap) // (width - overlap))
    starts = (part * (length - width) // (count - 1) for part in range(count))
    return [(start, start + width) for start in starts]


def pieces(ids: Sequence[int], limit: int, sentence_ends: Collection[int]) -> list[Span]:
    """Cut a hypothesis into pieces of at most ``limit`` tokens: after the last sentence end that fits, else evenly.

    Args:
        ids: its token ids.
        limit: longest piece, in tokens.
        sentence_ends: ids of the tokens that end a sentence.
    """
    found: list[Span] = []
    start = 0
    while len(ids) - start > limit:
        end = next((at for at in range(start + limit, start, -1) if ids[at - 1] in sentence_ends), None)
        if end is None:
            end = start + balanced(len(ids) - start, limit)[0][1]
        found.append((start, end))
        start = end
    return [*found, (start, len(ids))]


def readings(premise_tokens: int, hypothesis: Sequence[int], budget: int, ends: Collection[int]) -> list[list[Reading]]:
    """Say how a pair is read: per piece of the hypothesis, every window of the premise.

    Args:
        premise_tokens: length of the premise.
        hypothesis: token ids of the hypothesis.
        budget: tokens of premise and hypothesis together that are read at once; special tokens not counted.
        ends: ids of the tokens that end a sentence.
    """
    if premise_tokens + len(hypothesis) <= budget:
        return [[Reading((0, premise_tokens), (0, len(hypothesis)))]]
    half = budget // HYPOTHESIS_DIVISOR
    return [
        [Reading(window, piece) for window in overlapping(premise_tokens, budget - (piece[1] - piece[0]))]
        for piece in pieces(hypothesis, half, ends)
    ]


def most_decided(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the row of the window that says most about the hypothesis.

    Where a window's likeliest label is entailment, the one with the largest entailment; else the one with the largest
    probability of entailment or contradiction. Text about something else looks like a contradiction to an encoder more
    often than like support.

    Args:
        rows: probabilities of one piece, a row per window: entailment, neutral, contradiction; shape ``(n, 3)``.
    """
    entailing = rows[:, ENTAILMENT] > rows[:, [NEUTRAL, CONTRADICTION]].max(axis=1)
    if entailing.any():
        return np.asarray(rows[int(np.where(entailing, rows[:, ENTAILMENT], -1.0).argmax())])
    decided = rows[:, [ENTAILMENT, CONTRADICTION]].max(axis=1)
    return np.asarray(rows[int(decided.argmax())])


def together(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what a hypothesis is when its pieces are these: entailed only as far as every piece is.

    Entailment is the least of the pieces', contradiction the largest, neutral the rest. The rest is never negative: the
    piece with the largest contradiction has at least the least entailment.

    Args:
        rows: a row per piece: entailment, neutral, contradiction, summing to 1; shape ``(n, 3)``.
    """
    if len(rows) == 1:
        return np.asarray(rows[0])
    combined = np.empty(3)
    combined[ENTAILMENT] = rows[:, ENTAILMENT].min()
    combined[CONTRADICTION] = rows[:, CONTRADICTION].max()
    combined[NEUTRAL] = max(0.0, 1.0 - combined[ENTAILMENT] - combined[CONTRADICTION])
    return combined
