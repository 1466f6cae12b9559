"""Shares of one whole, and a share that is written out: "20% of 250 EUR, that is 60 EUR" (ADR 0204)."""

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from services.common.ports.recognition import EntityKind
from services.common.reading.reckoning.lines import AMOUNTS, Line, Slip, is_plain, magnitude, spell
from services.common.reading.text_types import Span, Value

_ALL: Final = Decimal(100)
_ROUNDED: Final = Decimal("0.6")
_LEAST: Final = 2
PARTS: Final = {"half": 2, "third": 3, "quarter": 4, "fifth": 5, "sixth": 6, "eighth": 8, "tenth": 10}
_COUNTS: Final = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4}
_FRACTION: Final = re.compile(
    rf"\b(?:(?P<n>{'|'.join(_COUNTS)})\s(?P<d>{'|'.join(PARTS)})s?|(?P<half>half))\s(?=(?:of|from|for|to|by|on|into|in|at)\b)",
    re.IGNORECASE,
)
_OF: Final = re.compile(r"\s?of\s(?:the|all|our|its|their|this|these|those|his|her|my|your)\b", re.IGNORECASE)
_GOES_ON: Final = re.compile(
    r"\s?(?:(?:comes?|goes|go|is|are)\s)?(?:from|for|to|by|on|into)\b|\s?in\s(?=[A-Z])|\s?at\s(?=[A-Z])"
)
_NO_PARTITION: Final = re.compile(
    r"\b(?:rose|rises?|fell|falls?|grew|grows?|more|less|fewer|up|down|discount|compared|than|also|both|likely|"
    r"confidence|least|most|or|if|when|increase\w*|decrease\w*|reduc\w+|instead|was|were|then|each|every|between|"
    r"interest|vat|tax)\b",
    re.IGNORECASE,
)
OF_AMOUNT: Final = re.compile(r"\sof\s(?:(?:the|a|an|our|its|this)\s)?(?:[a-z]{2,20}\s(?:of\s)?){0,2}$", re.IGNORECASE)
"""What stands between a share and the amount that it is a share of."""
IS: Final = re.compile(
    r"(?:,?\s(?:that\sis|that's|i\.e\.,?|which\sis|which\smakes|in\sother\swords,?|or\srather|equals?|is\sequal\sto|"
    r"equivalent\sto|makes?|is|comes\sto|which\scomes\sto|namely|hence|so)|\s=|:)\s(?:exactly\s|just\s)?",
    re.IGNORECASE,
)
"""What stands between an amount and what is said to be the same one."""
_NEAR: Final = Decimal("0.02")


def wrong_shares(line: Line) -> Iterator[Slip]:
    """Yield shares of one whole that make more than all of it, and amounts that are not the share that is told."""
    yield from _more_than_all(line)
    yield from _written_out(line)


def _shares(line: Line) -> list[tuple[Decimal, Span]]:
    found = [
        (magnitude(each), Span(each.start, each.end))
        for each in line.values
        if each.kind is EntityKind.PERCENT and is_plain(each)
    ]
    taken = {at for _, span in found for at in range(span.start, span.end)}
    for match in _FRACTION.finditer(line.text, line.start, line.end):
        if match.start() in taken:
            continue
        share = Decimal(50) if match["half"] else _ALL * _COUNTS[match["n"].lower()] / PARTS[match["d"].lower()]
        found.append((share, Span(match.start(), match.end() - 1)))
    return sorted(found, key=lambda each: each[1].start)


def _more_than_all(line: Line) -> Iterator[Slip]:
    shares = _shares(line)
    if len(shares) < _LEAST or _OF.match(line.text, shares[0][1].end) is None:
        return
    others = [span for _, span in shares[1:]]
    if not all(_GOES_ON.match(line.text, span.end) for span in others):
        return
    first = line.text[shares[0][1].end : others[0].start]
    total = sum((share for share, _ in shares), Decimal(0))
    if total <= _ALL + _ROUNDED or _NO_PARTITION.search(line.words) or "," not in first:
        return
    told = " + ".join(line.text[span.start : span.end].strip() for _, span in shares)
    yield Slip(
        shares[0][1], Span(shares[0][1].start, others[-1].end), f"{told} is {_percent(total)}, more than all of it"
    )


def _percent(share: Decimal) -> str:
    return f"{spell(share.quantize(Decimal('0.1')))} %"


def _written_out(line: Line) -> Iterator[Slip]:
    values = line.values
    for share, whole, part in zip(values, values[1:], values[2:], strict=False):
        if share.kind is not EntityKind.PERCENT or not is_plain(share) or not _alike(whole, part):
            continue
        if OF_AMOUNT.fullmatch(line.between(share, whole)) is None or IS.fullmatch(line.between(whole, part)) is None:
            continue
        expected = part_of(share, whole)
        if abs(expected - magnitude(part)) > _NEAR * max(expected, magnitude(part)):
            why = f"{share.text} of {whole.text} is {_in_unit_of(part, expected)}, not {part.text}"
            yield Slip(Span(share.start, whole.end), Span(part.start, part.end), why)


def part_of(share: Value, whole: Value) -> Decimal:
    """Return what a share of an amount comes to, in the amount's base unit."""
    return magnitude(share) * magnitude(whole) / _ALL


def _alike(whole: Value, part: Value) -> bool:
    if whole.kind not in AMOUNTS or part.kind not in AMOUNTS or not is_plain(whole) or not is_plain(part):
        return False
    return whole.unit == part.unit and magnitude(whole) > 0


def _in_unit_of(like: Value, amount: Decimal) -> str:
    if like.number is None or not magnitude(like):
        return spell(amount)
    return spell((amount * like.number / magnitude(like)).quantize(Decimal("0.01")))
