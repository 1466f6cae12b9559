"""Decomposition of compound sentences into clauses (SPEC-005 §3.4): "X is true and Y happened in 2024" is two claims.

A sentence is cut before a coordinator when both sides can stand alone: the left one has a finite verb, the right one
opens with a subject and has a finite verb. In doubt it is cut, for a fabrication must not hide behind a true clause;
a cut never loses a word.
"""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from services.dpe.domain.lexicon import FINITE_VERBS, SUBJECT_OPENERS
from services.dpe.domain.text_types import Span
from services.dpe.domain.words import Word, words

_COORDINATOR: Final = re.compile(
    r"(?P<hard>\s*;\s+|\s+[–—]\s+)|(?P<soft>,?\s+(?=(?:and|but|while|whereas|although|though|yet|so|or)\s))",  # noqa: RUF001
    re.IGNORECASE,
)
_CONJUNCTION: Final = re.compile(r"(?:and|but|while|whereas|although|though|yet|so|or)\s+", re.IGNORECASE)
_SUBJECT_REACH: Final = 12
"""A finite verb must follow within so many words of the right side's opening."""
_MIN_WORDS: Final = 2
_OPEN: Final = "([{"
_CLOSE: Final = ")]}"


def clauses(text: str, start: int, end: int) -> list[Span]:
    """Return the clauses of the sentence ``text[start:end]`` in order; together they hold all of its words."""
    sentence = text[start:end]
    cuts = _candidate_cuts(sentence)
    if not cuts:
        return [Span(start, end)]
    tokens = words(sentence)
    chosen = [0]
    for left_end, right_start in cuts:
        left = [word for word in tokens if chosen[-1] <= word.start < left_end]
        right = _upto_next(tokens, right_start, cuts)
        if _has_verb(left) and _opens_clause(sentence, right) and len(left) >= _MIN_WORDS:
            chosen.append(right_start)
    bounds = [*chosen, len(sentence)]
    return [_trimmed(sentence, left, right, start) for left, right in pairwise(bounds)]


def _candidate_cuts(sentence: str) -> list[tuple[int, int]]:
    """Return (end of the left side, start of the right side) at coordinators outside brackets and quotations."""
    depth, quoted, position = 0, False, 0
    cuts: list[tuple[int, int]] = []
    for match in _COORDINATOR.finditer(sentence):
        for char in sentence[position : match.start()]:
            depth += (char in _OPEN) - (char in _CLOSE and depth > 0)
            quoted ^= char == '"'
        position = match.start()
        if depth == 0 and not quoted:
            cuts.append((match.start(), match.end()))
    return cuts


def _upto_next(tokens: Sequence[Word], right_start: int, cuts: Sequence[tuple[int, int]]) -> list[Word]:
    following = next((end for end, begin in cuts if begin > right_start), None)
    inside = [word for word in tokens if word.start >= right_start and (following is None or word.start < following)]
    if following is not None and not _has_verb(inside):
        return [word for word in tokens if word.start >= right_start]
    return inside


def _has_verb(tokens: Sequence[Word]) -> bool:
    return any(word.text in FINITE_VERBS for word in tokens)


def _opens_clause(sentence: str, right: Sequence[Word]) -> bool:
    """Say whether the words begin with a subject of their own that a finite verb follows."""
    tokens = list(right)
    if tokens and _CONJUNCTION.match(sentence, tokens[0].start):
        tokens = tokens[1:]
    if len(tokens) < _MIN_WORDS:
        return False
    first = tokens[0]
    if first.text in FINITE_VERBS:
        return False
    is_subject = (
        first.text in SUBJECT_OPENERS
        or sentence[first.start].isupper()
        or first.text[0].isdigit()
        or tokens[1].text in FINITE_VERBS
        or first.text.endswith("s")
    )
    return is_subject and _has_verb(tokens[1:_SUBJECT_REACH])


def _trimmed(sentence: str, left: int, right: int, offset: int) -> Span:
    conjunction = _CONJUNCTION.match(sentence, left) if left else None
    left = conjunction.end() if conjunction else left
    piece = sentence[left:right]
    stripped = piece.rstrip().rstrip(",;–—").rstrip()  # noqa: RUF001 - dashes
    return Span(offset + left, offset + left + len(stripped))
