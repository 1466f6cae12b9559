"""Decomposition of compound sentences into clauses (SPEC-005 §3.4): "X is true and Y happened in 2024" is two claims.

A sentence is cut before a coordinator when both sides can stand alone: the left one has a finite verb, the right one
opens with a subject and has a finite verb. In doubt it is cut, for a fabrication must not hide behind a true clause;
a cut never loses a word.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from services.dpe.domain.lexicon import AUXILIARIES, BASE_VERBS, FINITE_VERBS, SUBJECT_OPENERS
from services.dpe.domain.text_types import Span
from services.dpe.domain.words import Word, words

_COORDINATOR: Final = re.compile(
    r"(?P<hard>\s*;\s+|\s+[–—]\s+)|(?P<soft>,?\s+(?=(?:and|but|while|whereas|although|though|yet|so|or)\s))",  # noqa: RUF001
    re.IGNORECASE,
)
_CONJUNCTION: Final = re.compile(r"(?:and|but|while|whereas|although|though|yet|so|or)\s+", re.IGNORECASE)
_ADVERBS: Final = frozenset({"then", "also", "thus", "later", "still", "therefore", "hence", "often", "only", "now"})
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
    read = _Words.of(sentence)
    chosen = [0]
    for at, (left_end, right_start) in enumerate(cuts):
        following = cuts[at + 1][0] if at + 1 < len(cuts) else len(sentence)
        # After a semicolon a subject is enough: its verb may be one that the lists do not know.
        is_hard = sentence[left_end:right_start].strip() not in {"", ","}
        right = read.right_side(right_start, following)
        is_clause = _opens_clause(sentence, right) or (is_hard and bool(right) and right[0].text in SUBJECT_OPENERS)
        if is_clause and read.stands_alone(chosen[-1], left_end, needs_verb=not is_hard):
            chosen.append(right_start)
    bounds = [*chosen, len(sentence)]
    return [_trimmed(sentence, left, right, start) for left, right in pairwise(bounds)]


@dataclass(frozen=True, slots=True)
class _Words:
    """A sentence's words with their starts and the number of finite verbs before each: every look-up is short."""

    tokens: list[Word]
    starts: list[int]
    verbs_before: list[int]

    @classmethod
    def of(cls, sentence: str) -> "_Words":
        tokens = words(sentence)
        counts = [0]
        for at in range(len(tokens)):
            counts.append(counts[-1] + _is_verb(tokens, at))
        return cls(tokens, [word.start for word in tokens], counts)

    def stands_alone(self, begin: int, end: int, *, needs_verb: bool) -> bool:
        first, last = bisect_left(self.starts, begin), bisect_left(self.starts, end)
        has_verb = self.verbs_before[last] > self.verbs_before[first]
        return last - first >= _MIN_WORDS and (has_verb or not needs_verb)

    def right_side(self, begin: int, following: int) -> list[Word]:
        """Return the words up to the next coordinator, or beyond it when there is no verb before it."""
        first, last = bisect_left(self.starts, begin), bisect_left(self.starts, following)
        reach = first + _SUBJECT_REACH + 1
        has_verb = self.verbs_before[min(last, reach, len(self.tokens))] > self.verbs_before[first]
        return self.tokens[first : min(last, reach) if has_verb else reach]


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


def finite_verb_at(tokens: Sequence[Word]) -> int | None:
    """Return the place of the first finite verb among the words, or ``None``."""
    return next((at for at in range(len(tokens)) if _is_verb(tokens, at)), None)


def _has_verb(tokens: Sequence[Word]) -> bool:
    return any(_is_verb(tokens, at) for at in range(len(tokens)))


def _is_verb(tokens: Sequence[Word], at: int) -> bool:
    """Say whether a word is a finite verb: a marked form, or a base form after a plural."""
    word = tokens[at].text
    return word in FINITE_VERBS or (word in BASE_VERBS and at > 0 and _is_plural(tokens[at - 1].text))


def _is_plural(word: str) -> bool:
    return word in {"they", "we", "you", "i", "people"} or (
        word.endswith("s") and not word.endswith(("ss", "us", "is"))
    )


def _opens_clause(sentence: str, right: Sequence[Word]) -> bool:
    """Say whether the words begin with a subject of their own that a finite verb follows."""
    tokens = list(right)
    while tokens and (tokens[0].text in _ADVERBS or _CONJUNCTION.match(sentence, tokens[0].start)):
        tokens = tokens[1:]
    if len(tokens) < _MIN_WORDS:
        return False
    first = tokens[0]
    if first.text in AUXILIARIES:
        return False
    is_subject = (
        first.text in SUBJECT_OPENERS
        or sentence[first.start].isupper()
        or first.text[0].isdigit()
        or tokens[1].text in FINITE_VERBS
        or first.text.endswith("s")
    )
    # "costs fell": a first word that could be a verb is the subject here, so the verb must come after it.
    return is_subject and _has_verb(tokens[1 if first.text in FINITE_VERBS else 0 : _SUBJECT_REACH])


def _trimmed(sentence: str, left: int, right: int, offset: int) -> Span:
    conjunction = _CONJUNCTION.match(sentence, left) if left else None
    left = conjunction.end() if conjunction else left
    piece = sentence[left:right]
    stripped = piece.rstrip().rstrip(",;–—").rstrip()  # noqa: RUF001 - dashes
    return Span(offset + left, offset + left + len(stripped))
