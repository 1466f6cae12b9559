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
from typing import Any, Final

from services.common.ports.recognition import EntityKind
from services.common.reading.clocks import RANGE_START, SPOKEN_TIME, read_range_start, read_spoken_time
from services.common.reading.dates import DATE, MONTHS, YEAR, read_date
from services.common.reading.dues import MONTHLY_SUMS, ONE_LENGTH, TIMES_WORTH
from services.common.reading.folding import folded
from services.common.reading.intervals import APART, EACH, INTERVAL, OFTEN, PERIODS, read_interval
from services.common.reading.lexicon import APPROXIMATORS, FINITE_VERBS, STOPWORDS
from services.common.reading.needs import Glance, Needs
from services.common.reading.numerals import NUMBER, SIGNED_NUMBER, parse_number, plain, scale_factor
from services.common.reading.ordinals import ORDINAL_DAY, read_ordinal
from services.common.reading.periods import PERIOD, read_period
from services.common.reading.ratios import (
    AND_A_HALF,
    HALF_A,
    QUARTERS_OF,
    RATIO,
    SHARE,
    TIME_AND_TIME,
    TIMES,
    read_ratio,
)
from services.common.reading.scanning import find_all
from services.common.reading.text_types import Value
from services.common.reading.units import UNIT_WORDS, in_base_units
from services.common.reading.words import stem

KRONE: Final = "krone"
"""Of some country: Danish, Norwegian or Swedish."""
CENT: Final = "cent"
"""The hundredth part of some currency; the magnitude is in the whole."""
_SIGNS: Final = {
    "$": "USD", "US$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "₹": "INR", "A$": "AUD", "C$": "CAD",
}  # fmt: skip
_CURRENCY_WORDS: Final = {
    "dollar": "USD", "dollars": "USD", "euro": "EUR", "euros": "EUR", "pounds sterling": "GBP", "pounds": "GBP",
    "yen": "JPY",
    "rupees": "INR", "francs": "CHF", "swiss francs": "CHF", "us dollars": "USD", "canadian dollars": "CAD",
    "australian dollars": "AUD", "kroner": KRONE, "krone": KRONE, "kronor": KRONE, "krona": KRONE, "zloty": "PLN",
    "rand": "ZAR", "pesos": "MXN", "cents": CENT, "cent": CENT, "pence": "GBP", "penny": "GBP",
}  # fmt: skip
_HUNDREDTHS: Final = frozenset({"cents", "cent", "pence", "penny", "p"})
_HUNDREDTH: Final = Decimal("0.01")
MONEY_CODES: Final = "USD|EUR|GBP|JPY|CHF|AUD|CAD|NZD|INR|CNY|SEK|NOK|DKK|PLN|CZK|HUF|SGD|HKD|ZAR|BRL|MXN"
_NAMED_MONEY: Final = "|".join(sorted(_CURRENCY_WORDS, key=len, reverse=True))
_AFTER_MONEY: Final = rf"(?:(?:{MONEY_CODES}|{_NAMED_MONEY})\b|[€£](?!\s?\d))"
# "1,500 m" is a distance, as in "5 m costs 3 EUR"; "5 m customers" and "5 m EUR" are millions.
_NO_PLURAL: Final = (
    "is|was|has|does|costs|pays|needs|takes|weighs|stands|requires|applies|exceeds|measures|means|counts|fits|as|its|this"
    "|across|less|always"
)
_METRE: Final = rf"(?-i:m)(?!\s+(?-i:(?!(?:{_NO_PLURAL})\b)[a-z]+s\b|people\b|[A-Z]{{3}}\b))"
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
    r"|(?<![\w.:,£$€])(?P<h2>1[0-2]|[1-9])(?:\.(?P<min2>[0-5]\d))?\s?(?P<half2>[ap])\.?m\b|\b(?<!half\spast\s)(?P<named>noon|midday|midnight)\b"
)
_CURRENCY_BEFORE: Final = re.compile(rf"\b(?:{MONEY_CODES}|Rs\.?)\s?$", re.IGNORECASE)
_HOURS: Final = {"noon": "12:00", "midday": "12:00", "midnight": "00:00"}
_RANGE: Final = _compile(
    rf"(?<![\w.,])(?P<n>{NUMBER})\s?(?:–|—|-|to|and|or)\s?"  # noqa: RUF001 - dashes of ranges
    rf"(?={NUMBER}[\s-]?(?:(?P<pc>{_PERCENT})|(?P<cur>{_AFTER_MONEY})|(?P<unit>{_UNIT})(?![\w/])"
    r"|(?P<times>times\b|fold\b)))"
)
_MONEY: Final = _compile(
    rf"(?<![\w$€£])(?P<sign>US\$|A\$|C\$|[$€£¥₹]|(?:{MONEY_CODES})(?=[\s\d]))\s?(?P<n>{SIGNED_NUMBER})(?!\w)"
    rf"|(?<![\w.,])(?P<n2>{NUMBER})[\s-]?(?P<cur>{_AFTER_MONEY})|(?<![\w.,£$€/-])(?P<n3>[1-9]\d?)(?P<pence>(?-i:p))(?!\w)"
)
_SHARE: Final = _compile(rf"(?<![\w.,])(?P<n>{NUMBER})[\s-]?(?P<pc>{_PERCENT})")
_OF_A_KIND: Final = r"(?:(?:operating|consecutive|full|complete|whole|further|additional|more|extra|successive)\s)?"
_QUANTITY: Final = _compile(rf"(?<![\w.,])(?P<n>{NUMBER})[\s-]?{_OF_A_KIND}(?P<unit>{_UNIT})(?![\w/])")
_LABEL: Final = _compile(r"(?<!\w)(?:step|option|point|item|question|part|example)\s\d{1,3}(?!\w|[.,]\d)")
_LIST_MARK: Final = re.compile(r"^[ \t>]*(?:#{1,6}[ \t]+)?\(?\d{1,3}[.)](?=\s)", re.MULTILINE)
_IDENTIFIER: Final = re.compile(
    r"(?<![\w./-])(?=[A-Za-z/.-]{0,64}\d)(?=[\d/.-]{0,64}[A-Za-z])[A-Za-z\d]{1,64}(?:[-/.][A-Za-z\d]{1,64}){0,12}"
)
_NOT_IDENTIFIER: Final = _compile(r"(?<![\d.,])[\d.,]++(?:st|nd|rd|th|s|[kmbx])")
_LONG_DIGITS: Final = re.compile(r"(?<!\d)\d{31,}")
_BARE: Final = _compile(rf"(?<![\w.])(?P<n>{NUMBER})(?:st\b|nd\b|rd\b|th\b|s\b)?(?!\w)")
_BEHIND: Final = re.compile(r"[\s-]?(?P<word>[^\W\d_]+)")
_PER: Final = _compile(
    rf"(?:\s?/\s?|\s(?:{EACH})\s|\s(?:[^\W\d_]{{1,20}}\s){{1,2}}(?:{EACH})\s"
    rf"|\s(?:per|each|every)\s[^\W\d_]{{1,20}}\sand\s)(?:calendar\s)?"
    rf"(?P<period>{PERIODS})\b|\s(?P<often>{'|'.join(OFTEN)})\b"
)
_RIGHT_PER: Final = _compile(
    rf"\s(?:{EACH}|in\s(?:an?|any|each|every)(?:\sone)?)\s(?:calendar\s)?(?P<period>{PERIODS})\b"
)
_FLOOR: Final = _compile(r"\b(?:more\sthan|over|above|exceed(?:s|ed|ing)?|upwards\sof)\s$")
_HEAD_CHARS: Final = 48
_HEAD_UNIT: Final = _compile(
    rf"(?:\((?:in\s)?|\bin\s)(?:(?P<unit>{_UNIT})|(?P<pc>%|per\s?cent)|(?P<cur>{MONEY_CODES}|[$€£]|{_NAMED_MONEY}))\)?:\s$"
    r"|(?<![\w-])(?P<plural>seconds|minutes|hours|days|weeks|months|years)\)?:\s$"
)
"""What stands before a number in a row of named cells; of a "Week: 8" the number is a name."""
_ENDS_CELL: Final = re.compile(r"\s*(?:$|[;|\n.])")
_DOZEN: Final = 12
_LENGTHS_OF_TIME: Final = frozenset({"second", "month", "working day", TIMES, SHARE})
"""Of these, what is for a length of time ("3 % a year") is not told apart."""
_OF_REFERENCES: Final = Needs(
    ("article", "art.", "section", "sec.", "clause", "paragraph", "para.", "annex", "chapter", "recital", "regulation",
     "directive", "rule", "\u00a7", "page", "p.", "appendix", "schedule"),
)  # fmt: skip
_OF_PERIODS: Final = Needs(
    ("quarter", "half", "fiscal", "financial", "century", "month", *MONTHS), re.compile(r"(?:q|h|fy\s?)\d|\d0s")
)
_OF_SPOKEN_TIMES: Final = Needs(("past", "to", "clock", "morning", "afternoon", "evening", "night"), numeral=True)
_OF_RATIOS: Final = Needs(
    ("third", "quarter", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "twelfth", "twentieth",
     "hundredth", "thousandth", "half", "/", "times", "fold", "factor", "twice", "thrice", "once", "doubl", "tripl",
     "trebl", "quadrupl", "quintupl", "halv"),
    re.compile(r"x\b|\sin\s|out\s+of|of\s+every"),
)  # fmt: skip
_OF_MONEY: Final = Needs(
    ("$", "\u20ac", "\u00a3", "\u00a5", "\u20b9", *MONEY_CODES.lower().split("|"), *_CURRENCY_WORDS),
    re.compile(r"\dp(?!\w)"),
    numeral=True,
)


def scan_values(text: str) -> tuple[Value, ...]:
    """Return the values of a text, ordered by place, not overlapping."""
    taken = bytearray(len(text))
    found: list[Value] = []
    plain_text = folded(text)
    glance = Glance(text, plain_text.lower())
    for pattern in (_LABEL, _LIST_MARK) if glance.has_digit else ():
        for match in find_all(pattern, text):
            # The answer's own numbering is no assertion.
            taken[match.start() : match.end()] = b"\1" * (match.end() - match.start())
    for pattern, read, needs in _SCANNERS:
        if not needs.met(glance):
            continue
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
    changed: dict[str, Any] = {}
    if before.endswith(("-", "−")) and (len(before) == 1 or before[-2] in " (\n\t"):  # noqa: RUF001 - minus sign
        magnitude = -value.magnitude
        value = replace(value, number=-value.number, magnitude=magnitude, normal=_normal(magnitude, value.unit))
    last = before.rstrip().rsplit(None, 1)[-1:]
    value = _in_unit_of_head(text, value)
    # Most values have none of these, and a value is not made anew for what it has already.
    if bool(_FLOOR.search(before)) != value.floor:
        changed["floor"] = not value.floor
    if not value.approximate and last and (last[0].lower() in APPROXIMATORS or last[0].endswith("~")):
        changed["approximate"] = True
    if (counted := _counted(text, value)) != value.counted:
        changed["counted"] = counted
    if not value.per and (per := _per(text, value)):
        changed["per"] = per
    return replace(value, **changed) if changed else value


def _in_unit_of_head(text: str, value: Value) -> Value:
    """Return a bare number of a cell in the unit of its column's head: "Paid weeks: 8", "Price (EUR): 5"."""
    if value.kind is not EntityKind.NUMBER or value.unit or not value.text[-1:].isdigit() or value.number is None:
        return value
    head = _HEAD_UNIT.search(text, max(0, value.start - _HEAD_CHARS), value.start)
    if head is None or not _ENDS_CELL.match(text, value.end):
        return value
    if head["unit"] or head["plural"]:
        magnitude, unit = in_base_units(value.number, head["unit"] or head["plural"])
        kind = EntityKind.QUANTITY
    else:
        magnitude, unit = value.number, SHARE if head["pc"] else _currency(head["cur"])
        kind = EntityKind.PERCENT if head["pc"] else EntityKind.MONEY
    return replace(value, kind=kind, magnitude=magnitude, unit=unit, normal=_normal(magnitude, unit))


def _counted(text: str, value: Value) -> str:
    """Return the stem of the word that tells what a bare number counts."""
    if value.kind is not EntityKind.NUMBER or value.unit:
        return ""
    match = _BEHIND.match(text, value.end)
    word = match["word"].lower() if match is not None else ""
    is_verb = word in FINITE_VERBS and not (word.endswith("s") and len(word) >= _MIN_PLURAL)
    return "" if not word or word in STOPWORDS or is_verb else stem(word)


_MIN_PLURAL: Final = 5
"""Behind a number "counts" is a noun, and "has" is none."""


def _per(text: str, value: Value) -> str:
    """Return the length of time that an amount is for."""
    match = _period_behind(text, value)
    if match is None:
        return ""
    found = match.groupdict()
    return found["period"].lower() if found["period"] else OFTEN[found["often"].lower()]


def _period_behind(text: str, value: Value) -> re.Match[str] | None:
    found = (_RIGHT_PER if value.unit in _LENGTHS_OF_TIME else _PER).match(text, value.end)
    if found is not None and value.kind is EntityKind.NUMBER and found.group().strip().lower() == "hourly":
        return None  # "12 hourly employees" are paid by the hour
    return found


def with_period(text: str, value: Value) -> Value:
    """Return an amount with the words behind it that say for which length of time it is: "60 days a year"."""
    match = _period_behind(text, value) if value.per else None
    return value if match is None else replace(value, text=text[value.start : match.end()], end=match.end())


def _normal(magnitude: Decimal, unit: str) -> str:
    return f"{plain(magnitude)} {unit}".rstrip()


def _measure(match: re.Match[str], kind: EntityKind, number_text: str, unit: str) -> Value | None:
    number = parse_number(number_text)
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
    written = match["sign"] or match["cur"] or match["pence"]
    unit = "GBP" if match["pence"] else _currency(written)
    value = _measure(match, EntityKind.MONEY, match["n"] or match["n2"] or match["n3"], unit)
    if value is None or value.magnitude is None or written.lower() not in _HUNDREDTHS:
        return value
    whole = value.magnitude * _HUNDREDTH
    return replace(value, number=whole, magnitude=whole, normal=_normal(whole, value.unit))


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


def _read_interval(match: re.Match[str]) -> Value | None:
    """Read how often something happens as the time from one to the next."""
    interval = read_interval(match)
    return None if interval is None else replace(_sized(match, EntityKind.QUANTITY, *interval), per=APART)


def _read_and_a_half(match: re.Match[str]) -> Value | None:
    """Read one and a half of a unit: "a year and a half"."""
    what = match.group("what").lower()
    return _sized(match, EntityKind.QUANTITY, Decimal("1.5"), what) if what in UNIT_WORDS else None


def _read_time_and_time(match: re.Match[str]) -> Value | None:
    """Read a length of time in two units, the smaller behind the larger one: "an hour and ten minutes"."""
    more, less = parse_number(match["n"]) if match["n"] else Decimal(1), parse_number(match["less"])
    if more is None or less is None:
        return None
    (large, base), (small, other) = (
        in_base_units(more, match["what"].lower()),
        in_base_units(less, match["part"].lower()),
    )
    unit, _ = in_base_units(Decimal(1), match["what"].lower())
    if base != other or not 0 < small < unit:
        return None
    return replace(
        _plain(match, EntityKind.QUANTITY, _normal(large + small, base)),
        number=large + small,
        magnitude=large + small,
        unit=base,
    )


def _read_quarters(match: re.Match[str]) -> Value | None:
    """Read quarters of a unit: "a quarter of an hour", "three quarters of an hour"."""
    what = match.group("what").lower()
    if what not in UNIT_WORDS:
        return None
    return _sized(match, EntityKind.QUANTITY, Decimal("0.75" if match.group("three") else "0.25"), what)


def _read_spoken_time(match: re.Match[str]) -> Value:
    reading = read_spoken_time(match)
    return replace(_plain(match, EntityKind.TIME, reading.normal), alternative=reading.alternative)


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


def _read_clock(match: re.Match[str]) -> Value | None:
    if match.group("min2") and _CURRENCY_BEFORE.search(match.string, max(0, match.start() - 5), match.start()):
        return None  # "EUR 9.50 pm" is paid each month
    if match.group("named"):
        return _plain(match, EntityKind.TIME, _HOURS[match.group("named").lower()])
    hour, half = int(match.group("h") or match.group("h2")), (match.group("half") or match.group("half2") or "").lower()
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    return _plain(match, EntityKind.TIME, f"{hour:02d}:{match.group('min') or match.group('min2') or '00'}")


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


def _read_ordinal(match: re.Match[str]) -> Value:
    number = Decimal(read_ordinal(match["ordinal"]))
    return replace(_plain(match, EntityKind.NUMBER, str(number)), number=number, magnitude=number)


def _read_identifier(match: re.Match[str]) -> Value | None:
    if _NOT_IDENTIFIER.fullmatch(match.group()):
        return None
    return _plain(match, EntityKind.OTHER, match.group().upper())


def _plain(match: re.Match[str], kind: EntityKind, normal: str) -> Value:
    return Value(kind, match.group(), match.start(), match.end(), normal)


def _as(kind: EntityKind) -> Callable[[re.Match[str]], Value]:
    return lambda match: _plain(match, kind, " ".join(match.group().lower().split()))


_HALF: Final = Needs(("half",))
_SCANNERS: Final[tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Value | None], Needs], ...]] = (
    (_URL, _read_url, Needs(("://", "www."))),
    (_EMAIL, _as(EntityKind.EMAIL), Needs(("@",))),
    (_MARK, _read_mark, Needs(("[",), digit=True)),
    (_WORK, _as(EntityKind.CITATION), Needs(("doi:", "arxiv:", "("))),
    (_REFERENCE, _read_reference, _OF_REFERENCES),
    (DATE, _read_date, Needs(digit=True)),
    (PERIOD, _read_period, _OF_PERIODS),
    (_CLOCK, _read_clock, Needs((":", "am", "pm", "a.m", "p.m", *_HOURS))),
    (RANGE_START, lambda match: _plain(match, EntityKind.TIME, read_range_start(match)), Needs(("am", "pm", ".m"))),
    (SPOKEN_TIME, _read_spoken_time, _OF_SPOKEN_TIMES),
    (INTERVAL, _read_interval, Needs(("once", "twice", "thrice", "times", "every", "each"))),
    (ORDINAL_DAY, _read_ordinal, Needs(("day",))),
    (AND_A_HALF, _read_and_a_half, _HALF),
    (TIME_AND_TIME, _read_time_and_time, Needs(("hour", "minute", "second", "min"), numeral=True)),
    (QUARTERS_OF, _read_quarters, Needs(("quarter",))),
    (HALF_A, _read_half_a, _HALF),
    (RATIO, _read_ratio, _OF_RATIOS),
    (_RANGE, _read_range, Needs(numeral=True)),
    (_MONEY, _read_money, _OF_MONEY),
    (_SHARE, _read_share, Needs(("%", "cent", "percentage", "basis", "bp", "pp"), numeral=True)),
    (TIMES_WORTH, lambda match: _measure(match, EntityKind.QUANTITY, "one", match["unit"]), Needs(("'", "\u2019"))),
    (
        ONE_LENGTH,
        lambda match: _measure(match, EntityKind.QUANTITY, "one", match["unit"]),
        Needs(("within", "than", "least", "most", "after")),
    ),
    (MONTHLY_SUMS, lambda match: _measure(match, EntityKind.QUANTITY, match["n"], "month"), Needs(("monthly",))),
    (_QUANTITY, _read_quantity, Needs(numeral=True)),
    (YEAR, _read_year, Needs(mark=re.compile(r"1\d\d\d|20\d\d"))),
    (_IDENTIFIER, _read_identifier, Needs(digit=True)),
    (_LONG_DIGITS, _as(EntityKind.OTHER), Needs(digit=True)),
    (_BARE, _read_bare, Needs(numeral=True)),
)
"""Patterns, what reads their matches, and what a text must have for any; the most telling first."""
_ADDRESSES: Final = (_URL, _EMAIL)


def mark_numbers(value: Value) -> Iterator[int]:
    """Yield the fact numbers that a citation mark such as ``[1, 3]`` names."""
    return (int(number) for number in re.findall(r"\d+", value.normal))
