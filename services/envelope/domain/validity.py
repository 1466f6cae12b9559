"""From when to when a document's facts hold: as its metadata says, or as it says itself (ADR 0109).

What a caller states wins over front matter, front matter over a sentence. A sentence counts only where it speaks of the
whole document ("this policy is effective from 1 January 2026", "Valid until 31 December 2025") or heads a section, for
whose facts and all below them it then stands, be there text right under the heading or not. What is said of one thing
("the new rate is valid from May") says itself when it holds and restricts nothing. Days begin and end at midnight UTC;
an end is the last day on which a fact holds. Linear in the text.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final

from services.common.locations import BELOW

VALID_FROM: Final = "valid_from"
VALID_TO: Final = "valid_to"
"""Keys of a caller's metadata."""
_HEAD_BYTES: Final = 16_384
_HEADING_PASSAGES: Final = 3
"""Among the first so many facts of a document, behind its number, owner and the like, a line about its validity is
looked for; of a section, in the first."""
_STATEMENT_CHARS: Final = 600
"""So much of a fact is looked at: a statement of validity stands alone, or early in its paragraph."""
_MONTHS: Final = "jan feb mar apr may jun jul aug sep oct nov dec".split()  # noqa: SIM905
_MONTH: Final = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\.?"
)
_DATE: Final = (
    rf"(?:\d{{4}}-[01]\d-[0-3]\d|[0-3]?\d(?:st|nd|rd|th)?\s(?:of\s)?{_MONTH},?\s\d{{4}}|{_MONTH}\s[0-3]?\d(?:st|nd|rd|th)?,?"
    rf"\s\d{{4}}|{_MONTH}\s\d{{4}}|[0-3]?\d\.[01]?\d\.\d{{4}}|(?:19|20)\d\d)"
)
_WRITTEN: Final = re.compile(
    rf"(?P<d>[0-3]?\d)(?:st|nd|rd|th)?\s(?:of\s)?(?P<m>{_MONTH}),?\s(?P<y>\d{{4}})"
    rf"|(?P<m2>{_MONTH})\s(?P<d2>[0-3]?\d)(?:st|nd|rd|th)?,?\s(?P<y2>\d{{4}})"
    rf"|(?P<m3>{_MONTH})\s(?P<y3>\d{{4}})|(?P<d4>[0-3]?\d)\.(?P<n4>[01]?\d)\.(?P<y4>\d{{4}})|(?P<y5>(?:19|20)\d\d)",
    re.IGNORECASE,
)
_SPAN: Final = (
    rf"(?:(?:(?:with\seffect\s)?(?:from|as\sof|as\sfrom|since|on|starting|beginning)\s|is\s|for\s)?(?:the\s)?(?P<start>{_DATE})"
    rf"(?:\s?(?:to|until|till|through|and\suntil|[-\u2013])\s?(?P<end>{_DATE}))?|(?:until|till|through|up\sto)\s(?P<until>{_DATE}))"
)
_KIND: Final = (
    r"(?:document|polic(?:y|ies)|handbook|manual|agreement|contract|price\slist|tariff|version|edition|schedule|terms"
    r"(?:\sand\sconditions)?|conditions|guidelines?|directive|regulations?|rules|leaflet|page|notice|procedure|standard"
    r"|plan|circular|catalogue|catalog|list|statement|instructions?|act|code|order|offer|brochure|table|release)"
)
_HOLDS: Final = (
    r"(?:(?:is|are|was|were|becomes?|shall\sbe|will\sbe)\s(?:valid|effective|in\sforce|in\seffect|applicable)"
    r"|takes?\seffect|comes?\sinto\s(?:force|effect)|enters?\sinto\sforce|appl(?:y|ies)|holds?|came\sinto\sforce)"
)
_TO_ALL: Final = (
    r"(?:\sto\sall\s(?:[a-z-]+\s){0,2}?(?:agreements|bookings|clients|colleagues|contracts|customers|departments|employees"
    r"|members|orders|patients|policies|policyholders|residents|sites|staff|students|suppliers|tenants|users|visitors"
    r"|workers)(?=\s(?:with\seffect|from|as\sof|as\sfrom|since|starting|beginning|until|till|through)\s))?"
)
"""Whom all of it is for: "contracts signed from May" are others than those that it holds for from May on."""
_WHOLE: Final = re.compile(
    rf"\b(?:this|these|the\spresent)\s(?:[a-z-]+\s){{0,3}}{_KIND}\s{_HOLDS}{_TO_ALL}\s{_SPAN}(?=[.;,)\s]|$)"
    rf"|\b(?:this|these|the\spresent)\s(?:[a-z-]+\s){{0,3}}{_KIND}\s(?:expires?|ends?|ceases?\sto\s(?:apply|be\svalid))\s"
    rf"(?:on\s|at\sthe\send\sof\s|after\s)?(?P<expiry>{_DATE})(?=[.;,)\s]|$)",
    re.IGNORECASE,
)
_BARE: Final = (
    rf"(?:(?:valid(?:ity)?(?:\speriod)?|effective(?:\sdate)?|in\sforce|in\seffect|applicable"
    rf"|with\seffect)\s?:?\s{_SPAN}"
    rf"|(?:expir(?:es|y)(?:\sdate)?|valid\sthrough)\s?:?\s(?:on\s)?(?P<expiry>{_DATE}))"
)
_LINE: Final = re.compile(rf"{_BARE}\s?(?=[.\n]|$)", re.IGNORECASE)
"""At the beginning of a text, behind its heading: a statement without a subject is about what it heads."""
_IN_HEADING: Final = re.compile(rf"(?:^(?:\#+\s)?|[,:(\u2013-]\s?){_BARE}\s?(?=[).]|$)", re.IGNORECASE)
_LABEL: Final = re.compile(
    r"(?<!\S)(?:"
    rf"(?:(?:valid|effective|in\sforce|applicable)\s(?:from|as\sof|as\sfrom|since)|effective\sdate)\s?:\s(?P<start>{_DATE})"
    rf"|(?:(?:valid|effective|in\sforce|applicable)\s(?:until|till|to|through)|expir(?:es|y)(?:\sdate)?)\s?:\s(?P<until>{_DATE})"
    r")(?=\s?[.,]?(?:\s(?-i:[A-Z])|$))",
    re.IGNORECASE,
)
""""Valid from: 1 January 2026" on a line of its own, alone or among what else is told of a document."""
_ABOUT: Final = re.compile(
    r"(?:version|edition|revision|document(?:\s(?:no\.?|number|id|owner|type))?|status|owner|author|approved(?:\s(?:by|on))?"
    r"|department|ref(?:erence)?|issued?(?:\s(?:by|on|date))?|date|title|prepared\sby|classification"
    r"|(?:last|next)\s(?:updated?|changed?|reviewe?d?)|review\sdate)\s?:\s",
    re.IGNORECASE,
)
"""How lines at the beginning of a document are called that tell its number, its owner and the like."""
_AS_OF: Final = rf"as\s(?:of|from)\s(?:the\s)?(?P<start>{_DATE})"
_AS_OF_LINE: Final = re.compile(rf"{_AS_OF}\s?\.?$", re.IGNORECASE)
_IN_NAME: Final = (
    re.compile(rf"\b{_KIND}\s{_BARE}$", re.IGNORECASE),
    re.compile(rf"(?:\b{_KIND}\s|[,:(\u2013-]\s?){_AS_OF}\)?$", re.IGNORECASE),
)
"""What a document's own heading or title may end with, beside what every heading may say."""
_NAME_LINE: Final = re.compile(rf"[^.;:]{{1,120}}\({_BARE}\)$", re.IGNORECASE)
_TELLING: Final = re.compile(r"valid|effect|force|appl|expir|cease|\bends?\b|\bas\s(?:of|from)\b", re.IGNORECASE)
_FRONT_MATTER: Final = re.compile(rb"\A(?:\xef\xbb\xbf)?---[ \t]*\r?\n(.*?\n)---[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_FRONT_LINE: Final = re.compile(r"^(?P<key>[A-Za-z][\w -]{0,40}?)\s*:\s*(?P<value>\S.{0,60}?)\s*$", re.MULTILINE)
_META: Final = re.compile(
    r"<meta\s[^>]{0,200}?name\s*=\s*[\"']?(?P<key>[\w.-]{1,40})[\"']?\s[^>]{0,200}?content\s*=\s*[\"'](?P<value>[^\"'>]{1,60})[\"']",
    re.IGNORECASE,
)
_STARTS: Final = frozenset(
    {"valid_from", "validfrom", "effective", "effective_date", "effective_from", "in_force_from"}
)
_ENDS: Final = frozenset(
    {"valid_to", "validto", "valid_until", "validuntil", "valid_through", "expires", "expiry", "expiry_date"}
    | {"expiration_date", "effective_to", "effective_until", "in_force_until"}
)
_DAY: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Validity:
    """From when to when something holds; ``valid_to`` is the first moment behind, ``None`` = open."""

    valid_from: datetime | None = None
    valid_to: datetime | None = None

    @property
    def is_empty(self) -> bool:
        """Say whether nothing ever holds under it."""
        return self.valid_from is not None and self.valid_to is not None and self.valid_from >= self.valid_to

    def or_else(self, other: "Validity") -> "Validity":
        """Return it with the other's ends where it has none; where that leaves nothing, it alone."""
        joined = Validity(self.valid_from or other.valid_from, self.valid_to or other.valid_to)
        return self if joined.is_empty else joined

    def told(self) -> str:
        """Return it in words, for people; empty for one without ends."""
        start = f" from {self.valid_from:%Y-%m-%d}" if self.valid_from else ""
        end = f" until {self.valid_to - timedelta(microseconds=1):%Y-%m-%d}" if self.valid_to else ""
        return f"{start}{end}".strip()


ALWAYS: Final = Validity()


def read_period(text: str) -> tuple[datetime, datetime] | None:
    """Return the first moment of a date, month or year, and the first behind it; ``None`` when it is none.

    A date with a time is a moment: both are the same then.
    """
    text = " ".join(text.split()).strip("\"'")
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return _written(text)
    is_day = len(text) <= len("2026-01-01")
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    return (moment, moment + _DAY) if is_day else (moment, moment)


def _written(text: str) -> tuple[datetime, datetime] | None:
    match = _WRITTEN.fullmatch(text)
    if match is None:
        return None
    part = {name[0]: found for name, found in match.groupdict().items() if found}
    month = _MONTHS.index(part["m"][:3].lower()) + 1 if "m" in part else int(part.get("n", 0))
    try:
        start = datetime(int(part["y"]), month or 1, int(part.get("d", 1)), tzinfo=UTC)
        if "d" in part:
            return start, start + _DAY
        return start, start.replace(month=month + 1) if 0 < month < len(_MONTHS) else start.replace(
            year=start.year + 1, month=1
        )
    except (ValueError, OverflowError):  # the 31st of June, the year 9999
        return None


def of_metadata(metadata: Mapping[str, str]) -> Validity:
    """Return what a caller states under ``valid_from`` and ``valid_to``.

    Raises:
        ValueError: a value is no date; the message is what must hold, after the key.
    """
    found: dict[str, datetime] = {}
    for place, key in enumerate((VALID_FROM, VALID_TO)):
        if key in metadata:
            period = read_period(metadata[key])
            if period is None:
                raise ValueError(f"{key} must be a date such as 2026-01-31, or a time such as 2026-01-31T12:00:00Z")
            found[key] = period[place]
    stated = Validity(found.get(VALID_FROM), found.get(VALID_TO))
    if stated.is_empty:
        raise ValueError(f"{VALID_TO} must not be before {VALID_FROM}")
    return stated


def of_head(content: bytes) -> Validity:
    """Return what a document's front matter, or the meta elements at its beginning, say; other keys are passed over."""
    front = _FRONT_MATTER.match(content[:_HEAD_BYTES])
    if front is not None:
        pairs = _FRONT_LINE.finditer(front.group(1).decode("utf-8", "replace").replace("\r\n", "\n"))
    elif b"<meta" in (head := content[:_HEAD_BYTES]).lower():
        pairs = _META.finditer(head.decode("utf-8", "replace"))
    else:
        return ALWAYS
    start = end = None
    for match in pairs:
        key = re.sub(r"[\s.-]", "_", match["key"].strip().lower()).removeprefix("dcterms_")
        period = read_period(match["value"]) if key in _STARTS | _ENDS else None
        if period is not None and key in _STARTS:
            start = start or period[0]
        elif period is not None:
            end = end or period[1]
    stated = Validity(start, end)
    return ALWAYS if stated.is_empty else stated


@dataclass(frozen=True, slots=True)
class Passage:
    """A fact to be, with the headings that it stands under, outermost first, joined by ``" > "``."""

    text: str
    section: str = ""


def of_passages(passages: Sequence[Passage], title: str = "") -> list[Validity]:
    """Return for each passage what the document's own sentences and headings say of it, narrower ones first.

    Args:
        passages: of the document, in reading order.
        title: the document's own; empty when it has none.
    """
    whole = ALWAYS
    top = passages[0].section if passages else ""
    sections = _of_headings(passages, top)
    beginning = _beginning(passages, top)
    begun: set[str] = set()
    for place, passage in enumerate(passages):
        is_first, is_top = passage.section not in begun, passage.section == top and place < beginning
        begun.add(passage.section)
        head = passage.text[:_STATEMENT_CHARS]
        if not _TELLING.search(head):
            continue
        whole = whole.or_else(_stated(_WHOLE.search(head)))
        line = _of_line(_unheaded(head, passage.section)) if is_first or is_top else ALWAYS
        if is_top:
            whole = whole.or_else(line).or_else(_of_own_line(head, passage.section, place))
        elif passage.section != top:
            _note(sections, passage.section, line)
    whole = whole.or_else(_of_name(title))
    return [_within(sections, passage.section).or_else(whole) for passage in passages]


def _of_headings(passages: Sequence[Passage], top: str) -> dict[str, Validity]:
    """Return what headings say, by their paths; those without a text of their own as well."""
    found: dict[str, Validity] = {}
    seen: set[str] = set()
    for passage in passages:
        path = passage.section
        while path and path not in seen:
            seen.add(path)
            above, _, heading = path.rpartition(BELOW)
            is_own = not above and top.startswith(path)
            _note(found, path, _of_name(heading) if is_own else _of_heading(heading))
            path = above
    return found


def _of_heading(heading: str) -> Validity:
    return _stated(_IN_HEADING.search(heading)) if _TELLING.search(heading) else ALWAYS


def _of_name(name: str) -> Validity:
    """Return what a document's own heading or title says, of all that it names."""
    found = _of_heading(name)
    if found == ALWAYS and _TELLING.search(name):
        for pattern in _IN_NAME:
            found = found.or_else(_stated(pattern.search(name)))
        found = found.or_else(_labelled(name))
    return found


def _of_line(text: str) -> Validity:
    """Return what a text that begins a document or a section says, without a subject, of what it begins."""
    found = _stated(_LINE.match(text))
    if found == ALWAYS and (_LABEL.match(text) or _ABOUT.match(text)):
        found = _labelled(text)
    return found


def _of_own_line(text: str, section: str, place: int) -> Validity:
    """Return what only a line right below a document's title, or the title typed as a line, can say."""
    if not section and place == 0:
        return _stated(_NAME_LINE.match(text))
    return ALWAYS if BELOW in section else _stated(_AS_OF_LINE.match(_unheaded(text, section)))


def _labelled(text: str) -> Validity:
    """Return what labels with a colon say; nothing in a row of a table, where they are names of columns."""
    found = ALWAYS
    for match in () if ";" in text else _LABEL.finditer(text):
        found = found.or_else(_stated(match))
    return found


def _beginning(passages: Sequence[Passage], top: str) -> int:
    """Return how many passages are a document's beginning: the first ones, behind its number, owner and the like."""
    place = 0
    while (
        place < len(passages)
        and passages[place].section == top
        and _ABOUT.match(_unheaded(passages[place].text[:_STATEMENT_CHARS], top))
    ):
        place += 1
    return place + _HEADING_PASSAGES


def _unheaded(text: str, section: str) -> str:
    """Return a text without the headings that it carries ("House rules: Fees: Valid until …")."""
    heading, colon, rest = text.partition(": ")
    while colon and heading and heading in section:
        text = rest
        heading, colon, rest = text.partition(": ")
    return text


def _note(sections: dict[str, Validity], section: str, found: Validity) -> None:
    if found != ALWAYS:
        sections[section] = sections.get(section, ALWAYS).or_else(found)


def _within(sections: Mapping[str, Validity], section: str) -> Validity:
    """Return what is said of a section, or of those that it stands in."""
    found, path = ALWAYS, section
    while sections and path:
        found = found.or_else(sections.get(path, ALWAYS))
        path = path.rpartition(BELOW)[0]
    return found


def _stated(match: re.Match[str] | None) -> Validity:
    if match is None:
        return ALWAYS
    part = match.groupdict()
    start = read_period(part["start"]) if part.get("start") else None
    last = next((part[name] for name in ("end", "until", "expiry") if part.get(name)), None)
    end = read_period(last) if last else None
    stated = Validity(None if start is None else start[0], None if end is None else end[1])
    if (
        start is not None
        and end is None
        and re.search(r"\bfor\s(?:the\s)?$", match.group()[: match.start("start") - match.start()])
    ):
        stated = replace(stated, valid_to=start[1])  # "valid for 2026"
    return ALWAYS if stated.is_empty else stated
