"""A name in a place that the facts give to another (SPEC-005 §5.3, ENTITY_SUBSTITUTED, ADR 0095).

"The executive leaving after eleven years is Wrede" where one sentence tells of Pell, who is leaving after eleven
years, and another names Wrede. The name is taken out of a claim, and what is left is held against every sentence with
its heading.
The sentence that says it best must lack the name and hold another one in its place, and those with the name must say
it less.
"""

import re
from typing import Final

from services.common.reading.text_types import Span
from services.dpe.domain.findings import DistortionType, Rule
from services.dpe.domain.names import akin
from services.dpe.domain.rules.finding import Departure
from services.dpe.domain.rules.name_places import in_one_place, is_over_it
from services.dpe.domain.rules.reading import Reading, roots, share

SAID: Final = 0.3
"""Share of the rest of the claim that the best sentence must hold."""
MARGIN: Final = 0.12
"""What the best sentence must hold beyond the best with the name."""
_RUN: Final = re.compile(r"(?<=[\w,;('\"“‘] )[\"'“‘]?[A-Z][\w'’&-]*(?: (?:[A-Z][\w'’&-]*|\d+))*")  # noqa: RUF001 - typographic
_RIVAL: Final = re.compile(r"[A-Z][\w'’&-]+(?: [A-Z][\w'’&-]*)*")  # noqa: RUF001 - typographic apostrophe
_MONTH: Final = re.compile(
    r"\b(?:January|February|March|April|May|June|July|August|September|October|November|December|\d+)\b"
)
_COMPARED: Final = re.compile(r"\bthan\b|\bof the (?:two|three|four|five|six)\b", re.IGNORECASE)
_PARTS: Final = re.compile(r";\s|\n|\.\s(?=[A-Z])")
_LINES: Final = re.compile(r"\n|\.\s(?=[A-Z])")
_ROW: Final = re.compile(r";\s[^;:\n]{1,60}:\s")


def misplaced_name(claim: Reading, sources: list[Reading]) -> Departure | None:
    """Return a name of the claim that stands where its facts have another, or ``None``."""
    if _COMPARED.search(claim.text):
        return None
    units = [part for source in sources if " | " not in source.text for part in source.once(_parts)]
    quoted = [each.span() for each in _QUOTED.finditer(claim.text) if each.group().count(" ") >= _TITLE_BLANKS]
    for match in _RUN.finditer(claim.text):
        if _NO_NAME.fullmatch(match.group()) or any(start <= match.start() < end for start, end in quoted):
            continue  # a day, or a word of a title, names nobody
        name = roots(_MONTH.sub(" ", _whole(claim.text, match)))
        rest = claim.content - name
        telling = name - frozenset().union(
            *((one.content | one.head) for one in units if not name <= (one.content | one.head))
        )
        if not telling or not rest:
            continue
        holding = [one for one in units if telling <= (one.content | one.head)]
        # What holds a part of the name may speak of it under a shorter one.
        lacking = [one for one in units if not name & (one.content | one.head)]
        if not holding or not lacking:
            continue
        best = max(lacking, key=lambda one: share(rest, (one.content | one.head)))
        at_best, beside = (
            share(rest, (best.content | best.head)),
            max(share(rest, (one.content | one.head)) for one in holding),
        )
        rival = _rival(best, claim, holding)
        if rival is None or akin(match.group(), best.text[rival.start : rival.end]):
            continue
        if not _stand_alike(claim.text, match.span(), best.text, (rival.start, rival.end)):
            continue
        if not in_one_place(claim.text, match.span(), best.text, (rival.start, rival.end)):
            continue
        if at_best >= SAID and at_best - beside >= MARGIN:
            return Departure(
                DistortionType.ENTITY_SUBSTITUTED,
                Rule.NAME,
                claim.span(match.start(), match.end()),
                best,
                best.span(rival.start, rival.end),
            )
    return None


_BEFORE: Final = re.compile(r"[A-Z][\w'’-]{0,40}\s$")  # noqa: RUF001 - typographic apostrophe
_BEHIND: Final = re.compile(r"\.?\s[A-Z][\w'’-]*")  # noqa: RUF001 - as above


def _whole(text: str, match: re.Match[str]) -> str:
    """Return a name with the word that a sentence begins with, and with what stands behind an initial."""
    before = _BEFORE.search(text[max(0, match.start() - _NAME_CHARS) : match.start()])
    behind = _BEHIND.match(text, match.end()) if len(match.group()) == 1 else None
    return f"{before.group() if before else ''}{match.group()}{behind.group() if behind else ''}"


_NAME_CHARS: Final = 40
_TITLE_BLANKS: Final = 2
_QUOTED: Final = re.compile(r"(?<!\w)[\"'“‘][^\"”’']{2,80}[\"”’'](?!\w)")  # noqa: RUF001 - typographic quotes
_LOCATIVE: Final = re.compile(r"\b(?:at|in|near|from)\s(?:the\s)?$", re.IGNORECASE)


def _stand_alike(text: str, own: tuple[int, int], other_text: str, other: tuple[int, int]) -> bool:
    """Say whether two names can stand for each other: both a place, or none, and of one form where they have digits."""
    one, two = text[slice(*own)], other_text[slice(*other)]
    if re.search(r"\d", one + two) and re.sub(r"[^a-z]", "", one.lower()) != re.sub(r"[^a-z]", "", two.lower()):
        return False
    return bool(_LOCATIVE.search(text[: own[0]])) == bool(_LOCATIVE.search(other_text[: other[0]]))


def _parts(source: Reading) -> list[Reading]:
    """Return a sentence cut at semicolons and lines: the parts of an enumeration speak of different things.

    The cells of a row ("Service: copy; Basic: 5; Plus: 3") speak of one thing, under labels.
    """
    found: list[Reading] = []
    at = 0
    parts = _LINES if _ROW.search(source.text) else _PARTS
    for cut in [*parts.finditer(source.text), None]:
        end = len(source.text) if cut is None else cut.start()
        part = source.part(at, end)
        if part.content:
            found.append(part)
        at = len(source.text) if cut is None else cut.end()
    return found


def _rival(best: Reading, claim: Reading, holding: list[Reading]) -> Span | None:
    """Return a name of the best sentence that neither the claim nor a sentence with the claim's name holds."""
    known = claim.content.union(*(one.content for one in holding))
    for match in _RIVAL.finditer(best.text):
        held = roots(_MONTH.sub(" ", match.group()))
        if held and not held & known and _is_name(best.text, match) and not is_over_it(best.text, *match.span()):
            return Span(match.start(), match.end())
    return None


_NO_NAME: Final = re.compile(
    r"(?:The|A|An|This|That|These|If|For|In|At|On|No|Any|All|I|We|It|They|Section|Article|Annex|Part|Chapter|Clause|Table"
    r"|Page|Note|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday|Yes)\b"
)
_BEHIND_A_NAME: Final = re.compile(r":|[$€£¥]|['’][a-z]{1,2}\b")  # noqa: RUF001 - typographic apostrophe
_OPENS: Final = re.compile(r"(?:^|[.;:!?|\n(]\s?|^[-*#\d.\s]+)$")


def _is_name(text: str, match: re.Match[str]) -> bool:
    """Say whether words that are written large name somebody: no head of a cell does, nor a line's first word."""
    if _NO_NAME.match(match.group()) or _BEHIND_A_NAME.match(text, match.end()):
        return False
    return " " in match.group() or not _OPENS.search(text[max(0, match.start() - 2) : match.start()])
