"""Where a sentence can begin and end, line by line and mark by mark (SPEC-005 §3); pure, linear in the text.

The services' segmenter of whole texts and that of a text that is still being written follow these rules alike, at the
server and in a guarded client.
"""

import re
from enum import StrEnum, unique
from typing import Final


@unique
class SentenceKind(StrEnum):
    """What a sentence is part of."""

    PROSE = "PROSE"
    LIST_ITEM = "LIST_ITEM"
    HEADING = "HEADING"
    TABLE_ROW = "TABLE_ROW"
    CODE = "CODE"
    OTHER_LANGUAGE = "OTHER_LANGUAGE"


def _listed(text: str) -> frozenset[str]:
    return frozenset(text.split())


ABBREVIATIONS: Final = _listed(
    """
    mr mrs ms dr prof rev hon sr jr st gen col capt lt sgt gov sen rep pres supt messrs mme e.g i.e eg ie cf viz
    al approx ca vs v art arts sec secs ch chap fig figs eq eqs ex no nos nr vol vols pp p s r par para paras cl ss
    ed eds inc ltd co corp llc plc bros dept est univ assn intl natl govt admin dist jan feb mar apr jun jul aug
    sep sept oct nov dec mon tue tues wed thu thur thurs fri sat sun a.m p.m am pm u.s u.k u.n e.u u.s.a ph.d
    m.d b.a m.a d.c max min avg temp tel ext incl excl resp dpt rd ave blvd mt ft oz lb lbs in sq hr hrs mins
    """
)
"""Words whose full stop does not end a sentence by itself."""

ABBREVIATIONS_THAT_MAY_END: Final = _listed(
    """
    inc ltd co corp llc plc etc a.m p.m am pm u.s u.k u.n e.u u.s.a ph.d m.d jr sr in mins hrs hr max min ed al
    no
    """
)
"""Abbreviations that do end a sentence when a capital follows and the next word is a usual opener."""

_BEHIND_VALUES: Final = _listed("a.m p.m am pm hr hrs mins min ft oz lb lbs")
"""Units that end a sentence behind a number when a capital follows: "Open from 9 am. Staff have keys."."""
_GO_ON_BEHIND_TIMES: Final = _listed(
    """
    eastern central mountain pacific atlantic greenwich coordinated universal british western european indian japan
    australian local mean gmt utc bst cet cest est edt cst cdt mst mdt pst pdt ist jst aest
    monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun
    january february march april june july august september october november december
    """
)

OPENERS: Final = _listed(
    """
    the a an this that these those it its they their he his she her we our you your i there here in on at by for
    from to with as if when while after before since although however but and or so moreover furthermore finally
    first second third then next also each every all any no some most many both another such one what which who
    how why claims customers employees members policies
    """
)
"""Words that often begin a sentence."""

FENCE: Final = re.compile(r"^\s{0,3}(?:```|~~~)")
_HEADING: Final = re.compile(r"^\s{0,3}#{1,6}\s+")
_BOLD_HEADING: Final = re.compile(r"^\s{0,8}(?:\*\*|__)[^*_]{1,120}(?:\*\*|__):?\s*$")
_LIST_MARK: Final = re.compile(r"^\s*(?:[-*+•‣◦–]|\(?\d{1,3}[.)]|\(?[a-zA-Z][.)])\s+(?=\S)")  # noqa: RUF001 - bullets
QUOTE_MARK: Final = re.compile(r"^\s*(?:>\s?)+")
TABLE_RULE_CHARS: Final = frozenset("|:+=- \t")
_CODE_CHARS: Final = re.compile(
    r"[{};<>=\\$`]|\w\(|\)\s*$|^\s*(?:import|def|class|return|for|if|while|const|let|var)\b"
)
TERMINATOR: Final = re.compile(r"[.!?…]+|[。！？]+")  # noqa: RUF001 - full-width marks end sentences as well
CLOSERS: Final = "\"'”’)]}»*_`"  # noqa: RUF001 - typographic closers
MARKS_AFTER: Final = re.compile(r"(?:\s?\[(?:fact |source )?\d{1,4}(?:\s?[,;–-]\s?\d{1,4})*\])+", re.IGNORECASE)  # noqa: RUF001
_WORD_BEFORE: Final = re.compile(r"[\w.&/-]{1,24}$")
WORD_AFTER: Final = re.compile(r"[\"'“‘(\[*_]{0,16}+([^\W_]+)")  # noqa: RUF001 - typographic openers
_INITIAL: Final = re.compile(r"(?:^|[\s(.])[A-Z]$")
_SECTION: Final = re.compile(r"[^\W\d_]\)?\s?[,>\u203a]\s\d{1,2}(?:\.\d{1,2}){0,3}$")
_SECTION_CHARS: Final = 18
"""The number of a section behind the title of its document: "Card policy, 2. Limits by grade"."""
_VALUE_BEFORE: Final = re.compile(r"\d\s?[a-z.]{2,4}$", re.IGNORECASE)
_VALUE_CHARS: Final = 8
_SOFT_WRAP_LENGTH: Final = 60
"""A line of plain prose at least this long that ends without a full stop goes on in the next line."""


def classify_line(line: str, start: int, *, in_fence: bool) -> tuple[int, SentenceKind]:
    """Return where the words of a line begin and what it is; ``start`` is where the line begins."""
    quote = QUOTE_MARK.match(line)
    if quote:
        start, line = start + quote.end(), line[quote.end() :]
    # A fence hides nothing: its lines are code only when they look like code, else they are read as prose.
    if TABLE_RULE_CHARS.issuperset(line) or (in_fence and _CODE_CHARS.search(line)):
        return start, SentenceKind.CODE
    heading, mark = _HEADING.match(line), _LIST_MARK.match(line)
    if heading or _BOLD_HEADING.match(line):
        return start + (heading.end() if heading else 0), SentenceKind.HEADING
    if line.lstrip().startswith("|"):
        return start, SentenceKind.TABLE_ROW
    return (start + mark.end(), SentenceKind.LIST_ITEM) if mark else (start, SentenceKind.PROSE)


def wraps(last: str, head: str) -> bool:
    """Say whether a paragraph's last line goes on with a line that begins with ``head`` (a soft wrap)."""
    last = last.rstrip()
    if last.endswith((".", "!", "?", ":", "…")):
        return False
    return head.islower() or last.endswith((",", ";", "-")) or len(last) >= _SOFT_WRAP_LENGTH


def is_boundary(text: str, left: int, dot: int, stop: int) -> bool:
    """Decide whether the terminator at ``dot`` (followed by closers up to ``stop``) ends a sentence."""
    mark = text[dot]
    if mark in "。！？":  # noqa: RUF001 - full-width marks need no blank after them
        return True
    if not text[stop].isspace():
        return False
    following = WORD_AFTER.match(text, skip_blanks(text, stop))
    word = following.group(1) if following else ""
    if word[:1].islower():
        # "he asked why? and left", "etc. and so on": a small letter goes on, but for brands such as "iPhone".
        return len(word) > 1 and word[1:2].isupper()
    return mark != "." or text[dot : dot + 2] == ".." or _full_stop_ends(text, left, dot, word.lower())


def hangs_on_what_follows(text: str, left: int, dot: int) -> bool:
    """Say whether it takes the whole word behind a single full stop to tell if it ends a sentence."""
    if _INITIAL.search(text, max(left, dot - 2), dot) or _SECTION.search(text, max(left, dot - _SECTION_CHARS), dot):
        return True
    return _word_before(text, left, dot) in ABBREVIATIONS


def _word_before(text: str, left: int, dot: int) -> str:
    before = _WORD_BEFORE.search(text, max(left, dot - 24), dot)
    return before.group().lower().strip("-/&") if before else ""


def _full_stop_ends(text: str, left: int, dot: int, following: str) -> bool:
    """Decide for a single full stop before a word that does not begin small."""
    last = _word_before(text, left, dot)
    if _INITIAL.search(text, max(left, dot - 2), dot):
        return following in OPENERS and last != "i"
    if _SECTION.search(text, max(left, dot - _SECTION_CHARS), dot):
        return following in OPENERS
    if last in _BEHIND_VALUES and _VALUE_BEFORE.search(text, max(left, dot - _VALUE_CHARS), dot):
        return "." not in last or following not in _GO_ON_BEHIND_TIMES
    if last in ABBREVIATIONS:
        return last in ABBREVIATIONS_THAT_MAY_END and following in OPENERS
    return True


def skip_blanks(text: str, at: int) -> int:
    """Return the place of the first character from ``at`` on that is no blank."""
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def trimmed(text: str, start: int, end: int) -> tuple[int, int] | None:
    """Return the span without blanks around it, or ``None`` when it holds no word."""
    piece = text[start:end]
    if not any(char.isalnum() for char in piece):
        return None
    return start + len(piece) - len(piece.lstrip()), end - (len(piece) - len(piece.rstrip()))
