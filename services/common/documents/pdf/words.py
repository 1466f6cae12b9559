"""From a page's characters to words with their places, sizes and fonts; what draws them tells what is hidden.

PDFium gives characters in the order in which they are drawn. Consecutive ones of one line are one word until a space, a
gap or another baseline comes; words that are drawn in another order are put together later, by their places.
"""

import ctypes
import math
import re
from dataclasses import dataclass
from typing import Any, Final

import pypdfium2.raw as pdfium

from services.common.documents.document import Box
from services.common.documents.pdf.frame import turned

_GAP_EM: Final = 0.17
"""A wider gap between two characters is the space between two words."""
_FIXED_GAP_EM: Final = 0.42
"""The same where all characters are as wide: a full stop leaves much white beside it."""
_BACK_EM: Final = 0.45
_SAME_EM: Final = 0.03
"""Two characters at one place are a ligature, taken apart."""
_DRIFT_EM: Final = 0.12
_SKEW: Final = 0.12
"""Text whose direction is further off from the four (7 degrees) is drawn across the page: a stamp."""
_BOLD_WEIGHT: Final = 600
_FIXED_PITCH: Final = 1
_SLANTED: Final = 1 << 6
_FORCED_BOLD: Final = 1 << 18
_BOLD_NAMES: Final = ("bold", "black", "heavy", "demi", "cmbx", "cmssbx", "-bd")
_TELLING_NAMES: Final = re.compile(r"(?:cm|ec|sf|tc|ms)(?!b)[a-z]{1,6}\d{1,2}")
"""Families of TeX, whose names tell the weight: small sizes have thick stems, from which PDFium takes it."""
_FIXED_NAMES: Final = (
    "courier",
    "mono",
    "consol",
    "menlo",
    "typewriter",
    "nimbusmon",
    "nimmonl",
    "cmtt",
    "cmsltt",
    "cmitt",
    "ectt",
    "sftt",
    "fixed",
)
_SLANTED_NAMES: Final = ("italic", "oblique", "cmti", "cmsl")
_WRITTEN: Final = {
    # what PDFium writes for a hyphen at the end of a line; the soft hyphen; the hyphens that are never anything else
    **dict.fromkeys((0x02, 0xFFFE, 0xAD, 0x2010, 0x2011), "-"),
    **dict.fromkeys(
        (0xE000, 0xE001, 0xE002, 0xE003, 0xE004), "\ufffd"
    ),  # stand around what is shifted, and come from no file
}
_LAST_CODE: Final = 0x10FFFF
_DIGITS: Final = range(0x30, 0x3A)
_SIGNS: Final = frozenset({0x2B, 0x2D, 0x2212, 0x2013})
_RAISED_EM: Final = (0.25, 0.5)
"""A digit whose ink begins higher than the one and is lower than the other is drawn raised by its font."""
_RAISED_SIGN_EM: Final = 0.42
_NAME_CHARS: Final = 256


@dataclass(frozen=True, slots=True)
class Font:
    """A font by what its name and flags tell."""

    name: str
    bold: bool
    slanted: bool
    fixed: bool


@dataclass(slots=True, eq=False)
class Run:
    """Characters that one instruction draws.

    Attributes:
        size: of the font as it is shown, in points.
        turn: the frame in which it is upright; -1 when in none.
        mode: how it is painted (PDF 32000-1, table 106); 3 = not at all.
        colour: red, green, blue, opacity, 0 to 255.
        mark: number of the marked content it belongs to; -1 without one.
        artifact: the file says that it is no part of the content.
        optional: it belongs to a layer that can be switched off.
    """

    font: Font
    size: float
    turn: int
    mode: int
    colour: tuple[int, int, int, int]
    mark: int = -1
    artifact: bool = False
    optional: bool = False


@dataclass(slots=True, eq=False)
class Word:
    """Characters that stand together, in a frame in which they are upright; lengths in points.

    Attributes:
        base: of the line they stand on.
        spaced: the file has a space before it; without one, the gap tells.
        shift: 1 for a superscript, -1 for a subscript.
    """

    text: str
    left: float
    top: float
    right: float
    bottom: float
    base: float
    run: Run
    spaced: bool = False
    shift: int = 0

    @property
    def box(self) -> Box:
        """Left, top, right, bottom."""
        return self.left, self.top, self.right, self.bottom


class Characters:
    """Reads the characters of pages; fonts are looked at once.

    The functions of PDFium are bound anew with plain types: they are called three times for each character.
    """

    def __init__(self) -> None:
        self._fonts: dict[int, Font] = {}
        self._object_of = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int)(
            _address(pdfium.FPDFText_GetTextObject)
        )
        self._code_of = ctypes.CFUNCTYPE(ctypes.c_uint, ctypes.c_void_p, ctypes.c_int)(
            _address(pdfium.FPDFText_GetUnicode)
        )
        self._is_generated = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int)(
            _address(pdfium.FPDFText_IsGenerated)
        )
        self._box_of = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)(
            _address(pdfium.FPDFText_GetLooseCharBox)
        )
        self._ink_of = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, *[ctypes.c_void_p] * 4)(
            _address(pdfium.FPDFText_GetCharBox)
        )
        self._edges = [ctypes.c_double() for _ in range(4)]
        self._ink = [ctypes.byref(edge) for edge in self._edges]

    def words(self, text_page: Any, count: int) -> list[Word]:
        """Return a page's words in the order in which they are drawn, each in its own frame."""
        handle = ctypes.cast(text_page, ctypes.c_void_p)
        box = pdfium.FS_RECTF()
        pointer = ctypes.byref(box)
        gathered = _Gathered()
        run: Run | None = None
        drawn_by: int | None = -1
        base = 0.0
        for index in range(count):
            code = self._code_of(handle, index)
            if (code <= 32 and code != 2) or code == 0xA0:  # noqa: PLR2004
                if not self._is_generated(handle, index):
                    gathered.space()
                continue
            drawer = self._object_of(handle, index)
            if drawer != drawn_by:
                drawn_by = drawer
                run = self._run(text_page, index, drawer)
                base = _origin(text_page, index)[1]
            if run is None:
                continue
            text = _WRITTEN.get(code) or (chr(code) if code <= _LAST_CODE else "\ufffd")
            if run.turn == 0:
                self._box_of(handle, index, pointer)
                raised = (code in _DIGITS or code in _SIGNS) and self._is_raised(handle, index, code, base, run)
                gathered.add(text, (box.left, -box.top, box.right, -box.bottom), -base, run, raised=raised)
            else:
                gathered.add(text, *_turned_box(text_page, index, run), run)
        return gathered.words

    def _is_raised(self, handle: Any, index: int, code: int, base: float, run: Run) -> bool:
        """Say whether the ink of a digit or a sign stands above its line though its place does not: a font's own."""
        self._ink_of(handle, index, *self._ink)
        bottom, top = ((edge.value - base) / max(run.size, 0.1) for edge in self._edges[2:])
        if code in _DIGITS:
            return bottom > _RAISED_EM[0] and 0.0 < top - bottom < _RAISED_EM[1]
        return (top + bottom) / 2 > _RAISED_SIGN_EM

    def _run(self, text_page: Any, index: int, drawer: int | None) -> Run | None:
        """Return what draws a character; ``None`` for one that PDFium adds itself."""
        if not drawer:
            return None
        drawn = ctypes.cast(drawer, pdfium.FPDF_PAGEOBJECT)
        matrix = pdfium.FS_MATRIX()
        pdfium.FPDFText_GetMatrix(text_page, index, matrix)
        across = math.hypot(matrix.c, matrix.d)
        size = pdfium.FPDFText_GetFontSize(text_page, index) * across
        red, green, blue, alpha = (ctypes.c_uint(0) for _ in range(4))
        painted = pdfium.FPDFText_GetFillColor(text_page, index, red, green, blue, alpha)
        artifact, optional = _marks(drawn)
        return Run(
            self._font(pdfium.FPDFTextObj_GetFont(drawn)),
            abs(size),
            _turn(matrix.a, matrix.b),
            pdfium.FPDFTextObj_GetTextRenderMode(drawn),
            (red.value, green.value, blue.value, alpha.value) if painted else (0, 0, 0, 255),
            pdfium.FPDFPageObj_GetMarkedContentID(drawn),
            artifact,
            optional,
        )

    def _font(self, font: Any) -> Font:
        if not font:
            return Font("", bold=False, slanted=False, fixed=False)
        key = ctypes.addressof(font.contents)
        if key not in self._fonts:
            buffer = ctypes.create_string_buffer(_NAME_CHARS)
            pdfium.FPDFFont_GetBaseFontName(font, buffer, _NAME_CHARS)
            name = buffer.value.decode("utf-8", "replace").split("+")[-1]
            flags, low = max(pdfium.FPDFFont_GetFlags(font), 0), name.lower()
            self._fonts[key] = Font(
                name,
                bold=any(part in low for part in _BOLD_NAMES)
                or bool(flags & _FORCED_BOLD)
                or (pdfium.FPDFFont_GetWeight(font) >= _BOLD_WEIGHT and not _TELLING_NAMES.fullmatch(low)),
                slanted=any(part in low for part in _SLANTED_NAMES) or bool(flags & _SLANTED),
                fixed=any(part in low for part in _FIXED_NAMES) or bool(flags & _FIXED_PITCH),
            )
        return self._fonts[key]


class _Gathered:
    """The words of a page while its characters come."""

    def __init__(self) -> None:
        self.words: list[Word] = []
        self._word: Word | None = None
        self._spaced = False
        self._left = 0.0

    def space(self) -> None:
        self._word = None
        self._spaced = True

    def add(self, text: str, box: Box, base: float, run: Run, *, raised: bool = False) -> None:
        word, ligature = self._word, abs(box[0] - self._left) < _SAME_EM * run.size
        self._left = box[0]
        if word is not None and word.shift != raised:
            word = None
        if word is not None and ((ligature and run is word.run) or self._continues(word, box, base, run)):
            word.text += text
            word.right = max(word.right, box[2])
            word.top, word.bottom = min(word.top, box[1]), max(word.bottom, box[3])
            return
        self._word = Word(text, *box, base, run, spaced=self._spaced, shift=int(raised))
        self._spaced = False
        self.words.append(self._word)

    def _continues(self, word: Word, box: Box, base: float, run: Run) -> bool:
        if run is not word.run and (
            run.turn != word.run.turn
            or abs(run.size - word.run.size) > 0.1 * word.run.size
            or run.font is not word.run.font
            or run.mark != word.run.mark
            or run.mode != word.run.mode
            or run.colour != word.run.colour
        ):
            return False
        size = max(word.run.size, 0.1)
        gap = box[0] - word.right
        most = _FIXED_GAP_EM if run.font.fixed else _GAP_EM
        return abs(base - word.base) <= _DRIFT_EM * size and -_BACK_EM * size <= gap <= most * size


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def _origin(text_page: Any, index: int) -> tuple[float, float]:
    x, y = ctypes.c_double(), ctypes.c_double()
    pdfium.FPDFText_GetCharOrigin(text_page, index, x, y)
    return x.value, y.value


def _turned_box(text_page: Any, index: int, run: Run) -> tuple[Box, float]:
    """Return the box and the baseline of a character that does not run to the right, in its own frame."""
    edges = [ctypes.c_double() for _ in range(4)]
    pdfium.FPDFText_GetCharBox(text_page, index, *edges)
    left, right, bottom, top = (edge.value for edge in edges)
    frame = max(run.turn, 0)
    one, other = turned(frame, left, bottom), turned(frame, right, top)
    start, base = turned(frame, *_origin(text_page, index))
    right_edge = max(one[0], other[0])
    return (min(start, right_edge), base - 0.8 * run.size, right_edge, base + 0.2 * run.size), base


def _turn(along: float, up: float) -> int:
    length = math.hypot(along, up) or 1.0
    along, up = along / length, up / length
    if min(abs(along), abs(up)) > _SKEW:
        return -1
    if abs(along) >= abs(up):
        return 0 if along >= 0 else 2
    return 1 if up >= 0 else 3


def _marks(drawn: Any) -> tuple[bool, bool]:
    """Say whether the file marks what is drawn as no part of the content, and as part of a layer."""
    artifact = optional = False
    for number in range(min(max(pdfium.FPDFPageObj_CountMarks(drawn), 0), 32)):
        mark = pdfium.FPDFPageObj_GetMark(drawn, number)
        buffer = (ctypes.c_ushort * 32)()
        size = ctypes.c_ulong()
        if pdfium.FPDFPageObjMark_GetName(mark, buffer, 64, size):
            name = bytes(buffer)[: max(size.value - 2, 0)].decode("utf-16-le", "replace")
            artifact |= name == "Artifact"
            optional |= name == "OC"
    return artifact, optional
