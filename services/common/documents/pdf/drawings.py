"""What is drawn on a page besides text: rules, filled areas, pictures."""

import ctypes
from dataclasses import dataclass, field
from typing import Any, Final

import pypdfium2.raw as pdfium

from services.common.documents.document import Box

_MAX_OBJECTS: Final = 20_000
"""A page of more is a drawing; what lies beyond is not looked at."""
_MAX_SEGMENTS: Final = 400
"""A path of more is a drawing, not a table."""
_MAX_DEPTH: Final = 8
_THIN: Final = 2.6
"""A filled area up to this thick, in points, is a rule."""
_STRAIGHT: Final = 0.6
_SHORTEST: Final = 4.0
_LONGEST_DASH: Final = 10.0


@dataclass(slots=True)
class Drawings:
    """In the page's own space: boxes are left, bottom, right, top.

    Attributes:
        rules: thin lines, level or upright.
        fills: filled areas with their colour.
        frames: outlines of boxes.
        pictures: images.
        dashes: rules as short as a character, in any direction.
        many: there was more than is looked at.
        layered: parts of it can be switched off.
    """

    rules: list[Box] = field(default_factory=list)
    fills: list[tuple[Box, tuple[int, int, int, int]]] = field(default_factory=list)
    frames: list[Box] = field(default_factory=list)
    pictures: list[Box] = field(default_factory=list)
    dashes: list[Box] = field(default_factory=list)
    many: bool = False
    layered: bool = False


_Matrix = tuple[float, float, float, float, float, float]
_IDENTITY: Final[_Matrix] = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


def read_drawings(page: Any) -> Drawings:
    """Return what a page draws besides text, those of nested forms as well."""
    found = Drawings()
    left = [_MAX_OBJECTS]
    count = pdfium.FPDFPage_CountObjects(page)
    stack: list[tuple[Any, _Matrix, int]] = [
        (pdfium.FPDFPage_GetObject(page, number), _IDENTITY, 0) for number in range(min(count, _MAX_OBJECTS))
    ]
    found.many = count > _MAX_OBJECTS
    stack.reverse()
    while stack:
        drawn, matrix, depth = stack.pop()
        left[0] -= 1
        if left[0] < 0:
            found.many = True
            break
        kind = pdfium.FPDFPageObj_GetType(drawn)
        if kind == pdfium.FPDF_PAGEOBJ_PATH:
            _read_path(found, drawn, matrix)
        elif kind in {pdfium.FPDF_PAGEOBJ_IMAGE, pdfium.FPDF_PAGEOBJ_SHADING}:
            found.pictures.append(_bounds(drawn, matrix))
        elif kind == pdfium.FPDF_PAGEOBJ_FORM and depth < _MAX_DEPTH:
            inner = _product(_matrix_of(drawn), matrix)
            children = min(pdfium.FPDFFormObj_CountObjects(drawn), _MAX_OBJECTS)
            stack.extend((pdfium.FPDFFormObj_GetObject(drawn, n), inner, depth + 1) for n in reversed(range(children)))
    return found


def _read_path(found: Drawings, drawn: Any, matrix: _Matrix) -> None:
    mode, stroked = ctypes.c_int(), ctypes.c_int()
    pdfium.FPDFPath_GetDrawMode(drawn, mode, stroked)
    box = _bounds(drawn, matrix)
    width, height = box[2] - box[0], box[3] - box[1]
    if mode.value:
        if min(width, height) <= _THIN:
            if max(width, height) >= _SHORTEST:
                found.rules.append(box)
            if max(width, height) < _LONGEST_DASH:
                found.dashes.append(box)
            return
        found.fills.append((box, _colour(drawn, pdfium.FPDFPageObj_GetFillColor)))
    if stroked.value:
        if _colour(drawn, pdfium.FPDFPageObj_GetStrokeColor)[3] == 0:
            return
        _read_segments(found, drawn, _product(_matrix_of(drawn), matrix), box)


def _read_segments(found: Drawings, drawn: Any, matrix: _Matrix, box: Box) -> None:
    """Keep the straight parts of a path that is drawn as a line."""
    count = pdfium.FPDFPath_CountSegments(drawn)
    if count > _MAX_SEGMENTS:
        found.many = True
        return
    x, y = ctypes.c_float(), ctypes.c_float()
    start = here = (0.0, 0.0)
    bends = False
    before = len(found.rules)
    for number in range(count):
        segment = pdfium.FPDFPath_GetPathSegment(drawn, number)
        pdfium.FPDFPathSegment_GetPoint(segment, x, y)
        kind = pdfium.FPDFPathSegment_GetType(segment)
        there = _moved(matrix, x.value, y.value)
        if kind == pdfium.FPDF_SEGMENT_MOVETO:
            start = there
        elif kind == pdfium.FPDF_SEGMENT_LINETO:
            _add_line(found, here, there)
        else:
            bends = True
        here = there
        if pdfium.FPDFPathSegment_GetClose(segment):
            _add_line(found, here, start)
            here = start
    if (bends or len(found.rules) - before >= 4) and min(box[2] - box[0], box[3] - box[1]) > _THIN:  # noqa: PLR2004
        found.frames.append(box)


def _add_line(found: Drawings, one: tuple[float, float], other: tuple[float, float]) -> None:
    across, up = abs(one[0] - other[0]), abs(one[1] - other[1])
    box = (min(one[0], other[0]), min(one[1], other[1]), max(one[0], other[0]), max(one[1], other[1]))
    if min(across, up) <= _STRAIGHT and max(across, up) >= _SHORTEST:
        found.rules.append(box)
    if min(across, up) <= _STRAIGHT < max(across, up) < _LONGEST_DASH:
        found.dashes.append(box)


def _bounds(drawn: Any, matrix: _Matrix) -> Box:
    edges = [ctypes.c_float() for _ in range(4)]
    pdfium.FPDFPageObj_GetBounds(drawn, *edges)
    left, bottom, right, top = (edge.value for edge in edges)
    if matrix is _IDENTITY:
        return left, bottom, right, top
    corners = [_moved(matrix, x, y) for x in (left, right) for y in (bottom, top)]
    xs, ys = [x for x, _ in corners], [y for _, y in corners]
    return min(xs), min(ys), max(xs), max(ys)


def _matrix_of(drawn: Any) -> _Matrix:
    matrix = pdfium.FS_MATRIX()
    if not pdfium.FPDFPageObj_GetMatrix(drawn, matrix):
        return _IDENTITY
    return matrix.a, matrix.b, matrix.c, matrix.d, matrix.e, matrix.f


def _product(one: _Matrix, two: _Matrix) -> _Matrix:
    a, b, c, d, e, f = one
    g, h, i, j, k, m = two
    return (a * g + b * i, a * h + b * j, c * g + d * i, c * h + d * j, e * g + f * i + k, e * h + f * j + m)


def _moved(matrix: _Matrix, x: float, y: float) -> tuple[float, float]:
    a, b, c, d, e, f = matrix
    return a * x + c * y + e, b * x + d * y + f


def _colour(drawn: Any, get: Any) -> tuple[int, int, int, int]:
    parts = [ctypes.c_uint(0) for _ in range(4)]
    if not get(drawn, *parts):
        return 0, 0, 0, 255
    red, green, blue, alpha = (part.value for part in parts)
    return red, green, blue, alpha
