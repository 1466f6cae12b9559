"""On which side of a value a statement lies: "up to 5 euros" and "at least 5 euros" name one value and differ.

A negator in front turns the side: "do not lift more than 1 kg" is "at most 1 kg", and "no fixes since May" is "until
May". Only words that say nothing else are read: "by" is left open, and so are "from" and "over" before a length of
time. Whether an amount is called too little or too much ("two months is too short") is read, too.
"""

import re
from enum import StrEnum, unique
from typing import Final

from services.common.ports.recognition import EntityKind
from services.common.reading.lexicon import NEGATORS
from services.common.reading.text_types import Value

_REACH_CHARS: Final = 48
_NEGATED_CHARS: Final = 60
_LARGER: Final = "more|later|longer|higher|greater|larger|further|older|bigger|wider|heavier|louder|faster|above|taller"
_SMALLER: Final = "less|fewer|earlier|lower|shorter|younger|smaller|nearer|narrower|lighter|slower|below"
_AMOUNT: Final = r"(?:\s[a-z]{2,12})?\sof"
_ARTICLE: Final = r"\s(?:the\s|an?\s|(?:the\s)?(?:end|beginning|start)\sof\s(?:the\s)?)?$"
_PLAIN: Final = r"(?<!\bno\s)(?<!\bnot\s)(?<!\bnever\s)"
_AT_MOST: Final = re.compile(
    rf"\b(?:up\sto(?:\sand\sincluding)?|as\s(?:many|much|late|long)\sas|at\s(?:the\s)?(?:most|latest)"
    rf"|(?:no|not|never)\s(?:{_LARGER})\sthan|(?:not|never)\sexceed(?:ing)?|within|(?:a\s)?maximum(?:{_AMOUNT})?"
    rf"|{_PLAIN}(?:{_SMALLER})\sthan|below|under|until|till|before|prior\sto|limited\sto|capped\sat|stops?\sat"
    r"|(?:ceiling|cap)\s(?:is|of)"
    r"|maximum\sis|(?<!\bage\s)(?<!\blower\s)limit\s(?:is|of)"
    r"|(?:ends?|ended|ending|expires?|expired|expiring|closes?|closed)\s(?:on|at)(?:\sthe\send\sof)?"
    rf"|must\snot\sexceed|shall\snot\sexceed|may\snot\sexceed){_ARTICLE}",
    re.IGNORECASE,
)
_AT_LEAST: Final = re.compile(
    rf"\b(?:as\sof|as\sfrom|at\s(?:the\s)?(?:least|earliest)|(?:no|not|never)\s(?:{_SMALLER})\sthan"
    rf"|(?:a\s)?minimum(?:{_AMOUNT}|\sis)?|{_PLAIN}(?:{_LARGER})\sthan|above|exceed(?:s|ed|ing)?"
    r"|in\sexcess\sof|beyond|upwards\sof"
    r"|(?<!\blook\s)(?<!\blooks\s)(?<!\blooked\s)(?<!\blooking\s)after"
    r"|since|starting\s(?:on|at|from)|begin(?:s|ning)?\s(?:on|at|in|with)|not\sbefore|takes\seffect\s(?:on|in))"
    rf"{_ARTICLE}",
    re.IGNORECASE,
)
_COUNTED_BACK: Final = re.compile(r"\s{1,4}(?:before|prior\sto|ahead\sof|in\sadvance|beforehand)\b", re.IGNORECASE)
_IN_TIME: Final = re.compile(r"\b(?:(?:later|earlier|sooner)\sthan|at\sthe\s(?:latest|earliest))\s$", re.IGNORECASE)
"""Comparisons in time, which turn where a length is counted back from an event."""
_OVER: Final = re.compile(r"\b(?:over|from)\s$", re.IGNORECASE)
_FROM: Final = re.compile(rf"\bfrom{_ARTICLE}", re.IGNORECASE)
_RANGE_BEHIND: Final = re.compile(
    r"(?<!\s)\s*+(?:to|until|till|[-–—])\s*+(?:[\d€£$]|(?:[A-Z][a-z]{1,9}\s)?\d)", re.IGNORECASE  # noqa: RUF001 - dashes of ranges
)  # fmt: skip
_NOUN: Final = r"(?:\s(?:old|long|wide|high|deep|tall|in\s(?:length|width|height|advance)))?"
_OR_LESS: Final = re.compile(
    rf"(?<!\s)\s*+,?\s?{_NOUN}\s?(?:or\s(?:less|fewer|below|under|younger|earlier|shorter|lower|smaller)\b"
    r"|at\s(?:the\s)?(?:most|latest)\b|maximum\b|and\s(?:under|below|younger|less)\b(?!\sthan))",
    re.IGNORECASE,
)
_OR_MORE: Final = re.compile(
    rf"(?<!\s)\s*+,?\s?{_NOUN}\s?(?:or\s(?:more|above|over|longer|older|later|higher|greater|larger)\b"
    r"|at\s(?:the\s)?(?:least|earliest)\b|minimum\b|and\s(?:over|above|older|upwards|more)\b(?!\sthan)|onwards?\b)",
    re.IGNORECASE,
)
_COUNTED: Final = r"\s(?:(?!(?:and|or|but|plus|nor|to|than|is|are|was|were)\b)[^\W\d_]{1,24}\s){0,3}"
_CLOSES: Final = (
    r"(?=\W{0,3}$|[,.;:!?)]"
    r"|\s(?:per|a|each|every|in|at|on|for|with|during|and|or|but|so|if|when|unless|may|can|must|is|are)\b)"
)
_COUNTED_OR_LESS: Final = re.compile(
    rf"{_COUNTED}(?:at\s(?:the\s)?(?:very\s)?(?:most|latest)\b{_CLOSES}|or\s(?:less|fewer)\b(?!\sthan)"
    rf"|max(?:imum)?\b{_CLOSES})",
    re.IGNORECASE,
)
_COUNTED_OR_MORE: Final = re.compile(
    rf"{_COUNTED}(?:at\s(?:the\s)?(?:very\s)?(?:least|earliest)\b{_CLOSES}|or\smore\b(?!\sthan)"
    rf"|min(?:imum)?\b{_CLOSES})",
    re.IGNORECASE,
)
"""Sides behind what a number counts: "six visitors at most", "ten people or more", "two adults minimum"."""
_TOPS: Final = re.compile(rf"(?<!\s)\s?(?:max|tops)\b{_CLOSES}", re.IGNORECASE)
_COUNTED_TOPS: Final = re.compile(rf"\s(?:[^\W\d_]{{2,24}}s|people|men|women|children)\stops\b{_CLOSES}", re.IGNORECASE)
"""What "tops" closes is an amount or several things: "£50 tops", "five nights tops", not "three cotton tops"."""
_TURNING: Final = re.compile(
    rf"(?:(?:{_LARGER}|{_SMALLER})\sthan|above|below|over|under|exceed(?:s|ed|ing)?|beyond|since|from|until|till|before|after"
    rf"|in\sexcess\sof|upwards\sof){_ARTICLE}",
    re.IGNORECASE,
)
"""Sides that a negator before them turns; "not at least" and "not up to" are said otherwise."""
_OWN_NEGATION: Final = re.compile(r"\b(?:no|not|never)\s\w+\sthan\s|exceed", re.IGNORECASE)
_NEGATOR: Final = re.compile(
    "|".join([rf"\b(?:{'|'.join(re.escape(word) for word in sorted(NEGATORS - {'unless', 'nor', 'neither'}))})\b(?!-)",
              r"n['’]t\b"]),  # noqa: RUF001
    re.IGNORECASE,
)  # fmt: skip
_FORBIDDING: Final = re.compile(
    r"\b(?:(?:is|are)(?:n['\u2019]t)?|be|being|gets?)\s(?:(?:also|strictly|always|not|never)\s)?(?:forbidden|prohibited|banned)"
    r"(?:\s(?:in|inside|on|at|to|for|here|there|within|outside|near|with|during|anywhere)\b|\s?$)",
    re.IGNORECASE,
)
"""Denies what follows, as "not permitted" does; "forbidden goods" and what was banned once do not."""
_NO_LONGER: Final = re.compile(r"\bno\slonger\b", re.IGNORECASE)
"""Opens a state that holds from then on: "no longer required since May" is since May."""
_LASTING: Final = re.compile(
    r"\b(?:has|have|had)(?:n['\u2019]t|\s(?:not|never))\b|\b(?:nobody|no\sone|nothing)\s(?:has|had)\b",
    re.IGNORECASE,
)
"""What has not been so "for more than 45 days" was otherwise for longer, or was so for less: nobody can say."""
_TOO_LITTLE: Final = re.compile(
    r"(?<!\s)\s++(?:\w+\s){0,4}?(?:is|are|was|were|would\sbe|will\sbe)\s(?:not\s(?:enough|sufficient|long\senough)"
    r"|too\s(?:short|little|few|low|small|early|soon|young)|insufficient|inadequate)\b",
    re.IGNORECASE,
)
_TOO_MUCH: Final = re.compile(
    r"(?<!\s)\s++(?:\w+\s){0,4}?(?:is|are|was|were|would\sbe|will\sbe)\s(?:too\s(?:long|much|many|high|large|late|old|heavy)"
    r"|excessive)\b",
    re.IGNORECASE,
)


@unique
class Bound(StrEnum):
    """The side of a value."""

    AT_MOST = "AT_MOST"
    AT_LEAST = "AT_LEAST"

    @property
    def other(self) -> "Bound":
        """The other side."""
        return Bound.AT_LEAST if self is Bound.AT_MOST else Bound.AT_MOST


def bound_of(text: str, offset: int, value: Value) -> Bound | None:
    """Return the side that the words around a value name; ``text`` starts at ``offset``."""
    start, end = value.start - offset, value.end - offset
    before, behind = text[max(0, start - _REACH_CHARS) : start], text[end : end + _REACH_CHARS]
    before = " ".join(before.split()) + " " if before[-1:].isspace() else before
    side = _side(value, before, behind)
    # Later than 30 days before the return is fewer days before it.
    is_back = side is not None and _COUNTED_BACK.match(behind) is not None and _IN_TIME.search(before) is not None
    return side.other if side is not None and is_back else side


def _side(value: Value, before: str, behind: str) -> Bound | None:
    # What leads to a value is words and a blank: of most of a row of numbers neither side says anything.
    before = _worded(before) if before[-1:].isspace() else ""
    said = _worded(behind)
    if not before and not said:
        return None
    if _AT_MOST.search(before) or _OR_LESS.match(said) or _is_topped(value, said):
        return Bound.AT_MOST
    counted = value.kind in {EntityKind.MONEY, EntityKind.PERCENT, EntityKind.NUMBER}
    if value.kind is EntityKind.NUMBER and not value.unit and _COUNTED_OR_MORE.match(said):
        return Bound.AT_LEAST
    if _AT_LEAST.search(before) or _OR_MORE.match(said) or (counted and _is_over(before, behind)):
        return Bound.AT_LEAST
    if value.kind in {EntityKind.DATE, EntityKind.TIME} and _FROM.search(before) and not _RANGE_BEHIND.match(behind):
        return Bound.AT_LEAST
    return None


_LETTER: Final = re.compile(r"[^\W\d_]")


def _worded(text: str) -> str:
    """Return a text that holds a letter, else nothing: no side is named without a word."""
    return text if _LETTER.search(text) else ""


def _is_topped(value: Value, behind: str) -> bool:
    """Say whether a value is called the most there is behind what it counts, or as one says it: "£50 tops"."""
    if value.kind is EntityKind.NUMBER and not value.unit:
        return any(side.match(behind) for side in (_COUNTED_OR_LESS, _COUNTED_TOPS))
    return _TOPS.match(behind) is not None


def limit_of(text: str, offset: int, value: Value) -> tuple[Bound, bool] | None:
    """Return the side with a negator in front of it taken in, and whether there was one; ``None`` without a side."""
    side = bound_of(text, offset, value)
    if side is None:
        return None
    start = value.start - offset
    before = " ".join(text[max(0, start - _NEGATED_CHARS - _REACH_CHARS) : start].split()) + " "
    turning = _TURNING.search(before[-_REACH_CHARS:])
    if turning is None or _OWN_NEGATION.search(before[-_REACH_CHARS:][max(0, turning.start() - 10) :]):
        return side, False
    head = before[: len(before) - len(before[-_REACH_CHARS:]) + turning.start()]
    governed = re.split(r"[,;:.!?|]\s|\b(?:but|and)\b", head)[-1][-_NEGATED_CHARS:]
    if _LASTING.search(governed) and head.endswith(" for "):
        return None
    is_negated = _NEGATOR.search(_NO_LONGER.sub(" ", governed)) is not None
    is_turned = is_negated is not (_FORBIDDING.search(governed) is not None)
    return side.other if is_turned else side, is_negated


def out_of_bounds(text: str, offset: int, value: Value) -> Bound | None:
    """Return AT_LEAST where the value is called too little, AT_MOST where it is called too much, else ``None``."""
    behind = text[value.end - offset :][: 2 * _REACH_CHARS]
    if _TOO_LITTLE.match(behind):
        return Bound.AT_LEAST
    return Bound.AT_MOST if _TOO_MUCH.match(behind) else None


def _is_over(before: str, behind: str) -> bool:
    return bool(_OVER.search(before)) and not _RANGE_BEHIND.match(behind)
