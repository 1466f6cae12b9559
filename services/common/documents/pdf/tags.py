"""The structure that a tagged file states: read from PDFium as a tree of plain values while the page is open."""

import ctypes
from dataclasses import dataclass, field
from typing import Any, Final

import pypdfium2.raw as pdfium

from services.common.documents.pdf.opening import read_text

_MAX_ELEMENTS: Final = 50_000
_MAX_DEPTH: Final = 60
_MAX_SPAN: Final = 100


@dataclass(slots=True)
class Tag:
    """An element of the structure.

    Attributes:
        kind: its standard type: P, H1, Table, TD.
        parts: numbers of marked content and elements, in order.
        alt: what it shows, in words.
        across: how many columns a cell covers.
        down: how many rows.
    """

    kind: str
    parts: "list[int | Tag]" = field(default_factory=list)
    alt: str = ""
    across: int = 1
    down: int = 1

    def marks(self) -> list[int]:
        """Return the numbers of all marked content in it, in order."""
        found: list[int] = []
        stack: list[int | Tag] = [self]
        while stack:
            part = stack.pop()
            if isinstance(part, int):
                found.append(part)
            else:
                stack.extend(reversed(part.parts))
        return found


def is_tagged(document: Any) -> bool:
    """Say whether the file states its structure."""
    return bool(pdfium.FPDFCatalog_IsTagged(document))


def read_tags(page: Any) -> Tag | None:
    """Return a page's part of the structure; ``None`` when there is none, or more than a page can have."""
    tree = pdfium.FPDF_StructTree_GetForPage(page)
    if not tree:
        return None
    try:
        root = Tag("Document")
        count = max(pdfium.FPDF_StructTree_CountChildren(tree), 0)
        stack = [
            (pdfium.FPDF_StructTree_GetChildAtIndex(tree, index), root, 0) for index in range(min(count, _MAX_ELEMENTS))
        ]
        stack.reverse()
        left = _MAX_ELEMENTS
        while stack:
            element, parent, depth = stack.pop()
            left -= 1
            if left < 0 or depth > _MAX_DEPTH:
                return None
            if element:
                tag = _tag(element)
                parent.parts.append(tag)
                stack.extend(reversed(_children(element, tag, depth)))
        _settle(root)
        return root
    finally:
        pdfium.FPDF_StructTree_Close(tree)


def _children(element: Any, tag: Tag, depth: int) -> list[tuple[Any, Tag, int]]:
    """Return the elements in one, each with a place kept for it among the numbers of marked content."""
    children: list[tuple[Any, Tag, int]] = []
    for index in range(min(max(pdfium.FPDF_StructElement_CountChildren(element), 0), _MAX_ELEMENTS)):
        child = pdfium.FPDF_StructElement_GetChildAtIndex(element, index)
        if child:
            place = Tag("")
            tag.parts.append(place)
            children.append((child, place, depth + 1))
        else:
            mark = pdfium.FPDF_StructElement_GetChildMarkedContentID(element, index)
            if mark >= 0:
                tag.parts.append(mark)
    return children


def _settle(root: Tag) -> None:
    """Put the elements that were read in the places that were kept for them."""
    stack = [root]
    while stack:
        tag = stack.pop()
        tag.parts = [
            inner for part in tag.parts for inner in (part.parts if isinstance(part, Tag) and not part.kind else [part])
        ]
        stack.extend(part for part in tag.parts if isinstance(part, Tag))


def _tag(element: Any) -> Tag:
    kind = read_text(lambda buffer, size: pdfium.FPDF_StructElement_GetType(element, buffer, size))
    tag = Tag(kind or "NonStruct")
    if kind in {"Figure", "Formula"}:
        tag.alt = read_text(lambda buffer, size: pdfium.FPDF_StructElement_GetAltText(element, buffer, size))
    if kind in {"TD", "TH"}:
        tag.across, tag.down = _number(element, b"ColSpan"), _number(element, b"RowSpan")
    return tag


def _number(element: Any, name: bytes) -> int:
    value = ctypes.c_float()
    for index in range(min(max(pdfium.FPDF_StructElement_GetAttributeCount(element), 0), 16)):
        attribute = pdfium.FPDF_StructElement_GetAttributeAtIndex(element, index)
        found = pdfium.FPDF_StructElement_Attr_GetValue(attribute, name) if attribute else None
        if found and pdfium.FPDF_StructElement_Attr_GetNumberValue(found, value):
            return min(max(int(value.value), 1), _MAX_SPAN)
    return 1
