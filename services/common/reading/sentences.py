"""Sentence boundaries (SPEC-005 §3): where a claim can begin and end.

A rule segmenter in the domain, and not spaCy's: boundaries are part of the evidence (offsets are hashed into the
report), so they must be the same with every model installed, and a sentence must not vanish when a model is swapped.
It knows Markdown layout (headings, lists, tables, fences), abbreviations, initials, decimals, quotations and citation
marks, and prefers a boundary too many to one too few. Linear in the text, whatever the text is.
"""

import re
from collections.abc import Iterator
from typing import Final

from services.common.reading.languages import has_english, is_other_language
from services.common.reading.lexicon import ABBREVIATIONS, ABBREVIATIONS_THAT_MAY_END, OPENERS
from services.common.reading.text_types import Sentence, SentenceKind

_LINE: Final = re.compile(r"[^\r\n\v\f\x1c-\x1e\x85\u2028\u2029]+")
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
_LANGUAGE_CHARS: Final = 20_000
"""So much of a text shows which language it is in."""
_SOFT_WRAP_LENGTH: Final = 60
"""A line of plain prose at least this long that ends without a full stop goes on in the next line."""


def sentences(text: str) -> list[Sentence]:
    """Return the sentences of a text in order; they do not overlap and hold all of its words but layout marks.

    One in another language than English says so by its kind.
    """
    is_other = is_other_language(text[:_LANGUAGE_CHARS])
    found: list[Sentence] = []
    for start, end, kind in _blocks(text):
        spans = (
            _prose_spans(text, start, end) if kind in {SentenceKind.PROSE, SentenceKind.LIST_ITEM} else [(start, end)]
        )
        for left, right in spans:
            span = trimmed(text, left, right)
            if span is not None:
                found.append(Sentence(len(found), *span, _kind(text[slice(*span)], kind, is_other=is_other)))
    return found


def _kind(sentence: str, kind: SentenceKind, *, is_other: bool) -> SentenceKind:
    if kind is SentenceKind.CODE:
        return kind
    # Around a sentence that is plainly English nothing matters; in a text of another language a short one follows it.
    if is_other:
        other = is_other_language(sentence) or not has_english(sentence)
    else:
        other = is_other_language(sentence, within_english=True)
    return SentenceKind.OTHER_LANGUAGE if other else kind


def _blocks(text: str) -> Iterator[tuple[int, int, SentenceKind]]:
    """Yield the stretches that no sentence crosses: paragraphs, list items, headings, rows and lines of code."""
    pending: tuple[int, int, SentenceKind] | None = None
    in_fence = False
    previous_end = 0
    for match in _LINE.finditer(text):
        line, start, end = match.group(), match.start(), match.end()
        blank_between = text.count("\n", previous_end, start) > 1
        previous_end = end
        if FENCE.match(line):
            in_fence = not in_fence
            kind: SentenceKind | None = None
        elif not line.strip():
            kind = None
        else:
            start, kind = classify_line(line, start, in_fence=in_fence)
        if pending and (blank_between or kind is not SentenceKind.PROSE or not _continues(text, pending, start)):
            yield pending
            pending = None
        if kind in {SentenceKind.PROSE, SentenceKind.LIST_ITEM}:
            pending = (pending[0], end, pending[2]) if pending else (start, end, kind)
        elif kind is not None:
            yield start, end, kind
    if pending:
        yield pending


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


def _continues(text: str, pending: tuple[int, int, SentenceKind], start: int) -> bool:
    line_start = max(text.rfind("\n", pending[0], pending[1]) + 1, pending[0])
    return wraps(text[line_start : pending[1]], text[start : start + 1])


def wraps(last: str, head: str) -> bool:
    """Say whether a paragraph's last line goes on with a line that begins with ``head`` (a soft wrap)."""
    last = last.rstrip()
    if last.endswith((".", "!", "?", ":", "…")):
        return False
    return head.islower() or last.endswith((",", ";", "-")) or len(last) >= _SOFT_WRAP_LENGTH


def _prose_spans(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    left = start
    for match in TERMINATOR.finditer(text, start, end):
        stop = match.end()
        if stop <= left:
            continue
        while stop < end and text[stop] in CLOSERS:
            stop += 1
        marks = MARKS_AFTER.match(text, stop, end)
        if marks:
            stop = marks.end()
        if stop < end and not is_boundary(text, left, match.start(), stop):
            continue
        yield left, stop
        left = stop
    if left < end:
        yield left, end


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
    return bool(_INITIAL.search(text, max(left, dot - 2), dot)) or _word_before(text, left, dot) in ABBREVIATIONS


def _word_before(text: str, left: int, dot: int) -> str:
    before = _WORD_BEFORE.search(text, max(left, dot - 24), dot)
    return before.group().lower().strip("-/&") if before else ""


def _full_stop_ends(text: str, left: int, dot: int, following: str) -> bool:
    """Decide for a single full stop before a word that does not begin small."""
    last = _word_before(text, left, dot)
    if _INITIAL.search(text, max(left, dot - 2), dot):
        return following in OPENERS and last != "i"
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
