"""Which stretches of answers the brackets of the prompts stand for, by offset (SPEC-005 §9.3, §11.5; ADR 0042)."""

from itertools import pairwise
from typing import Final

import numpy as np

from services.common.reading.text_types import Sentence, Span
from services.dpe.domain.analysis import Analysis
from services.dpe.domain.models import VectorTable
from services.dpe.domain.policy import REPEATED_COSINE
from services.dpe.domain.prior_texts import PriorText
from services.dpe.domain.prior_windows import previous
from services.dpe.domain.remediation.plan import MAX_EXCERPTS, Excerpt
from services.dpe.domain.remediation.prompts import PASSAGE_A, PASSAGE_B, PRIOR_END, PRIOR_SUMMARY

_END_SENTENCES: Final = 3
_PASSAGE_SENTENCES: Final = 2
_ROWS_AT_ONCE: Final = 1_024


def prior_end(analysis: Analysis) -> tuple[Excerpt, ...]:
    """Return the last three sentences of the window before; none when the request gives no text of it."""
    return _last(analysis, PRIOR_END, _END_SENTENCES)


def passages(analysis: Analysis) -> tuple[Excerpt, ...]:
    """Return the two passages that a stitch connects; none when one of them is missing."""
    first = _stretch(analysis.outputs.text.sentences[:_PASSAGE_SENTENCES])
    before = _last(analysis, PASSAGE_A, _PASSAGE_SENTENCES)
    if first is None or not before:
        return ()
    return (*before, Excerpt(PASSAGE_B, analysis.input.window_id, first))


def prior_contents(analysis: Analysis) -> tuple[Excerpt, ...]:
    """Return the latest earlier windows, whole, and behind each its stretches that the answer says again."""
    found: list[Excerpt] = []
    for prior in reversed(analysis.outputs.text.prior_texts):
        whole = Excerpt(PRIOR_SUMMARY, prior.window.window_id, Span(0, len(prior.window.text)))
        repeated = [Excerpt(PRIOR_SUMMARY, whole.window_id, span, repeated=True) for span in _repeated(analysis, prior)]
        found += [whole, *repeated]
    return tuple(found[:MAX_EXCERPTS])


def repeated_windows(analysis: Analysis) -> tuple[str, ...]:
    """Return the earlier windows of which the answer says a sentence again, in their order."""
    return tuple(prior.window.window_id for prior in analysis.outputs.text.prior_texts if _repeated(analysis, prior))


def _last(analysis: Analysis, placeholder: str, count: int) -> tuple[Excerpt, ...]:
    prior = previous(analysis)
    if prior is None or prior.window.is_summary:  # a summary does not show how the window ended
        return ()
    span = _stretch(prior.sentences[-count:])
    return () if span is None else (Excerpt(placeholder, prior.window.window_id, span),)


def _stretch(sentences: tuple[Sentence, ...]) -> Span | None:
    return Span(sentences[0].start, sentences[-1].end) if sentences else None


def _repeated(analysis: Analysis, prior: PriorText) -> list[Span]:
    """Return the sentences of a window that some sentence of the answer repeats, neighbours as one stretch."""
    table = analysis.models.vectors
    said = [analysis.text_of(sentence) for sentence in analysis.outputs.text.sentences]
    if table is None or prior.window.is_summary or not said or not prior.sentences:
        return []
    texts = prior.sentence_texts
    if not _known(table, [*texts, *said]):
        return []
    answer = table.of(list(dict.fromkeys(said))).T
    hits = [
        bool(hit)
        for start in range(0, len(texts), _ROWS_AT_ONCE)
        for hit in ((table.of(texts[start : start + _ROWS_AT_ONCE]) @ answer).max(axis=1) > REPEATED_COSINE)
    ]
    edges = np.flatnonzero(np.diff([False, *hits, False]))
    return [
        Span(prior.sentences[first].start, prior.sentences[last - 1].end)
        for first, last in list(pairwise(int(edge) for edge in edges))[::2]
    ]


def _known(table: VectorTable, texts: list[str]) -> bool:
    return all(text in table.index for text in texts)
