"""Queries that set things against each other (SPEC-003 §5.2 step 1.1, ADR 0062).

"Compare the EU AI Act and GDPR approaches to automated decision-making" asks for three things: what each of both says
on the aspect, and what sets them apart.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from services.common.questions.decomposition.phrases import glued, is_one_term, name_and_rest, unglued, without_article
from services.common.questions.decomposition.words import (
    ARTICLE,
    ASPECT_PREPOSITION,
    EMPTY_NOUNS,
    INTRODUCING,
    JUDGEMENT,
    ORDINALS,
    POSSESSIVE,
)

MOST_THINGS: Final = 5
_MOST_WORDS: Final = 9
"""Longer things are clauses."""
_AND: Final = re.compile(r",\s(?:and\s|or\s)?|\sand\s")
_OR: Final = re.compile(r",\s(?:or\s)?|\sor\s")
_AND_OR: Final = re.compile(r",\s(?:and\s|or\s)?|\s(?:and|or)\s")
_VERSUS: Final = re.compile(r",?\s(?:vs\.?|versus)\s|,\s(?:and\s)?", re.IGNORECASE)
_CONJUNCTION: Final = re.compile(r"\sand\s")
_OF_OR_BETWEEN: Final = re.compile(r"\s(?:of|between)\s")
_HANDLES: Final = re.compile(
    r"\s(?:handle|treat|deal with|approach|define|regulate|address|govern|protect|manage|calculate|measure|view|see|"
    r"cover|support|implement|tax)s?\s"
)
_HAS_VERSUS: Final = re.compile(r"\s(?:vs\.?|versus)\s", re.IGNORECASE)
_AGAINST: Final = re.compile(r"\s(?:with|to|against|vs\.?|versus)\s(?!regard|respect|reference)", re.IGNORECASE)
_FRONT: Final = re.compile(r"\s(of|in|under|between|for|across|at|on|by|from|with|within)\s", re.IGNORECASE)
_THAT_OF: Final = re.compile(r"(?:that|those|the ones?)\s(?:of|in|under|for|at|on|from|with|within)\s", re.IGNORECASE)
_OPEN_ENDS: Final = frozenset("to of for with in on by at under there it".split())  # noqa: SIM905
_PRONOUNS: Final = frozenset(
    ("it", "them", "they", "this", "that", "these", "those", "each other", "both", "one", "which")
)
_OPENING: Final = re.compile(
    r"(?:please\s|kindly\s|(?:can|could|would) you\s(?:please\s)?|i(?:'d| would) like (?:you )?to\s|"
    r"i (?:want|need) to\s|help me\s(?:to\s)?|let's\s|show me\s(?:how\s)?|give me\s|tell me\s(?:about\s)?|explain\s|"
    r"describe\s|outline\s|summari[sz]e\s|what(?:'s|\sis|\sare)\s|(?:a|an|the)\s|brief\s|short\s|detailed\s|side-by-side\s){1,6}",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Reading:
    """What is compared, and in which respect; empty for none."""

    things: tuple[str, ...]
    aspect: str


def comparison(query: str) -> tuple[str, ...]:
    """Return one sub-query for each thing and one for the comparison; nothing when the query compares nothing.

    Args:
        query: with single blanks.
    """
    text = glued(query.rstrip("?!. "))
    for pattern, read in _FORMS:
        match = pattern.fullmatch(text)
        reading = None if match is None else read(match)
        if reading is not None and _is_sound(reading):
            things = [unglued(thing) for thing in reading.things]
            aspect = unglued(reading.aspect.replace(": ", " "))
            return (*(f"{thing} {aspect}".strip() for thing in things), f"{' vs '.join(things)} comparison")
    return ()


def _bare(phrase: str) -> str:
    """Return a phrase without its leading article or possessive."""
    phrase = without_article(phrase)
    match = POSSESSIVE.match(phrase)
    return phrase[match.end() :] if match else phrase


def _is_sound(reading: _Reading) -> bool:
    things = [thing.lower() for thing in reading.things]
    return (
        2 <= len(set(things)) == len(things) <= MOST_THINGS  # noqa: PLR2004 - a comparison takes two
        and all(0 < len(thing.split()) <= _MOST_WORDS and thing not in _PRONOUNS for thing in things)
    )


def _coordinated(body: str, separator: re.Pattern[str], front: str = "") -> _Reading | None:
    """Read ``[aspect of] A, B and C [aspect]``.

    Args:
        body: the text.
        separator: what stands between the things.
        front: an aspect that was named before.
    """
    parts = _parts(body, separator)
    if len(parts) < 2:  # noqa: PLR2004
        return None
    before, parts[0] = _front(parts[0])
    front = " ".join(filter(None, (front, before)))
    last, behind, head = _last(parts[-1], parts[0], has_front=bool(front))
    things = [_bare(part) for part in parts[:-1]]
    if head:
        things = [f"{thing} {head}" for thing in things]
        last = f"{last} {head}" if not last.endswith(head) else last
    return _reading([*things, last], front, behind)


def _parts(body: str, separator: re.Pattern[str]) -> list[str]:
    """Cut at the separators, up to the one behind which the aspect begins."""
    parts: list[str] = []
    start = 0
    for match in separator.finditer(body):
        segment = body[start : match.start()]
        if parts and (_aspect_start(segment) or _is_name_with_rest(segment, parts[0])):
            break
        parts.append(segment)
        start = match.end()
    return [*parts, body[start:]]


def _is_name_with_rest(segment: str, first: str) -> bool:
    name, rest = name_and_rest(_bare(segment))
    return bool(name and rest) and not name_and_rest(_bare(first))[1]


def _aspect_start(text: str) -> "re.Match[str] | None":
    matches = [match for match in (ASPECT_PREPOSITION.search(text), EMPTY_NOUNS.search(text)) if match]
    colon = re.search(r":\s", text)
    return min((match for match in (*matches, colon) if match), key=lambda match: match.start(), default=None)


def _front(first: str) -> tuple[str, str]:
    """Cut ``the side effects of ibuprofen`` into aspect and thing; the aspect is empty when there is none."""
    colon = first.rfind(": ")
    if colon > 0:
        return _bare_aspect(first[:colon]), first[colon + 2 :]
    for match in reversed(list(_FRONT.finditer(first))):
        word = first[: match.start()].rpartition(" ")[2]
        follows = first[match.end() :]
        if match[1].lower() != "of" or not is_one_term(word, follows):
            return _bare_aspect(first[: match.start()]), follows
    return "", first


def _bare_aspect(text: str) -> str:
    """Return an aspect without article and without what only introduces it: ``the rules on X`` is ``X``."""
    text = _bare(text.strip(" ,;:"))
    match = EMPTY_NOUNS.match(text)
    return _bare(text[match.end() :]) if match else text


def _last(part: str, first: str, *, has_front: bool) -> tuple[str, str, str]:
    """Cut the last part into its thing, the aspect behind it, and the head that it shares with the things before it."""
    own_article = bool(ARTICLE.match(part) and ARTICLE.match(first))
    part = _bare(part)
    first_name, first_rest = name_and_rest(_bare(first))
    name, rest = name_and_rest(part)
    if first_name and not first_rest and name and rest:
        start = _aspect_start(f" {rest}")
        if start is not None and start.start() == 0:
            return name, rest[start.end() - 1 :], ""
        empty = EMPTY_NOUNS.match(rest)
        if empty is not None:
            return name, rest[empty.end() :], ""
        if not has_front:
            return name, INTRODUCING.sub(" ", rest), ""
    start = _aspect_start(part)
    thing, behind = (part, "") if start is None else (part[: start.start()].rstrip(), part[start.end() :])
    if first_name and not first_rest:
        own_name, head = name_and_rest(thing)
        return thing, behind, head if has_front and own_name else ""
    head, more = _shared_head(thing.split(" "), _bare(first).split(" "), own_article=own_article)
    if more:
        return thing[: -len(more)].rstrip(), " ".join(filter(None, (more, behind_of(part, start)))), ""
    return thing, behind, head


def behind_of(part: str, start: "re.Match[str] | None") -> str:
    """Return what stands behind the thing, its preposition included."""
    return "" if start is None else part[start.start() :].strip()


def _shared_head(words: Sequence[str], first: Sequence[str], *, own_article: bool) -> tuple[str, str]:
    """Return the head that the last thing lends to the first; else what stands behind the head that both have."""
    length = len(first)
    if [word.lower() for word in words[-length:]] == [word.lower() for word in first]:
        return "", ""  # negligence, gross negligence
    if words[-1].lower() == first[-1].lower():
        return "", ""  # term insurance, whole life insurance
    if len(words) > length > 1 and words[length - 1].lower() == first[-1].lower():
        return "", " ".join(words[length:])  # common law, civil law contract formation
    if own_article and first[0].lower() not in ORDINALS:
        return "", ""
    return " ".join(words[length:]), ""


def _reading(things: Sequence[str], front: str, behind: str) -> _Reading:
    bare = [_bare(thing.strip(" ,;:")).removesuffix("'s").removesuffix("\u2019s") for thing in things]
    aspect = " ".join(filter(None, (_bare_aspect(front), _bare_aspect(behind))))
    return _Reading(tuple(bare), aspect)


def _apart(first: str, second: str, front: str = "") -> _Reading | None:
    """Read two things that stand on either side of a verb or a conjunction, with the aspect behind the second."""
    before, first = _front(first)
    that_of = _THAT_OF.match(second)
    if that_of is not None:
        second = second[that_of.end() :]
    elif before:
        other, rest = _front(second)
        if other.lower() == before.lower():
            second = rest
    start = _aspect_start(second)
    thing, behind = (second, "") if start is None else (second[: start.start()], second[start.end() :])
    return _reading([first, thing], " ".join(filter(None, (front, before))), behind)


def _read_compare(match: re.Match[str]) -> _Reading | None:
    body = match["body"]
    if _HAS_VERSUS.search(body):
        return _coordinated(body, _VERSUS)
    for match_of in _OF_OR_BETWEEN.finditer(body):
        front, things = body[: match_of.start()], body[match_of.end() :]
        if _CONJUNCTION.search(front) and _CONJUNCTION.search(things) and ":" not in front:
            return _coordinated(things, _AND, _bare_aspect(front))
    handles = _HANDLES.search(body) if body.startswith("how ") else None
    if handles is not None:
        return _coordinated(f"{body[4 : handles.start()]} on {body[handles.end() :]}", _AND)
    against = _AGAINST.search(body)
    conjunction = _CONJUNCTION.search(body)
    if conjunction is not None and (against is None or conjunction.start() < against.start()):
        return _coordinated(body, _AND)
    return None if against is None else _apart(body[: against.start()], body[against.end() :])


def _read_between(match: re.Match[str]) -> _Reading | None:
    return _coordinated(match["body"], _AND_OR, _bare_aspect(match["front"] or ""))


def _read_apart(match: re.Match[str]) -> _Reading | None:
    return _apart(match["a"], match["b"])


def _read_together(match: re.Match[str]) -> _Reading | None:
    behind = match["behind"] or ""
    if not _CONJUNCTION.search(match["body"]):
        return None
    return _coordinated(f"{match['body']}{behind}", _AND)


def _read_than(match: re.Match[str]) -> _Reading | None:
    if match["a"].rpartition(" ")[2].lower() in _OPEN_ENDS:
        return None
    first = match["a"].removesuffix(" a").removesuffix(" an")
    second = match["b"].split(" ", 1)
    repeated = len(second) > 1 and second[0].lower() in _OPEN_ENDS  # "under plan A … than under plan B"
    return _apart(first, second[1] if repeated else match["b"], _bare_aspect(match["what"].strip()))


def _read_which(match: re.Match[str]) -> _Reading | None:
    rest = match["rest"]
    if not JUDGEMENT.search(rest):
        return None
    aspect = JUDGEMENT.sub("", rest)
    aspect = re.sub(r"^\s*(?:(?:one|of)\s)?(?:\w+s|is|are|has|have|will|would|should|do|does|be)\b", "", aspect)
    aspect = " ".join(aspect.split())
    prepared = ASPECT_PREPOSITION.match(f" {aspect} ")
    if prepared is not None:
        aspect = aspect[prepared.end() - 1 :]
    return _coordinated(match["things"], _OR, aspect)


def _read_which_of(match: re.Match[str]) -> _Reading | None:
    return _coordinated(f"{match['body']}{match['behind']}", _AND_OR)


def _read_versus(match: re.Match[str]) -> _Reading | None:
    opening = _OPENING.match(match["body"])
    body = match["body"][opening.end() :] if opening else match["body"]
    return _coordinated(body, _VERSUS)


def _read_choice(match: re.Match[str]) -> _Reading | None:
    body = match["body"]
    return None if len(_OR.split(body)) > MOST_THINGS else _coordinated(body, _OR)


def _form(
    pattern: str, read: Callable[[re.Match[str]], _Reading | None]
) -> tuple[re.Pattern[str], Callable[[re.Match[str]], _Reading | None]]:
    return re.compile(pattern, re.IGNORECASE), read


_ASK: Final = rf"(?:{_OPENING.pattern})?"
_FORMS: Final = (
    _form(rf"{_ASK}(?:compare|contrast|compare\sand\scontrast)\s(?!to\b|with\b)(?P<body>.+)", _read_compare),
    _form(rf"{_ASK}comparison\s(?:of|between)\s(?P<body>.+)", _read_compare),
    _form(
        rf"(?:{_ASK}|(?:is|are)\sthere\s(?:an?|any)\s|(?:how|why)\s(?:big|large|important)?\s?(?:is|are)\sthe\s)"
        r"(?:(?:any|main|key|major|essential|practical|legal|important|biggest|chief|exact|real|material|principal)\s){0,2}"
        r"(?:difference|distinction|similarity|similaritie|contrast|trade-off|tradeoff)s?"
        r"(?:\s(?:and|or)\s(?:difference|distinction|similarity|similaritie)s?)?"
        r"(?:\s(?:in|of)\s(?P<front>.+?))?\sbetween\s(?P<body>.+)",
        _read_between,
    ),
    _form(
        r"(?:how|in\swhat\s(?:ways?|respects?)|where|why)\s(?:is|are|do|does|did|would|can|will)\s(?P<a>.+?)\s"
        r"(?:differ|deviate|different|distinct|distinguished)\s(?:from|to|than)\s(?P<b>.+)",
        _read_apart,
    ),
    _form(
        r"how\s(?:do|does|did|would|will)\s(?P<a>.+?)\s(?:compare|stack\sup|measure\sup|fare)\s(?:with|to|against)\s(?P<b>.+)",
        _read_apart,
    ),
    _form(r"what\s(?:distinguishes|separates|sets)\s(?P<a>.+?)\s(?:apart\s)?from\s(?P<b>.+)", _read_apart),
    _form(
        r"(?:how|in\swhat\s(?:ways?|respects?))\s(?:do|does|did|would|will)\s(?P<front>.+?)\s(?:differ|vary|change|compare)\s"
        r"(?:between|across)\s(?P<body>.+\sand\s.+)",
        _read_between,
    ),
    _form(
        r"(?:how|in\swhat\s(?:ways?|respects?)|where|why)\s(?:is|are|do|does|did|would|can|will)\s(?P<body>.+?)\s"
        r"(?:differ|different|compare|distinct)(?P<behind>\s.+)?",
        _read_together,
    ),
    _form(
        rf"(?:(?:why|when|how\smuch)\s)?(?:is|are|was|were|does|do|did|would|will|can)\s(?P<a>.+?)\s(?:(?:have|has|offer|cost|"
        rf"perform|work|pay|charge|provide|need|require|take|give|be|run|last|yield)\s)?(?:much\s|any\s)?"
        rf"{JUDGEMENT.pattern}(?P<what>(?:\s[\w-]+){{0,3}}?)\sthan\s(?P<b>.+)",
        _read_than,
    ),
    _form(
        rf"(?:which|what|who)\sof\s(?:the\s)?(?P<body>.+?\s(?:and|or)\s.+?)\s(?:is|are|has|have|offers?|gives?|works?)\s"
        rf"(?:the\s)?{JUDGEMENT.pattern}(?P<behind>.*)",
        _read_which_of,
    ),
    _form(r"(?:so\s)?(?:which|what|who)\s(?P<rest>[^,:?]+)[,:?]\s(?P<things>.+)", _read_which),
    _form(r"(?P<things>[^,:?]+\sor\s[^,:?]+)[,:?]\s(?:so\s)?(?:which|what)\s(?P<rest>[^,:?]+)", _read_which),
    _form(r"(?P<a>.+?)\s(?:as\s)?compared\s(?:with|to)\s(?P<b>.+)", _read_apart),
    _form(r"(?P<body>.+\s(?:vs\.?|versus)\s.+)", _read_versus),
    _form(
        r"should\s(?:i|we|one|you|a\s\w+)\s(?:choose|use|take|pick|buy|prefer|adopt|select|go\s(?:for|with))\s(?P<body>.+\sor\s.+)",
        _read_choice,
    ),
)
