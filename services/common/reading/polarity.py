"""Whether a statement is negated, and whether one statement turns another round (SPEC-005 §5.3, NEGATION_FLIP).

A statement is negated by an odd number of negating words, idioms that do not negate left out. Two statements are
turned against each other when an odd number of things differ: negation, a prefix ("valid", "invalid"), a suffix
("harmful", "harmless"), or words that stand against each other ("approved", "rejected"). So "prohibited" and "not
allowed" go together.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from services.common.reading.lexicon import NEGATORS, PREFIXED_BY_CHANCE, STOPWORDS
from services.common.reading.opposites import Side, sides
from services.common.reading.words import stem, words

_NOT_NEGATING: Final = re.compile(
    r"\b(?:no|not)\s+(?:be\s+)?(?:later|earlier|more|less|fewer|longer|only|sooner|higher|lower|further|farther)\s*(?:than\b)?"
    r"|\b(?:no|not)\s+(?:be\s+)?(?:older|younger)\s+than\b"
    r"|\bno\.|\bno(?=-)|\bwhether\s+or\s+not\b"
    # "No, do not take it" answers a question and negates once.
    r"|^\W{0,4}no\s?[,;:\u2013\u2014-]\s"
    r"|\bno\s+matter\b|\bnot\s+just\b|\b(?:not|never)\s+exceed(?:ing)?\s+(?=(?:the\s|an?\s)?[\d€$£])"
    # "Accepted, not rejected" and "when they arrive, not earlier" say twice what they say once.
    r"|,\s+not\s+[^,.;]{1,60}(?=[,.;]|$)",
    re.IGNORECASE,
)
_NO_LONGER: Final = re.compile(r"\bno\s+longer\b(?!\s+than)", re.IGNORECASE)
_NEGATING: Final = re.compile(
    r"\b(?:fail(?:s|ed|ing)?|refus(?:es|ed|ing)|unable|neglect(?:s|ed)?)\s+to\b|\black(?:s|ed|ing)?\b"
    r"|\b(?:hardly|scarcely|barely|seldom)\b(?!\s+more)|\bnon(?=-)|\bfree\s+(?:of|from)\b|(?<=\w-)free\b"
    r"|\bexempt(?:ed)?\s+from\b|\bleft\s+out\s+of\b|\b(?:out\s+of|beyond)\s+(?:the\s+|its\s+)?scope\b"
    r"|\boutside\s+(?:of\s+)?(?:the\s+|its\s+|this\s+|their\s+|our\s+)?(?:scope|remit|cover(?:age)?)\b",
    re.IGNORECASE,
)
"""Phrases that negate as "not" does."""
_PARTS: Final = (
    *(
        "no",
        "n't",
        "never",
        "neither",
        "unless",
        "out",
        "fail",
        "refus",
        "unable",
        "neglect",
        "lack",
        "hardly",
        "scarcely",
    ),
    *("barely", "seldom", "free", "exempt", "beyond"),
)
"""Whatever negates holds one of these: most stretches hold none, and are not read word by word."""
_ABLE: Final = re.compile(r"\b(?:is|are|was|were|be|been)\s+able\s+to\b", re.IGNORECASE)
_NOT_UNTIL: Final = re.compile(r"\b(?:not|n't)\b(?=[^.;]{1,80}\buntil\b)", re.IGNORECASE)
_CONTRASTS: Final = (
    frozenset({"before", "after"}), frozenset({"above", "below"}), frozenset({"over", "under"}),
    frozenset({"within", "after"}), frozenset({"inside", "outside"}),
)  # fmt: skip
"""What differs in one of these speaks of the other side, and may well be said the other way round."""
_PREFIXES: Final = ("un", "in", "im", "il", "ir", "dis", "non", "mis", "a")
_MIN_BASE: Final = 4
_MIN_LONG_PREFIX_BASE: Final = 6
"""A lone "a" negates only longer words: "typical", "atypical"."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """How the polarity of two statements compares.

    Attributes:
        turned: they say the opposite of each other, as far as the rest of their words is the same.
        instead: stems of the first that stand in the place of a stem of the second.
    """

    turned: bool
    instead: Mapping[str, str]

    def aligned(self, stems: Iterable[str]) -> frozenset[str]:
        """Return the first statement's stems with those of the second in the place of their opposites."""
        return frozenset(self.instead.get(item, item) for item in stems)


def is_negated(text: str) -> bool:
    """Say whether the text is negated: "not unless" is not, "does not apply" and "fails to apply" are."""
    lowered = text.lower()
    if text.isascii() and not any(part in lowered for part in _PARTS):
        return False
    bare = _NEGATING.sub(" not ", _NOT_NEGATING.sub(" ", _NO_LONGER.sub(" not ", text)))
    return sum(1 for word in words(bare) if word.text in NEGATORS) % 2 == 1


_TOO_MUCH: Final = re.compile(
    r"(?:\b(?:not|never|cannot)|n['\u2019]t)\s(?:[\w-]+\s){0,6}?"
    r"(?:(?:more|longer|later|greater|higher|further)\sthan|above|over|beyond)\s(?:[\w-]+\s)?(?:\d|[$\u20ac\u00a3]|an?\s"
    r"|one|two|three|four|five|six|seven|eight|nine|ten|twelve|half)",
    re.IGNORECASE,
)
_BEYOND: Final = re.compile(
    r"\b(?:more|longer|later|greater|higher|further|above|over|beyond|any|unlimited)\b", re.IGNORECASE
)


def denies_too_much(text: str, other: str) -> bool:
    """Say whether a text denies too much of what another asserts: "not more than four" leaves four to be taken."""
    return _TOO_MUCH.search(text) is not None and not is_negated(other) and not _BEYOND.search(other)


def negated_words(text: str) -> frozenset[str]:
    """Return the word of content that follows each negating word: "does not apply" negates "apply"."""
    lowered = text.lower()
    if text.isascii() and not any(part in lowered for part in _PARTS):
        return frozenset()
    listed = words(_NEGATING.sub(" not ", _NOT_NEGATING.sub(" ", _NO_LONGER.sub(" not ", text))))
    found, negates = set[str](), False
    for word in listed:
        if word.text in NEGATORS:
            negates = True
        elif negates and word.text not in STOPWORDS:
            found.add(word.text)
            negates = False
    return frozenset(found)


def compared(left: str, right: str) -> Comparison:
    """Compare two statements that talk about the same."""
    first, second = _readable(left, right), _readable(right, left)
    ours, theirs = _listed(first), _listed(second)
    instead = dict(
        _opposites([word for word in ours if word not in theirs], [word for word in theirs if word not in ours])
    )
    differs = is_negated(first) != is_negated(second)
    turned = differs != (len(instead) % 2 == 1)
    if (
        turned
        and differs
        and any(pair & set(ours) and pair & set(theirs) and _apart(pair, ours, theirs) for pair in _CONTRASTS)
    ):
        turned = False
    return Comparison(turned, {stem(word): stem(other) for word, other in instead.items()})


def _readable(text: str, other: str) -> str:
    """Take out what is only another way to say the same: "able to", and "not until" against a text without it."""
    bare = _ABLE.sub(" ", text)
    if "until" not in other.lower():
        bare = _NOT_UNTIL.sub(" ", bare)
    return bare


def _listed(text: str) -> dict[str, None]:
    return dict.fromkeys(word.text for word in words(_NEGATING.sub(" not ", _NOT_NEGATING.sub(" ", text))))


def _apart(pair: frozenset[str], ours: Iterable[str], theirs: Iterable[str]) -> bool:
    return pair & set(ours) != pair & set(theirs)


def _opposites(ours: list[str], theirs: list[str]) -> Iterator[tuple[str, str]]:
    """Yield each word of the one with the word of the other that it is the opposite of, each used once."""
    left = list(theirs)
    known = {word: sides(word)[0] for word in (*ours, *theirs)}
    for word in ours:
        found = next(
            (other for other in left if _affixed(word, other) or _listed_apart(known[word], known[other])), None
        )
        if found is not None:
            left.remove(found)
            yield word, found


def _listed_apart(one: frozenset[Side], other: frozenset[Side]) -> bool:
    return any(left.axis == right.axis and left.is_first != right.is_first for left in one for right in other)


def _affixed(one: str, other: str) -> bool:
    shorter, longer = sorted((one, other), key=len)
    if longer in PREFIXED_BY_CHANCE or len(shorter) < _MIN_BASE:
        return False
    if longer.endswith(shorter):
        prefix = longer[: -len(shorter)]
        return prefix in _PREFIXES and (len(prefix) > 1 or len(shorter) >= _MIN_LONG_PREFIX_BASE)
    return any(one.endswith(a) and other.endswith(b) and one[: -len(a)] == other[: -len(b)] for a, b in _SUFFIXES)


_SUFFIXES: Final = (("ful", "less"), ("less", "ful"))
