"""How parts of a text are written: dates as DD.MM.YYYY, the 24-hour clock, two decimals, numbered steps, a currency."""

import re
from collections.abc import Callable
from typing import Final

from services.ercp.domain.predicates import Path, Predicate, PredicateName, Text
from services.ercp.domain.wording import clauses
from services.ercp.domain.wording.model import NotUnderstoodError

_NEGATED: Final = re.compile(r"\b(?:not|never|no|without)\b|n't\b", re.IGNORECASE)
_DATE_FORM: Final = re.compile(r"\b(?P<form>(?:DD?|MM?|YYYY|YY)(?:[./ -](?:DD?|MM?|YYYY|YY)){1,2})\b")
_DATE: Final = re.compile(r"\bdates?\b", re.IGNORECASE)
_ISO: Final = re.compile(r"\bISO(?:[\s-]?8601)?\b")
_TOKENS: Final = {"DD": r"\d{2}", "D": r"\d{1,2}", "MM": r"\d{2}", "M": r"\d{1,2}", "YYYY": r"\d{4}", "YY": r"\d{2}"}
_CLOCK: Final = re.compile(
    r"\b(?P<hours>24|12|twenty-four|twelve)[\s-]?(?:hours?|h)\b(?:[\s-](?:clock|time|format|notation|times))?",
    re.IGNORECASE,
)
_CLOCK_WORD: Final = re.compile(r"\b(?:clock|time|times|format|notation)\b", re.IGNORECASE)
_DECIMALS: Final = re.compile(
    r"\b(?P<number>two|2|three|3|one|1|no)\s+(?:decimals?|decimal\s+(?:places?|digits?)|digits?\s+after\s+the\s+(?:point|comma))\b",
    re.IGNORECASE,
)
_AMOUNTS: Final = re.compile(r"\b(?:amounts?|prices?|sums?|figures?|costs?|numbers?|totals?)\b", re.IGNORECASE)
_NUMBERED: Final = re.compile(
    r"\b(?:number|numbered)\b.{0,60}?(?P<first>\(?[0-9a-z]{1,2}(?:\.\d{1,2})*[.)]?)\s*,\s*(?P<second>\(?[0-9a-z]{1,2}(?:\.\d{1,2})*[.)]?)(?:\s*,|\s+and|\s*\Z)",
    re.IGNORECASE,
)
_BULLETED: Final = re.compile(r"\b(?:bulleted\s+list|(?:as|use|in|with)\s+bullet(?:s|\s+points))\b", re.IGNORECASE)
_EMAIL: Final = re.compile(r"\b(?:as|be|is)\s+(?:given\s+as\s+)?an\s+e-?mail\s+address\b", re.IGNORECASE)
_CONTACT: Final = re.compile(r"\bcontacts?\b", re.IGNORECASE)
_EDGE: Final = re.compile(
    r"(?P<part>.*?)\b(?P<edge>begins?|starts?|opens?|ends?|closes?|finish(?:es)?)\s+with\s+(?P<what>.+)", re.IGNORECASE
)
_QUOTED: Final = re.compile(
    r"(?:the\s+(?:words?|phrase|sentence|line|text|greeting)\s+)?[\"'](?P<text>[^\"]+?)[\"']\Z", re.IGNORECASE
)
_EXAMPLE: Final = re.compile(
    r".*\b(?:like|such\s+as|e\.g\.)\s+[\"']?(?P<example>\[[^\]\s]{1,20}\]|\(#?\d{1,10}\)|#\d{1,10}|[A-Z]{1,6}-?\d{1,10})[\"']?\Z",
    re.IGNORECASE,
)
_PARTS: Final = (
    ("subject", r"\bsubject(?:\s+line)?\b"), ("first line", r"\bfirst\s+line\b"), ("last line", r"\blast\s+line\b"),
    ("heading", r"\bheadings?\b|\btitles?\b"), ("line", r"\b(?:every|each|all)\s+lines?\b"), ("item", r"\b(?:every|each|all)\s+(?:items?|bullets?|points?|entry|entries)\b"),
    ("sentence", r"\b(?:every|each|all)\s+sentences?\b"),
)  # fmt: skip
_CURRENCY: Final = re.compile(
    r"\b(?:in|as)\s+(?P<name>swiss\s+francs|francs|euros?|us\s+dollars|dollars|pounds(?:\s+sterling)?|yen|rupees|EUR|USD|GBP|CHF|JPY|INR|CAD|AUD)\b",
    re.IGNORECASE,
)
CURRENCY_CODES: Final = {
    "swiss francs": "CHF", "francs": "CHF", "euro": "EUR", "euros": "EUR", "us dollars": "USD", "dollars": "USD", "pounds": "GBP",
    "pounds sterling": "GBP", "yen": "JPY", "rupees": "INR",
}  # fmt: skip
EMAIL_PATTERN: Final = r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"


_INSTEAD: Final = re.compile(r",\s*(?:not|no|never)\s[^,]*\Z", re.IGNORECASE)
"""The form that another is to stand instead of: "like 4 June 2027, no 04/06/2027"."""


def read_format(sentence: str) -> tuple[Predicate, str] | None:
    """Read a demand on how something is written, or ``None``.

    Raises:
        NotUnderstoodError: it denies a form.
    """
    for reader in _READERS:
        predicate = reader(sentence)
        if predicate is not None:
            if _NEGATED.search(_INSTEAD.sub("", sentence)) and not _DECIMALS.search(sentence):
                raise NotUnderstoodError("it says how something is not to be written")
            return predicate, "format"
    return None


def _matching(pattern: str, part: str) -> Predicate:
    return Predicate(PredicateName.MATCHES, Text(pattern), Text(part))


def _dates(sentence: str) -> Predicate | None:
    if not _DATE.search(sentence):
        return None
    form = _DATE_FORM.search(sentence)
    if form is not None:
        pieces = re.split(r"([./ -])", form["form"])
        return _matching("".join(_TOKENS.get(piece, re.escape(piece)) for piece in pieces), "date")
    return _matching(r"\d{4}-\d{2}-\d{2}", "date") if _ISO.search(sentence) else None


def _clock(sentence: str) -> Predicate | None:
    match = _CLOCK.search(sentence)
    if match is None or not _CLOCK_WORD.search(sentence):
        return None
    is_long = match["hours"].lower() in {"24", "twenty-four"}
    return _matching(
        r"(?:[01]?\d|2[0-4])[:.]\d\d" if is_long else r"(?i)(?:0?[1-9]|1[0-2])(?:[:.]\d\d)?\s?[ap]\.?m\.?", "time"
    )


def _decimals(sentence: str) -> Predicate | None:
    match = _DECIMALS.search(sentence)
    if match is None or not _AMOUNTS.search(sentence):
        return None
    number = {"two": 2, "2": 2, "three": 3, "3": 3, "one": 1, "1": 1, "no": 0}[match["number"].lower()]
    return _matching(rf"-?\d[\d,]*\.\d{{{number}}}" if number else r"-?\d[\d,]*", "amount")


def _numbered(sentence: str) -> Predicate | None:
    match = _NUMBERED.search(sentence)
    if match is None:
        return (
            _matching(r"[-*•+]", "step") if _BULLETED.search(sentence) and len(clauses.names(sentence)) <= 4 else None  # noqa: PLR2004 - few words
        )
    first, second = match["first"], match["second"]
    mark = ".)" if second[-1] in ".)" else ""
    open_, close = "(" if second.startswith("(") else "", second[-1] if mark else ""
    core = first.strip("().")
    if "." in core:
        chapter = core.split(".")[0]
        return _matching(rf"{re.escape(chapter)}\.(?:\d+\.?)?", "step")
    digits = r"\d{1,3}" if core.isdigit() else "[a-z]"
    return _matching(f"{re.escape(open_)}{digits}{re.escape(close)}", "step")


def _email(sentence: str) -> Predicate | None:
    if _EMAIL.search(sentence) and _CONTACT.search(sentence):
        return _matching(EMAIL_PATTERN, "contact")
    return None


def _edges(sentence: str) -> Predicate | None:
    """Read "the subject line has to begin with …": what is quoted, or what an example shows."""
    match = _EDGE.fullmatch(sentence)
    if match is None:
        return None
    quoted, example = _QUOTED.fullmatch(match["what"].strip()), _EXAMPLE.fullmatch(match["what"].strip())
    if quoted is not None:
        piece = re.escape(quoted["text"])
    elif example is not None:
        piece = _generalised(example["example"])
    else:
        return None
    part = next((part for part, pattern in _PARTS if re.search(pattern, match["part"], re.IGNORECASE)), None)
    if part is None and not clauses.is_of_document(
        re.sub(r"\b(?:must|has|have|to|should|always)\b", " ", match["part"])
    ):
        return None
    at_start = match["edge"].lower()[0] in "bso"
    return _matching(f"(?is){piece}.*" if at_start else f"(?is).*{piece}", part or "text")


def _generalised(example: str) -> str:
    """Return the pattern of an example: its digits may be others, its letters too, its signs stay."""
    pieces = re.findall(r"\d+|[A-Za-z]+|.", example)
    return "".join(
        r"\d+" if piece.isdigit() else "[A-Za-z]+" if piece.isalpha() else re.escape(piece) for piece in pieces
    )


def _currency(sentence: str) -> Predicate | None:
    match = _CURRENCY.search(sentence)
    if match is None or not _AMOUNTS.search(sentence) or any(char.isdigit() for char in sentence):
        return None
    name = " ".join(match["name"].lower().split())
    return Predicate(PredicateName.EQUAL, Path(("currency",)), Text(CURRENCY_CODES.get(name, name.upper())))


def _cased(sentence: str) -> Predicate | None:
    """Read "paths must be all lower case", "field names in snake_case", "the headline in capital letters"."""
    case = next((pattern for words, pattern in _CASES if words.search(sentence)), None)
    part = next((part for words, part in _WRITTEN if words.match(sentence)), None)
    return None if case is None or part is None else _matching(case, part)


_WRITTEN: Final = (
    (re.compile(r"(?:(?:all|the|every|each)\s+)*(?:url\s+)?paths?\b", re.IGNORECASE), "path"),
    (re.compile(r"(?:(?:all|the|every|each|json)\s+)*(?:field|key|property)(?:s|\s+names?)?\b|(?:json\s+)?keys\b", re.IGNORECASE), "field"),
    (re.compile(r"(?:the\s+)?(?:headline|title|first\s+line)\b", re.IGNORECASE), "first line"),
    (re.compile(r"(?:(?:all|the|every|each)\s+)*headings?\b", re.IGNORECASE), "heading"),
    (re.compile(r"(?:the\s+)?subject(?:\s+line)?\b", re.IGNORECASE), "subject"),
)  # fmt: skip
_CASES: Final = (
    (re.compile(r"\bsnake[\s_-]?case\b", re.IGNORECASE), r"[a-z0-9]+(?:_[a-z0-9]+)*"),
    (re.compile(r"\bkebab[\s_-]?case\b", re.IGNORECASE), r"[a-z0-9]+(?:-[a-z0-9]+)*"),
    (re.compile(r"\b(?:lower\s?)?camel[\s_-]?case\b", re.IGNORECASE), r"[a-z][a-z0-9]*(?:[A-Z][a-z0-9]*)*"),
    (re.compile(r"\blower[\s-]?case\b|\bsmall\s+letters\b", re.IGNORECASE), r"[^\p{Lu}]*"),
    (re.compile(r"\bupper[\s-]?case\b|\b(?:all|block)\s+capitals\b|\bin\s+(?:all\s+)?capitals\b|\bcapital\s+letters\b", re.IGNORECASE), r"[^\p{Ll}]*"),
)  # fmt: skip
_VERSIONS: Final = re.compile(
    r"(?:(?:all|the|every|each)\s+)*versions?(?:\s+numbers?)?\s+(?:must\s+|should\s+|has\s+to\s+|have\s+to\s+)?(?:have|has|be\s+of|consist\s+of|consists\s+of)\s+"
    r"(?P<number>two|three|four)\s+(?:parts|numbers|components)",
    re.IGNORECASE,
)
_THOUSANDS: Final = re.compile(r"\bcommas?\b.*\bthousands?\b|\bthousands?\b.*\bcommas?\b", re.IGNORECASE)
_SPELLED: Final = re.compile(
    r"(?:spell\s+out|write\s+out)\s+(?:the\s+)?(?:names?\s+of\s+(?:the\s+)?)?months?\b(?P<rest>.*)", re.IGNORECASE
)
_MONTHS: Final = "January|February|March|April|May|June|July|August|September|October|November|December"


def _versions(sentence: str) -> Predicate | None:
    match = _VERSIONS.fullmatch(sentence)
    if match is None:
        return None
    further = {"two": 1, "three": 2, "four": 3}[match["number"].lower()]
    return _matching(rf"\d+(?:\.\d+){{{further}}}", "version")


def _thousands(sentence: str) -> Predicate | None:
    if _THOUSANDS.search(sentence) is None:
        return None
    return _matching(r"\d{1,3}(?:,\d{3})*(?:\.\d+)?", "amount")


def _months(sentence: str) -> Predicate | None:
    return _matching(f".*(?:{_MONTHS}).*", "date") if _SPELLED.fullmatch(sentence) else None


_READERS: Final[tuple[Callable[[str], Predicate | None], ...]] = (
    _dates, _clock, _decimals, _numbered, _email, _edges, _currency, _cased, _versions, _thousands, _months,
)  # fmt: skip
