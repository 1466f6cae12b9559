"""Which words nobody who opens the page sees: not painted, of the paper's colour, covered, tiny, outside the page.

What colour a word has on which ground depends on all that is drawn below and above it, so that pages on which it is in
doubt are drawn, small, and each word's own place on them is looked at.
"""

import ctypes
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pypdfium2.raw as pdfium

from services.common.documents.document import Box
from services.common.documents.pdf.drawings import Drawings
from services.common.documents.pdf.frame import Frame
from services.common.documents.pdf.words import Run, Word

_NOT_PAINTED: Final = frozenset({3, 7})
_TINY_PT: Final = 2.5
_TINY_SHARE: Final = 0.004
"""Of the page's height; a slide of 100 points has small figures for everything."""
_LIGHT: Final = 0.72
_FAINT: Final = 20
"""Differences of colour up to this, of 255, are not seen."""
_INK: Final = 60
"""A word that a scan shows differs from its ground by more."""
_PIXELS_PER_PT: Final = 1.4
_MAX_PIXELS: Final = 3_000_000
_SCAN_SHARE: Final = 0.5
_FULLY: Final = 255


def split_hidden(
    page: Any, words: list[Word], drawings: Drawings, frame: Frame
) -> tuple[list[Word], list[tuple[Word, str]], bool]:
    """Return the words that are seen, those that are not with the reason, and whether they are a scan's.

    A page that is a picture with text that is not painted is a scan with its recognised text: words are seen where the
    picture shows ink.
    """
    seen: list[Word] = []
    hidden: list[tuple[Word, str]] = []
    unpainted: list[Word] = []
    page_box = frame.page
    reasons: dict[int, str] = {}
    for word in words:
        key = id(word.run)
        if key not in reasons:
            reasons[key] = _reason(word.run, page_box)
        why = reasons[key] or _outside(word, page_box)
        if why == "not painted":
            unpainted.append(word)
        elif why:
            hidden.append((word, why))
        else:
            seen.append(word)
    scan = bool(unpainted) and is_scan(drawings, frame)
    if not scan:
        hidden += [(word, "not painted") for word in unpainted]
        unpainted = []
    if unpainted or _in_doubt(seen, drawings):
        seen, faint = _look(page, seen, unpainted, frame)
        hidden += faint
    return seen, hidden, scan and bool(unpainted)


def is_scan(drawings: Drawings, frame: Frame) -> bool:
    """Say whether pictures cover at least half of the page."""
    bounds = frame.bounds
    whole = max((bounds[2] - bounds[0]) * (bounds[3] - bounds[1]), 1.0)
    covered = 0.0
    for box in drawings.pictures:
        width = min(box[2], bounds[2]) - max(box[0], bounds[0])
        height = min(box[3], bounds[3]) - max(box[1], bounds[1])
        covered += max(width, 0.0) * max(height, 0.0)
    return covered >= _SCAN_SHARE * whole


def _reason(run: Run, page: Box) -> str:
    if run.mode in _NOT_PAINTED:
        return "not painted"
    if run.colour[3] == 0:
        return "transparent"
    if run.size < _TINY_PT and run.size < _TINY_SHARE * (page[3] - page[1]):
        return f"size {run.size:.1f} pt"
    return ""


def _outside(word: Word, page: Box) -> str:
    inside = page[0] < word.right and word.left < page[2] and page[1] < word.base and word.top < page[3]
    return "" if inside else "outside the page"


def _in_doubt(words: list[Word], drawings: Drawings) -> bool:
    """Say whether anything on the page could hide a word: light text, areas, pictures, layers."""
    if drawings.fills or drawings.pictures or drawings.many or drawings.layered:
        return True
    runs = {id(word.run): word.run for word in words}.values()
    return any(run.optional or run.colour[3] < _FULLY or min(run.colour[:3]) > _LIGHT * _FULLY for run in runs)


def _look(
    page: Any, words: list[Word], unpainted: list[Word], frame: Frame
) -> tuple[list[Word], list[tuple[Word, str]]]:
    """Draw the page and keep the words whose place shows more than one colour."""
    picture = draw(page, frame, _PIXELS_PER_PT)
    if picture is None:
        return words + unpainted, []
    scan = {id(word) for word in unpainted}
    seen: list[Word] = []
    hidden: list[tuple[Word, str]] = []
    height, width = picture.shape[:2]
    for word in [*words, *unpainted]:
        left, top, right, bottom = frame.shown(word.box)
        inset = 0.12 * (bottom - top)
        rows = slice(int((top + inset) * height), int((bottom - inset) * height) + 1)
        columns = slice(int(left * width), int(right * width) + 1)
        area = picture[rows, columns]
        contrast = int(np.ptp(area.reshape(-1, area.shape[-1]), axis=0).max()) if area.size else 0
        if contrast > (_INK if id(word) in scan else _FAINT):
            seen.append(word)
        else:
            hidden.append((word, "not painted" if id(word) in scan else "colour of its ground, or covered"))
    return seen, hidden


def draw(page: Any, frame: Frame, pixels_per_pt: float) -> npt.NDArray[np.uint8] | None:
    """Return the page as it is shown, as pixels of blue, green and red; ``None`` when it cannot be drawn."""
    across, down = frame.bounds[2] - frame.bounds[0], frame.bounds[3] - frame.bounds[1]
    if frame.rotation % 2:
        across, down = down, across
    scale = min(
        pixels_per_pt, (_MAX_PIXELS * max(pixels_per_pt / _PIXELS_PER_PT, 1.0) ** 2 / max(across * down, 1.0)) ** 0.5
    )
    width, height = max(int(across * scale), 1), max(int(down * scale), 1)
    bitmap = pdfium.FPDFBitmap_Create(width, height, 0)
    if not bitmap:
        return None
    try:
        pdfium.FPDFBitmap_FillRect(bitmap, 0, 0, width, height, 0xFFFFFFFF)
        pdfium.FPDF_RenderPageBitmap(bitmap, page, 0, 0, width, height, 0, pdfium.FPDF_ANNOT)
        stride = pdfium.FPDFBitmap_GetStride(bitmap)
        buffer = ctypes.cast(
            pdfium.FPDFBitmap_GetBuffer(bitmap), ctypes.POINTER(ctypes.c_ubyte * (stride * height))
        ).contents
        pixels = np.frombuffer(buffer, dtype=np.uint8).reshape(height, stride)[:, : width * 4]
        return pixels.reshape(height, width, 4)[:, :, :3].copy()
    finally:
        pdfium.FPDFBitmap_Destroy(bitmap)
