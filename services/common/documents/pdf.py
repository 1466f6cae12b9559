"""PDF: text page by page; paragraphs, headings and running lines are found in what extraction gives, which is lines."""

import io
import re
from collections import Counter
from typing import Final

from pypdf import PdfReader
from pypdf.errors import PyPdfError

from services.common.documents.detection import unsupported_media
from services.common.documents.document import Block, BlockKind, Document, Place
from services.common.documents.limits import require_at_most
from services.common.documents.text import collapse, lines_to_blocks

_TERMINAL: Final = (".", "!", "?", ":", ";", ",")
_HEADING_CHARS: Final = 80
_RUNNING_PAGES: Final = 3
_HYPHENATED: Final = re.compile(r"(\w)[-\u00ad]$")
_DIGITS: Final = re.compile(r"\d+")
_ITEM_START: Final = re.compile(r"(?<!\s)\s*+(?:[-*\u2022\u25aa\u2023\u2013]|\(?(?:\d{1,2}|[a-zA-Z])[.)])\s++\S")


def read_pdf(content: bytes, max_pages: int, max_chars: int) -> Document:
    """Parse a PDF file.

    Raises:
        InvalidRequestError: UNSUPPORTED_MEDIA: encrypted or damaged. (Without text: the caller finds no blocks.)
        LimitExceededError: MESSAGE_TOO_LARGE.
    """
    try:
        pages, title = _extract(content, max_pages, max_chars)
    except (PyPdfError, ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError, OSError) as error:
        # pypdf meets damaged files with whatever its parsing runs into
        raise unsupported_media(
            "the PDF file is damaged and cannot be read; save it again from the program that made it",
            detail=type(error).__name__,
        ) from error
    running = _running_lines(pages)
    blocks: list[Block] = []
    empty = 0
    for number, lines in enumerate(pages, start=1):
        kept = _without_running(lines, running)
        empty += not any(line.strip() for line in kept)
        blocks.extend(_page_blocks(kept, Place(number)))
    warnings = (f"{empty} of {len(pages)} pages without text",) if empty else ()
    return Document("application/pdf", title, tuple(blocks), warnings, pages=len(pages))


def _extract(content: bytes, max_pages: int, max_chars: int) -> tuple[list[list[str]], str]:
    reader = PdfReader(io.BytesIO(content), strict=False)
    if reader.is_encrypted and not reader.decrypt(""):
        raise unsupported_media("the PDF file is encrypted; remove its password first")
    require_at_most("pages", len(reader.pages), max_pages)
    pages: list[list[str]] = []
    total = 0
    for page in reader.pages:
        text = page.extract_text()
        total += len(text)
        require_at_most("characters", total, max_chars)
        pages.append(text.splitlines())
    title = collapse(str(reader.metadata.title or "")) if reader.metadata else ""
    return pages, "" if title.lower() in {"untitled", "(anonymous)", "anonymous"} else title


def _shape(line: str) -> str:
    return _DIGITS.sub("0", collapse(line))


def _edges(lines: list[str]) -> list[int]:
    filled = [index for index, line in enumerate(lines) if line.strip()]
    return sorted({*filled[:1], *filled[-1:]})


def _running_lines(pages: list[list[str]]) -> frozenset[str]:
    """Return the shapes of first and last lines that stand on at least 3 and on more than half of the pages."""
    counts = Counter(shape for lines in pages for shape in {_shape(lines[index]) for index in _edges(lines)})
    return frozenset(shape for shape, count in counts.items() if count >= _RUNNING_PAGES and count > len(pages) / 2)


def _without_running(lines: list[str], running: frozenset[str]) -> list[str]:
    dropped = {index for index in _edges(lines) if _shape(lines[index]) in running}
    return [line for index, line in enumerate(lines) if index not in dropped]


def _page_blocks(lines: list[str], place: Place) -> list[Block]:
    """Return a page's blocks: blank lines and headings separate paragraphs, marks begin list items."""
    blocks: list[Block] = []
    gathered: list[str] = []
    before = ""

    def close() -> None:
        blocks.extend(lines_to_blocks(_without_hyphens(gathered), place))
        gathered.clear()

    for index, line in enumerate(lines):
        if not line.strip():
            close()
            continue
        if _is_heading(lines, index, before):
            close()
            blocks.append(Block(BlockKind.HEADING, collapse(line), 1, place))
        else:
            gathered.append(line)
        before = line.strip()
    close()
    return _demote_idle_headings(blocks)


def _is_heading(lines: list[str], index: int, before: str) -> bool:
    """Say whether a line stands alone: short, capitalised, unpunctuated, between an end and a new beginning.

    ``before`` is the last line above it that is not blank.
    """
    line = lines[index].strip()
    after = lines[index + 1].strip() if index + 1 < len(lines) else ""
    return (
        len(line) <= _HEADING_CHARS
        and line[:1].isupper()
        and not line.endswith(_TERMINAL)
        and not _ITEM_START.match(line)
        and (not before or before.endswith((".", "!", "?", ":")) or not lines[index - 1].strip())
        and (not after or after[:1].isupper() or _ITEM_START.match(after) is not None)
    )


def _demote_idle_headings(blocks: list[Block]) -> list[Block]:
    """Make a heading that nothing follows on its page a paragraph: a line of a table must not be lost."""
    result: list[Block] = []
    for index, block in enumerate(blocks):
        followed = index + 1 < len(blocks) and blocks[index + 1].kind is not BlockKind.HEADING
        if block.kind is BlockKind.HEADING and not followed:
            result.append(Block(BlockKind.PARAGRAPH, block.text, 0, block.place))
        else:
            result.append(block)
    return result


def _without_hyphens(lines: list[str]) -> list[str]:
    """Join a word that was divided at the end of a line when a lower-case letter follows."""
    joined: list[str] = []
    for line in lines:
        if joined and _HYPHENATED.search(joined[-1].rstrip()) and line.lstrip()[:1].islower():
            joined[-1] = joined[-1].rstrip()[:-1] + line.lstrip()
        else:
            joined.append(line)
    return joined
