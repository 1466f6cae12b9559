"""Values of a case that a rule of the facts is applied to, and values that are reckoned from others (ADR 0094).

"A café three kilometres away is open to others" applies "within four kilometres": the three stand in nobody's place.
"Adding an operator makes it 2,800 dearer" states a difference of two values of the facts. Of neither can it be said by
a comparison of values that it is wrong.
"""

import re
from typing import Final

from services.common.reading.clauses import clauses, finite_verb_at
from services.common.reading.ratios import SHARE, TIMES
from services.common.reading.text_types import Value
from services.common.reading.words import words
from services.dpe.domain.conditions import conditions

_DEFINITE: Final = re.compile(
    r"\b(?:the|this|that|these|those|its|their|his|her|our|your|my|each|every|all|any|no)\b", re.IGNORECASE
)
_INDEFINITE: Final = re.compile(
    r"\b(?:an?|some(?:one|body)|any(?:one|body)|those|people|somewhere|anything|something)\b", re.IGNORECASE
)
_RECKONED: Final = re.compile(
    r"\b(?:in all|all in all|altogether|in total|together|combined|in sum|taken together|the sum of|counting|adding"
    r"|difference|differ by|on average|remain(?:s|ing|der)?|left over|times (?:as|the)|twice|double[ds]?|half|halved"
    r"|(?:more|less|fewer|dearer|cheaper|longer|shorter|higher|lower|later|earlier|older|younger|faster|slower) than"
    r"|dearer|cheaper|saves?|saving|equivalent|net of|exceed(?:s|ed)? .{1,40} by|(?:rose|fell|grew|increased"
    r"|decreased|declined|dropped) by|plus|minus|on top|previously|formerly|until then|used to"
    r"|before (?:this|that|the) (?:release|version|change|review|increase|reform)"
    r"|(?:after|with|including|without) the (?:discount|extension|reduction|surcharge|deduction|supplement|premium)"
    r"|thirds|quarters|fifths|sixths|tenths)\b",
    re.IGNORECASE,
)


def is_reckoned(text: str, value: Value) -> bool:
    """Say whether a text states a value that follows from others: a total, a difference, a multiple, a share."""
    return value.unit in {TIMES, SHARE} or bool(_RECKONED.search(text))


_WHOLE: Final = re.compile(r"^\W*of\s(?:the|all(?:\sthe)?|its|their|these|those)\s$", re.IGNORECASE)


def is_whole(text: str, value: Value) -> bool:
    """Say whether a text begins with the number of things of some of which it speaks: "Of the six months, two ..."."""
    return _WHOLE.match(text[: value.start]) is not None


def is_case(text: str, value: Value) -> bool:
    """Say whether a value describes a case: in a condition, or in an indefinite subject before the verb.

    Args:
        text: the claim.
        value: one of its values, with offsets in the text.
    """
    if any(found.span.start <= value.start < found.span.end for found in conditions(text)):
        return True
    clause = next((one for one in clauses(text, 0, len(text)) if one.start <= value.start < one.end), None)
    if clause is None:
        return False
    before = text[clause.start : value.start]
    # "With the camera mounted, wind of 10 m/s ...": what stands before the comma is no subject.
    before = _OPENING.sub("", before)
    opening = _INDEFINITE.search(before) or (None if _DEFINITE.search(before) else re.match("", before))
    if opening is None:
        return False
    # "A hospital three kilometres away": nothing is asserted between the one and the other.
    between, behind = words(before[opening.end() :]), words(text[value.end : clause.end].partition(",")[0])
    asserts = finite_verb_at(between) is not None
    if opening.group() and opening.start() > 0 and not asserts:
        return True
    # A verb before the value makes it part of what is said, but in a relative clause: "a rotor that has run a year".
    is_said = asserts and not any(word.text in _RELATIVE for word in between)
    return not is_said and finite_verb_at(behind) is not None


_OPENING: Final = re.compile(
    r"^\W*(?:with|without|for|in|on|at|during|after|before|when|where|if|once|under|as)\b[^,]{1,80},\s", re.IGNORECASE
)
_RELATIVE: Final = frozenset({"that", "who", "which", "whose"})
