"""Numbers, dates, amounts, addresses and references in a text, in a form in which equal values are equal (SPEC-005 §5).

``1,000``, ``1000`` and ``one thousand``; ``15 %``, ``15 percent`` and ``fifteen per cent``; ``$4.2M`` and ``4.2 million
dollars``; ``1 March 2024``, ``March 1st, 2024`` and ``2024-03-01``; ``5 km`` and ``5,000 metres``; ``a quarter of`` and
``25 %``; ``twice`` and ``two times`` are the same value.
Scanners run in a fixed order, the most telling first, and no two values overlap. Linear in the text.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Final

from services.common.ports.recognition import EntityKind
from services.dpe.domain.dates import DATE, YEAR, read_date
from services.dpe.domain.folding import folded
from services.dpe.domain.lexicon import APPROXIMATORS
from services.dpe.domain.numerals import DIGITS, SCALE, WORDS, parse_digits, parse_words, plain, scale_factor
from services.dpe.domain.periods import PERIOD, read_period
from services.dpe.domain.ratios import HALF_A, RATIO, SHARE, TIMES, read_ratio
from services.dpe.domain.scanning import find_all
from services.dpe.domain.text_types import Value
from services.dpe.domain.units import UNIT_WORDS, in_base_units

_SIGNS: Final = {
    "$": "USD", "US$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "₹": "INR", "A$": "AUD", "C$": "CAD",
}  # fmt: skip
_CURRENCY_WORDS: Final = {
    "dollar": "USD", "dollars": "USD", "euro": "EUR", "euros": "EUR", "pounds sterling": "GBP", "pounds": "GBP",
    "yen": "JPY",
    "rupees": "INR", "francs": "CHF", "swiss francs": "CHF",
}  # fmt: skip
_CODES: Final = "USD|EUR|GBP|JPY|CHF|AUD|CAD|NZD|INR|CNY|SEK|NOK|DKK|PLN|CZK|HUF|SGD|HKD|ZAR|BRL|MXN"
# Atomic: a number is read once and never shortened, so that a long run of number words costs no backtracking.
_NUMBER: Final = rf"(?>(?:{DIGITS})(?:{SCALE})?|{WORDS})"
_NAMED_MONEY: Final = "|".join(sorted(_CURRENCY_WORDS, key=len, reverse=True))
_AFTER_MONEY: Final = rf"(?:(?:{_CODES}|{_NAMED_MONEY})\b|[€£](?!\s?\d))"
# "1,500 m" is a distance; "5 m customers" and "5 m EUR" are millions.
_METRE: Final = r"(?-i:m)(?!\s+(?-i:[a-z]+s\b|people\b|[A-Z]{3}\b))"
_UNIT: Final = "(?:" + "|".join([*(re.escape(word) for word in UNIT_WORDS if word != "m"), _METRE]) + ")"
_PERCENT: Final = r"(?:%|per\s?cent\b|percentage\spoints?\b|basis\spoints?\b|bps?\b|pp\b)"
_BASIS_POINT: Final = Decimal("0.01")
_REFERENCES: Final = {
    "art.": "article", "articles": "article", "sec.": "section", "sections": "section", "§": "section", "§§": "section",
    "para.": "paragraph", "p.": "page", "pp.": "page", "pages": "page",
}  # fmt: skip


def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_URL: Final = _compile(r"(?:https?://|www\.)[^\s<>\"'\])}]{1,2000}")
_EMAIL: Final = _compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}")
_MARK: Final = _compile(r"\[(?:fact\s|source\s)?(?P<ids>\d{1,4}(?:\s?[,;]\s?\d{1,4}){0,20})\]")
_REFERENCE: Final = _compile(
    r"(?<!\w)(?P<word>articles?|art\.|sections?|sec\.|clause|paragraph|para\.|annex|chapter|recital|regulation|directive"
    r"|rule|§§?|pages?|pp?\.|appendix|schedule)\s?(?P<eu>\(e[uc]\)\s)?(?:no\.?\s)?"
    r"(?P<id>\d[\w./-]{0,30}(?:\(\w{1,4}\)){0,6}|[ivx]{1,5}\b)"
)
_WORK: Final = _compile(
    r"\b(?:doi:\s?|arxiv:\s?)[\w./()-]{1,80}|\([a-z][\w'-]{1,40}(?:\set\sal\.|\s(?:and|&)\s[\w'-]{1,40})?,?\s(?:19|20)\d\d[a-z]?\)"
)
_CLOCK: Final = _compile(
    r"(?<![\w.:])(?P<h>[01]?\d|2[0-3]):(?P<min>[0-5]\d)(?:\s?(?P<half>[ap])\.?m\b)?(?![\w:])"
    r"|(?<![\w.:,])(?P<h2>1[0-2]|[1-9])\s?(?P<half2>[ap])\.?m\b|\b(?P<named>noon|midday|midnight)\b"
)
_HOURS: Final = {"noon": "12:00", "midday": "12:00", "midnight": "00:00"}
_RANGE: Final = _compile(
    rf"(?<![\w.,])(?P<n>{_NUMBER})\s?(?:–|—|-|to|and|or)\s?"  # noqa: RUF001 - dashes of ranges
    rf"(?={_NUMBER}[\s-]?(?:(?P<pc>{_PERCENT})|(?P<cur>{_AFTER_MONEY})|(?P<unit>{_UNIT})(?![\w/])"
    r"|(?P<times>times\b|fold\b)))"
)
_MONEY: Final = _compile(
    rf"(?<![\w$€£])(?P<sign>US\$|A\$|C\$|[$€£¥₹]|(?:{_CODES})(?=[\s\d]))\s?(?P<n>{_NUMBER})(?!\w)"
    rf"|(?<![\w.,])(?P<n2>{_NUMBER})[\s-]?(?P<cur>{_AFTER_MONEY})"
)
_SHARE: Final = _compile(rf"(?<![\w.,])(?P<n>{_NUMBER})[\s-]?(?P<pc>{_PERCENT})")
_QUANTITY: Final = _compile(rf"(?<![\w.,])(?P<n>{_NUMBER})[\s-]?(?P<unit>{_UNIT})(?![\w/])")
_LABEL: Final = _compile(r"(?<!\w)(?:step|option|point|item|question|part|example)\s\d{1,3}(?!\w|[.,]\d)")
_LIST_MARK: Final = re.compile(r"^[ \t>]*(?:#{1,6}[ \t]+)?\(?\d{1,3}[.)](?=\s)", re.MULTILINE)
_IDENTIFIER: Final = re.compile(
    r"(?<![\w./-])(?=[A-Za-z/.-]{0,64}\d)(?=[\d/.-]{0,64}[A-Za-z])[A-Za-z\d]{1,64}(?:[-/.][A-Za-z\d]{1,64}){0,12}"
)
_NOT_IDENTIFIER: Final = _compile(r"(?<![\d.,])[\d.,]++(?:st|nd|rd|th|s|[kmbx])")
_LONG_DIGITS: Final = re.compile(r"(?<!\d)\d{31,}")
_BARE: Final = _compile(rf"(?<![\w.])(?P<n>{_NUMBER})(?:st\b|nd\b|rd\b|th\b|s\b)?(?!\w)")
_FLOOR: Final = _compile(r"\b(?:more\sthan|over|above|exceed(?:s|ed|ing)?|upwards\sof)\s$")
_DOZEN: Final = 12
_SPLIT_NUMBER: Final = _compile(rf"(?P<digits>{DIGITS})(?P<scale>{SCALE})?")


def scan_values(text: str) -> tuple[Value, ...]:
    """Return the values of a text, ordered by place, not overlapping."""
    taken = bytearray(len(text))
    found: list[Value] = []
    for pattern in (_LABEL, _LIST_MARK):
        for match in find_all(pattern, text):
            # The answer's own numbering is no assertion.
            taken[match.start() : match.end()] = b"\1" * (match.end() - match.start())
    plain_text = folded(text)
    for pattern, read in _SCANNERS:
        # An address may be written in any script, and be long; numbers must not hide behind one.
        for match in pattern.finditer(text) if pattern in _ADDRESSES else find_all(pattern, plain_text):
            value = None if any(taken[match.start() : match.end()]) else read(match)
            if value is not None:
                taken[value.start : value.end] = b"\1" * (value.end - value.start)
                found.append(_qualified(text, value))
    return tuple(sorted(found, key=lambda value: value.start))


def _qualified(text: str, value: Value) -> Value:
    """Add what stands before a number: a minus sign, or a word that makes it approximate."""
    if value.number is None or value.magnitude is None:
        return value
    before = text[max(0, value.start - 16) : value.start]
    if before.endswith(("-", "−")) and (len(before) == 1 or before[-2] in " (\n\t"):  # noqa: RUF001 - minus sign
        magnitude = -value.magnitude
        value = replace(value, number=-value.number, magnitude=magnitude, normal=_normal(magnitude, value.unit))
    last = before.rstrip().rsplit(None, 1)[-1:]
    value = replace(value, floor=bool(_FLOOR.search(before)))
    is_approximate = bool(last) and (last[0].lower() in APPROXIMATORS or last[0].endswith("~"))
    return replace(value, approximate=True) if is_approximate else value


def _normal(magnitude: Decimal, unit: str) -> str:
    return f"{plain(magnitude)} {unit}".rstrip()


def _numeral(text: str) -> Decimal | None:
    match = _SPLIT_NUMBER.fullmatch(text)
    if match is None:
        return parse_words(text)
    number = parse_digits(match.group("digits"))
    return None if number is None else number * scale_factor(match.group("scale") or "")


def _measure(match: re.Match[str], kind: EntityKind, number_text: str, unit: str) -> Value | None:
    number = _numeral(number_text)
    if number is None:
        return None
    magnitude, base = number, unit
    if kind is EntityKind.QUANTITY:
        magnitude, base = in_base_units(number, unit)
    text = match.group().rstrip()
    return Value(
        kind, text, match.start(), match.start() + len(text), _normal(magnitude, base),
        number=number, magnitude=magnitude, unit=base,
    )  # fmt: skip


def _currency(written: str) -> str:
    return _SIGNS.get(written) or _CURRENCY_WORDS.get(written.lower()) or _SIGNS.get(written.upper()) or written.upper()


def _read_money(match: re.Match[str]) -> Value | None:
    written = match.group("sign") or match.group("cur")
    return _measure(match, EntityKind.MONEY, match.group("n") or match.group("n2"), _currency(written))


def _read_share(match: re.Match[str]) -> Value | None:
    written = match.group("pc").lower()
    unit = "pp" if "p" in written and "cent" not in written.replace("percentage", "") else SHARE
    value = _measure(match, EntityKind.PERCENT, match.group("n"), unit)
    if value is None or value.magnitude is None or not written.startswith("b"):
        return value
    points = value.magnitude * _BASIS_POINT
    return replace(value, number=points, magnitude=points, normal=_normal(points, unit))


def _read_ratio(match: re.Match[str]) -> Value | None:
    ratio = read_ratio(match)
    if ratio is None:
        return None
    number, unit = ratio
    kind = EntityKind.PERCENT if unit == SHARE else EntityKind.NUMBER
    return replace(_plain(match, kind, _normal(number, unit)), number=number, magnitude=number, unit=unit)


def _read_half_a(match: re.Match[str]) -> Value | None:
    """Read half of a unit, of a percent, or of a scale; of anything else it is no value."""
    what = match.group("what").lower()
    half = Decimal("0.5")
    if what in {"percent", "per"}:
        return _sized(match, EntityKind.PERCENT, half, SHARE)
    if scale_factor(what) > 1 or what == "dozen":
        return _sized(match, EntityKind.NUMBER, half * (_DOZEN if what == "dozen" else scale_factor(what)), "")
    return _sized(match, EntityKind.QUANTITY, half, what) if what in UNIT_WORDS else None


def _sized(match: re.Match[str], kind: EntityKind, number: Decimal, unit: str) -> Value:
    magnitude, base = in_base_units(number, unit) if kind is EntityKind.QUANTITY else (number, unit)
    return replace(_plain(match, kind, _normal(magnitude, base)), number=number, magnitude=magnitude, unit=base)


def _read_quantity(match: re.Match[str]) -> Value | None:
    return _measure(match, EntityKind.QUANTITY, match.group("n"), match.group("unit"))


def _read_range(match: re.Match[str]) -> Value | None:
    """Read the first number of a range, which shares the unit of the second."""
    if match.group("pc"):
        value = _read_share(match)
    elif match.group("cur"):
        value = _measure(match, EntityKind.MONEY, match.group("n"), _currency(match.group("cur")))
    elif match.group("times"):
        value = _measure(match, EntityKind.NUMBER, match.group("n"), TIMES)
    else:
        value = _read_quantity(match)
    if value is None:
        return None
    return replace(value, text=match.group("n"), end=value.start + len(match.group("n")))


def _read_bare(match: re.Match[str]) -> Value | None:
    if match.group("n").lower() == "one":
        return None  # "one" is a pronoun more often than a number
    return _measure(match, EntityKind.NUMBER, match.group("n"), "")


def _read_date(match: re.Match[str]) -> Value | None:
    reading = read_date(match)
    if reading is None:
        return None
    return replace(_plain(match, EntityKind.DATE, reading.normal), alternative=reading.alternative)


def _read_year(match: re.Match[str]) -> Value:
    written = match.group("y") or match.group("old")
    year = Decimal(written)
    return replace(_plain(match, EntityKind.DATE, written), number=year, magnitude=year)


def _read_period(match: re.Match[str]) -> Value:
    return _plain(match, EntityKind.DATE, read_period(match))


def _read_clock(match: re.Match[str]) -> Value:
    if match.group("named"):
        return _plain(match, EntityKind.TIME, _HOURS[match.group("named").lower()])
    hour, half = int(match.group("h") or match.group("h2")), (match.group("half") or match.group("half2") or "").lower()
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    return _plain(match, EntityKind.TIME, f"{hour:02d}:{match.group('min') or '00'}")


def _read_reference(match: re.Match[str]) -> Value:
    word = match.group("word").lower()
    number = match.group("id").rstrip(".,/-")
    text = match.group()[: match.end("id") - match.start() - (len(match.group("id")) - len(number))]
    normal = f"{_REFERENCES.get(word, word)} {number.lower()}"
    return Value(EntityKind.CITATION, text, match.start(), match.start() + len(text), normal)


def _read_mark(match: re.Match[str]) -> Value:
    ids = sorted({int(number) for number in re.findall(r"\d+", match.group("ids"))})
    return _plain(match, EntityKind.CITATION, "".join(f"[{number}]" for number in ids))


def _read_url(match: re.Match[str]) -> Value:
    text = match.group().rstrip(".,;:!?*_`")
    bare = text.lower().removeprefix("https://").removeprefix("http://").removeprefix("www.").rstrip("/")
    return Value(EntityKind.URL, text, match.start(), match.start() + len(text), bare)


def _read_identifier(match: re.Match[str]) -> Value | None:
    if _NOT_IDENTIFIER.fullmatch(match.group()):
        return None
    return _plain(match, EntityKind.OTHER, match.group().upper())


def _plain(match: re.Match[str], kind: EntityKind, normal: str) -> Value:
    return Value(kind, match.group(), match.start(), match.end(), normal)


def _as(kind: EntityKind) -> Callable[[re.Match[str]], Value]:
    return lambda match: _plain(match, kind, " ".join(match.group().lower().split()))


_SCANNERS: Final[tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Value | None]], ...]] = (
    (_URL, _read_url),
    (_EMAIL, _as(EntityKind.EMAIL)),
    (_MARK, _read_mark),
    (_WORK, _as(EntityKind.CITATION)),
    (_REFERENCE, _read_reference),
    (DATE, _read_date),
    (PERIOD, _read_period),
    (_CLOCK, _read_clock),
    (HALF_A, _read_half_a),
    (RATIO, _read_ratio),
    (_RANGE, _read_range),
    (_MONEY, _read_money),
    (_SHARE, _read_share),
    (_QUANTITY, _read_quantity),
    (YEAR, _read_year),
    (_IDENTIFIER, _read_identifier),
    (_LONG_DIGITS, _as(EntityKind.OTHER)),
    (_BARE, _read_bare),
)
_ADDRESSES: Final = (_URL, _EMAIL)


def mark_numbers(value: Value) -> Iterator[int]:
    """Yield the fact numbers that a citation mark such as ``[1, 3]`` names."""
    return (int(number) for number in re.findall(r"\d+", value.normal))
