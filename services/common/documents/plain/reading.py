"""Plain text: headings, paragraphs, lists, tables drawn with characters, notes; pages with what runs on each of them.

Lines that a program has wrapped are one text, torn words are joined. A heading stands alone and is written large,
underlined or numbered. Items of a list begin with a bullet or a number, which is kept.
"""

import re
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from services.common.documents.document import Block, BlockKind, Document, Place, Table, place_of_lines
from services.common.documents.plain.clauses import clause_numbers, parts_of_paragraph
from services.common.documents.plain.tables import table_in
from services.common.documents.plain.torn_words import join_lines, known_words
from services.common.documents.wording import collapse

_ITEM: Final = re.compile(
    r"^(\s*)(?:[-\u2022\u25aa\u2023\u2013]|\*{1,3}|\(?(?:\d{1,2}|[a-zA-Z]|[ivx]{1,4})[.)])\s+(?=\S)"
)
_INDENT_CHARS: Final = 2
_UNDERLINE: Final = re.compile(r"\s*([=\-~^*#])\1{2,}\s*")
_RULE_LINE: Final = re.compile(r"[\s\W_]*")
_NUMBERED_HEADING: Final = re.compile(r"((?:\d+\.)+\d*|\d+(?:\.\d+)+|[IVX]+\.|[A-Z]\.)\s+\S")
_PAGE_NUMBER: Final = re.compile(
    r"[\s\-\u2013\u2014|\[(]*+(?:page|seite|página|pagina|p\.)?+\s*+\d++(?:\s*+(?:of|von|/|de|di)\s*+\d++)?+"
    r"[\s\-\u2013\u2014|\])]*+",
    re.IGNORECASE,
)
_CAPTION: Final = re.compile(r"(?:table|tab\.|tabelle|tableau|tabla|tabella)\s*\d*\s*[:.]?\s*\S", re.IGNORECASE)
_STARRED: Final = re.compile(r"(\*{1,3}|[\u2020\u2021]+|\[\d{1,3}\])\s+(?=\S)")
_REFERRED: Final = re.compile(r"(?<=\S)\s?(\[\d{1,3}\]|\*{1,3}(?![\w*]))")
_CODE_LINE: Final = re.compile(r"[={};$<>|\\]|\w\(")
_CODE_INDENT: Final = "    "
_SINGLE_INITIAL: Final = re.compile(r"\s*[B-Z]\.\s+[A-Z][a-z]")
"""A single line that begins so is a name, no list of one item."""
_LABELLED: Final = re.compile(r"\w(?:[^\s:]| (?! )){0,40}:\s++(?=\S)")
_HEADING_CHARS: Final = 90
_TITLE_CHARS: Final = 200
_DIGITS: Final = re.compile(r"\d+")
_EDGE_LINES: Final = 3
_CLOSED: Final = (".", "!", "?", ":", '."', ".)")
_LONE_LEVEL: Final = 3
_SHORT_CHARS: Final = 60
_TITLE_WORDS: Final = 8
_MANY_STARRED: Final = 4
_SYNTAX: Final = frozenset("[]{}<>=|$")


@dataclass(frozen=True, slots=True)
class _Paragraph:
    """Lines without a blank one between them, and the number of the first."""

    lines: list[str]
    first: int


@dataclass(frozen=True, slots=True)
class _Known:
    """What the whole text tells about its parts.

    Attributes:
        words: its words.
        marks: of the notes that it refers to.
        bullets: rows of stars that begin so many lines that they are bullets, not marks of notes.
        titles: first lines of paragraphs that stand alone above text like others of the text.
        heads: first lines of numbered headings without a blank line below them.
        is_titled: it begins with its title, a few words above its first heading.
    """

    words: frozenset[str]
    marks: frozenset[str]
    bullets: frozenset[str] = frozenset()
    titles: frozenset[int] = frozenset()
    heads: frozenset[int] = frozenset()
    is_titled: bool = False


def read_text(text: str) -> Document:
    """Parse plain text; the place of a block is its lines'."""
    normal = text.replace("\r\n", "\n").replace("\r", "\n")
    pages = normal.split("\f")
    furniture: list[str] = []
    whole = list(_paragraphs(pages, _running(pages), furniture))
    lines = [line for paragraph in whole for line in paragraph.lines]
    heads: set[int] = set()
    paragraphs = list(_divided(whole, lines, heads))
    known = _Known(
        known_words(lines),
        frozenset(mark for line in lines for mark in _REFERRED.findall(line)),
        _bullets(lines),
        _titles(paragraphs),
        frozenset(heads),
        is_titled=_is_titled(paragraphs),
    )
    blocks: list[Block] = []
    for index, paragraph in enumerate(paragraphs):
        following = paragraphs[index + 1] if index + 1 < len(paragraphs) else None
        blocks.extend(_blocks(paragraph, following, known, opens=not blocks))
    merged = _levelled(list(_noted(blocks)))
    title = next((block.text for block in merged[:1] if block.kind is BlockKind.HEADING and block.level == 1), "")
    return Document("text/plain", title, tuple(merged), furniture=tuple(dict.fromkeys(furniture)))


def _divided(paragraphs: Sequence[_Paragraph], lines: Sequence[str], heads: set[int]) -> Iterator[_Paragraph]:
    """Yield the paragraphs, of which those with clauses and headings within in parts; notes what is a heading."""
    clauses = clause_numbers(lines)
    width = max(map(len, lines), default=0)
    for paragraph in paragraphs:
        parts = parts_of_paragraph(paragraph.lines, clauses, width)
        whole = len(parts) == 1 or _is_code(paragraph.lines) or table_in(paragraph.lines, 1)[0] is not None
        if whole:
            yield paragraph
        else:
            heads.update(paragraph.first + part.start for part in parts if part.is_heading)
            yield from (_Paragraph(paragraph.lines[one.start : one.end], paragraph.first + one.start) for one in parts)


def _bullets(lines: Sequence[str]) -> frozenset[str]:
    """Return the rows of stars that begin many lines: an outline, not notes."""
    counts = Counter(match[1] for line in lines if (match := _STARRED.match(line.strip())) and match[1][0] == "*")
    return frozenset(mark for mark, count in counts.items() if count >= _MANY_STARRED)


def _titles(paragraphs: Sequence[_Paragraph]) -> frozenset[int]:
    """Return the first lines of short paragraphs that stand between others like titles, where several do."""
    found = [
        paragraph.first
        for before, paragraph, after in zip(paragraphs, paragraphs[1:], paragraphs[2:], strict=False)
        if _is_title(paragraph) and before.lines[-1].rstrip().endswith(_CLOSED) and _runs_on(after)
    ]
    return frozenset(found if len(found) > 1 else ())


def _is_titled(paragraphs: Sequence[_Paragraph]) -> bool:
    """Say whether a text begins with one or two lines like titles right above a heading."""
    if len(paragraphs) < 3 or len(paragraphs[0].lines) > 2:  # noqa: PLR2004 - title, heading and text
        return False
    first, second, third = paragraphs[:3]
    return all(map(_is_title_line, first.lines)) and _heading(second, third, opens=False) is not None


def _is_title(paragraph: _Paragraph) -> bool:
    return len(paragraph.lines) == 1 and _is_title_line(paragraph.lines[0])


def _is_title_line(line: str) -> bool:
    line = line.rstrip()
    short = len(line) <= _SHORT_CHARS and len(line.split()) <= _TITLE_WORDS
    return short and line[:1].isupper() and line[-1].isalnum() and not _CODE_LINE.search(line)


def _runs_on(paragraph: _Paragraph) -> bool:
    """Say whether a paragraph is running text: lines that fill it, of which the last ends a sentence."""
    lines = paragraph.lines
    full = len(lines) > 1 or len(lines[0]) > _SHORT_CHARS
    return full and lines[0][:1].isalnum() and lines[-1].rstrip().endswith(_CLOSED)


def _shape(line: str) -> str:
    return _DIGITS.sub("0", collapse(line))


def _edges(lines: Sequence[str]) -> set[int]:
    """Return the first and the last lines of a page, up to a blank one."""
    filled = [index for index, line in enumerate(lines) if line.strip()]
    edges: set[int] = set()
    for some in (filled, filled[::-1]):
        for before, index in zip(some[:1] + some, some[:_EDGE_LINES], strict=False):
            if abs(index - before) > 1:
                break
            edges.add(index)
    return edges


def _running(pages: Sequence[str]) -> frozenset[str]:
    """Return the lines, but for their numbers, that stand at the edge of most pages."""
    if len(pages) < 2:  # noqa: PLR2004 - one page has no running lines
        return frozenset()
    counts: Counter[str] = Counter()
    filled = 0
    for page in pages:
        lines = page.split("\n")
        edges = _edges(lines)
        filled += bool(edges)
        counts.update({_shape(lines[index]) for index in edges})
    enough = max(2, (filled + 1) // 2)
    return frozenset(shape for shape, count in counts.items() if count >= enough)


def _paragraphs(pages: Sequence[str], running: frozenset[str], furniture: list[str]) -> Iterator[_Paragraph]:
    number = 1
    for text in pages:
        lines = text.split("\n")
        edges = _edges(lines) if len(pages) > 1 else set()
        current: list[str] = []
        start = number
        for index, line in enumerate(lines):
            runs = index in edges and (_shape(line) in running or bool(_PAGE_NUMBER.fullmatch(line)))
            if runs:
                furniture.append(collapse(line))
            if runs or not line.strip():
                if current:
                    yield _Paragraph(current, start)
                    current = []
            else:
                if not current:
                    start = number
                current.append(line)
            number += index < len(lines) - 1
        if current:
            yield _Paragraph(current, start)


def _place(paragraph: _Paragraph, first: int, last: int) -> Place:
    return place_of_lines(paragraph.first + first, paragraph.first + last)


def _blocks(paragraph: _Paragraph, following: _Paragraph | None, known: _Known, *, opens: bool) -> Iterator[Block]:
    lines = paragraph.lines
    place = _place(paragraph, 0, len(lines) - 1)
    if all(_RULE_LINE.fullmatch(line) for line in lines):
        return
    table, used = table_in(lines, paragraph.first)
    if table is not None:
        yield from _table_blocks(paragraph, table, used, known)
        return
    if _is_code(lines):
        yield Block(BlockKind.CODE, textwrap.dedent("\n".join(lines)), place=place)
        return
    heading = _heading(paragraph, following, opens=opens)
    if heading is None and opens and known.is_titled:
        heading = (1, collapse(" ".join(lines)))
    if heading is None and (paragraph.first in known.titles or paragraph.first in known.heads):
        heading = (2 if paragraph.first in known.heads else _LONE_LEVEL, collapse(lines[0]))
    if heading is not None:
        level, text = heading
        yield Block(BlockKind.HEADING, text, level, place)
        rest = list(lines[2:]) if len(lines) > 1 and _UNDERLINE.fullmatch(lines[1]) else []
        if rest:
            below = _Paragraph(rest, paragraph.first + 2)
            table, used = table_in(rest, below.first)
            yield from _numbered_lines(below, known) if table is None else _table_blocks(below, table, used, known)
        return
    if (
        len(lines) > 1
        and _LABELLED.match(lines[0])
        and all(_LABELLED.match(line) or line[:2].isspace() for line in lines)
    ):
        yield from _labelled(paragraph, known)
        return
    starred = _STARRED.match(lines[0].strip())
    if starred and not _is_list(lines) and _marks_note(starred[1], known):
        text = collapse(join_lines([lines[0].strip()[starred.end() :], *lines[1:]], known.words))
        yield Block(BlockKind.FOOTNOTE, text, place=place, number=starred[1])
        return
    yield from _numbered_lines(paragraph, known)


def _is_code(lines: Sequence[str]) -> bool:
    """Say whether lines are code: indented all, and most of them with signs that sentences do not have."""
    indented = all(line.startswith((_CODE_INDENT, "\t")) for line in lines)
    return indented and 2 * sum(bool(_CODE_LINE.search(line)) for line in lines) > len(lines)


def _labelled(paragraph: _Paragraph, known: _Known) -> Iterator[Block]:
    """Yield lines that each say what something is, as ``Author: Ann``, with the lines that go on below them."""
    groups: list[tuple[int, list[str]]] = []
    for index, line in enumerate(paragraph.lines):
        if _LABELLED.match(line):
            groups.append((index, [line]))
        else:
            groups[-1][1].append(line)
    for index, lines in groups:
        term, _, said = collapse(join_lines(lines, known.words)).partition(": ")
        yield Block(BlockKind.DEFINITION, said, place=_place(paragraph, index, index + len(lines) - 1), term=term)


def _marks_note(mark: str, known: _Known) -> bool:
    """Say whether a mark begins a note: a number in brackets or one star does only where the text refers to it."""
    return mark not in known.bullets and (mark in known.marks or not (mark == "*" or mark.startswith("[")))


def _is_list(lines: Sequence[str]) -> bool:
    return sum(bool(_ITEM.match(line)) for line in lines) > 1


def _table_blocks(paragraph: _Paragraph, table: Table, used: int, known: _Known) -> Iterator[Block]:
    rest = paragraph.lines[used:]
    caption = collapse(join_lines(rest, known.words)) if rest and _CAPTION.match(rest[0].strip()) else ""
    place = _place(paragraph, 0, used - 1)
    yield Block(BlockKind.TABLE, "", place=place, table=replace(table, caption=caption))
    if rest and not caption:
        yield from _numbered_lines(_Paragraph(rest, paragraph.first + used), known)


def _heading(paragraph: _Paragraph, following: _Paragraph | None, *, opens: bool) -> tuple[int, str] | None:
    """Return level and text of a paragraph that is a heading; levels are told apart later."""
    lines = paragraph.lines
    text = collapse(lines[0])
    if len(lines) > 1 and _UNDERLINE.fullmatch(lines[1]) and len(text) <= _HEADING_CHARS and not _ITEM.match(lines[0]):
        return (1 if "=" in lines[1] else 2), text
    whole = collapse(" ".join(lines))
    if (
        following is None
        or len(whole) > (_TITLE_CHARS if opens else _HEADING_CHARS)
        or whole.endswith((".", ",", ";", ":", "!"))
    ):
        return None
    letters = [character for character in whole if character.isalpha()]
    large = len(letters) > 2 and "".join(letters).isupper() and _SYNTAX.isdisjoint(whole)  # noqa: PLR2004 - more than an abbreviation
    if large and len(lines) <= 2:  # noqa: PLR2004 - a heading of two lines
        return (1 if opens else 2), whole
    numbered = _NUMBERED_HEADING.match(whole)
    if len(lines) == 1 and numbered and not _ITEM.match(following.lines[0]) and whole[-1].isalnum():
        return 2, whole
    return None


def _levelled(blocks: list[Block]) -> list[Block]:
    """Return the blocks with numbered headings one level deeper for each further number."""
    result = []
    for block in blocks:
        numbered = _NUMBERED_HEADING.match(block.text) if block.kind is BlockKind.HEADING else None
        if numbered and block.level > 1:
            depth = len(_DIGITS.findall(numbered[1])) or 1
            result.append(replace(block, level=min(1 + depth, 6)))
        else:
            result.append(block)
    return result


def _noted(blocks: Sequence[Block]) -> Iterator[Block]:
    """Yield the blocks; a caption that stands alone after a table becomes the table's."""
    waiting: Block | None = None
    for block in blocks:
        if waiting is not None and waiting.table is not None:
            if block.kind is BlockKind.PARAGRAPH and not waiting.table.caption and _CAPTION.match(block.text):
                yield replace(waiting, table=replace(waiting.table, caption=block.text))
                waiting = None
                continue
            yield waiting
            waiting = None
        if block.table is not None:
            waiting = block
        else:
            yield block
    if waiting is not None:
        yield waiting


def _numbered_lines(paragraph: _Paragraph, known: _Known) -> Iterator[Block]:
    """Yield paragraph and list items of consecutive lines, each with its own lines as its place."""
    if len(paragraph.lines) == 1 and _SINGLE_INITIAL.match(paragraph.lines[0]):
        yield Block(BlockKind.PARAGRAPH, collapse(paragraph.lines[0]), place=_place(paragraph, 0, 0))
        return
    groups: list[tuple[int, list[str]]] = []
    for index, line in enumerate(paragraph.lines):
        if not groups or _ITEM.match(line):
            groups.append((index, [line]))
        else:
            groups[-1][1].append(line)
    for index, lines in groups:
        place = _place(paragraph, index, index + len(lines) - 1)
        yield from lines_to_blocks(lines, place, known.words)


def lines_to_blocks(lines: list[str], place: Place, known: frozenset[str] = frozenset()) -> list[Block]:
    """Return the paragraph and list items that consecutive lines make; a line without a mark continues its block."""
    blocks: list[Block] = []
    texts: list[str] = []
    number = ""
    kind, level = BlockKind.PARAGRAPH, 0

    def close() -> None:
        joined = collapse(join_lines(texts, known))
        if joined:
            blocks.append(Block(kind, joined, level, place, number))
        texts.clear()

    for line in lines:
        match = _ITEM.match(line)
        if match:
            close()
            mark = match.group().strip()
            deep = len(mark) - 1 if mark[0] == "*" else 0
            kind, level = BlockKind.LIST_ITEM, len(match.group(1).expandtabs(4)) // _INDENT_CHARS + deep
            number = mark if mark[-1] in ".)" else ""
            texts.append(line[match.end() :])
        else:
            texts.append(line)
    close()
    return blocks
