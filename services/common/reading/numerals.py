"""Numbers as people write them: ``1,000``, ``1 000``, ``one thousand``, ``two dozen``, ``4.2M``; to one ``Decimal``."""

import re
from decimal import Decimal
from typing import Final
from unicodedata import numeric

MAX_DIGITS: Final = 30
"""Longer digit strings are identifiers, not numbers."""

_UNITS: Final = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS: Final = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_SCALES: Final = {
    "hundred": 100, "dozen": 12, "thousand": 1_000, "million": 10**6, "billion": 10**9, "trillion": 10**12,
}  # fmt: skip
_JOINING: Final = frozenset({"hundred", "dozen"})
"""Scales that multiply what stands right before them and are added to what follows."""
_SMALL: Final = {word: number for number, word in enumerate(_UNITS)} | {
    word: 10 * number for number, word in enumerate(_TENS, start=2)
}
NUMBER_WORDS: Final = frozenset({*_SMALL, *_SCALES, "half"})
"""Words of which a number can be made, by themselves."""
_WORD: Final = "(?:" + "|".join(sorted((*_SMALL, *_SCALES), key=len, reverse=True)) + ")"
_HALF: Final = r"(?<!\s)\s++and\s++a\s++half\b"
_AND: Final = r"(?:(?<=hundred)|(?<=thousand)|(?<=[mbr]illion))\s+and\s+"
WORDS: Final = rf"\b{_WORD}\b(?:(?:{_AND}|\s+|-){_WORD}\b){{0,12}}(?:{_HALF})?"
"""A number in words."""
COUNT_WORDS: Final = r"(?:" + "|".join(sorted(_SMALL, key=len, reverse=True)) + ")"
"""A single number word below one hundred."""
FRACTIONS: Final = "½¼¾⅕⅖⅗⅘⅛⅜⅝⅞"
DIGITS: Final = (
    rf"\d{{0,6}}[{FRACTIONS}]|"
    r"\d{1,3}(?: \d{3}){1,10}(?!\d)(?:\.\d{1,30})?|"
    r"\d{1,3}(?:[,\u2009\u202f\u00a0'’]\d{3}){1,10}(?:\.\d{1,30})?|"  # noqa: RUF001 - Swiss
    r"\d{1,3}(?:\.\d{3}){1,10},\d{1,30}|\d{1,30}(?:\.\d{1,30})?"
)
"""A number in digits, with English, Swiss, SI or continental separators."""
SCALE: Final = r"(?:[\s-]?(?:thousand|million|billion|trillion|mill|mn|mln|bn|tn)\b|[kKmMbB]\b)"
"""A scale after digits."""
_MONEY_SCALE: Final = (
    r"(?:[\s-]?(?:thousand|million|billion|trillion|mill|mn|mln|bn|tn|grand(?!\s[a-z]))(?![^\W_])"
    r"|(?:\s?[km]|b)(?![^\W_]|-\w))"
)
"""A scale behind an amount that a currency sign or code begins: of money a letter is no unit, as in "£5 m"."""
SIGNED_SCALE: Final = rf"(?i:{_MONEY_SCALE})"
SHARED_SCALE: Final = rf"(?i:\s?(?:-|–|to|and)\s?[$€£]?\d[\d.,]{{0,12}}{_MONEY_SCALE})"  # noqa: RUF001 - a dash of ranges
"""Behind a small amount of money: the second end of a range whose scale may be the first one's too, "£2-5k"."""
SIGNED_NUMBER: Final = (
    rf"(?>(?:{DIGITS}){SIGNED_SCALE}|(?!\d{{1,2}}(?:\.\d+)?{SHARED_SCALE})(?:{DIGITS})(?![.,]?\d)|{WORDS})"
)
"""A number behind a currency sign; "£1,5oo" and "£2-5k" begin with none that is plain."""
NUMBER: Final = rf"(?>(?:{DIGITS})(?:{SCALE})?|{WORDS})"
"""Any of them; atomic: read once and never shortened, so that a long run of number words costs no backtracking."""

_SCALE_FACTORS: Final = {
    "thousand": 10**3, "k": 10**3, "grand": 10**3,
    "million": 10**6, "mill": 10**6, "mn": 10**6, "mln": 10**6, "m": 10**6,
    "billion": 10**9, "bn": 10**9, "b": 10**9, "trillion": 10**12, "tn": 10**12,
}  # fmt: skip
_SPLIT: Final = re.compile(rf"(?P<digits>{DIGITS})(?P<scale>{SCALE}|{SIGNED_SCALE})?", re.IGNORECASE)
_THREE_PLACES: Final = re.compile(r"(?<![\d.,])[1-9]\d{0,2}\.\d{3}(?![\d.,]*\d)")
_CONTINENTAL: Final = re.compile(rf"\d{{1,3}}(?:\.\d{{3}}){{1,{MAX_DIGITS // 3}}},\d{{1,{MAX_DIGITS}}}")


def parse_digits(text: str) -> Decimal | None:
    """Return the number, or ``None`` when it has too many digits to be one."""
    if sum(char.isdigit() for char in text) > MAX_DIGITS:
        return None
    if text[-1] in FRACTIONS:
        return Decimal(text[:-1] or 0) + Decimal(str(numeric(text[-1])))
    if _CONTINENTAL.fullmatch(text):
        return Decimal(text.replace(".", "").replace(",", "."))
    return Decimal(re.sub(r"[ ,\u2009\u202f\u00a0'’]", "", text))  # noqa: RUF001 - Swiss separators


def may_be_thousands(text: str) -> bool:
    """Say whether an amount is written so that its point may part thousands: "EUR 2.000" is read as 2."""
    return _THREE_PLACES.search(text) is not None


def parse_words(text: str) -> Decimal:
    """Return the number that words spell, e.g. ``two hundred and five thousand``, ``two and a half``."""
    half = re.search(_HALF, text, re.IGNORECASE)
    if half is not None:
        return parse_words(text[: half.start()]) + Decimal("0.5")
    total, current = 0, 0
    for word in re.findall(_WORD, text.lower()):
        if word in _SMALL:
            current += _SMALL[word]
        elif word in _JOINING:
            current = max(current, 1) * _SCALES[word]
        else:
            total += max(current, 1) * _SCALES[word]
            current = 0
    return Decimal(total + current)


def parse_number(text: str) -> Decimal | None:
    """Return the number that a match of ``NUMBER`` or ``SIGNED_NUMBER`` is; ``None`` for one with too many digits."""
    match = _SPLIT.fullmatch(text)
    if match is None:
        return parse_words(text)
    number = parse_digits(match["digits"])
    return None if number is None else number * scale_factor(match["scale"] or "")


def scale_factor(text: str) -> int:
    """Return what a scale multiplies with; 1 for none."""
    return _SCALE_FACTORS.get(text.strip(" \t\n-").lower(), 1)


def plain(number: Decimal) -> str:
    """Return the number without exponent and trailing zeros: ``4200000``, ``0.15``."""
    text = format(number, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def rounds_to(rounded: Decimal, exact: Decimal) -> bool:
    """Say whether ``exact`` rounded to the significant digits of ``rounded`` is ``rounded``."""
    if rounded == 0:
        return exact == 0
    digits = len(rounded.normalize().as_tuple().digits)
    shift = exact.adjusted() - digits + 1
    return exact.quantize(Decimal(1).scaleb(shift)) == rounded
