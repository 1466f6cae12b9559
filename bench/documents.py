"""Reading documents of every kind against the bare library of the kind: pages per second, memory, twice the size.

    python -m bench documents [--pages 60] [--kinds pdf html] [--rounds 3] [--folder tests/documents/dev]

The corpus is that of ``bench.ingestion``, written as each kind, or with --folder the documents of a folder. A page is
3,000 characters of what is written, for PDF too, so that kinds can be compared. The bare library only takes the text
out: it finds no columns, tables, heads, notes or hidden texts. Every reading is a process of its own that has read a
small document of the kind before, so that neither imports nor the other reader's memory count. Time is that of the
processor; memory is what the peak stands above what was held before (elsewhere than on Linux: what the process's peak
grew by).
"""

import argparse
import contextlib
import csv
import email.policy
import io
import json
import multiprocessing
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from email.parser import BytesParser
from pathlib import Path
from typing import Final

import docutils.core
import docx
import openpyxl
import pptx
import pypdfium2
from markdown_it import MarkdownIt
from rich.console import Console
from rich.table import Table
from selectolax.lexbor import LexborHTMLParser

from bench.documents_corpus import PAGE_CHARS, WRITERS, parts_of
from bench.report import peak_memory_mib
from services.common.documents.document import texts_of
from services.common.documents.reading import ReadingLimits, read_document

PAGES: Final = 60
ROUNDS: Final = 3
MOST_TIMES: Final = 2.5
"""Twice the document takes at most so many times as long."""
_LIMITS: Final = ReadingLimits(1 << 30, 100_000, 1 << 30)
_WARM_PAGES: Final = 1


def _bare_pdf(content: bytes) -> int:
    with pypdfium2.PdfDocument(content) as book:
        return sum(len(page.get_textpage().get_text_bounded()) for page in book)


def _bare_docx(content: bytes) -> int:
    book = docx.Document(io.BytesIO(content))
    cells = (cell.text for table in book.tables for row in table.rows for cell in row.cells)
    return sum(map(len, (*(paragraph.text for paragraph in book.paragraphs), *cells)))


def _bare_pptx(content: bytes) -> int:
    slides = pptx.Presentation(io.BytesIO(content)).slides
    return sum(len(shape.text_frame.text) for slide in slides for shape in slide.shapes if shape.has_text_frame)


def _bare_xlsx(content: bytes) -> int:
    book = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True)
    return sum(len(str(cell)) for sheet in book for row in sheet.iter_rows(values_only=True) for cell in row)


def _bare_eml(content: bytes) -> int:
    body = BytesParser(policy=email.policy.default).parsebytes(content).get_body()
    return len(body.get_content()) if body is not None else 0


BARE: Final[dict[str, tuple[str, Callable[[bytes], int]]]] = {
    "html": ("selectolax", lambda content: len(LexborHTMLParser(content).text())),
    "md": ("markdown-it-py", lambda content: len(MarkdownIt().enable("table").parse(content.decode()))),
    "pdf": ("PDFium", _bare_pdf),
    "docx": ("python-docx", _bare_docx),
    "pptx": ("python-pptx", _bare_pptx),
    "xlsx": ("openpyxl", _bare_xlsx),
    "eml": ("email", _bare_eml),
    "rst": ("docutils", lambda content: len(docutils.core.publish_doctree(content.decode()).astext())),
    "csv": ("csv", lambda content: sum(map(len, csv.reader(io.StringIO(content.decode()))))),
    "jsonl": ("json", lambda content: sum(len(json.loads(line)) for line in content.splitlines())),
    "txt": ("str.splitlines", lambda content: len(content.decode().splitlines())),
}


@dataclass(frozen=True, slots=True)
class Reading:
    """What reading took: processor seconds, MiB of peak above what was held before, and the pages that were found."""

    seconds: float
    mebibytes: float
    pages: float = 0.0


def _read(kind: str, small: bytes, contents: Sequence[bytes], *, bare: bool) -> Reading:
    def read(given: bytes) -> int:
        if bare:
            BARE[kind][1](given)
            return 0
        document = read_document(given, "", f"tariffs.{kind}", _LIMITS)
        return sum(len(text) for block in document.blocks for text in texts_of(block))

    read(small)
    held = _forget_peak()
    began, chars = time.process_time(), 0
    for content in contents:
        chars += read(content)
    return Reading(time.process_time() - began, _peak_mib() - held, chars / PAGE_CHARS)


def _forget_peak() -> float:
    """Return what is held now, in MiB, from where on the peak is counted."""
    with contextlib.suppress(OSError):  # not Linux
        _RESET.write_text("5")  # proc(5): the peak becomes what is held
    return _peak_mib()


def _peak_mib() -> float:
    if _STATUS.exists():
        line = next(line for line in _STATUS.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    return peak_memory_mib()


_STATUS: Final = Path("/proc/self/status")
_RESET: Final = Path("/proc/self/clear_refs")


def _read_alone(kind: str, small: bytes, contents: Sequence[bytes], rounds: int, *, bare: bool) -> Reading:
    """Read in fresh processes, and return the medians."""
    found = list[Reading]()
    for _ in range(rounds):
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            found.append(pool.apply(_read, (kind, small, contents), {"bare": bare}))
    seconds, mebibytes = (
        statistics.median(each) for each in zip(*((r.seconds, r.mebibytes) for r in found), strict=True)
    )
    return Reading(seconds, mebibytes, found[0].pages)


@dataclass(frozen=True, slots=True)
class Measured:
    """What a kind takes.

    Attributes:
        twice: how many times as long a document of twice the size takes; ``None`` for documents that were given.
    """

    kind: str
    mebibytes: float
    pages: float
    own: Reading
    bare: Reading
    twice: float | None = None


def measure(kind: str, pages: int, rounds: int) -> Measured:
    """Measure a kind with the corpus."""
    small, content, larger = (WRITERS[kind](parts_of(count)) for count in (_WARM_PAGES, pages, 2 * pages))
    own, bare = (_read_alone(kind, small, [content], rounds, bare=bare) for bare in (False, True))
    double = _read_alone(kind, small, [larger], rounds, bare=False)
    return Measured(kind, len(content) / 2**20, pages, own, bare, double.seconds / own.seconds)


def measure_folder(kind: str, folder: Path, rounds: int) -> Measured | None:
    """Measure a kind with the documents of a folder; ``None`` where it holds none of the kind."""
    contents = [path.read_bytes() for path in sorted(folder.rglob(f"*.{kind}"))]
    if not contents:
        return None
    small = WRITERS[kind](parts_of(_WARM_PAGES))
    own, bare = (_read_alone(kind, small, contents, rounds, bare=bare) for bare in (False, True))
    return Measured(kind, sum(map(len, contents)) / 2**20, own.pages, own, bare)


def show(title: str, found: Sequence[Measured]) -> None:
    """Print a table, a kind a row."""
    table = Table(title=title, title_justify="left")
    for name in (
        "kind",
        "MiB",
        "pages",
        "pages/s",
        "bare library",
        "pages/s ",
        "ratio",
        "peak MiB",
        "bare MiB",
        "twice",
    ):
        table.add_column(name, justify="left" if name in {"kind", "bare library"} else "right")
    for one in found:
        speeds = [one.pages / max(reading.seconds, 1e-6) for reading in (one.own, one.bare)]
        table.add_row(
            one.kind,
            f"{one.mebibytes:.2f}",
            f"{one.pages:.0f}",
            f"{speeds[0]:,.0f}",
            BARE[one.kind][0],
            f"{speeds[1]:,.0f}",
            f"{speeds[0] / speeds[1]:.3f}",
            f"{one.own.mebibytes:.1f}",
            f"{one.bare.mebibytes:.1f}",
            "" if one.twice is None else f"{one.twice:.2f}x",
        )
    Console(width=140).print(table)


def main() -> None:
    """Read the command line and measure; exit code 1 where twice the size takes too much longer."""
    parser = argparse.ArgumentParser(
        prog="python -m bench documents", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pages", type=int, default=PAGES, help=f"of each document (default {PAGES})")
    parser.add_argument("--kinds", nargs="+", choices=tuple(BARE), default=list(BARE), help="default: all")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"readings of each (default {ROUNDS})")
    parser.add_argument("--folder", type=Path, help="read its documents instead of the corpus")
    given = parser.parse_args()
    if given.folder is not None:
        measured = (measure_folder(kind, given.folder, given.rounds) for kind in given.kinds)
        show(f"Reading the documents of {given.folder}", [one for one in measured if one is not None])
        return
    found = [measure(kind, given.pages, given.rounds) for kind in given.kinds]
    show(f"Reading {given.pages} pages of {PAGE_CHARS:,} characters; twice: the time for twice the size", found)
    steep = [f"{one.kind} ({one.twice:.2f}x)" for one in found if one.twice is not None and one.twice > MOST_TIMES]
    if steep:
        parser.exit(1, f"twice the size takes more than {MOST_TIMES} times as long: {', '.join(steep)}\n")


if __name__ == "__main__":
    main()
