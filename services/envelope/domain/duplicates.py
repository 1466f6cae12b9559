"""Two facts with nearly the same vector are duplicates only if they state the same values (SPEC-003 §6.6, ADR 0063).

"The limit is 30 days" and "The limit is 60 days" are nearly one vector: a rule that goes by vectors alone drops one
of them, and the envelope then hides a contradiction or the newer figure. So values are compared first. When unsure
the facts count as different: a duplicate that is kept costs a few tokens, a fact that is dropped is never seen.

Values are read as the rest of the system reads them (``services.common.grounding``): scale words, per cent, currencies,
days of the year, negations and opposites by stems. Linear in the text; nothing of it is kept after the call.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from services.common.grounding.numbers import CURRENCY, PERCENT, quantities
from services.common.grounding.polarity import NEGATIONS, opposites_met
from services.common.grounding.words import STOP_WORDS, stem, words

_DAY: Final = 86_400.0
_UNITS: Final = {
    "second": (1.0, "s"), "minute": (60.0, "s"), "hour": (3600.0, "s"), "day": (_DAY, "s"), "week": (7 * _DAY, "s"),
    "month": (1.0, "month"), "quarter": (3.0, "month"), "year": (12.0, "month"),
    "millimetre": (1e-3, "m"), "centimetre": (1e-2, "m"), "metre": (1.0, "m"), "kilometre": (1e3, "m"),
    "milligram": (1e-6, "kg"), "gram": (1e-3, "kg"), "kilogram": (1.0, "kg"), "tonne": (1e3, "kg"),
    "byte": (1.0, "B"), "kilobyte": (1e3, "B"), "megabyte": (1e6, "B"), "gigabyte": (1e9, "B"), "terabyte": (1e12, "B"),
}  # fmt: skip
"""Units with their size in the unit that they are compared in. A month is no fixed number of days."""
_SPELLINGS: Final = {
    "sec": "second", "min": "minute", "hr": "hour", "h": "hour", "wk": "week", "yr": "year",
    "mm": "millimetre", "cm": "centimetre", "km": "kilometre", "meter": "metre", "kilometer": "kilometre",
    "millimeter": "millimetre", "centimeter": "centimetre",
    "mg": "milligram", "g": "gram", "kg": "kilogram", "kb": "kilobyte", "mb": "megabyte", "gb": "gigabyte",
    "tb": "terabyte",
}  # fmt: skip
_UNIT_OF_STEM: Final = {stem(name): unit for name, unit in _UNITS.items()} | {
    name: _UNITS[unit] for name, unit in _SPELLINGS.items()
}
_UNIT_AFTER: Final = re.compile(
    r"[\s-]{0,3}(?:(?P<kind>working|business|calendar|consecutive)\s)?(?P<word>[^\W\d_]{1,12})", re.IGNORECASE
)
_ONE: Final = re.compile(r"\bone(?=[\s-])", re.IGNORECASE)
_SENTENCE_END: Final = re.compile(r"(?:^|[.!?:\n])[\s\"'\u201c(]{0,4}$")
_LOOK_BACK: Final = 5
_WORKING: Final = frozenset({"working", "business"})
_MONTHS: Final = {
    name: number
    for number, name in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), start=1)  # noqa: SIM905
}
_MONTH: Final = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)"
)
_DATE: Final = re.compile(
    r"(?<!\d)(?P<y1>\d{4})-(?P<m1>[01]\d)-(?P<d1>[0-3]\d)(?!\d)"
    rf"|\b(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?\s(?:of\s)?(?P<m2>{_MONTH})\b\.?(?:,?\s(?P<y2>\d{{4}}))?(?!\d)"
    rf"|\b(?P<m3>{_MONTH})\.?\s(?P<d3>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s(?P<y3>\d{{4}})\b)?(?![\d:.,]\d)"
    rf"|\b(?P<m4>{_MONTH})\.?,?\s(?:of\s)?(?P<y4>\d{{4}})(?!\d)",
    re.IGNORECASE,
)
_CURRENCIES: Final = {
    "$": "USD", "dollars": "USD", "usd": "USD", "\u20ac": "EUR", "euros": "EUR", "eur": "EUR",
    "\u00a3": "GBP", "pounds": "GBP", "gbp": "GBP", "\u00a5": "JPY", "yen": "JPY",
}  # fmt: skip
_CURRENCY: Final = re.compile("|".join(map(re.escape, _CURRENCIES)), re.IGNORECASE)
_OBLIGATION: Final = frozenset({"must", "shall"})
_PERMISSION: Final = frozenset({"may", "can"})
_LOWER_BOUND: Final = frozenset({"least", "minimum"})
_UPPER_BOUND: Final = frozenset({"most", "maximum"})
_COMMON_ENDINGS: Final = ("s", "ly", "ing", "ed")
"""Capitalised at the beginning of a sentence, a word with one of these is seldom a name."""


@dataclass(frozen=True, slots=True)
class StatedValues:
    """What a text states, in a form in which equal values are equal.

    Attributes:
        values: dates, and figures with their unit.
        negated: whether it holds a negating word.
        names: stems of the words that are names.
        stems: stems of all words.
    """

    values: frozenset[str]
    negated: bool
    names: frozenset[str]
    stems: frozenset[str]


def differ_in_values(first: str, second: str) -> bool:
    """Say whether two texts that are alike state different values, so that neither makes the other superfluous.

    They do when their figures or dates are not the same set, when one alone is negated, when words of the one stand
    against words of the other (``accept``, ``reject``; ``must``, ``may``; ``at least``, ``at most``), or when each has
    a name that the other lacks. Symmetric. Who has many pairs reads each text once: ``stated_values``, then ``differ``.
    """
    return differ(stated_values(first), stated_values(second))


def differ(first: StatedValues, second: StatedValues) -> bool:
    """Say the same of texts that were read before."""
    if first.negated != second.negated or first.values != second.values:
        return True
    if first.stems == second.stems:
        return False
    return (
        bool(first.names - second.stems and second.names - first.stems)
        or any(_stand_apart(first.stems, second.stems, *sides) for sides in _SIDES)
        or opposites_met(first.stems, second.stems) > 0
        or opposites_met(second.stems, first.stems) > 0
    )


def stated_values(text: str) -> StatedValues:
    """Read a text."""
    dates = {_date(match) for match in _DATE.finditer(text)}
    rest = _DATE.sub(lambda match: " " * len(match.group()), text)
    stems = frozenset(word.stem for word in words(text))
    return StatedValues(
        values=frozenset(dates.union(_figures(rest))),
        negated=not NEGATIONS.isdisjoint(stems),
        names=frozenset(_names(text)),
        stems=stems,
    )


_SIDES: Final = ((_OBLIGATION, _PERMISSION), (_LOWER_BOUND, _UPPER_BOUND))


def _stand_apart(first: frozenset[str], second: frozenset[str], left: frozenset[str], right: frozenset[str]) -> bool:
    """Say whether one has a word of ``left`` alone and the other a word of ``right`` alone."""
    sides = [(bool(one & left), bool(one & right)) for one in (first, second)]
    return sides in ([(True, False), (False, True)], [(False, True), (True, False)])


def _date(match: re.Match[str]) -> str:
    part = {name[0]: text for name, text in match.groupdict().items() if text}
    month = part["m"]
    number = int(month) if month.isdecimal() else _MONTHS[month[:3].lower()]
    return f"date {part.get('y', '')}-{number:02d}-{int(part.get('d', 0)):02d}"


def _figures(text: str) -> Iterator[str]:
    for figure in quantities(text):
        if figure.unit == CURRENCY:
            sign = _CURRENCY.search(text, figure.start, figure.end)
            yield f"{figure.value!r} {_CURRENCIES[sign.group().lower()] if sign else CURRENCY}"
        elif figure.unit == PERCENT:
            yield f"{figure.value!r} {PERCENT}"
        else:
            size, unit = _unit_after(text, figure.end)
            yield f"{figure.value * size!r} {unit}"
    for match in _ONE.finditer(text):  # elsewhere it is a pronoun more often than a number
        size, unit = _unit_after(text, match.end())
        if unit:
            yield f"{size!r} {unit}"


def _unit_after(text: str, end: int) -> tuple[float, str]:
    match = _UNIT_AFTER.match(text, end)
    if match is None:
        return 1.0, ""
    size, unit = _UNIT_OF_STEM.get(stem(match["word"]), (1.0, ""))
    kind = (match["kind"] or "").lower()
    return size, f"working {unit}" if kind in _WORKING else unit


def _names(text: str) -> Iterator[str]:
    """Yield the stems of capitalised words; at the beginning of a sentence only of what is hardly a common word."""
    for word in words(text):
        written = text[word.start : word.end]
        if not written[0].isupper() or word.stem in STOP_WORDS:
            continue
        is_first = word.start == 0 or _SENTENCE_END.search(text[max(0, word.start - _LOOK_BACK) : word.start])
        if is_first and not written.isupper() and written.endswith(_COMMON_ENDINGS):
            continue
        yield word.stem
