"""The shapes of a slide: what each says, where it stands, whether anybody sees it."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final

from pptx.enum.shapes import MSO_SHAPE_TYPE, PP_PLACEHOLDER

from services.common.documents.document import Block, BlockKind, Place, Table, texts_of
from services.common.documents.limits import require_at_most
from services.common.documents.office.alternatives import ALTERNATIVES, chosen
from services.common.documents.office.boxes import joined_lines
from services.common.documents.office.packages import parse_part
from services.common.documents.office.unseen import TOO_SMALL
from services.common.documents.pptx.reading_order import Edges, in_reading_order
from services.common.documents.pptx.text import A, P, SlideText, level_properties, read_text
from services.common.documents.table_heads import header_columns_of, header_rows_of
from services.common.documents.wording import collapse

KIND: Final = "a PowerPoint presentation"
MAX_CELLS: Final = 2_000_000
_TITLES: Final = frozenset({PP_PLACEHOLDER.TITLE, PP_PLACEHOLDER.CENTER_TITLE, PP_PLACEHOLDER.VERTICAL_TITLE})
_FURNITURE: Final = frozenset(
    {PP_PLACEHOLDER.FOOTER, PP_PLACEHOLDER.DATE, PP_PLACEHOLDER.SLIDE_NUMBER, PP_PLACEHOLDER.HEADER}
)
_BODY: Final = frozenset(
    {PP_PLACEHOLDER.BODY, PP_PLACEHOLDER.OBJECT, PP_PLACEHOLDER.VERTICAL_BODY, PP_PLACEHOLDER.VERTICAL_OBJECT}
)
_DIAGRAM: Final = "http://schemas.openxmlformats.org/drawingml/2006/diagram"
_RELATION: Final = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_MAX_HEAD_CHARS: Final = 80
_MAX_GROUP_CHARS: Final = 400
_MAX_GROUP_LABEL: Final = 60
_SMALL_GROUP: Final = 4
_MAX_NESTING: Final = 40


@dataclass(slots=True)
class Shape:
    """What a shape, or a group of shapes, holds.

    Attributes:
        edges: as shares of the slide.
        unseen: text inside of it that nobody sees, and why.
        why_hidden: what hides all of it; empty when it is seen.
    """

    edges: Edges
    blocks: list[Block] = field(default_factory=list)
    unseen: list[tuple[str, str]] = field(default_factory=list)
    why_hidden: str = ""
    is_title: bool = False
    is_furniture: bool = False
    number: str = ""

    def texts(self) -> list[str]:
        """Return all that it says."""
        return [text for block in self.blocks for text in texts_of(block) if text]

    @property
    def size(self) -> int:
        """Return how many characters it has."""
        return sum(map(len, self.texts()))

    def key(self) -> tuple[str, float, float]:
        """Return what makes it the same as one on another slide: its text, but for the slide's number, and place."""
        text = "\n".join(self.texts())
        return ("#" if text == self.number else text, round(self.edges[0], 2), round(self.edges[1], 2))


def shapes_of(slide: Any, number: int, size: tuple[float, float]) -> Iterator[Shape]:
    """Yield the shapes of a slide.

    Args:
        slide: the library's.
        number: of the slide, from 1.
        size: its width and height.
    """
    _choose(slide.shapes.element)
    for shape in slide.shapes:
        found = _shape(shape, slide, number, size, 0)
        if found is not None:
            found.number = str(number)
            if not found.why_hidden and _is_outside(found.edges):
                found.why_hidden = "beyond the edge of the slide"
            yield found


def _choose(tree: Any) -> None:
    """Put what is drawn where content stands in several versions, as texts with formulas: the library skips it."""
    for element in list(tree.iter(ALTERNATIVES)):
        for part in chosen(element):
            element.addprevious(part)
        element.getparent().remove(element)


def _is_outside(edges: Edges) -> bool:
    left, top, right, bottom = edges
    return left >= 1 or top >= 1 or right <= 0 or bottom <= 0


def _shape(shape: Any, slide: Any, number: int, size: tuple[float, float], depth: int) -> Shape | None:
    edges = _edges(shape, size)
    left, top, right, bottom = (min(max(edge, 0.0), 1.0) for edge in edges)
    place = Place(number, (left, top, right, bottom), f"slide {number}")
    found = Shape(edges)
    if shape.element.xpath(".//p:cNvPr/@hidden")[:1] in (["1"], ["true"]):
        found.why_hidden = "hidden shape"
    if shape.shape_type == MSO_SHAPE_TYPE.GROUP:
        _group(found, shape, slide, number, size, depth)
    elif getattr(shape, "has_table", False):
        found.blocks.append(Block(BlockKind.TABLE, "", place=place, table=_table(shape.table, place)))
    elif getattr(shape, "has_chart", False):
        found.blocks.extend(_chart(shape.chart, place))
    elif shape.element.findall(f".//{{{_DIAGRAM}}}relIds"):
        found.blocks.extend(_diagram(shape, slide, place))
    elif shape.has_text_frame:
        _text_shape(found, shape, slide, place)
    if not found.blocks and depth == 0 and not found.unseen:
        described = shape.element.xpath(".//p:cNvPr/@descr")
        if described and described[0].strip():
            found.blocks.append(Block(BlockKind.CAPTION, collapse(described[0]), place=place))
    return found if found.blocks or found.unseen else None


def _edges(shape: Any, size: tuple[float, float]) -> Edges:
    left, top = float(shape.left or 0), float(shape.top or 0)
    width, height = float(shape.width or 0), float(shape.height or 0)
    return left / size[0], top / size[1], (left + width) / size[0], (top + height) / size[1]


def _group(found: Shape, shape: Any, slide: Any, number: int, size: tuple[float, float], depth: int) -> None:
    """Read a group: its shapes in their own order; a label and what stands with it are one text."""
    if depth > _MAX_NESTING:
        require_at_most("nested groups", depth, _MAX_NESTING)
    inner = [_shape(one, slide, number, size, depth + 1) for one in shape.shapes]
    shapes = [one for one in inner if one is not None]
    for one in shapes:
        found.unseen.extend(one.unseen)
    ordered = in_reading_order([(one.edges, one) for one in shapes])
    blocks = [block for one in ordered for block in one.blocks]
    short = all(block.kind is BlockKind.PARAGRAPH for block in blocks) and all(len(one.blocks) == 1 for one in ordered)
    flat = not any(one.shape_type == MSO_SHAPE_TYPE.GROUP for one in shape.shapes)
    texts = [block.text for block in blocks]
    labelled = flat and short and 1 < len(blocks) <= _SMALL_GROUP and len(texts[0]) <= _MAX_GROUP_LABEL
    if labelled and sum(map(len, texts)) <= _MAX_GROUP_CHARS and not texts[0].endswith("."):
        blocks = [replace(blocks[0], text=joined_lines(texts))]
    found.blocks.extend(blocks)


def _text_shape(found: Shape, shape: Any, slide: Any, place: Place) -> None:
    kind = shape.placeholder_format.type if shape.is_placeholder else None
    styles = _inherited(shape, slide, kind)
    text: SlideText = read_text(shape.element.find(f"{P}txBody"), styles)
    found.unseen.extend((one, TOO_SMALL) for one in text.hidden)
    found.is_furniture = kind in _FURNITURE
    lines = text.lines
    if not lines:
        return
    if kind in _TITLES:
        found.is_title = True
        level = 1
        found.blocks.append(Block(BlockKind.HEADING, " ".join(line.text for line in lines), level, place))
        return
    if kind in _BODY and len(lines) == 1 and not lines[0].item and _is_head(lines[0].text, styles):
        found.blocks.append(Block(BlockKind.HEADING, lines[0].text, 2, place))
        return
    for line in lines:
        block = BlockKind.LIST_ITEM if line.item else BlockKind.PARAGRAPH
        found.blocks.append(Block(block, line.text, line.level if line.item else 0, place, line.number))


def _is_head(text: str, styles: tuple[Any, ...]) -> bool:
    """Say whether a single line stands above others as their head: the layout makes it bold."""
    if len(text) > _MAX_HEAD_CHARS or text.endswith((".", "!", "?")):
        return False
    for properties in level_properties(styles):
        run = properties.find(f"{A}defRPr")
        if run is not None and run.get("b") is not None:
            return bool(run.get("b") in {"1", "true"})
    return False


def _inherited(shape: Any, slide: Any, kind: Any) -> tuple[Any, ...]:
    """Return the list styles that a shape inherits: from the layout's placeholder, the master's, the master's text."""
    if not shape.is_placeholder:
        return ()
    styles = []
    layout = slide.slide_layout
    index = shape.placeholder_format.idx
    near = next((one for one in layout.placeholders if one.placeholder_format.idx == index), None)
    master = layout.slide_master
    wanted = {PP_PLACEHOLDER.OBJECT: PP_PLACEHOLDER.BODY}.get(kind, kind)
    far = next((one for one in master.placeholders if one.placeholder_format.type in {kind, wanted}), None)
    for one in (near, far):
        body = None if one is None else one.element.find(f"{P}txBody")
        style = None if body is None else body.find(f"{A}lstStyle")
        if style is not None:
            styles.append(style)
    name = (
        "titleStyle"
        if kind in _TITLES
        else "bodyStyle"
        if kind in _BODY or kind == PP_PLACEHOLDER.SUBTITLE
        else "otherStyle"
    )
    style = master.element.find(f"{P}txStyles/{P}{name}")
    if style is not None:
        styles.append(style)
    return tuple(styles)


def _table(table: Any, place: Place) -> Table:
    """Return a slide's table as a grid."""
    rows = [list(row.cells) for row in table.rows]
    width = max((len(row) for row in rows), default=0)
    require_at_most("cells of a table", width * len(rows), MAX_CELLS)
    grid = [[""] * width for _ in rows]
    spanned = set()
    for row, cells in enumerate(rows):
        for column, cell in enumerate(cells):
            if cell.is_spanned:
                continue
            lines = read_text(cell._tc.find(f"{A}txBody"), ()).lines  # noqa: SLF001
            text = " ".join(part for line in lines for part in (line.number, line.text) if part)
            for down in range(row, min(row + cell.span_height, len(rows))):
                for across in range(column, min(column + cell.span_width, width)):
                    grid[down][across] = text
                    if (down, across) != (row, column):
                        spanned.add((down, across))
    merged = frozenset(spanned)
    strong = [bool(table.first_row) and index == 0 for index in range(len(grid))]
    headers = header_rows_of(grid, merged, strong if table.first_row and not _goes_down(merged) else ())
    columns = header_columns_of(grid, headers, merged)
    places = tuple(Place(place.page, place.box, f"{place.path}, table row {row + 1}") for row in range(len(grid)))
    return Table(tuple(map(tuple, grid)), headers, columns or int(bool(table.first_col)), "", merged, places)


def _goes_down(spanned: frozenset[tuple[int, int]]) -> bool:
    """Say whether a cell of the first row covers some of the second, or several columns: heads of two rows."""
    return any(row <= 1 for row, _ in spanned)


def _chart(chart: Any, place: Place) -> Iterator[Block]:
    """Yield a chart's numbers as a table: a row for each category, a column for each series."""
    title = collapse(chart.chart_title.text_frame.text) if chart.has_title and chart.chart_title.has_text_frame else ""
    for plot in chart.plots:
        names = [str(category) for category in plot.categories]
        series = list(plot.series)
        if not names or not series:
            continue
        require_at_most("cells of a table", (len(names) + 1) * (len(series) + 1), MAX_CELLS)
        values = [list(one.values) for one in series]
        rows = [("", *(str(one.name) for one in series))]
        for index, name in enumerate(names):
            cells = (_value(one[index]) if index < len(one) else "" for one in values)
            rows.append((name, *cells))
        table = Table(tuple(rows), 1, 1, title)
        yield Block(BlockKind.TABLE, "", place=replace(place, path=f"{place.path}, chart"), table=table)


def _value(value: float | None) -> str:
    return "" if value is None else f"{value:.10g}"


def _diagram(shape: Any, slide: Any, place: Place) -> Iterator[Block]:
    """Yield the texts of a diagram (SmartArt) in the order in which they were written."""
    for ids in shape.element.findall(f".//{{{_DIAGRAM}}}relIds"):
        part = slide.part.related_part(ids.get(f"{_RELATION}dm"))
        for point in parse_part(part.blob, KIND).iter(f"{{{_DIAGRAM}}}pt"):
            if point.get("type", "node") != "node":
                continue
            text = collapse(" ".join(one.text or "" for one in point.iter(f"{A}t")))
            if text:
                yield Block(BlockKind.LIST_ITEM, text, place=place)
