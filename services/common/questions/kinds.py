"""Which kind of answer a question expects, and whether a text holds one of that kind."""

import re
from collections.abc import Container
from enum import StrEnum, unique
from typing import Final

from services.common.questions.terms import STOP_WORDS, listed, stem

_READ_CHARS: Final = 4_000
"""Rules look at so much of a text: bounded work on hostile input."""


@unique
class Kind(StrEnum):
    """What a question wants to be told."""

    NUMBER = "NUMBER"
    TIME = "TIME"
    NAME = "NAME"
    PLACE = "PLACE"
    YES_NO = "YES_NO"
    LIST = "LIST"
    PROCEDURE = "PROCEDURE"
    REASON = "REASON"
    DEFINITION = "DEFINITION"
    CODE = "CODE"
    OPEN = "OPEN"


CLOSED: Final = frozenset({Kind.NUMBER, Kind.TIME, Kind.CODE, Kind.REASON, Kind.NAME, Kind.PLACE})
"""Kinds whose presence can be read off a text; any statement about the thing can answer the others."""

_AUXILIARY: Final = (
    "is|are|was|were|am|do|does|did|can|could|may|might|must|should|shall|will|would|has|have|had|isn't|aren't|wasn't"
    "|weren't|don't|doesn't|didn't|can't|cannot|couldn't|shouldn't|won't|wouldn't|hasn't|haven't"
)
_MEASURED: Final = (
    "amounts?|sums?|commissions?|deductibles?|excess|fees?|prices?|costs?|premiums?|discounts?|surcharges?|loadings?|tax"
    "|ceilings?|thresholds?|caps?|budgets?|salary|salaries|wages?|bonus(?:es)?|interest|shares?|percentages?|ratios?"
    "|numbers?|quotas?|rates?|speeds?|temperatures?|weights?|heights?|widths?|depths?|distances?|capacity|turnover|income"
    "|revenue|profits?|population|size|scores?|ages?|fine|fines|penalty|penalties|dose|doses|limits?|maximum|minimum"
)
_TIMED: Final = (
    "deadlines?|durations?|dates?|days?|times?|years?|months?|weeks?|hours?|periods?|terms?|opening hours|birthdays?"
)
_BETWEEN: Final = (
    r"(?:(?!(?:happens?|happened|when|if|does|do|did|is|are|was|were|can|must|may|should|will|the|an?|about)\b)"
    r"[\w'\u2019-]+ ){0,3}"
)

_THE: Final = "(?:(?:is|are|was|were) the )?"

_ASKS: Final = (
    (
        Kind.REASON,
        r"\b(?:why|how come|(?:for )?what (?:is|was|are|were)? ?(?:the )?(?:reasons?|causes?)|for what reasons?)\b",
    ),
    (
        Kind.CODE,
        (
            rf"\b(?:what|which) (?:is|are|was) (?:the |your |its |their )?{_BETWEEN}"
            r"(?:(?:tele)?phone|fax|account|serial"
            r"|bank|page|room|e-?mail|web|policy) (?:numbers?|address(?:es)?|site|page)\b"
            r"|\b(?:e-?mail|web) address\b|\bwebsite\b|\bpage number\b"
        ),
    ),
    (
        Kind.TIME,
        (
            r"\bhow (?:long|soon|quickly|quick|fast|late|early)\b|\b(?:since|until|till|by|from) when\b"
            rf"|\b(?:what|which) {_THE}{_BETWEEN}(?:{_TIMED})\b"
        ),
    ),
    (Kind.TIME, rf"\bwhen (?:{_AUXILIARY})\b|\bhow often\b|\bhow frequently\b|\bhow old\b"),
    (
        Kind.NUMBER,
        (
            r"\bhow (?:many|much|high|large|big|far|wide|heavy|tall|deep|low|small)\b"
            rf"|\b(?:what|which) {_THE}{_BETWEEN}(?:{_MEASURED})\b"
        ),
    ),
    (
        Kind.NAME,
        (
            r"\b(?:who|whom|whose)\b|\bwhat (?:is|are|was|were) the names?\b|\bname of\b"
            r"|\b(?:what|which) (?:person|people|department|team|company|organi[sz]ation|body|firm|authority)\b"
        ),
    ),
    (
        Kind.PLACE,
        r"\bwhere\b|\b(?:what|which) (?:country|countries|city|cities|town|towns|place|places|site|building|address)\b",
    ),
    (
        Kind.DEFINITION,
        r"\bwhat does [^?]{1,80} mean\b|\bwhat is meant by\b|\bdefin(?:e|ition)\b|\b(?:what|which) counts as\b",
    ),
    (Kind.YES_NO, rf"^(?:(?:and|but|so|also|then|or),? )*(?:{_AUXILIARY}) (?!not\b)"),
    (Kind.PROCEDURE, rf"\bhow (?:{_AUXILIARY}|to)\b|\bwhat (?:steps|must|should|do|can) (?:\w+ )?(?:do|take)?\b"),
    (Kind.LIST, r"\bwhich\b|\bwhat are\b|^(?:list|name|enumerate)\b"),
    (Kind.DEFINITION, r"\bwhat(?: is|'s) (?:an? )"),
)
_ASKING: Final = tuple((kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in _ASKS)
_ANY_OF_THEM: Final = re.compile(
    rf"\b(?:how|what|which|who|whom|whose|where|why)\b|\bwhen (?:{_AUXILIARY})\b|\b(?:since|until|till|by|from) when\b"
    rf"|^(?:(?:and|but|so|also|then|or),? )*(?:{_AUXILIARY}) ",
    re.IGNORECASE,
)

_NUMBER_WORD: Final = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|sixty|hundred|thousand"
    "|million|billion|dozen|half|quarter|third|twice|double|doubled|triple|once|zero|single"
)
_UNIT_OF_TIME: Final = "(?:second|minute|hour|day|night|week|month|year|quarter|decade|century)s?"
_MONTH: Final = (
    "January|February|March|April|May|June|July|August|September|October|November|December|Monday|Tuesday|Wednesday"
    "|Thursday|Friday|Saturday|Sunday"
)
_HOLDS: Final = {
    Kind.NUMBER: re.compile(
        rf"\d|\b(?:{_NUMBER_WORD})\b|\b(?:no|without) (?:upper )?limit\b|\bunlimited\b|\bmarket value\b"
        r"|\bfree of charge\b"
        r"|\b(?:none|nothing|no (?:deductible|fee|fees|charge|surcharge|tax|commission|discount)|not covered|exempt)\b",
        re.IGNORECASE,
    ),
    Kind.TIME: re.compile(
        rf"\b(?:\d+|an?|{_NUMBER_WORD}|each|every|any|same|next|last|first|second|third|following|calendar|working|further)"
        rf"[ -](?:(?:full|calendar|working|business|insurance|further|of (?:the|that)) )?{_UNIT_OF_TIME}\b"
        rf"|\b(?:{_MONTH})\b|\b(?:1[5-9]|20)\d\d\b|\b\d{{1,2}}[:.]\d\d\b"
        rf"|\b\d{{1,2}}\s?[ap]\.?m\b|\b(?:{_NUMBER_WORD}|\d{{1,2}})\so['\u2019]clock\b|\bhalf\spast\b|\bquarter\s(?:to|past)\b"
        r"|\b(?:noon|midday|midnight|today|tomorrow|yesterday|weekdays|weekends)\b|\bthe\s\d{1,2}(?:st|nd|rd|th)\b"
        rf"|\b(?:end|start|beginning|middle)\sof\s(?:the|each|every|next|this)\s{_UNIT_OF_TIME}\b"
        r"|\b(?:immediately|at once|straight away|never|always|at any time|no deadline|no limit|daily|weekly|monthly"
        r"|quarterly|half-yearly|yearly|annually|day and night|once|twice|anniversary|without notice|lifetime)\b",
        re.IGNORECASE,
    ),
    Kind.CODE: re.compile(r"\+?\d[\d /()-]{4,20}\d|\S@\S|\bwww\.|https?://|\b[A-Z]{1,4}-?\d{1,6}\b"),
    Kind.REASON: re.compile(
        r"\b(?:because|since|so that|so as|in order|therefore|hence|thus|due to|owing to|as a result|thanks to|for fear"
        r"|the reasons?|that is why|which is why|led to|leads to|mainly|in the interest|to avoid|to keep"
        r"|to protect|intended)\b",
        re.IGNORECASE,
    ),
    Kind.PLACE: re.compile(
        r"\b(?:in|at|to|near|from|on|of|for|within|through|outside|inside|abroad|everywhere|worldwide|countries|site|by)\b",
        re.IGNORECASE,
    ),
}
_CONDITIONAL_WHEN: Final = re.compile(
    r"\b(?:when|if|after|before|until|once|as soon as|as long as|unless)\b", re.IGNORECASE
)


def asked_kind(question: str) -> Kind | None:
    """Return the kind that a question's words ask for; ``None`` where it leaves that to the question before it."""
    read = " ".join(question[:_READ_CHARS].split())
    first: tuple[int, int, Kind] | None = None
    for order, (kind, pattern) in enumerate(_ASKING):
        match = pattern.search(read)
        if match and (first is None or match.start() < first[0]):
            first = (match.start(), order, kind)
    if first is not None:
        return first[2]
    return Kind.OPEN if _ANY_OF_THEM.search(read) else None


def asks_condition(question: str) -> bool:
    """Say whether a "when" may be answered by a condition: "when is a claim referred?" "when it is for ..."."""
    return bool(_WHEN.search(question[:_READ_CHARS]))


_WHEN: Final = re.compile(rf"\bwhen (?:{_AUXILIARY})\b", re.IGNORECASE)


def holds(kind: Kind, text: str, *, asked: Container[str] = frozenset(), conditions_count: bool = False) -> bool:
    """Say whether a text holds an answer of the kind; always for kinds that cannot be read off a text.

    Args:
        kind: what is expected.
        text: an answer or a passage.
        asked: stems of the question; a name that stands in the question is no answer to "who".
        conditions_count: a condition answers as well as a date.
    """
    read = text[:_READ_CHARS]
    if kind is Kind.NAME:
        row = _ROW_TITLE.match(read)
        return any(_is_new(match.group(), asked) for match in _NAME.finditer(read, row.end() if row else 0))
    pattern = _HOLDS.get(kind)
    if pattern is None:
        return True
    if kind in _VALUES:  # a value that the question itself names is none that it asks for
        read = _VALUE.sub(lambda match: "" if match.group() in asked else match.group(), read)
    return bool(pattern.search(read)) or (
        kind is Kind.TIME and conditions_count and bool(_CONDITIONAL_WHEN.search(read))
    )


_NAME: Final = re.compile(
    r"(?<=[\w,;:)(] )[A-Z][\w'\u2019-]+(?!:)|(?<=\()[A-Z][\w'\u2019-]+"
    r"|\b\w{2,}(?:er|or|ist|ian|ee|ant|man|woman|men|women|people|team|board|committee|police|department|heirs|head"
    r"|parent|partner|spouse|unit|ity|society|company|sides)s?\b(?!:)",
)
_VALUES: Final = frozenset({Kind.NUMBER, Kind.TIME, Kind.CODE})
_VALUE: Final = re.compile(r"\d+(?:[.,]\d+)*")
_ROW_TITLE: Final = re.compile(r"[^.;:]{1,200}: (?=[^;]{1,300}; [^:;]{1,80}: )")
_NO_NAME: Final = frozenset(_MONTH.lower().split("|")) | listed(
    """
    number order other another further whether either neither later earlier matter letter member quarter longer
    """
)


def _is_new(word: str, asked: Container[str]) -> bool:
    low = word.lower()
    return low not in STOP_WORDS and low not in _NO_NAME and stem(low) not in asked
