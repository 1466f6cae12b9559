"""Which time a query asks about: now, the past, or what is to come (ADR 0109).

Knowledge that its source has replaced is not retrieved unless the query asks for the past. A verb in the past tense
alone does not: "what was agreed" asks for what stands in the records of today. Asked for is the past where a past date
or year is given as the time of the matter, where a former state is named ("the old fee", "before the change", "used to
be"), or where two states are compared ("what changed"). When unsure the query asks for now: nothing replaced comes in
by accident.

English words, like the rest of the query's reading (ADR 0062). Linear in the query.
"""

import re
from dataclasses import dataclass
from datetime import date, datetime
from typing import Final

from services.common.ports.facts import TimeFilter

_MONTHS: Final = "january february march april may june july august september october november december".split()  # noqa: SIM905
_MONTH: Final = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_PART_OF_YEAR: Final = (
    rf"(?:(?:the\s)?(?:early|mid|late|beginning\sof|start\sof|end\sof|middle\sof|first\shalf\sof|second\shalf\sof)[\s-])?"
    rf"(?:(?:\d{{1,2}}(?:st|nd|rd|th)?\s(?:of\s)?)?{_MONTH}\s(?:of\s)?(?:\d{{1,2}}(?:st|nd|rd|th)?,?\s)?"
    r"|q[1-4]\s(?:of\s)?|(?:the\s)?(?:spring|summer|autumn|fall|winter)\s(?:of\s)?|(?:the\s)?year\s|fiscal\syear\s)?"
)
_PREPOSITION: Final = (
    r"(?P<preposition>in|during|throughout|as\sof|as\sat|until|till|up\sto|before|prior\sto|by|on|around|back\sin|for"
    r"|since|from|after|between|at\sthe\s(?:end|start|beginning)\sof|of)"
)
_DATED: Final = re.compile(
    rf"\b{_PREPOSITION}\s{_PART_OF_YEAR}(?P<year>(?:19|20)\d\d)\b(?!\s?[/.:]\s?\d|-\d{{3}})", re.IGNORECASE
)
_ISO: Final = re.compile(r"\b(?P<year>(?:19|20)\d\d)-(?P<month>[01]\d)(?:-(?P<day>[0-3]\d))?\b")
_ATTRIBUTE: Final = re.compile(
    r"(?:\b(?:the|our|your|their|its|my|a|an)\s(?P<year>(?:19|20)\d\d)\s[a-z]|\b(?P<own>(?:19|20)\d\d)(?:'|\u2019)s\b"
    r"|^(?P<first>(?:19|20)\d\d)\s[a-z])"
)
_STARTS: Final = frozenset({"since", "from", "after"})
"""What began then and goes on is asked about as it is now."""
_NAMES_OF: Final = frozenset({"of", "for", "by", "on", "between", "after"})
"""Before a year alone these are as often part of a name as a time: "the Act of 1998"."""
_CHANGING: Final = (
    r"change|changes|update|updates|reorgani[sz]ation|restructuring|transition|amendment|revision|reform|increase|decrease|rise|reduction|cut|merger|takeover|switch"
    r"|move|migration|renewal|new\s[a-z]+|current\s[a-z]+|latest\s[a-z]+|present\s[a-z]+|last\s(?:change|update|revision)"
)
_STATED: Final = (
    r"fees?|prices?|rates?|rules?|polic(?:y|ies)|versions?|tariffs?|limits?|deadlines?|terms|conditions|contracts?"
    r"|address(?:es)?|numbers?|values?|amounts?|editions?|texts?|wordings?|regulations?|laws?|procedures?|process(?:es)?"
    r"|plans?|schedules?|salar(?:y|ies)|wages?|names?|premiums?|thresholds?|figures?|percentages?|allowances?|budgets?"
    r"|dates?|hours|costs?|charges?|requirements?|guidelines?|guidance|agreements?|settings?|defaults?|quotas?|discounts?"
    r"|deductibles?|excess|notice\speriods?|periods?|releases?|handbooks?|manuals?|lists?|levels?|standards?|criteria"
)
_FORMER: Final = re.compile(
    rf"\b(?:old|older|former|previous|prior|earlier|original|outdated|superseded|obsolete|past|historic(?:al)?)\s"
    rf"(?:[a-z-]+\s){{0,2}}(?:{_STATED})\b"
    rf"|\b(?:before|prior\sto)\s(?:the|this|that|its|their|our|any|last\syear's)\s(?:[a-z-]+\s){{0,2}}(?:{_CHANGING})\b"
    r"|\bbefore\s(?:it|they|that|this|these|those|the\s[a-z-]+(?:\s[a-z-]+)?)\s(?:was|were|got|had\sbeen|has\sbeen)\s"
    r"(?:last\s|first\s)?(?:changed|updated|amended|revised|replaced|raised|lowered|increased|reduced|cut|abolished"
    r"|repealed|superseded|introduced|withdrawn|extended|shortened|renamed|moved)\b"
    r"|\bbefore\s(?:it|they|that|this)\s(?:changed|rose|fell|increased|decreased|ended|expired|came|took)\b"
    r"|\b(?:formerly|previously|historically|back\sthen|at\s(?:the|that)\stime|in\sthe\spast|in\sthose\sdays"
    r"|in\sformer\s(?:times|years)|once\supon|no\slonger\s(?:valid|apply|applies|in\sforce|holds?|true))\b"
    r"|\boriginally\s(?!called\b)[a-z]+"
    r"|\b(?:last|previous|preceding)\s(?:year|month|quarter|week|season|summer|winter|spring|autumn|fall)\b"
    r"|\b(?:(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|a\sfew|some|several|many|a|an)\s)"
    r"(?:years?|months?|weeks?|decades?)\s(?:ago|earlier)\b|\byesterday\b|\blong\sago\b"
    r"|\bdid(?:n't)?\s(?:[a-z-]+\s){1,6}use\sto\b"
    r"|\b(?:what|how)\s(?:else\s)?(?:has|have|had|was|were)\s(?:[a-z-]+\s){0,6}changed\b|\bwhat\schanged\b"
    r"|(?:^|[.?!]\s)(?:has|have|had)\s(?:[a-z-]+\s){1,6}changed\b|\buntil\swhen\s(?:was|were|did)\b"
    rf"|\b(?:history|evolution)\sof\s(?:[a-z-]+\s){{1,3}}(?:{_STATED})\b|\b(?:was|were|did)\s[^.?!]{{1,60}}\searlier\s?(?:[.?!]|$)"
    r"|\bdifferences?\sbetween\sthe\s(?:old|former|previous|earlier)\b|\bcompared\s(?:to|with)\s(?:before|earlier)\b"
    r"|\bused\sto\sbe\b",
    re.IGNORECASE,
)
_UNTIL: Final = re.compile(
    rf"\b(?:was|were|did|had|applied|counted|stood|cost|paid|charged|allowed)\b[^.?!]{{0,120}}"
    rf"\b(?:until|till|up\sto|before)\s(?:(?:the\s)?(?:\d{{1,2}}(?:st|nd|rd|th)?\s(?:of\s)?)?{_MONTH}\b"
    rf"|(?:the|this|that|its|their)\s(?:[a-z-]+\s){{0,2}}(?:{_CHANGING})\b|then\b|now\b|recently\b|last\b|(?:19|20)\d\d\b)",
    re.IGNORECASE,
)
_USED_TO: Final = re.compile(r"\bused\sto\s[a-z]", re.IGNORECASE)
_BEING: Final = re.compile(r"\b(?:is|are|was|were|be|been|being|am|get|gets|getting|got|'s|'re)\b", re.IGNORECASE)
"""Before "used to" these make it a purpose, or a habit of today: "is used to measure", "are used to waiting"."""
_CLAUSE_END: Final = re.compile(r"[,;:.?!]|\b(?:and|but|or|that|which|who)\b")
_PAST_VERB: Final = re.compile(r"\b(?:was|were|did|had)\b", re.IGNORECASE)
_IN_MONTH: Final = re.compile(
    rf"\b(?:in|during|until|till|before|on|as\sof|by)\s(?:(?:the\s)?\d{{1,2}}(?:st|nd|rd|th)?\s(?:of\s)?|last\s)?{_MONTH}"
    r"(?![\w]|\s\d)",
    re.IGNORECASE,
)
_COMING: Final = re.compile(
    r"\b(?:next|coming|upcoming|following)\s(?:year|month|quarter|week|season|summer|winter|spring|autumn|fall)\b"
    rf"|\b(?:future|upcoming|forthcoming|planned|coming)\s(?:[a-z-]+\s){{0,2}}(?:{_STATED}|{_CHANGING})\b"
    r"|\bin\sthe\sfuture\b|\bfrom\snext\b|\b(?:about|going)\sto\s(?:change|rise|fall|increase|apply)\b"
    r"|\bwill\s(?:[a-z-]+\s){0,5}(?:be\s(?:valid|in\sforce|changed|raised|lowered|effective)|change|rise|increase|apply"
    r"|take\seffect|come\sinto\sforce|cost)\b"
    r"|\bwhat\s(?:[a-z-]+\s){0,4}will\b|\bwhen\s(?:does|do|will)\s[^.?!]{0,80}\b(?:take\seffect|come\sinto\sforce)\b",
    re.IGNORECASE,
)
_STILL: Final = re.compile(r"\b(?:old|former|previous|earlier)\s(?=[^.?!]{0,60}\bstill\b)", re.IGNORECASE)
"""What is still so is asked about as it is now: "is my old number still valid?"."""
_LONGEST: Final = 32_768


@dataclass(frozen=True, slots=True)
class AskedTime:
    """What a query asks about beside the present.

    Attributes:
        past: what held before.
        future: what is to hold.
    """

    past: bool = False
    future: bool = False


def time_filter(asked: AskedTime, now: datetime, *, everything: bool = False) -> TimeFilter:
    """Return what a read for a query may see.

    Args:
        asked: what the query asks about.
        now: the moment.
        everything: the caller wants what does not hold now as well.
    """
    return TimeFilter(now, ended=asked.past or everything, coming=asked.future or everything)


def asked_time(query: str, today: date) -> AskedTime:
    """Read which time a query asks about.

    Args:
        query: the user's query, and what it leans on.
        today: the day, which tells past dates from those to come.
    """
    text = " ".join(query[:_LONGEST].split())
    text = _STILL.sub(" ", text)
    past, future = _dates(text, today)
    return AskedTime(
        past=past
        or _FORMER.search(text) is not None
        or _UNTIL.search(text) is not None
        or _used_to(text)
        or _in_a_past_month(text),
        future=future or _COMING.search(text) is not None,
    )


def _dates(text: str, today: date) -> tuple[bool, bool]:
    """Say whether dates that the query gives lie behind today, and before it."""
    past = future = False
    for match in _DATED.finditer(text):
        preposition = match["preposition"].lower()
        alone = match["month"] is None and preposition in _NAMES_OF
        if alone and _is_named(text, match):
            continue
        then = (int(match["year"]), _month(match["month"]))
        if preposition in _STARTS:
            future |= _follows(then, today)
        else:
            past |= _precedes(then, today)
            future |= _follows(then, today)
    for match in _ISO.finditer(text):
        then = (int(match["year"]), int(match["month"]))
        past |= _precedes(then, today) or (match["day"] is not None and match.group() < today.isoformat())
        future |= _follows(then, today)
    for match in _ATTRIBUTE.finditer(text):
        year = int(match["year"] or match["own"] or match["first"])
        past |= year < today.year
        future |= year > today.year
    return past, future


def _is_named(text: str, match: re.Match[str]) -> bool:
    """Say whether the word before is capitalised, not at the beginning: the year is part of a name then."""
    before = text[: match.start()].split()
    return len(before) > 1 and before[-1][:1].isupper()


def _precedes(then: tuple[int, int], today: date) -> bool:
    year, month = then
    return year < today.year or (year == today.year and 0 < month < today.month)


def _follows(then: tuple[int, int], today: date) -> bool:
    year, month = then
    return year > today.year or (year == today.year and month > today.month)


def _month(name: str | None) -> int:
    return next((number for number, month in enumerate(_MONTHS, 1) if name and month.startswith(name[:3].lower())), 0)


def _used_to(text: str) -> bool:
    for match in _USED_TO.finditer(text):
        clause = _CLAUSE_END.split(text[: match.start()])[-1]
        if not _BEING.search(clause):
            return True
    return False


def _in_a_past_month(text: str) -> bool:
    """Say whether it is asked what was in some month: "what was the fee in March?"."""
    return _PAST_VERB.search(text) is not None and _IN_MONTH.search(text) is not None
