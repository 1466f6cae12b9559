"""Word documents (DOCX): paragraphs and tables in the order of the text, with what Word writes by itself.

Kept: headings by style and outline level, automatic numbers, lists, tables with merged cells, foot- and endnotes, text
boxes, captions, descriptions of pictures, tracked insertions, properties. Hidden: hidden and unreadable text, tracked
deletions, comments. Furniture: running heads and feet, tables of contents. Lost: pictures, charts, colours, pages.
"""

import io
from typing import Any, Final

import docx.oxml
from docx.opc.constants import RELATIONSHIP_TYPE as RELATION
from docx.oxml.ns import qn
from docx.package import Package

from services.common.documents.document import Document, HiddenText, first_heading, texts_of
from services.common.documents.docx.numbering import Numbering
from services.common.documents.docx.paragraphs import Paragraphs
from services.common.documents.docx.styles import Styles
from services.common.documents.docx.text import LineReader
from services.common.documents.limits import require_at_most
from services.common.documents.office.packages import check_package
from services.common.documents.office.properties import core_properties, custom_properties, own_title
from services.common.documents.refusals import refusing_damage
from services.common.documents.wording import collapse, language_code

_KIND: Final = "a Word document"


def read_docx(content: bytes, max_chars: int) -> Document:
    """Parse a Word document.

    Raises:
        InvalidRequestError: UNSUPPORTED_MEDIA: damaged.
        LimitExceededError: MESSAGE_TOO_LARGE: too many characters, or what ``check_package`` refuses.
    """
    check_package(content, _KIND)
    with refusing_damage(_KIND):
        return _Reading(content, max_chars).document()


class _Reading:
    """One document while it is read."""

    def __init__(self, content: bytes, max_chars: int) -> None:
        self._package = Package.open(io.BytesIO(content))
        self._main = self._package.main_document_part
        self._max_chars = max_chars
        self._root = _root(self._main)
        self._styles = Styles(self._related(RELATION.STYLES))
        background = self._root.find(qn("w:background"))
        shaded = background is not None and (background.get(qn("w:color")) or "FFFFFF").upper() not in {
            "FFFFFF",
            "AUTO",
        }
        self._lines = LineReader(self._styles, shaded=shaded)

    def document(self) -> Document:
        notes = {
            "footnote": self._notes(RELATION.FOOTNOTES, "w:footnote"),
            "endnote": self._notes(RELATION.ENDNOTES, "w:endnote"),
        }
        numbering = Numbering(self._related(RELATION.NUMBERING))
        paragraphs = Paragraphs(self._styles, numbering, self._lines, notes)
        body = self._root.find(qn("w:body"))
        if body is not None:
            paragraphs.read(body)
        paragraphs.close()
        size = sum(len(text) for block in paragraphs.blocks for text in texts_of(block))
        require_at_most("characters", size, self._max_chars)
        comments = self._comments()
        properties = {**core_properties(self._package.core_properties), **custom_properties(self._custom(), _KIND)}
        return Document(
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            _title(paragraphs, properties),
            tuple(paragraphs.blocks),
            self._warnings(len(comments)),
            (*paragraphs.hidden, *comments),
            tuple(dict.fromkeys((*self._running(), *paragraphs.furniture))),
            language=language_code(properties.get("language")),
            properties=properties,
        )

    def _related(self, kind: str) -> Any | None:
        part = next((rel.target_part for rel in self._main.rels.values() if rel.reltype == kind), None)
        return None if part is None else _root(part)

    def _notes(self, kind: str, tag: str) -> dict[str, Any]:
        root = self._related(kind)
        found = [] if root is None else root.findall(qn(tag))
        return {note.get(qn("w:id"), ""): note for note in found if note.get(qn("w:type"), "normal") == "normal"}

    def _comments(self) -> list[HiddenText]:
        root = self._related(RELATION.COMMENTS)
        found = [] if root is None else root.findall(qn("w:comment"))
        texts = [collapse(" ".join(text.text or "" for text in comment.iter(qn("w:t")))) for comment in found]
        return [HiddenText(text, "comment") for text in texts if text]

    def _running(self) -> list[str]:
        """Return the running heads and feet."""
        kinds = {RELATION.HEADER, RELATION.FOOTER}
        parts = [rel.target_part for rel in self._main.rels.values() if rel.reltype in kinds and not rel.is_external]
        lines = [self._lines.read(paragraph).text for part in parts for paragraph in _root(part).iter(qn("w:p"))]
        return [line for line in lines if line]

    def _custom(self) -> bytes:
        kind = RELATION.CUSTOM_PROPERTIES
        return next((rel.target_part.blob for rel in self._package.rels.values() if rel.reltype == kind), b"")

    def _warnings(self, comments: int) -> tuple[str, ...]:
        kinds = [rel.reltype for rel in self._main.rels.values()]
        counted = (
            (comments, "comment(s) left out"),
            (sum(kind == RELATION.CHART for kind in kinds), "chart(s) not read"),
            (sum(kind.endswith("/aFChunk") for kind in kinds), "embedded document(s) not read"),
        )
        return tuple(f"{count} {what}" for count, what in counted if count)


def _root(part: Any) -> Any:
    element = getattr(part, "element", None)
    return docx.oxml.parse_xml(part.blob) if element is None else element


def _title(paragraphs: Paragraphs, properties: dict[str, str]) -> str:
    return paragraphs.title or own_title(properties) or first_heading(paragraphs.blocks, 1)
