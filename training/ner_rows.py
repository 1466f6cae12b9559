"""Texts with names marked: the two sets, their halves, and spans from and to labels of tokens.

Kinds are those that a model decides in the product: persons, organisations, places. What a set marks besides is left
out; street addresses of the PII set are neither right nor wrong, since their parts are places in one reading and none
in another.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from evaluation.data import rows
from services.common.ports.recognition import EntityKind

KINDS: Final = (EntityKind.PERSON, EntityKind.ORGANISATION, EntityKind.LOCATION)
Span: TypeAlias = tuple[EntityKind, int, int]
"""Kind, start and end in code points."""
SPLIT_SEED: Final = 36
OUTSIDE: Final = 0
_WIKIGOLD: Final = {"PER": EntityKind.PERSON, "ORG": EntityKind.ORGANISATION, "LOC": EntityKind.LOCATION}
_PII: Final = {
    "PERSON": EntityKind.PERSON,
    "ORGANIZATION": EntityKind.ORGANISATION,
    "GPE": EntityKind.LOCATION,
}
_IGNORED: Final = frozenset({"STREET_ADDRESS"})


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A text and its names.

    Attributes:
        text: in code points.
        spans: the names, ordered.
        ignored: [start, end) of what counts neither way.
    """

    text: str
    spans: tuple[Span, ...]
    ignored: tuple[tuple[int, int], ...] = ()

    def counted(self, spans: Sequence[Span]) -> set[Span]:
        """Return those of the three kinds that touch nothing ignored."""
        return {
            (kind, start, end)
            for kind, start, end in spans
            if kind in KINDS and all(end <= low or start >= high for low, high in self.ignored)
        }


def wikigold(data: Path) -> list[MarkedText]:
    """Read ``ner/wikigold_dev.jsonl.gz``; tokens are joined by spaces."""
    return [marked_tokens(row["tokens"], row["tags"]) for row in rows(data, "ner/wikigold_dev.jsonl.gz")]


def pii(data: Path) -> list[MarkedText]:
    """Read ``pii/dev.jsonl.gz``."""
    found = []
    for row in rows(data, "pii/dev.jsonl.gz"):
        marked = sorted((span["start"], span["end"], span["type"]) for span in row["spans"])
        spans = tuple((_PII[name], start, end) for start, end, name in marked if name in _PII)
        ignored = tuple((start, end) for start, end, name in marked if name in _IGNORED)
        found.append(MarkedText(row["text"], spans, ignored))
    return found


def marked_tokens(tokens: Sequence[str], tags: Sequence[str]) -> MarkedText:
    """Read IOB tags: a name ends where its kind ends or where a tag begins with ``B-``."""
    spans: list[Span] = []
    start, previous = 0, "O"
    for token, tag in zip(tokens, tags, strict=True):
        name = tag.split("-")[-1]
        if name in _WIKIGOLD:
            end = start + len(token)
            if name == previous and not tag.startswith("B-"):
                spans[-1] = (*spans[-1][:2], end)
            else:
                spans.append((_WIKIGOLD[name], start, end))
        previous = name
        start += len(token) + 1
    return MarkedText(" ".join(tokens), tuple(spans))


def halves(texts: Sequence[MarkedText]) -> tuple[list[MarkedText], list[MarkedText]]:
    """Return the half to learn from and the half to test on, always the same."""
    order = list(texts)
    random.Random(SPLIT_SEED).shuffle(order)  # noqa: S311 - a fixed split, no secret
    middle = len(order) // 2
    return order[:middle], order[middle:]


def word_labels(text: MarkedText, words: Sequence[tuple[int, int]]) -> list[int | None]:
    """Return a label per word: 0 outside, 2k + 1 where a name of kind k begins, 2k + 2 within it; None = ignored.

    Args:
        text: what the words are of.
        words: [start, end) of each, ordered.
    """
    labels: list[int | None] = [OUTSIDE] * len(words)
    for place, (start, end) in enumerate(words):
        if any(start < high and end > low for low, high in text.ignored):
            labels[place] = None
    for kind, low, high in text.spans:
        inside = [place for place, (start, end) in enumerate(words) if start < high and end > low]
        for nth, place in enumerate(inside):
            labels[place] = 2 * KINDS.index(kind) + (1 if nth == 0 else 2)
    return labels


def spans_of(labels: Sequence[int], words: Sequence[tuple[int, int]]) -> list[Span]:
    """Return the names that labels of words describe; a name may begin with an inner label."""
    spans: list[Span] = []
    previous = OUTSIDE
    for label, (start, end) in zip(labels, words, strict=True):
        if label != OUTSIDE:
            kind = KINDS[(label - 1) // 2]
            begins = label % 2 == 1 or previous == OUTSIDE or (previous - 1) // 2 != (label - 1) // 2
            if begins:
                spans.append((kind, start, end))
            else:
                spans[-1] = (kind, spans[-1][1], end)
        previous = label
    return spans
