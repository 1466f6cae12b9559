"""Whose words the parts of a mail are: its own, those of mails that it quotes; and what is said by custom alone.

Greetings, sign-offs, names below them and notices are furniture; labelled contact data of a signature is kept as the
contact of whoever signs. Quoted words are told with who wrote them and when, in each fact that they make.
"""

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from services.common.documents.document import Block, BlockKind
from services.common.documents.facts.leaning import group_leaning, leans
from services.common.documents.facts.sentences import split_sentences
from services.common.documents.mail_phrases import (
    UNKNOWN,
    after_greeting,
    after_sign_off,
    attribution_of,
    attribution_within,
    contact_of,
    heads_of,
    is_called,
    is_marker,
    is_notice,
    without_courtesy,
)

_SENTENCE_WORDS: Final = 5
_POSTSCRIPT: Final = ("ps:", "p.s.", "ps ", "pps", "nb:", "n.b.")
_SIGN: Final = "\ue010"
_BEGIN: Final = f"{_SIGN}quoted{_SIGN}"
_END: Final = f"{_SIGN}unquoted{_SIGN}"
_EDGES: Final = frozenset({_BEGIN, _END})
_QUOTE: Final = re.compile(r"<(/?)blockquote\b", re.IGNORECASE)
_MAX_QUOTED: Final = 50
_NAME_WORDS: Final = 3
_MAX_HEADS: Final = 12
_RULE: Final = "--"
"""Stands above a signature by custom."""
_CONTACT: Final = "Contact of "
_TEXTS: Final = frozenset({BlockKind.PARAGRAPH, BlockKind.LIST_ITEM, BlockKind.DEFINITION, BlockKind.HEADING})


@dataclass(slots=True)
class _Voice:
    """Who speaks, and where in the mail it is.

    Attributes:
        lead: lead-in to quoted words; empty for the mail's own.
        fresh: nothing but a greeting was said yet.
        greeted: it began with a greeting.
        signed: a sign-off was read.
        name: who signed.
    """

    lead: str = ""
    fresh: bool = True
    greeted: bool = False
    signed: bool = False
    name: str = ""


class Line(NamedTuple):
    """A line of a text, and its number in it, from 1."""

    number: int
    text: str


@dataclass(slots=True)
class MailWords:
    """Reads the parts of one mail in their order.

    Attributes:
        author: who wrote it, as its head says.
        furniture: what was left out.
    """

    author: str = ""
    furniture: list[str] = field(default_factory=list)
    _voices: dict[int, _Voice] = field(default_factory=dict)
    _quoted: bool = False
    """The words before were quoted: what leans on them is said by somebody else."""
    _announced: int = -1
    """How deep the line stands that announced a quoted mail of which nothing was read yet."""

    def lines(self, text: str) -> Iterator[tuple[Line, str]]:
        """Yield the lines of a plain text that are kept, a blank one after each paragraph, with the lead-in to each."""
        parts = list(_paragraphs(text))
        for at, (depth, lines) in enumerate(parts):
            below = at + 1 < len(parts) and parts[at + 1][0] > depth
            for lead, kept in self._paragraph(depth, lines, quoted_below=below):
                for line in (*kept, Line(kept[-1].number, "")):
                    yield line, lead

    def blocks(self, blocks: Sequence[Block]) -> Iterator[Block]:
        """Yield the blocks of a page that a mail holds, quoted words with their lead-in; see ``with_edges``."""
        at = depth = 0
        while at < len(blocks):
            block = blocks[at]
            if block.text in _EDGES:
                depth = min(max(depth + (1 if block.text == _BEGIN else -1), 0), _MAX_QUOTED)
                at += 1
                continue
            if depth not in self._voices and self._announced < 0:
                above = self._voice(max((one for one in self._voices if one < depth), default=0))
                self._voices[depth] = _Voice(above.lead)  # set in for the eye, by whoever speaks around it
            texts = [one.text for one in itertools.takewhile(_is_paragraph, blocks[at : at + _MAX_HEADS])]
            heads = heads_of(texts) if texts else None
            if heads is not None:
                at += heads.lines
                self._begin(heads.lead, depth, quoted_below=at < len(blocks) and blocks[at].text == _BEGIN)
                continue
            at += 1
            if not texts:
                self._settle(depth)
                self._voice(depth).fresh = False
                yield from led(block, self._voice(depth).lead)
                continue
            lines = attribution_within(block.text) if depth else (block.text,)
            for lead, kept in self._paragraph(depth, [Line(0, line) for line in lines]):
                text = " ".join(line.text for line in kept)
                yield from led(replace(block, text=text, notes=block.notes if text == block.text else ()), lead)

    def _voice(self, depth: int) -> _Voice:
        if depth not in self._voices:
            self._voices[depth] = _Voice(UNKNOWN if depth else "")
        return self._voices[depth]

    def _begin(self, lead: str, depth: int, *, quoted_below: bool) -> None:
        """Begin a quoted mail: in what is quoted below, or from here on."""
        if quoted_below:
            self._voices[depth + 1] = _Voice(lead)
            self._announced = depth
        else:
            self._voices[depth] = _Voice(lead)

    def _settle(self, depth: int) -> None:
        """Forget who spoke deeper; words that were announced and are not marked as quoted stand where they are."""
        if self._announced >= max(depth, 0):
            self._voices[depth] = self._voices.pop(self._announced + 1)
            self._announced = -1
        elif depth > self._announced >= 0:
            self._announced = -1
        for deeper in [one for one in self._voices if one > depth]:
            del self._voices[deeper]

    def _paragraph(self, depth: int, lines: list[Line], *, quoted_below: bool = False) -> list[tuple[str, list[Line]]]:
        """Return what is kept of a paragraph, by parts with their lead-in."""
        self._settle(depth)
        whole = " ".join(line.text.strip() for line in lines)
        if is_notice(whole):
            self.furniture.append(whole)
            return []
        texts = [line.text.strip() for line in lines]
        found: list[tuple[str, list[Line]]] = []
        at = 0
        while at < len(lines):
            taken = self._opened(depth, texts, at, quoted_below=quoted_below)
            if taken:
                at += taken
                continue
            end = at + 1
            while end < len(lines) and not _opens(texts, end, quoted_below=quoted_below):
                end += 1
            voice = self._voice(depth)
            found.extend((voice.lead, kept) for kept in self._said(voice, lines[at:end]) if kept)
            at = end
        return found

    def _opened(self, depth: int, texts: list[str], at: int, *, quoted_below: bool) -> int:
        """Begin a quoted mail where lines lead it in; returns how many lines do."""
        if is_marker(texts[at]):
            return 1
        heads = heads_of(texts[at : at + _MAX_HEADS])
        if heads is not None:
            self._begin(heads.lead, depth, quoted_below=quoted_below and at + heads.lines == len(texts))
            return heads.lines
        lead, count = _attribution(texts, at, quoted_below=quoted_below)
        if lead:
            self._begin(lead, depth, quoted_below=at + count == len(texts))
            return count
        return 0

    def _said(self, voice: _Voice, lines: list[Line]) -> tuple[list[Line], list[Line]]:
        """Return the lines of a paragraph without greeting, sign-off and signature, and the contact that it gives."""
        kept: list[Line] = []
        contacts: list[str] = []
        sentence = _is_sentence(" ".join(line.text.strip() for line in lines))
        for line in lines:
            text = line.text.strip()
            below = voice.signed and not sentence and not text.lower().startswith(_POSTSCRIPT)
            rest = after_greeting(text) if voice.fresh and not kept else None
            name = after_sign_off(text)
            if rest is None and name is None and voice.fresh and not kept and is_called(text):
                rest = ""
            if rest is not None:
                self.furniture.append(text.removesuffix(rest).strip())
                kept += [Line(line.number, rest)] if rest else []
                voice.greeted = True
            elif name is not None or text == _RULE or self._is_name(voice, text) or below:
                contacts += self._signed(voice, text, name)
            else:
                kept.append(line)
        if voice.greeted and voice.fresh and kept:
            kept[0] = Line(kept[0].number, kept[0].text[:1].upper() + kept[0].text[1:])
        if kept:
            voice.fresh = False
            kept = _polite(kept)
            if self._quoted and not voice.lead and leans(kept[0].text.strip() if kept else ""):
                kept[0] = Line(kept[0].number, f"{self.author or 'The sender'} answers: {kept[0].text.strip()}")
            self._quoted = bool(voice.lead)
        who = voice.name or self.author or "the sender"
        contact = f"{_CONTACT}{who}: {'; '.join(contacts).rstrip('.')}."
        return kept, [Line(lines[-1].number, contact)] if contacts else []

    def _is_name(self, voice: _Voice, text: str) -> bool:
        """Say whether a line is nothing but part of the name of who speaks."""
        words = text.strip(" ,.-\u2013").split()
        known = (voice.lead or self.author).split()
        return 0 < len(words) <= _NAME_WORDS and all(word in known and word[:1].isupper() for word in words)

    def _signed(self, voice: _Voice, text: str, name: str | None) -> list[str]:
        """Read a line of a sign-off or of what stands below it; returns its labelled contact data."""
        voice.signed = True
        data = text if name is None else name
        contact = contact_of(data)
        if data != _RULE:
            voice.name = voice.name or data.removesuffix(contact).strip(" ,|\u2013-")
        if not contact:
            self.furniture.append(text)
        return [contact] if contact else []


def with_edges(page: str) -> str:
    """Return a page with lines of its own at the edges of what it quotes, which its blocks do not tell."""
    bare = page.replace(_SIGN, "")
    return _QUOTE.sub(lambda match: f"<p>{_END if match[1] else _BEGIN}</p>{match[0]}", bare)


def _is_paragraph(block: Block) -> bool:
    return block.kind is BlockKind.PARAGRAPH and block.text not in _EDGES


def _opens(texts: list[str], at: int, *, quoted_below: bool) -> bool:
    """Say whether a line, or it and the next, leads in a quoted mail."""
    if is_marker(texts[at]) or heads_of(texts[at : at + _MAX_HEADS]) is not None:
        return True
    return bool(_attribution(texts, at, quoted_below=quoted_below)[0])


def _attribution(texts: list[str], at: int, *, quoted_below: bool) -> tuple[str, int]:
    """Return the lead-in that a line of a paragraph gives, or it and the next, and how many they are.

    Where the words stand right below it, in the same paragraph, it must say when they were written.
    """
    left = len(texts) - at
    alone = attribution_of(texts[at], quoted_below=quoted_below and left == 1)
    if left == 1 or alone:
        return alone, 1
    last = quoted_below and left == 2  # noqa: PLR2004 - it and the next
    if texts[at].endswith((".", "!", "?", ":")) or attribution_of(texts[at + 1], quoted_below=last):
        return "", 0
    return attribution_of(f"{texts[at]} {texts[at + 1]}", quoted_below=last), 2


def _polite(lines: list[Line]) -> list[Line]:
    """Return the lines of a paragraph without the sentences of mere politeness that it begins with."""
    whole = " ".join(line.text.strip() for line in lines)
    rest = without_courtesy(whole)
    if rest == whole:
        return lines
    return [Line(lines[0].number, rest[:1].upper() + rest[1:])] if rest else []


def _is_sentence(whole: str) -> bool:
    """Say whether a paragraph below a sign-off is said, and no name or address."""
    return whole.endswith((".", "?", "!")) and len(whole.split()) >= _SENTENCE_WORDS and not contact_of(whole)


def led(block: Block, lead: str) -> Iterator[Block]:
    """Yield a block, or parts of it, each of which says whose words it holds."""
    if not lead:
        yield block
    elif block.table is not None:
        caption = f"{lead}: {block.table.caption}".rstrip(": ")
        yield replace(block, table=replace(block.table, caption=caption))
    elif block.kind in _TEXTS:
        for part in [block.text] if block.text.startswith(_CONTACT) else _portions(block.text):
            yield replace(block, text=f"{lead}: {part}", notes=())
    else:
        yield block


def _portions(text: str) -> list[str]:
    """Return the sentences of a text, each with those that lean on it: what becomes one fact."""
    return group_leaning(list(split_sentences(text))) or [text]


def _paragraphs(text: str) -> Iterator[tuple[int, list[Line]]]:
    """Yield the paragraphs of a plain text with how deeply they are quoted."""
    depth, part = 0, list[Line]()
    for number, line in enumerate(text.split("\n"), start=1):
        now, bare = _unquoted(line)
        if (now != depth or not bare.strip()) and part:
            yield depth, part
            part = []
        depth = now
        if bare.strip():
            part.append(Line(number, bare.rstrip()))
    if part:
        yield depth, part


def _unquoted(line: str) -> tuple[int, str]:
    """Return how many marks of quotation a line begins with, and what stands behind them."""
    depth = at = 0
    while line.startswith(">", at):
        depth, at = depth + 1, at + 1
        if line.startswith(" >", at):
            at += 1
    return depth, line[at:].removeprefix(" ") if depth else line
