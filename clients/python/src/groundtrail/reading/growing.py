"""Sentences of a text that is still being written, each as soon as nothing that follows can change where it ends.

The same boundaries as ``sentences`` finds in the whole text, whatever pieces it came in: a boundary is told when the
segmenter's own rules have read what they look at behind it ("Dr." and "3." may go on, a soft wrap may). Two things are
different: what has no end after so many characters is cut, and the language of a sentence is left to who reads it.
Cost for each character is bounded, and so is what is remembered.
"""

import re
from dataclasses import dataclass
from typing import Final

from groundtrail.reading.boundaries import (
    CLOSERS,
    FENCE,
    MARKS_AFTER,
    QUOTE_MARK,
    TABLE_RULE_CHARS,
    TERMINATOR,
    WORD_AFTER,
    SentenceKind,
    classify_line,
    hangs_on_what_follows,
    is_boundary,
    skip_blanks,
    trimmed,
    wraps,
)

MOST_SENTENCE_CHARS: Final = 4_000
"""A sentence that has no end after so many characters is cut at the last blank."""
CONTEXT_CHARS: Final = 1_000
"""So much of what stands before a sentence is told with it, in whole sentences."""
CONTEXT_SENTENCES: Final = 8
"""And so many of them: each is read again with every sentence behind it."""
_LOOK_AHEAD: Final = 200
"""Characters behind a boundary that any rule reads, at most."""
_NEWLINES: Final = "\r\n\v\f\x1c\x1d\x1e\x85\u2028\u2029"
_NEWLINE: Final = re.compile(f"[{_NEWLINES}]")
_EVENT: Final = re.compile(rf"[.!?…。！？{_NEWLINES}]")  # noqa: RUF001 - full-width marks end sentences as well
_MARK_BEGUN: Final = re.compile(r"\s?(?:\[[\w ,;–-]{0,64})?\Z")  # noqa: RUF001 - ranges of citation marks
_FENCE_BEGUN: Final = re.compile(r"\s{0,3}(?:`{1,2}|~{1,2})?\Z")
_HEADING_BEGUN: Final = re.compile(r"\s{0,3}#{1,6}\s*\Z")
_BOLD_BEGUN: Final = re.compile(r"\s{0,8}(?:\*{1,2}|_{1,2}|(?:\*\*|__)[^*_]{1,120}(?:[*_]{0,2}|(?:\*\*|__):?\s*))\Z")
_LIST_BEGUN: Final = re.compile(r"\s*(?:[-*+•‣◦–]|\(?\d{0,3}[.)]?|\(?[a-zA-Z]?[.)]?)\s*\Z")  # noqa: RUF001 - bullets
_OPENERS: Final = re.compile(r"[\"'“‘(\[*_]{0,16}\Z")  # noqa: RUF001 - typographic openers
_WHOLE_LINES: Final = frozenset({SentenceKind.HEADING, SentenceKind.TABLE_ROW, SentenceKind.CODE})


@dataclass(frozen=True, slots=True)
class FinishedSentence:
    """A sentence that stands whole.

    Attributes:
        start: in characters of the text.
        end: the same.
        text: of it.
        context: what stands before it, from the beginning of a sentence on; empty at the beginning of the text.
        clear_to: where what follows it begins: blanks behind a sentence are its own.
        kind: of the line that it stands in.
    """

    start: int
    end: int
    text: str
    context: str
    clear_to: int
    kind: SentenceKind


class GrowingText:
    """Takes a text in piece by piece and tells its sentences, in order."""

    def __init__(self) -> None:
        self._waiting: list[str] = []
        """Pieces behind ``_text`` that change nothing yet."""
        self._text = ""
        """What is remembered: context, then what is not finished."""
        self._base = 0
        """Place of ``_text`` in the whole."""
        self._left = 0
        """Here and below, places in ``_text``: the unfinished sentence begins here."""
        self._scan = 0
        """Marks before it are decided."""
        self._line = 0
        """The line under way begins here."""
        self._kind: SentenceKind | None = None
        """Of the block that the unfinished sentence is in; ``None`` at the beginning of a line."""
        self._in_fence = False
        self._undecided = True
        """Something that was read waits for what follows."""
        self._whole = False
        """Nothing follows any more."""
        self._starts: list[int] = []
        """Of the sentences in ``_text``, in characters of the whole."""
        self._found: list[FinishedSentence] = []
        self._received = 0

    @property
    def received(self) -> int:
        """Characters that came in."""
        return self._received

    def add(self, piece: str) -> tuple[FinishedSentence, ...]:
        """Take in the next piece; return the sentences that are whole now."""
        self._waiting.append(piece)
        self._received += len(piece)
        too_long = self._base + self._left + MOST_SENTENCE_CHARS + _LOOK_AHEAD
        if not self._undecided and self._received <= too_long and _EVENT.search(piece) is None:
            return ()
        return self._advanced()

    def end(self) -> tuple[FinishedSentence, ...]:
        """Return the sentences that are whole because nothing follows."""
        self._whole = True
        return self._advanced()

    def _advanced(self) -> tuple[FinishedSentence, ...]:
        self._text += "".join(self._waiting)
        self._waiting.clear()
        self._undecided = False
        while self._step():
            pass
        found = tuple(self._found)
        self._found.clear()
        self._forget()
        return found

    def _step(self) -> bool:
        """Decide the next thing; return whether anything was decided."""
        if self._kind is None:
            return self._begin_line()
        if self._kind in _WHOLE_LINES:
            return self._end_whole_line()
        return self._next_boundary()

    def _begin_line(self) -> bool:
        """Decide what the line is that begins here."""
        text = self._text
        while self._line < len(text) and text[self._line] in _NEWLINES:
            self._line += 1
        self._left = self._scan = self._line
        if self._line == len(text):
            return False
        end = _line_end(text, self._line)
        is_whole = self._whole or end < len(text)
        line = text[self._line : end]
        if not line.strip() or FENCE.match(line):
            if not is_whole:
                self._undecided = True
                return False
            self._in_fence ^= bool(FENCE.match(line))
            self._line = end
            return True
        kind = _kind(line, is_whole=is_whole, in_fence=self._in_fence)
        if kind is None:
            return self._cut_or_wait(waits=not self._in_fence)
        self._left = self._scan = self._line = classify_line(line, self._line, in_fence=self._in_fence)[0]
        self._kind = kind
        return True

    def _end_whole_line(self) -> bool:
        end = _line_end(self._text, self._left)
        if end == len(self._text) and not self._whole:
            return self._cut_or_wait(waits=False)
        self._finish(end)
        self._kind, self._line = None, end
        return True

    def _next_boundary(self) -> bool:
        """Decide the next mark or line end of running text."""
        text = self._text
        for match in _EVENT.finditer(text, self._scan):
            at = match.start()
            if at < self._scan:  # of a mark or line end that is decided
                continue
            if text[at] in _NEWLINES:
                goes_on = self._goes_on(at)
                if goes_on is None:
                    return self._cut_or_wait()
                if not goes_on:
                    self._finish(at)
                    self._kind, self._line = None, at
                    return True
                self._line = self._scan = skip_newlines(text, at)
                continue
            stop = self._decided(at)
            if stop is None:
                return self._cut_or_wait()
            mark = TERMINATOR.match(text, at)
            self._scan = max(stop, mark.end() if mark else at + 1)
            if stop > 0:
                self._finish(stop)
                return True
        self._scan = max(self._scan, len(text))
        if self._whole and self._left < len(text):
            self._finish(len(text))
            self._kind, self._line = None, len(text)
            return True
        return self._cut_or_wait(waits=False)

    def _decided(self, at: int) -> int | None:
        """Return where the sentence ends that the mark at a place ends; 0 = it ends none, ``None`` = not told yet."""
        text, size = self._text, len(self._text)
        mark = TERMINATOR.match(text, at)
        stop = mark.end() if mark else at + 1
        while stop < size and text[stop] in CLOSERS:
            stop += 1
        line_end = _line_end(text, stop)
        marks = MARKS_AFTER.match(text, stop, line_end)
        stop = marks.end() if marks else stop
        if stop == size:
            return stop if self._whole else None
        # A mark that is not closed within so many characters is no citation.
        if not self._whole and _MARK_BEGUN.match(text, stop):
            return None
        if not text[stop:line_end].strip():
            # The line ends behind the mark: whether the paragraph goes on decides with it.
            goes_on = (
                False if line_end == size and self._whole else self._goes_on(line_end) if line_end < size else None
            )
            if not goes_on:
                return None if goes_on is None else stop
            marks = MARKS_AFTER.match(text, stop)
            stop = marks.end() if marks else stop
        if stop == size:
            return stop if self._whole else None
        is_blank = text[stop].isspace()
        if is_blank and text[at] not in "。！？" and not self._whole and not self._word_known(at, stop):  # noqa: RUF001
            return None
        return stop if is_boundary(text, self._left, at, stop) else 0

    def _word_known(self, at: int, stop: int) -> bool:
        """Say whether enough of the word behind a mark is there to decide."""
        text, size = self._text, len(self._text)
        begin = skip_blanks(text, stop)
        word = WORD_AFTER.match(text, begin)
        if word is None:
            return not _OPENERS.match(text, begin)
        if word.end() < size:
            return True
        letters = word.group(1)
        if letters[0].islower():
            return len(letters) > 1
        is_single = text[at] == "." and text[at : at + 2] != ".."
        return not (is_single and hangs_on_what_follows(text, self._left, at))

    def _goes_on(self, at: int) -> bool | None:
        """Say whether the paragraph goes on behind the line that ends at a place; ``None`` = not told yet."""
        text = self._text
        begin = skip_newlines(text, at)
        if text.count("\n", at, begin) > 1:
            return False
        if begin == len(text):
            return False if self._whole else None
        end = _line_end(text, begin)
        is_whole = self._whole or end < len(text)
        line = text[begin:end]
        if not line.strip() or FENCE.match(line):
            return False if is_whole or line.strip() else None
        kind = _kind(line, is_whole=is_whole, in_fence=self._in_fence)
        if kind is None:
            return None
        if kind is not SentenceKind.PROSE:
            return False
        head = classify_line(line, begin, in_fence=self._in_fence)[0]
        return wraps(text[max(self._line, at - _LOOK_AHEAD) : at], text[head : head + 1])

    def _cut_or_wait(self, *, waits: bool = True) -> bool:
        """Wait for what follows, unless the sentence is too long to be waited for."""
        if len(self._text) - self._left <= MOST_SENTENCE_CHARS + _LOOK_AHEAD:
            self._undecided = waits
            return False
        self._tell(self._cut())
        if self._kind is None:  # a line that does not tell what it is
            self._line = self._left
        return True

    def _finish(self, end: int) -> None:
        """Tell what stands up to a place, in one sentence or, where it is too long, in several."""
        while end - self._left > MOST_SENTENCE_CHARS:
            self._tell(self._cut())
        self._tell(end)

    def _cut(self) -> int:
        most = self._left + MOST_SENTENCE_CHARS
        blank = max(self._text.rfind(" ", self._left + 1, most), self._text.rfind("\n", self._left + 1, most))
        return blank if blank > self._left else most

    def _tell(self, end: int) -> None:
        span = trimmed(self._text, self._left, end)
        clear = skip_blanks(self._text, end)
        if span is not None:
            start, stop = span
            begin = min((at for at in self._context() if start - (at - self._base) <= CONTEXT_CHARS), default=None)
            context = "" if begin is None else self._text[begin - self._base : start]
            kind = self._kind or SentenceKind.PROSE
            words = self._text[start:stop]
            self._found.append(
                FinishedSentence(self._base + start, self._base + stop, words, context, self._base + clear, kind)
            )
            self._starts.append(self._base + start)
        self._left = end
        self._scan = max(self._scan, end)

    def _context(self) -> list[int]:
        """Return where the last sentences begin that can be told with the next one."""
        return self._starts[-CONTEXT_SENTENCES:]

    def _forget(self) -> None:
        """Drop what stands before the context of the unfinished sentence."""
        self._starts = [at for at in self._context() if self._left - (at - self._base) <= CONTEXT_CHARS]
        kept = (
            self._left - _LOOK_AHEAD
            if not self._starts
            else min(self._starts[0] - self._base, self._left - _LOOK_AHEAD)
        )
        if kept <= 0:
            return
        self._text = self._text[kept:]
        self._base += kept
        self._left -= kept
        self._scan -= kept
        self._line = max(self._line - kept, 0)


def skip_newlines(text: str, at: int) -> int:
    """Return the place of the first character from ``at`` on that ends no line."""
    while at < len(text) and text[at] in _NEWLINES:
        at += 1
    return at


def _line_end(text: str, at: int) -> int:
    match = _NEWLINE.search(text, at)
    return match.start() if match else len(text)


def _kind(line: str, *, is_whole: bool, in_fence: bool) -> SentenceKind | None:
    """Return what a line is; ``None`` = what is there of it does not tell yet."""
    if is_whole:
        return classify_line(line, 0, in_fence=in_fence)[1]
    if in_fence or _FENCE_BEGUN.match(line):
        return None
    quote = QUOTE_MARK.match(line)
    rest = line[quote.end() :] if quote else line
    if not rest.strip() or TABLE_RULE_CHARS.issuperset(rest):
        return None
    if _HEADING_BEGUN.match(rest) or _BOLD_BEGUN.match(rest) or _LIST_BEGUN.match(rest):
        return None
    return classify_line(line, 0, in_fence=in_fence)[1]
