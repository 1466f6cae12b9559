"""Statements that one says the other way round: what is longer than what, and what comes first (ADR 0179).

Two comparisons with one word clash where the two sides have changed places; so does "X first and Y afterwards" with a
text's own order of events. Words that both sides share tell nothing.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from services.ercp.domain.predicates import Span, TextFacts
from services.ercp.domain.predicates.naming import event_words, stem_of, words_of

_THAN: Final = re.compile(r"\b(?P<how>(?:more|less)\s[a-z]{2,20}|[a-z]{2,20}er)\s+than\b", re.IGNORECASE)
_NO_COMPARISON: Final = frozenset({"other", "rather", "over", "under", "either", "whether", "number", "never"})
_CLAUSE: Final = re.compile(
    r"[,;:()]|\b(?:because|since|as|so|but|while|although|whereas|if|when|which|who)\b", re.IGNORECASE
)
_DENIED: Final = re.compile(r"\b(?:not|never|no|neither|nor)\b|n['\u2019]t\b", re.IGNORECASE)
_FIRST_THEN: Final = re.compile(
    r"\s{0,8}(?:[-*\u2022]\s{0,8})?(?P<first>[^.;:!?\n]{3,80}?)\s{1,8}first,?\s{1,8}(?:and\s{1,8}(?:then\s{1,8})?|then\s{1,8})(?P<then>[^.;:!?\n]{3,80}?)"
    r"\s{1,8}(?:second|afterwards|after\sthat|later|next|last)\b",
    re.IGNORECASE,
)
_MOST: Final = 16
"""A comparison is held against so many others that use its word."""
_SIDES: Final = 2


@dataclass(frozen=True, slots=True)
class _Sides:
    """What stands before and behind a relation, each without what stands on both sides, and what leads in."""

    span: Span
    before: frozenset[str]
    after: frozenset[str]
    lead: frozenset[str] = frozenset()

    def is_turned(self, other: "_Sides") -> bool:
        """Say whether the sides have changed places."""
        crossed = len(self.before & other.after), len(self.after & other.before)
        straight = len(self.before & other.before) + len(self.after & other.after)
        return all(crossed) and sum(crossed) > _SIDES * straight

    def is_set_apart(self, other: "_Sides") -> bool:
        """Say whether each has a word that the other lacks: "in Rome" and "in London", each of its own."""
        mine, theirs = self.before | self.after, other.before | other.after
        return bool((self.lead and other.lead and self.lead != other.lead) or (mine - theirs and theirs - mine))


def reversals(facts: TextFacts) -> Iterator[tuple[Span, Span]]:
    """Yield pairs of sentences that say one thing the other way round, the earlier first; linear in the text."""
    known = defaultdict[str, list[_Sides]](list)
    for sentence in facts.sentences:
        for how, sides in _comparisons(facts.text, sentence):
            for other in islice(reversed(known[how]), _MOST):
                if other.is_turned(sides) and not other.is_set_apart(sides):
                    yield other.span, sides.span
                    break
            known[how].append(sides)
    yield from _reordered(facts)


def _comparisons(text: str, sentence: Span) -> Iterator[tuple[str, _Sides]]:
    for match in _THAN.finditer(text, sentence.start, sentence.end):
        word = match["how"].split()[-1].lower()
        if word in _NO_COMPARISON:
            continue
        start = max(
            (each.end() for each in _CLAUSE.finditer(text, sentence.start, match.start())), default=sentence.start
        )
        stop = _CLAUSE.search(text, match.end(), sentence.end)
        end = stop.start() if stop else sentence.end
        if _DENIED.search(text, start, end):
            continue
        sides = _sides(sentence, text[start : match.start()], text[match.end() : end], text[sentence.start : start])
        if sides is not None:
            yield " ".join(stem_of(each) for each in match["how"].split()), sides


def _sides(span: Span, before: str, after: str, leading: str) -> _Sides | None:
    first, second, lead = (
        frozenset(words_of(each)) if each.strip() else frozenset[str]() for each in (before, after, leading)
    )
    own, others = first - second, second - first
    return _Sides(span, own, others, lead) if own and others else None


def _reordered(facts: TextFacts) -> Iterator[tuple[Span, Span]]:
    told = [
        _Sides(each.span, frozenset(each.before) - {*each.after}, frozenset(each.after) - {*each.before})
        for each in facts.orders
    ]
    behind = 0
    for sentence in facts.sentences:
        match = _FIRST_THEN.match(facts.text, sentence.start, sentence.end)
        if match is None or _DENIED.search(facts.text, match.start(), match.end()):
            continue
        first, then = (frozenset(event_words(match[name])) for name in ("first", "then"))
        sides = _Sides(sentence, first - then, then - first)
        while behind < len(told) and told[behind].span.start < sentence.start:
            behind += 1
        for other in told[max(0, behind - _MOST) : behind]:
            if other.is_turned(sides):
                yield other.span, sentence
                break
