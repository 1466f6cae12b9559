"""Values that an answer works out itself, from values of the facts that it names: a part, a multiple, a sum (ADR 0207).

"The rent is halved to £38" follows from a rent of £76 and from a fact that says half; "£60: the rent of £38 and the
water charge of £22" from what its own parts follow from. Only what comes out exactly is said to follow.
"""

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Final

from services.common.reading.agreement import agrees
from services.common.reading.numerals import plain
from services.common.reading.places import Place
from services.common.reading.ratios import SHARE, TIMES
from services.common.reading.text_types import Claim, Value
from services.dpe.domain.placement import Wanted
from services.dpe.domain.reckoning import Derivation, is_worth, shown, worth

TOTAL: Final = re.compile(
    r"\b(?:in\s(?:total|all|sum)|(?:a|the|grand|overall)\stotal|total(?:s|led|ling)?|altogether|together|combined|sum|amounts?\sto"
    r"|com(?:es?|ing)\sto|adds?\sup|counting|overall|all\s(?:two|three|four|both)|aggregate)\b",
    re.IGNORECASE,
)
"""Words by which a text says that a value is a sum."""
_HUNDRED: Final = Decimal(100)
_RATIOS: Final = frozenset({SHARE, TIMES})
MOST_BESIDE: Final = 8
"""Claims of a sentence, and values of each, that a value is worked out from."""


def values_beside(claim: Claim, sentence: Sequence[Claim]) -> list[Value]:
    """Return the values of the other claims of a claim's sentence; of one with more than ``MOST_BESIDE`` none."""
    if len(sentence) > MOST_BESIDE:
        return []
    return [value for one in sentence if one is not claim for value in one.values[:MOST_BESIDE]]


def worked_out(want: Wanted, claim: Claim, operands: Sequence[Place], places: Sequence[Place]) -> Derivation | None:
    """Return how a value follows from values that its own sentence names besides, or ``None``.

    Args:
        want: the value, with the others of its claim and of its sentence.
        claim: whose value it is.
        operands: values of the facts that measure the same.
        places: all values of the facts.
    """
    return _part(want, operands, places) or _sum(want, claim, operands, places)


def _part(want: Wanted, operands: Sequence[Place], places: Sequence[Place]) -> Derivation | None:
    """Return the share or the multiple that the claim itself names of a value: "30 % of the sum insured, so 22,500".

    Of a row's values it is one of which as much is said as of any other: "Plus" asks for the column of that name.
    """
    own = want.value
    for ratio in _stated(want.others, places):
        for whole in operands:
            beside = [want.said_of(one) for one in operands if one.fact_index == whole.fact_index]
            part = worth(whole) * _factor(ratio)
            if want.said_of(whole) >= max(beside) and is_worth(own, own.magnitude, part):
                text = f"{_times(ratio)} {whole.value.text} = {shown(own, part)}"
                return Derivation(whole, equal=True, text=text)
    return None


def _sum(want: Wanted, claim: Claim, operands: Sequence[Place], places: Sequence[Place]) -> Derivation | None:
    """Return the sum of all values of its measure that the rest of the sentence names, where the sum comes first.

    Each addend stands in a place of its own in the facts, or is a share, named in the sentence, of what stands there.
    """
    own = want.value
    inside = [one for one in want.others if _measures(one, own)]
    outside = [one for one in want.beside if _measures(one, own)]
    addends = [*inside, *outside]
    is_first = all(one.start + claim.start > own.start for one in inside) and all(
        one.start > own.start for one in outside
    )
    total = sum((one.magnitude or Decimal(0) for one in addends), Decimal(0))
    if not outside or not (is_first or TOTAL.search(claim.text)) or not is_worth(own, own.magnitude, total):
        return None
    ratios = _stated((*want.others, *want.beside), places)
    found: list[Place] = []
    for one in addends:
        left = [place for place in operands if place not in found]
        there = next((place for place in left if _follows(one, place, ratios)), None)
        if there is None:
            return None
        found.append(there)
    text = " + ".join(one.text for one in addends) + f" = {shown(own, total)}"
    return Derivation(found[0], equal=True, text=text, operands=tuple(found))


def _follows(value: Value, place: Place, ratios: Sequence[Value]) -> bool:
    if agrees(value, place.value):
        return True
    return any(is_worth(value, value.magnitude, worth(place) * _factor(ratio)) for ratio in ratios)


def _stated(values: Sequence[Value], places: Sequence[Place]) -> list[Value]:
    """Return the shares and multipliers of a text that the facts state as well."""
    known = {_factor(place.value) for place in places if _is_ratio(place.value)}
    return [one for one in values if _is_ratio(one) and _factor(one) in known]


def _is_ratio(value: Value) -> bool:
    """Say whether a value multiplies; "100 %" changes nothing: a value of the wrong row would follow from itself."""
    return value.unit in _RATIOS and _factor(value) not in {Decimal(0), Decimal(1)}


def _factor(ratio: Value) -> Decimal:
    """Return what a share or a multiplier multiplies by."""
    magnitude = ratio.magnitude or Decimal(0)
    return magnitude / _HUNDRED if ratio.unit == SHARE else magnitude


def _times(ratio: Value) -> str:
    return f"{ratio.text} of" if ratio.unit == SHARE else f"{plain(ratio.magnitude or Decimal(0))} x"


def _measures(value: Value, other: Value) -> bool:
    return value.kind is other.kind and value.unit == other.unit
