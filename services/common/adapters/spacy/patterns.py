"""What patterns find without a model: references, addresses, amounts, dates and codes.

Pure. Patterns are grouped into two ranks. FIRM patterns are more reliable than the statistical model and win over it;
FALLBACK patterns only fill what neither found, so that no digit of a text goes without an entity.
"""

import re
from collections.abc import Iterator
from typing import Final

from services.common.ports.recognition import Entity, EntityKind

# Never entered or left in the middle, so that matching stays linear on any input. Look-arounds instead of possessive
# groups: Python before 3.11.5 matches those wrongly.
_NUMBER: Final = r"(?<!\d)(?<!\d[.,'\u2019])\d+(?:[.,'\u2019]\d+)*(?!\d)(?![.,'\u2019]\d)"
_SIGNED: Final = rf"(?:(?<![\w.,])[-+\u2212])?{_NUMBER}"
_SCALE: Final = r"(?:\s?(?:thousand|million|billion|trillion|mn|bn|tn|[mkMK])\b)"
_CURRENCY: Final = r"(?:US\$|A\$|C\$|[$€£¥₹]|\b(?:USD|EUR|GBP|CHF|JPY|CAD|AUD|SEK|NOK|DKK|PLN|INR|CNY)\b)"
_CURRENCY_WORD: Final = r"(?:dollars?|euros?|pounds?(?:\ssterling)?|francs?|yen|cents?|pence)\b"
_UNIT: Final = (
    r"(?:km/h|mph|kWh|MWh|GWh|kW|MW|GW|Wh|°C|°F|m²|m³|km²|km|cm|mm|kg|mg|µg|ml|GHz|MHz|kHz|Hz|"
    r"GiB|MiB|KiB|GB|MB|KB|TB|ft|lbs?|oz|hectares?|acres?|"
    r"(?:square |cubic )?(?:kilo|centi|milli)?(?:met(?:er|re)s?|grams?|lit(?:er|re)s?)|"
    r"miles?|feet|foot|inch(?:es)?|yards?|pounds?|tonnes?|tons?|degrees?|"
    r"(?:kilo|mega|giga|tera)?bytes?|(?:kilo|mega|giga)?watts?(?:[- ]hours?)?)(?!\w)"
)
_MONTH: Final = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|"
    r"Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\.?"
)
_PART: Final = r"\d+[a-z]?(?:[.-]\d+[a-z]?)*(?:\((?:\d{1,3}|[a-z]{1,3})\))*"
_DIVISION: Final = (
    r"(?:Arts?\.|Articles?|Sections?|Secs?\.|Clauses?|Chapters?|Ch\.|Annex(?:es)?|Appendix|Paragraphs?|Paras?\.|"
    r"Recitals?|Rules?|Schedules?|§§?)"
)
_PAPER: Final = (
    r"(?:Policy|Procedure|Guideline|Guidance|Standard|Circular|Bulletin|Document|Form|Directive|Regulation|Handbook|"
    r"Rule|Instruction|Notice|Memo|Annex|Report)"
)
_STATUTE: Final = r"(?:\s(?:of\sthe\s|of\s)?(?:[A-Z]{3,}(?:-[A-Z0-9]+)*|[A-Z][a-z]+(?:\s[A-Z][a-z]+)*\sAct)\b)?"

FIRM: Final[tuple[tuple[EntityKind, re.Pattern[str]], ...]] = (
    (EntityKind.URL, re.compile(r"\b(?:https?://|www\.)[^\s<>\"'`{}|\\^\[\]]+", re.IGNORECASE)),
    (EntityKind.EMAIL, re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}")),
    (EntityKind.CITATION, re.compile(r"\[\d{1,4}(?:\s?[,;\u2013-]\s?\d{1,4}){0,20}\]")),
    (
        EntityKind.CITATION,
        re.compile(r"\([A-Z][\w'\u2019-]{1,40}(?:\set\sal\.|\s(?:and|&)\s[A-Z][\w'\u2019-]{1,40})?,?\s\d{4}[a-z]?\)"),
    ),
    (EntityKind.CITATION, re.compile(r"\b[A-Z][\w'\u2019-]{1,40}\set\sal\.,?\s\(\d{4}[a-z]?\)")),
    (EntityKind.CITATION, re.compile(rf"(?<!\w){_DIVISION}\s?{_PART}(?:(?:,\s|\s(?:and|to)\s){_PART})*{_STATUTE}")),
    (EntityKind.CITATION, re.compile(r"\b(?:Annex|Appendix|Schedule)\s(?:[IVX]{1,5}|[A-Z])\b")),
    (EntityKind.CITATION, re.compile(rf"\b{_PAPER}\s(?:No\.?\s)?(?:\(E[UC]\)\s)?[A-Z]{{1,6}}[- ]?\d+(?:[./-]\w+)*")),
    (EntityKind.CITATION, re.compile(rf"\b{_PAPER}\s(?:No\.?\s)?(?:\(E[UC]\)\s)?\d+/\d+(?:/E[UC])?")),
    (EntityKind.CITATION, re.compile(r"\b(?:ISO(?:/IEC)?|IEC|EN|DIN|RFC|NIST\sSP)\s\d+(?:[-:]\d+)*\b")),
    (EntityKind.CITATION, re.compile(r"\b(?:doi:\s?|arXiv:)[^\s,;]+", re.IGNORECASE)),
    (EntityKind.PERCENT, re.compile(rf"{_SIGNED}\s?(?:%|‰|(?:per\s?cent|percentage\spoints?|basis\spoints)\b)")),
    (
        EntityKind.MONEY,
        re.compile(rf"(?:(?<!\w)[-\u2212])?{_CURRENCY}\s?{_NUMBER}{_SCALE}?(?:\s{_CURRENCY_WORD})?"),
    ),
    (EntityKind.MONEY, re.compile(rf"{_SIGNED}{_SCALE}?\s?(?:{_CURRENCY}|{_CURRENCY_WORD})")),
    (EntityKind.QUANTITY, re.compile(rf"{_SIGNED}{_SCALE}?[\s-]?{_UNIT}")),
    (EntityKind.DATE, re.compile(r"\b(?:[QH][1-4](?:\s(?:of\s)?\d{4})?|FY\s?\d{2,4})\b")),
    (EntityKind.OTHER, re.compile(r"(?<!\w)\+\d{1,3}(?:[\s-]?(?:\(\d{1,5}\)|\d{1,5})){2,6}(?!\w)")),
    (EntityKind.OTHER, re.compile(r"(?<![\w.-])(?=[A-Z]|v\d)(?=[\w.-]*\d)\w+(?:[-.]\w+)*(?!\w)(?![-.]\w)")),
)
"""In order of precedence: of two that overlap the earlier one stands."""

FALLBACK: Final[tuple[tuple[EntityKind, re.Pattern[str]], ...]] = (
    (EntityKind.DATE, re.compile(r"(?<!\d)\d{4}-\d{2}-\d{2}(?!\d)")),
    (EntityKind.DATE, re.compile(r"(?<![\d./])\d{1,2}([./])\d{1,2}\1\d{2,4}(?![\d./])")),
    (EntityKind.DATE, re.compile(rf"\b\d{{1,2}}(?:st|nd|rd|th)?\s(?:of\s)?{_MONTH}(?:,?\s\d{{4}}\b)?")),
    (EntityKind.DATE, re.compile(rf"\b{_MONTH}\s\d{{1,2}}(?:st|nd|rd|th)?(?:,?\s\d{{4}}\b|\b)")),
    (EntityKind.DATE, re.compile(rf"\b{_MONTH}\s\d{{4}}\b")),
    (EntityKind.TIME, re.compile(r"(?<![\d:])\d{1,2}:\d{2}(?::\d{2})?(?:\s?[ap]\.?m\b\.?)?(?![\d:])", re.IGNORECASE)),
    (EntityKind.TIME, re.compile(rf"{_NUMBER}[\s-]?(?:milliseconds?|seconds?|minutes?|hours?|ms|min)\b")),
    (
        EntityKind.DATE,
        re.compile(rf"{_NUMBER}[\s-](?:(?:calendar|working|business)\s)?(?:days?|weeks?|months?|years?)\b"),
    ),
    (EntityKind.NUMBER, re.compile(r"(?<!\w)\d+(?:st|nd|rd|th)\b")),
    (EntityKind.OTHER, re.compile(r"(?<![\w.-])(?=[^\W\d])(?=[\w.-]*\d)\w+(?:[-.]\w+)*(?!\w)(?![-.]\w)")),
    (EntityKind.NUMBER, re.compile(rf"{_SIGNED}{_SCALE}?")),
)
"""Only where neither a FIRM pattern nor the model found anything; earlier ones stand."""

_TRAILING: Final = {EntityKind.URL: ".,;:!?)", EntityKind.EMAIL: ".-", EntityKind.CITATION: ".,;:"}


def matches(text: str, patterns: tuple[tuple[EntityKind, re.Pattern[str]], ...]) -> Iterator[Entity]:
    """Yield every match of every pattern, in the patterns' order; matches of different patterns may overlap."""
    for kind, pattern in patterns:
        for match in pattern.finditer(text):
            found = match.group()
            if kind in _TRAILING:
                found = found.rstrip(_TRAILING[kind])
            if found:
                yield Entity(kind, found, match.start(), match.start() + len(found))
