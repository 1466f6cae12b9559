"""Names, numbers and dates in a text, found by their shape alone: no model, so that rows are the same everywhere."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from training.words import is_function_word

MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
NATIONALITIES: Final = (
    *("American", "British", "English", "French", "German", "Italian", "Spanish", "Russian", "Chinese", "Japanese"),
    *("Indian", "Canadian", "Australian", "Irish", "Scottish", "Dutch", "Swedish", "Norwegian", "Danish", "Polish"),
    *("Greek", "Turkish", "Mexican", "Brazilian", "Korean", "Austrian", "Belgian", "Portuguese", "Swiss", "Finnish"),
)
_CAPITAL: Final = r"[A-ZÀ-ÖØ-Þ](?:[^\W\d_]|['’](?=[A-Z]))*(?:-[^\W\d_]+)*"  # noqa: RUF001 - typographic apostrophe
_JOINT: Final = r"(?:\s(?:of|de|van|von|der|del|la|al)(?:\sthe)?(?=\s[A-Z]))?"
_NAME: Final = re.compile(rf"(?<![\w'’-])(?:{_CAPITAL}|[A-Z]\.)(?:{_JOINT}\s(?:{_CAPITAL}|[A-Z]\.(?=\s[A-Z])))*")  # noqa: RUF001
_SENTENCE_START: Final = re.compile(r"(?:^|[.!?:\"“(\n]\s*)$")
_NUMBER: Final = re.compile(r"(?<![\w.,/\-–#:\[])\d+(?:,\d{3})*(?:\.\d+)?(?![\w/:]|[-–.,]\d)")  # noqa: RUF001 - en dash
_YEAR: Final = re.compile(r"(?<![\w.,/\-–$€£#:])(?:1[0-9]|20)\d{2}(?![\w/:%]|[-–.,]\d)")  # noqa: RUF001 - en dash
_MONTH: Final = "|".join(MONTHS)
DATE: Final = re.compile(
    rf"(?<!\w)(?:(?P<month>{_MONTH}) (?P<day>\d{{1,2}})(?:, ?(?P<year>\d{{4}}))?"
    rf"|(?P<day2>\d{{1,2}}) (?P<month2>{_MONTH})(?: (?P<year2>\d{{4}}))?"
    rf"|(?P<month3>{_MONTH}) (?P<year3>\d{{4}}))(?!\w)"
)
_ORGANISATIONS: Final = frozenset(
    """Inc Ltd Corp Corporation Company Group University College School Institute Bank Party Club Council Committee
    Association Department Ministry Agency Court Church Museum Hospital Records Studios Pictures Entertainment League
    Union Foundation Society Army Navy Airlines Network Times Post News Press Team FC United""".split()  # noqa: SIM905 - a list of one word a line would be a page
)
_PLACES: Final = frozenset(
    """New San Los Saint St North South East West Fort Lake Mount River Republic Kingdom States City County Island
    Islands Street Park Valley Bay Sea Ocean Mountains Province Hill Hills Beach Bridge Square Airport""".split()  # noqa: SIM905 - a list of one word a line would be a page
)
_FIRST_NAMES: Final = frozenset(
    """Aaron Adam Alan Albert Alex Alexander Alfred Alice Amanda Amy Andrea Andrew Angela Ann Anna Anne Anthony Arthur
    Barbara Barack Ben Benjamin Bernard Bill Bob Brad Brian Bruce Carl Carlos Caroline Catherine Charles Charlie
    Charlotte Chris Christian Christina Christine Christopher Claire Clara Daniel David Deborah Dennis Diana
    Diane Donald Dorothy Dr. Douglas Edward Elena Elizabeth Ella Ellen Emily Emma Eric Erik Ernest Eugene Eva
    Fiona Frances Francis Frank Fred Frederick Gary George Gerald Grace Greg Gregory Hans Harold Harry Heather
    Helen Henry Howard Hugh Ian Irene Isaac Jack Jacob James Jamie Jane Janet Jason Jean Jeff Jeffrey Jennifer
    Jeremy Jerry Jessica Jim Jimmy Joan Joe John Johnny Jonathan Jose Joseph Joshua Juan Julia Julian Julie
    Justin Karen Karl Kate Katherine Kathleen Keith Kelly Ken Kenneth Kevin Kim Kristen Larry Laura Lauren
    Lawrence Lee Leo Leonard Lewis Linda Lisa Louis Louise Lucy Luis Luke Margaret Maria Marie Marilyn Mark
    Martha Martin Mary Matt Matthew Max Megan Melissa Michael Michelle Mike Mohammed Mr. Mrs. Nancy Naomi
    Natalie Nicholas Nick Nicole Nicolas Oliver Olivia Oscar Pamela Patricia Patrick Paul Peter Philip Phillip
    Rachel Ralph Raymond Rebecca Richard Rick Rob Robert Robin Roger Ronald Rose Roy Russell Ruth Ryan Sally Sam
    Samuel Sandra Sara Sarah Scott Sean Sharon Simon Sofia Sophie Stanley Stella Stephanie Stephen Steve Steven
    Stuart Susan Sydney Sylvia Ted Teresa Theodore Thomas Tim Timothy Todd Tom Tony Tyler Vera Victor Victoria
    Vincent Virginia Walter Wayne Wendy Will William""".split()  # noqa: SIM905 - a list of one word a line would be a page
)
GENERIC: Final = frozenset(word.lower() for word in _ORGANISATIONS | _PLACES)
"""Words of names that say what sort of thing it is; two names that share one may be two things."""
_PLACE_BEFORE: Final = re.compile(r"\b(?:in|at|near|from|to|across|outside|throughout)\s(?:the\s)?$", re.IGNORECASE)
_NOT_NAMES: Final = frozenset({*MONTHS, *WEEKDAYS, *NATIONALITIES, "I", "OK", "Mr", "Mrs", "Ms", "Dr"})
_ADVERB: Final = re.compile(r"(?:\w+ly|However|Meanwhile|Moreover|Furthermore|Afterwards|Today|Yesterday|Thus|Hence)$")


@dataclass(frozen=True, slots=True)
class Name:
    """A name at [start, end) of a text; ``kind`` is its shape, so that it is exchanged for one alike."""

    start: int
    end: int
    text: str
    kind: str


@dataclass(frozen=True, slots=True)
class Number:
    """A number in digits at [start, end) that is neither a year nor part of a date."""

    start: int
    end: int
    text: str

    @property
    def value(self) -> float:
        """The value, separators of thousands left out."""
        return float(self.text.replace(",", ""))


@dataclass(frozen=True, slots=True)
class Date:
    """A date at [start, end), or a year alone; ``order`` is ``mdy``, ``dmy``, ``md``, ``dm``, ``my`` or ``y``."""

    start: int
    end: int
    order: str
    day: int | None
    month: str | None
    year: int | None


@lru_cache(maxsize=20_000)
def names(text: str) -> tuple[Name, ...]:
    """Return the names of a text in order.

    A capital at the beginning of a sentence says nothing; a single word there counts when the text has it elsewhere
    within a sentence, or two of them in a row.
    """
    found = []
    for match in _NAME.finditer(text):
        start, end = match.span()
        first = match.group().split(maxsplit=1)[0]
        if is_function_word(first) or _ADVERB.match(first):
            start += len(first)
            start += len(text[start:end]) - len(text[start:end].lstrip())
        shown = text[start:end]
        if len(shown) > 1 and shown not in _NOT_NAMES and not _only_start(text, start, shown):
            found.append(Name(start, end, shown, _kind(text[:start], shown)))
    return tuple(found)


def numbers(text: str) -> list[Number]:
    """Return the numbers in digits that are neither years nor parts of dates, in order."""
    taken = [(date.start, date.end) for date in dates(text)]
    found = (Number(match.start(), match.end(), match.group()) for match in _NUMBER.finditer(text))
    return [number for number in found if not any(start <= number.start < end for start, end in taken)]


def dates(text: str) -> list[Date]:
    """Return full and partial dates and years, in order."""
    found = [_date(match) for match in DATE.finditer(text)]
    taken = [(date.start, date.end) for date in found]
    found += [
        Date(*match.span(), "y", None, None, int(match.group()))
        for match in _YEAR.finditer(text)
        if not any(start <= match.start() < end for start, end in taken)
    ]
    return sorted(found, key=lambda date: date.start)


def _date(match: re.Match[str]) -> Date:
    group = match.groupdict()
    day = group["day"] or group["day2"]
    year = group["year"] or group["year2"] or group["year3"]
    month = group["month"] or group["month2"] or group["month3"]
    order = "md" if group["month"] else "dm" if group["month2"] else "m"
    return Date(
        *match.span(), order + ("y" if year else ""), int(day) if day else None, month, int(year) if year else None
    )


def _only_start(text: str, start: int, shown: str) -> bool:
    """Whether a single word has its capital from the beginning of its sentence alone, as far as one can see."""
    if " " in shown or shown.isupper() or not _SENTENCE_START.search(text[:start]):
        return False
    return re.search(rf"[a-z,] {re.escape(shown)}(?!\w)", text) is None


def _kind(before: str, shown: str) -> str:
    parts = shown.split()
    if _ORGANISATIONS & set(parts):
        return "organisation"
    if _PLACES & set(parts):
        return "place"
    if len(parts) == 1 and shown.isupper():
        return "acronym"
    if len(parts) in {2, 3} and parts[0] in _FIRST_NAMES and " of " not in shown:
        return "person"
    if _PLACE_BEFORE.search(before):
        return "place"
    return "single" if len(parts) == 1 else "title"
