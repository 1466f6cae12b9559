"""What lasts: "valid until 30 June", "open from 9 am" demand that it holds so long at least (ADR 0221).

A deadline is the other way round: what has to be handed in until Friday may come on Monday. Which of the two is meant
is told by what stands before; where that is neither, the sentence is not understood.
"""

import re
from dataclasses import dataclass
from typing import Final

from services.ercp.domain.predicates import PredicateName
from services.ercp.domain.predicates.model import Hour, Moment, YearDay
from services.ercp.domain.wording.model import NotUnderstoodError

_LASTING: Final = re.compile(
    r"\b(?:valid|available|open|opening|reachable|staffed|manned|accessible|in\s+(?:force|effect|operation|place|stock)|"
    r"guaranteed|lasts?|lasting|continues?|stays?|remains?|ke(?:ep|pt)|retain(?:ed|s)?|stored?|archived?|preserve[ds]?|"
    r"maintain(?:ed|s)?|on\s+(?:duty|display|sale|call))\b",
    re.IGNORECASE,
)
"""What goes on: so long at least."""
_OFTEN_LASTING: Final = re.compile(
    r"\b(?:hours|effective|cover(?:s|ed)?|insured|runs?|running|stands?|holds?|held|appl(?:y|ies)|applicable|works?|working|operates?|"
    r"operating|displayed|published)\b",
    re.IGNORECASE,
)
"""The same, where nothing is to be done."""
_DUE: Final = re.compile(
    r"\b(?:submit(?:ted|s)?|appl(?:y|ied|ications?)|file[ds]?|filing|regist(?:er(?:ed|s)?|ration)|deliver(?:ed|s|y)?|pa(?:y|id)|payments?|hand(?:ed|s)?|"
    r"repl(?:y|ied|ies)|respon(?:d|ded|ds|se)|answer(?:ed|s)?|send|sent|finish(?:ed|es)?|complete[ds]?|done|ready|return(?:ed|s)?|cancel(?:led|s)?|"
    r"object(?:ed|s|ions?)?|claim(?:ed|s)?|report(?:ed|s)?|book(?:ed|s|ings?)?|order(?:ed|s)?|upload(?:ed|s)?|receive[ds]?|arrive[ds]?|due|deadline|"
    r"appeal(?:ed|s)?|decid(?:e|ed|es)|decision|announce[ds]?|notif(?:y|ied|ies)|confirm(?:ed|s)?|sign(?:ed|s)?|launch(?:ed|es)?|start(?:ed|s)?|"
    r"be\s+(?:here|there|back|home))\b",
    re.IGNORECASE,
)
"""What is to be done: so late at most."""
_PERMITTED: Final = re.compile(r"\b(?:may|can|could|allowed|permitted|earliest)\b", re.IGNORECASE)
_EDGE: Final = re.compile(
    r"(?P<before>.*)\b(?P<word>until|till|from)\s+(?:(?:the|at\s+least)\s+)*\Z", re.IGNORECASE | re.DOTALL
)
_NEGATED: Final = re.compile(r"\b(?:not|never|no|nobody|none|nothing|cannot)\b|n't\b", re.IGNORECASE)
_ONLY: Final = re.compile(r"\bonly\b", re.IGNORECASE)
_TIMES: Final = (Moment, Hour, YearDay)


@dataclass(frozen=True, slots=True)
class Edge:
    """Where something that lasts begins or ends: the word for it, and the comparison that it has to keep."""

    word: str
    name: PredicateName


def edge_of(before: str, operand: object) -> Edge | None:
    """Return which end of what lasts a time is, by what stands before it; ``None`` for a deadline or no end at all.

    Raises:
        NotUnderstoodError: it may be the end of what lasts or a deadline.
    """
    match = _EDGE.match(before)
    if match is None or not isinstance(operand, _TIMES) or _NEGATED.search(before):
        return None
    is_end = match["word"].lower() != "from"
    is_lasting = _lasts(match["before"])
    if is_lasting and not (is_end or _PERMITTED.search(before)):
        return Edge("from", PredicateName.LESS_THAN)
    if is_lasting and is_end:
        return Edge("until", PredicateName.GREATER_THAN)
    if is_end and not _DUE.search(match["before"]):
        raise NotUnderstoodError('whether "until" is how long something lasts or the latest for it is not plain')
    return None


def _lasts(text: str) -> bool:
    return bool(_LASTING.search(text) or (_OFTEN_LASTING.search(text) and not _DUE.search(text)))


def refuse_both_ends(sentence: str, first: object) -> None:
    """Refuse the hours or days from which to which something lasts: that is two demands.

    Raises:
        NotUnderstoodError: it names both ends of what lasts.
    """
    if isinstance(first, _TIMES) and _lasts(sentence) and not _ONLY.search(sentence):
        raise NotUnderstoodError("it names where something begins and where it ends; give each its own constraint")
