"""Where the words of a constraint demand another thing than its predicate (ERCP 1.0 §2 constraint duality; ADR 0115).

Only what is plain is held against a predicate: one bound right before the one amount of its kind ("at most 5 days"),
one value that the words forbid or demand outright. Words that say more, or less plainly, agree with every predicate.
"""

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from services.ercp.domain.predicates import Amount, Predicate, PredicateName, Span, Text
from services.ercp.domain.predicates.mentions import Mention, read_mentions
from services.ercp.domain.predicates.units import DIMENSIONLESS, in_base

MAX_CHARS: Final = 300
"""Longer words say more than one thing; nothing is held against them."""
_MOST_AMOUNTS: Final = 8
"""So many amounts of the words are read; with more they are not plain."""
_ROUGHLY: Final = Fraction(2, 100)
"""3 months are 90 days: so far apart may two amounts in different units lie and still be meant as one."""
_QUOTED: Final = re.compile(r'"[^"]*"|\u201c[^\u201d]*\u201d')
_NOT: Final = r"(?:\b(?:not|never|cannot)|n['\u2019]t)\s+(?:be\s+)?"
_PHRASES: Final = {
    "at least": rf"\bat\s+least|\bno\s+(?:less|fewer|lower|shorter)\s+than|{_NOT}(?:less|fewer|lower|shorter)\s+than|"
    rf"\b(?:an?|the)\s+minimum\s+of|{_NOT}(?:below|under)",
    "at most": r"\bat\s+most|\bno\s+(?:more|greater|longer|higher|larger)\s+than|"
    rf"{_NOT}(?:more|greater|longer|higher|larger)\s+than|\b(?:an?|the)\s+maximum\s+of|{_NOT}(?:exceed|over|above)",
    "more than": r"\b(?:more|greater|longer|higher|larger|heavier)\s+than|\bin\s+excess\s+of",
    "less than": r"\b(?:less|fewer|shorter|lower|smaller|lighter|cheaper)\s+than",
    "exactly": r"\bexactly|\bprecisely",
}
"""What stands right before an amount. "Up to", "over", "within" are said too loosely to be held to."""
_BOUND: Final = re.compile(
    "|".join(f"(?P<{name.replace(' ', '_')}>{pattern})" for name, pattern in _PHRASES.items()), re.IGNORECASE
)
"""In this order: "no more than" is read before "more than"."""
_MEANS: Final = {
    "at least": (PredicateName.GREATER_THAN, True),
    "at most": (PredicateName.LESS_THAN, True),
    "more than": (PredicateName.GREATER_THAN, False),
    "less than": (PredicateName.LESS_THAN, False),
}
_RELATIVE: Final = re.compile(
    r"\s{0,3}(?:[\w-]{1,30}\s{1,3})?(?:before|after|ahead|prior|earlier|later|above|below|of|"
    r"or\s{1,3}(?:more|less|fewer|above|below|over|under))\b",
    re.IGNORECASE,
)
"""After an amount: it is a distance or a part of something, or the words say more of it."""
_DENYING: Final = re.compile(
    r"\b(?:not|never|no|cannot|without|other|unless|except|but|avoid\w*|differ\w*|deviat\w*|unlike|exclud\w*|forb\w+|"
    r"prohibit\w*|neither|nor|rather|instead|exceed\w*|change\w*|below|above|under|over|less|more)\b|n['\u2019]t\b",
    re.IGNORECASE,
)
_TURNING: Final = re.compile(
    r"\b(?:nobody|none|nothing|any\w*|every\w*|whoever|if|when\w*|where\w*|once|until|reject\w*|refus\w*|prevent\w*|stop\w*|"
    r"block\w*|flag\w*|warn\w*|drop\w*|too|from|by)\b",
    re.IGNORECASE,
)
"""Before a bound: it is a condition, or the words turn it round."""
_FORBIDDEN: Final = re.compile(
    r"(?:\b(?:must|shall|may|should|can|will|do|does|is|are)\s+(?:not|never)|\b(?:never|cannot)|n['\u2019]t)"
    r"\s+(?:[a-z]+\s+){0,2}(?:(?:an?|the)\s+)?\Z",
    re.IGNORECASE,
)
_DEMANDED: Final = re.compile(
    r"\b(?:must|shall|has\s+to|have\s+to)\s+(?:be|equal)\s+(?:(?:an?|the)\s+)?\Z", re.IGNORECASE
)
_REACH: Final = 60
"""Characters before a value that are looked at."""
_AFTER_VALUE: Final = re.compile(
    r"\s*(?:[.,;:!?)]|\Z|(?:in|on|at|for|under|by|and|as|during|per|when|if|while)\b)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class _Bound:
    """A bound that words set, and the amount right behind its phrase."""

    phrase: str
    amount: Amount


def disagreement(words: str, predicate: Predicate) -> str:
    """Say how the words of a constraint and its predicate disagree; empty where they agree, or may.

    Args:
        words: its ``nl_text``.
        predicate: its predicate.
    """
    if len(words) > MAX_CHARS:
        return ""
    own = _QUOTED.sub(lambda match: " " * len(match.group()), words)  # what somebody else said is no demand
    right = predicate.right
    if isinstance(right, Amount):
        bound = _bound_in(own, right)
        if bound is not None:
            return _against_bound(bound, predicate, right)
    if predicate.name in {PredicateName.EQUAL, PredicateName.NOT_EQUAL}:
        return _against_value(own, predicate)
    return ""


def _bound_in(words: str, right: Amount) -> _Bound | None:
    """Return the one bound that the words set to the one amount of a kind; ``None`` where they say more, or less."""
    phrases = list(_BOUND.finditer(words))
    amounts = _amounts(words, right) if len(phrases) == 1 else []
    if len(amounts) != 1:
        return None
    (phrase,), (mention,) = phrases, amounts
    if mention.amount is None or words[phrase.end() : mention.span.start].strip() or phrase.end() > mention.span.start:
        return None
    before = words[: phrase.start()]
    if _DENYING.search(before) or _TURNING.search(before) or _RELATIVE.match(words, mention.span.end):
        return None
    return _Bound(next(name for name in _PHRASES if phrase[name.replace(" ", "_")]), mention.amount)


def _amounts(words: str, right: Amount) -> list[Mention]:
    """Return the amounts in words that may be the predicate's: of its kind, or bare beside one with a unit."""
    kinds = {in_base(right).dimension, DIMENSIONLESS}
    mentions = read_mentions(words, Span(0, len(words)), _MOST_AMOUNTS + 1)
    if len(mentions) > _MOST_AMOUNTS:
        return []
    return [each for each in mentions if each.dimension in kinds or in_base(right).dimension == DIMENSIONLESS]


def _against_bound(bound: _Bound, predicate: Predicate, right: Amount) -> str:
    same_amount = _is_same_amount(bound.amount, right)
    wanted = _MEANS.get(bound.phrase)
    if wanted is None:
        is_same = predicate.name in {PredicateName.EQUAL, PredicateName.NOT_EQUAL}
        return "" if is_same else f'the words say "{bound.phrase}", which is Equal and not {predicate.name}'
    name, inclusive = wanted
    if predicate.name not in {name, PredicateName.EQUAL} and not same_amount:
        return ""  # "leave at least 20 % free" and occupancy < 80 %: of another thing
    if (predicate.name, predicate.inclusive) != wanted:
        written = f"{predicate.name} {_how(inclusive=predicate.inclusive)}" if predicate.inclusive else predicate.name
        return f'the words say "{bound.phrase}", which is {name} {_how(inclusive=inclusive)} and not {written}'
    return "" if same_amount else f'the amount after "{bound.phrase}" in the words is not the one in args.right'


def _how(*, inclusive: bool) -> str:
    return "with inclusive true" if inclusive else "without inclusive"


def _is_same_amount(said: Amount, right: Amount) -> bool:
    first, second = in_base(said), in_base(right)
    if first.value == second.value and first.dimension == second.dimension:
        return True
    if not said.unit or not right.unit:
        return said.number == right.number
    if said.unit == right.unit or first.dimension != second.dimension:
        return False
    return abs(first.value - second.value) <= _ROUGHLY * max(abs(first.value), abs(second.value))


def _against_value(words: str, predicate: Predicate) -> str:
    """Say where words forbid the value that a predicate demands, or demand the one that it forbids."""
    places = _places(words, predicate)
    if len(places) != 1:
        return ""
    before = words[max(0, places[0].start - _REACH) : places[0].start]
    denials = len(_DENYING.findall(words))
    if predicate.name is PredicateName.EQUAL and denials == 1 and _FORBIDDEN.search(before):
        return "the words forbid the value that Equal demands; NotEqual forbids it"
    if predicate.name is PredicateName.NOT_EQUAL and not denials and _DEMANDED.search(before):
        return "the words demand the value that NotEqual forbids; Equal demands it"
    return ""


def _places(words: str, predicate: Predicate) -> list[Span]:
    """Return where the words name the predicate's value, with nothing behind it that makes another value of it."""
    right = predicate.right
    found: list[Span] = []
    if isinstance(right, Text):
        named = re.finditer(rf"(?<![\w'\u2019-]){re.escape(right.text)}(?![\w'\u2019-])", words, re.IGNORECASE)
        found = [Span(match.start(), match.end()) for match in named]
    elif isinstance(right, Amount):
        amounts = [each for each in _amounts(words, right) if each.amount is not None]
        found = [each.span for each in amounts if each.amount is not None and _is_same_amount(each.amount, right)]
    return [span for span in found if _AFTER_VALUE.match(words, span.end)]
