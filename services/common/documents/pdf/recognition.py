"""Scanned pages: read by the ``tesseract`` command when it is installed.

The page is drawn and handed over as a picture; what comes back are words with their boxes, which are read like any
others. The command runs in the process that reads the document, within its limits, and no longer than a page may take.
"""

import shutil
import subprocess
from contextlib import suppress
from typing import Any, Final

import pypdfium2.raw as pdfium

from services.common.documents.pdf.frame import Frame
from services.common.documents.pdf.lines import pieces_of
from services.common.documents.pdf.page import PageContent
from services.common.documents.pdf.seen import draw
from services.common.documents.pdf.words import Font, Run, Word

_COMMAND: Final = "tesseract"
_PIXELS_PER_PT: Final = 300 / 72
_SECONDS_A_PAGE: Final = 60.0
_MIN_CONFIDENCE: Final = 30.0
_CLEARLY_HIGHER: Final = 1.45
_COLUMNS: Final = 12
_FONT: Final = Font("recognised", bold=False, slanted=False, fixed=False)


def has_engine() -> bool:
    """Say whether the command is installed."""
    return shutil.which(_COMMAND) is not None


def recognise(document: Any, pages: list[PageContent]) -> list[PageContent]:
    """Return the pages, those that are scans with the words that were recognised on them."""
    for page in pages:
        if page.scan:
            words, page.size = _alike(_words(document, page))
            if words:
                page.pieces, page.words, page.scan = pieces_of(words), words, False
    return pages


def _alike(words: list[Word]) -> tuple[list[Word], float]:
    """Give words about as high as most one size, and return it: heights in a picture are no sizes of type."""
    sizes = sorted(word.run.size for word in words)
    middle = sizes[len(sizes) // 2] if sizes else 1.0
    for word in words:
        if word.run.size <= _CLEARLY_HIGHER * middle:
            word.run.size = middle
    return words, middle


def _words(document: Any, page: PageContent) -> list[Word]:
    loaded = pdfium.FPDF_LoadPage(document, page.number - 1)
    try:
        frame = Frame(page.frame.bounds, page.frame.rotation, page.frame.rotation)
        page.frame = frame
        picture = draw(loaded, frame, _PIXELS_PER_PT)
    finally:
        pdfium.FPDF_ClosePage(loaded)
    if picture is None:
        return []
    height, width = picture.shape[:2]
    data = b"P6\n%d %d\n255\n" % (width, height) + picture[:, :, ::-1].tobytes()
    box = frame.page
    scale = (box[2] - box[0]) / width
    return _parse(_run(data), scale, box[0], box[1])


def _run(picture: bytes) -> str:
    command = shutil.which(_COMMAND) or _COMMAND
    with suppress(OSError, subprocess.SubprocessError):
        done = subprocess.run(  # noqa: S603 - the command's name is ours, its input is the picture
            [command, "stdin", "stdout", "--psm", "3", "tsv"],
            input=picture,
            capture_output=True,
            timeout=_SECONDS_A_PAGE,
            check=False,
        )
        return done.stdout.decode("utf-8", "replace")
    return ""


def _parse(table: str, scale: float, left: float, top: float) -> list[Word]:
    """Return the words of tesseract's table: level, page, block, paragraph, line, word, box, confidence, text."""
    rows = [line.split("\t") for line in table.splitlines()[1:]]
    lines: dict[tuple[str, ...], list[list[str]]] = {}
    for row in rows:
        if len(row) >= _COLUMNS and row[0] == "5" and row[11].strip() and float(row[10]) >= _MIN_CONFIDENCE:
            lines.setdefault(tuple(row[1:5]), []).append(row)
    words: list[Word] = []
    for line in lines.values():
        bottoms = sorted(int(row[7]) + int(row[9]) for row in line)
        heights = sorted(int(row[9]) for row in line)
        base = top + bottoms[len(bottoms) // 2] * scale
        size = max(heights[len(heights) // 2] * scale * 1.25, 1.0)
        run = Run(_FONT, round(size), 0, 0, (0, 0, 0, 255))
        for row in line:
            x, y, across, down = (int(value) * scale for value in row[6:10])
            words.append(Word(row[11], left + x, top + y, left + x + across, top + y + down, base, run, spaced=True))
    return words
