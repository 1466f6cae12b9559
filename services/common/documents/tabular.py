"""CSV and tab-separated values (RFC 4180): the dialect is found, heads are told from data, each row knows its lines.

Kept: every cell as it is written; titles above and notes below a table; several tables between blank lines. Not
guessed: a quotation mark that is never closed, which would swallow the rest of the file, is refused.
"""

import csv
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from services.common.document_kinds import MediaType
from services.common.documents.document import Block, BlockKind, Document, Place, Table, place_of_lines
from services.common.documents.limits import require_at_most
from services.common.documents.refusals import unsupported_media
from services.common.documents.table_heads import header_columns_of, header_rows_of, is_figure
from services.common.documents.wording import collapse

MAX_CELLS: Final = 5_000_000
_DELIMITERS: Final = (",", ";", "\t", "|")
_SEPARATOR_LINE: Final = re.compile(r"\Asep=(.)\r?\n", re.IGNORECASE)
_SAMPLE_CHARS: Final = 262_144
_SAMPLE_ROWS: Final = 500
_MAX_FIELD_CHARS: Final = 2**31 - 1
_COMMENT: Final = re.compile(r"#\s?")
_SHOWN_LINES: Final = 3
_TITLE_WORDS: Final = 12
_PAIR: Final = 2
_UNCLOSED: Final = "unexpected end of data"


@dataclass(frozen=True, slots=True)
class _Row:
    """A record: its cells, and the lines on which it stands."""

    cells: list[str]
    first: int
    last: int

    @property
    def place(self) -> Place:
        return place_of_lines(self.first, self.last)

    @property
    def filled(self) -> int:
        return sum(map(bool, self.cells))


def read_tabular(text: str, media: MediaType) -> Document:
    """Parse separated values.

    Raises:
        InvalidRequestError: UNSUPPORTED_MEDIA: a quotation mark is never closed.
        LimitExceededError: MESSAGE_TOO_LARGE: too many cells.
    """
    said = _SEPARATOR_LINE.match(text)
    skipped = 0
    if said:
        text, skipped = text[said.end() :], 1
    delimiter = said[1] if said else "\t" if media is MediaType.TSV else _delimiter(text)
    blocks: list[Block] = []
    warnings: list[str] = []
    above: list[Block] = []
    for group in _groups(_rows(text, delimiter, skipped)):
        blocks.extend(_blocks(group, above, warnings))
    return Document(media.value, "", tuple(blocks), tuple(warnings))


def _delimiter(text: str) -> str:
    """Return the delimiter by which most rows have one and the same number of cells, more than one."""
    sample = text[:_SAMPLE_CHARS]
    best, found = (0.0, 0), ","
    for delimiter in _DELIMITERS:
        if delimiter not in sample:
            continue
        widths = Counter(_sample_widths(sample, delimiter))
        total = sum(widths.values())
        width, count = max(widths.items(), key=lambda one: (one[1] * (one[0] > 1), one[0]), default=(0, 0))
        score = (count / total if width > 1 else 0.0, width)
        if score > best:
            best, found = score, delimiter
    return found if best[1] > 1 or not _blanks_delimit(sample) else " "


def _blanks_delimit(sample: str) -> bool:
    """Say whether nothing but blanks parts the cells: all rows have as many words, and most of them are figures."""
    rows = [line.split() for line in sample.splitlines()[:_SAMPLE_ROWS] if line.strip()]
    widths = {len(row) for row in rows}
    cells = [cell for row in rows[1:] for cell in row]
    return len(widths) == 1 and widths != {1} and sum(map(is_figure, cells)) > len(cells) / 2


def _sample_widths(sample: str, delimiter: str) -> Iterator[int]:
    reader = csv.reader(sample.splitlines(keepends=True), delimiter=delimiter)
    try:
        for index, row in enumerate(reader):
            if index >= _SAMPLE_ROWS:
                return
            if any(row):
                yield len(row)
    except csv.Error:
        return


def _lines(text: str) -> Iterator[str]:
    """Yield the lines of a text, without a list of them all."""
    start = 0
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end + 1
        yield text[start:end]
        start = end


def _rows(text: str, delimiter: str, skipped: int) -> Iterator[_Row]:
    csv.field_size_limit(_MAX_FIELD_CHARS)
    normal = text.replace("\r\n", "\n").replace("\r", "\n")
    reader = csv.reader(_lines(normal), delimiter=delimiter, strict=True, skipinitialspace=delimiter != "\t")
    before = cells = 0
    try:
        for row in reader:
            cells += len(row)
            require_at_most("cells", cells, MAX_CELLS)
            yield _Row([collapse(cell) for cell in row], before + skipped + 1, reader.line_num + skipped)
            before = reader.line_num
    except csv.Error as error:
        line = before + skipped + 1
        if _UNCLOSED in str(error):
            told = f"the quotation mark opened in line {line} is never closed: the document is cut off or damaged"
        else:
            told = f"line {line} breaks the rules of quotation in separated values"
        raise unsupported_media(f"{told}; close it, or double the quotation marks inside of cells") from error


def _groups(rows: Iterator[_Row]) -> Iterator[list[_Row]]:
    """Yield the rows between blank lines."""
    group: list[_Row] = []
    for row in rows:
        if row.filled:
            group.append(row)
        elif group:
            yield group
            group = []
    if group:
        yield group


def _blocks(rows: list[_Row], above: list[Block], warnings: list[str]) -> Iterator[Block]:
    """Yield the blocks of rows between blank lines; ``above`` are the loose lines since the last table."""
    start, end = 0, len(rows)
    width = max(len(row.cells) for row in rows)
    alone = all(row.filled == 1 and row.cells[0] for row in rows)
    if alone and width > 1:
        start = end  # a form's title and notes: no row of them has two cells
    elif width > 1:
        while start < end - 1 and ((rows[start].filled == 1 and rows[start].cells[0]) or _is_comment(rows[start])):
            start += 1
        while end - 1 > start + 1 and _is_note(rows[end - 1], width):
            end -= 1
    loose = [_loose(row) for row in rows[:start]]
    yield from loose
    above += loose
    body = rows[start:end]
    if len(body) == 1 and len(body[0].cells) == 1:
        yield _loose(body[0])
    elif body:
        yield _table(body, next((block.text for block in above if _is_title(block)), ""), warnings)
        above.clear()
    for row in rows[end:]:
        yield _loose(row)


def _is_title(block: Block) -> bool:
    """Say whether a line above a table is what it is called: short, no sentence, no label with its value."""
    short = block.kind is BlockKind.PARAGRAPH and len(block.text.split()) <= _TITLE_WORDS
    return short and not block.text.endswith((".", "!", "?", ";")) and ": " not in block.text


def _is_comment(row: _Row) -> bool:
    return row.cells[0].startswith("#") and not row.cells[0][1:2].isalnum()


def _is_note(row: _Row, width: int) -> bool:
    """Say whether a row is a note below a table: one cell that is the whole line, or one longer than names are."""
    if row.filled != 1 or not row.cells[0]:
        return False
    text = row.cells[0]
    whole = len(row.cells) == 1 and width > _PAIR and (" " in text)
    return whole or len(text.split()) > 3 or (": " in text)  # noqa: PLR2004 - a sentence


def _loose(row: _Row) -> Block:
    text = ", ".join(cell for cell in row.cells if cell)
    return Block(BlockKind.PARAGRAPH, _COMMENT.sub("", text, count=1) if _is_comment(row) else text, place=row.place)


def _table(rows: list[_Row], caption: str, warnings: list[str]) -> Block:
    width = max(len(row.cells) for row in rows)
    require_at_most("cells", width * len(rows), MAX_CELLS)
    grid = tuple((*row.cells, *[""] * (width - len(row.cells))) for row in rows)
    headers = header_rows_of(grid)
    usual = Counter(len(row.cells) for row in rows).most_common(1)[0][0]
    if headers and len(rows[0].cells) == width:
        usual = width  # rows that leave out empty cells at their end are none the worse
    odd = [row for row in rows if len(row.cells) != usual and not (headers and usual == width)]
    doubtful = ""
    if odd:
        shown = ", ".join(str(row.first) for row in odd[:_SHOWN_LINES])
        more = " and others" if len(odd) > _SHOWN_LINES else ""
        doubtful = f"most rows have {usual} cells, those of line {shown}{more} have not"
        warnings.append(f"table of line {rows[0].first}: {doubtful}")
    place = place_of_lines(rows[0].first, rows[-1].last)
    table = Table(
        grid,
        headers,
        header_columns_of(grid, headers),
        caption,
        places=tuple(row.place for row in rows),
        doubtful=doubtful,
    )
    return Block(BlockKind.TABLE, "", place=place, table=table)
