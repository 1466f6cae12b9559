"""Sentences of an answer that stand word for word, as whole sentences, in a fact (ADR 0041).

A text entails itself: for such a sentence no model has to be asked. Only whole sentences count, for a part may have
lost what limits it ("It is not true that ..."). Case, layout and closing punctuation are not compared; list marks and
the marks of citations are not part of a sentence.
"""

import re
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from services.common.reading.text_types import Span
from services.common.reading.words import normal_text
from services.dpe.domain.facts import FactView

_MARKS: Final = re.compile(r"(?:\s?\[(?:fact |source )?\d{1,4}(?:\s?[,;–-]\s?\d{1,4})*+\])++[.!?]?", re.IGNORECASE)  # noqa: RUF001
_MIN_WORDS: Final = 3


@dataclass(frozen=True, slots=True)
class Quotation:
    """Where a sentence stands in the facts."""

    fact_index: int
    span: Span


def quotable(views: Sequence[FactView], *, superseded: bool = False) -> Mapping[str, Quotation]:
    """Return every sentence of the facts, and every fact as a whole, by its text in comparable form.

    Args:
        views: the facts.
        superseded: those that do not hold now, instead of those that do.
    """
    found: dict[str, Quotation] = {}
    for index, view in enumerate(views):
        if view.fact.superseded is not superseded:
            continue
        content = view.fact.content
        spans = dict.fromkeys((Span(0, len(content)), *(clause.sentence for clause in view.clauses)))
        for span in spans:
            found.setdefault(_comparable(content[span.start : span.end]), Quotation(index, span))
    return {text: where for text, where in found.items() if len(text.split()) >= _MIN_WORDS}


def quotations(
    sentences: Sequence[str], views: Sequence[FactView], *, superseded: bool = False
) -> dict[int, Quotation]:
    """Return where the sentences of an answer stand word for word, by number; others are left out."""
    known = quotable(views, superseded=superseded)
    found = {number: known.get(_comparable(sentence)) for number, sentence in enumerate(sentences)}
    return {number: where for number, where in found.items() if where is not None}


def _comparable(text: str) -> str:
    text = text.strip()
    # The last of all marks, not a search for marks before the end: that would read a long run of them from each anew.
    last = deque(_MARKS.finditer(text), maxlen=1)
    closes = bool(last) and last[0].end() == len(text)
    return normal_text(text[: last[0].start()] if closes else text)
