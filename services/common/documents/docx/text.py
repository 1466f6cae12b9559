"""The text of a Word paragraph as a reader sees it: runs, tracked changes, fields, formulas, what hangs on it.

Insertions are text, deletions are not; of a field the result is read, not its code; text that is hidden, white on white
or smaller than anybody reads is kept apart.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from docx.oxml.ns import qn

from services.common.documents.docx.styles import Styles, is_shaded, value_of
from services.common.documents.marks import NOTE, plain_of
from services.common.documents.notes import settle
from services.common.documents.numerals import whole
from services.common.documents.office.alternatives import ALTERNATIVES, chosen
from services.common.documents.office.formulas import MATH, formula_text
from services.common.documents.office.unseen import TOO_SMALL, WHITE_ON_WHITE, is_unreadable, is_white
from services.common.documents.shifts import lowered, raised
from services.common.documents.wording import collapse

_DRAWING: Final = "{http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing}"
_VML: Final = "{urn:schemas-microsoft-com:vml}"
_WRAPPERS: Final = frozenset(
    qn(name)
    for name in ("w:hyperlink", "w:ins", "w:moveTo", "w:smartTag", "w:fldSimple", "w:customXml", "w:dir", "w:bdo")
)
_REMOVED: Final = frozenset({qn("w:del"), qn("w:moveFrom")})
_BREAKS: Final = {
    **dict.fromkeys((qn("w:tab"), qn("w:ptab")), "\t"),
    **dict.fromkeys((qn("w:br"), qn("w:cr")), " "),
    qn("w:noBreakHyphen"): "-",
}
_NOTES: Final = {qn("w:footnoteReference"): "footnote", qn("w:endnoteReference"): "endnote"}
_BLANK: Final = f" \t\n\u00a0{NOTE}"
_USUAL_HALF_POINTS: Final = 20
_TEXT_BOX: Final = qn("w:txbxContent")


@dataclass(slots=True)
class Line:
    """What a paragraph holds.

    Attributes:
        parts: its visible text, piece by piece.
        bold: of each piece, whether it is bold.
        hidden: text that nobody sees, and why.
        notes: kind and id of the notes that it refers to.
        boxes: contents of text boxes that are anchored in it.
        pictures: descriptions of its pictures.
    """

    parts: list[str] = field(default_factory=list)
    bold: list[bool] = field(default_factory=list)
    hidden: list[tuple[str, str]] = field(default_factory=list)
    notes: list[tuple[str, str]] = field(default_factory=list)
    boxes: list[Any] = field(default_factory=list)
    pictures: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Return the visible text, white space collapsed, without signs of notes."""
        return self.settled(())[0]

    def settled(self, marks: Sequence[str]) -> tuple[str, tuple[tuple[int, str], ...]]:
        """Return the visible text, and where in it the notes of the given marks are referred to."""
        return settle(collapse("".join(self.parts)), marks)

    @property
    def is_bold(self) -> bool:
        """Say whether all visible text is bold."""
        return any(part.strip(_BLANK) for part in self.parts) and all(
            bold for part, bold in zip(self.parts, self.bold, strict=True) if part.strip(_BLANK)
        )

    def leading_bold(self) -> str:
        """Return the bold words that a paragraph begins with; empty when it is bold throughout or begins otherwise."""
        lead: list[str] = []
        for part, bold in zip(self.parts, self.bold, strict=True):
            if part.strip(_BLANK) and not bold:
                return "".join(lead)
            lead.append(part.replace(NOTE, ""))
        return ""


class LineReader:
    """Reads paragraphs, in the order of the document: fields may go on from one to the next.

    Args:
        styles: of the document.
        shaded: whether the whole page has a colour, so that white text is seen.
    """

    def __init__(self, styles: Styles, *, shaded: bool) -> None:
        self._styles = styles
        self._shaded = shaded
        self._fields: list[bool] = []
        """Of each open field, whether its result is being read."""

    def read(self, paragraph: Any, *, shaded: bool = False) -> Line:
        """Return what a paragraph holds; ``shaded`` when it stands on a colour."""
        line = Line()
        properties = paragraph.find(qn("w:pPr"))
        style = value_of(properties, "w:pStyle")
        self._walk(paragraph, line, style, shaded=shaded or self._shaded or is_shaded(properties))
        return line

    def _walk(self, parent: Any, line: Line, style: str, *, shaded: bool) -> None:
        for child in parent:
            tag = child.tag
            if tag == qn("w:r"):
                self._run(child, line, style, shaded=shaded)
            elif tag in _WRAPPERS:
                self._walk(child, line, style, shaded=shaded)
            elif tag == qn("w:sdt"):
                content = child.find(qn("w:sdtContent"))
                if content is not None:
                    self._walk(content, line, style, shaded=shaded)
            elif tag in _REMOVED:
                _hide(line, _all_text(child), "deleted (tracked change)")
            elif tag in {f"{MATH}oMath", f"{MATH}oMathPara"}:
                _show(line, formula_text(child), bold=False)
            elif tag == ALTERNATIVES:
                self._walk(chosen(child), line, style, shaded=shaded)

    def _run(self, run: Any, line: Line, style: str, *, shaded: bool) -> None:
        properties = run.find(qn("w:rPr"))
        why = self._why_hidden(properties, style, shaded=shaded)
        bold = self._styles.run_switch(properties, style, "w:b")
        texts: list[str] = []
        noted = len(line.notes)
        for child in _expanded(run):
            self._content(child, line, texts)
        text = "".join(texts)
        if why:
            del line.notes[noted:]
            _hide(line, text.replace(NOTE, ""), why)
        elif text:
            place = value_of(properties, "w:vertAlign")
            if NOTE in text:
                pass  # raised anyway
            elif place == "superscript":
                text = raised("".join(line.parts[-2:]), text)
            elif place == "subscript":
                text = lowered("".join(line.parts[-2:]), text)
            _show(line, text, bold=bold)

    def _content(self, child: Any, line: Line, texts: list[str]) -> None:
        tag = child.tag
        if tag == qn("w:fldChar"):
            self._field(child.get(qn("w:fldCharType"), ""))
        elif self._fields and not all(self._fields):
            return
        elif tag == qn("w:t"):
            texts.append(plain_of(child.text or ""))
        elif tag in _BREAKS:
            texts.append(_BREAKS[tag])
        elif tag in _NOTES:
            line.notes.append((_NOTES[tag], child.get(qn("w:id"), "")))
            texts.append(NOTE)
        elif tag == qn("w:delText"):
            _hide(line, child.text or "", "deleted (tracked change)")
        elif tag == qn("w:ruby"):
            texts.extend(text.text or "" for base in child.findall(qn("w:rubyBase")) for text in base.iter(qn("w:t")))
        elif tag in {qn("w:drawing"), qn("w:pict"), qn("w:object")}:
            _hang(child, line)

    def _field(self, kind: str) -> None:
        if kind == "begin":
            self._fields.append(False)
        elif kind == "separate" and self._fields:
            self._fields[-1] = True
        elif kind == "end" and self._fields:
            self._fields.pop()

    def _why_hidden(self, properties: Any | None, style: str, *, shaded: bool) -> str:
        if self._styles.run_switch(properties, style, "w:vanish"):
            return "hidden text"
        size = whole(self._styles.run_value(properties, style, "w:sz"), _USUAL_HALF_POINTS)
        if is_unreadable(size / 2):
            return TOO_SMALL
        if is_white(self._styles.run_value(properties, style, "w:color")) and not shaded:
            lit = is_shaded(properties) or value_of(properties, "w:highlight") or self._styles.is_lit(properties, style)
            return "" if lit else WHITE_ON_WHITE
        return ""


def _show(line: Line, text: str, *, bold: bool) -> None:
    line.parts.append(text)
    line.bold.append(bold)


def _hide(line: Line, text: str, why: str) -> None:
    told = collapse(text)
    if told and line.hidden and line.hidden[-1][1] == why:
        line.hidden[-1] = (collapse(f"{line.hidden[-1][0]} {told}"), why)
    elif told:
        line.hidden.append((told, why))


def _all_text(element: Any) -> str:
    return "".join(text.text or "" for text in element.iter(qn("w:t"), qn("w:delText")))


def _expanded(run: Any) -> Iterator[Any]:
    for child in run:
        if child.tag == ALTERNATIVES:
            yield from chosen(child)
        else:
            yield child


def _hang(drawing: Any, line: Line) -> None:
    """Note the text boxes and pictures of a drawing; of nested versions of a box the first."""
    stack = [drawing]
    while stack:
        element = stack.pop()
        if element.tag == _TEXT_BOX:
            line.boxes.append(element)
            continue
        if element.tag == ALTERNATIVES:
            stack.extend(reversed(chosen(element)))
            continue
        described = ""
        if element.tag == f"{_DRAWING}docPr":
            described = element.get("descr") or ""
        elif element.tag == f"{_VML}shape":
            described = element.get("alt") or ""
        if described.strip():
            line.pictures.append(collapse(described))
        stack.extend(reversed(element))
