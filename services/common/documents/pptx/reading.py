"""PowerPoint presentations (PPTX): slide by slide, in the order in which a person reads a slide.

Kept: titles as headings, lists with their numbers, tables with merged cells, grouped shapes, charts as tables,
diagrams, descriptions of pictures, speaker notes (said to be such), properties. Hidden: hidden slides and shapes, what
stands beyond the slide, what is too small to read, comments. Furniture: feet, dates, slide numbers, what stands on most
slides. Lost: pictures, animations, colours.
"""

import io
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from pptx import Presentation

from services.common.document_kinds import MediaType
from services.common.documents.document import Block, BlockKind, Document, HiddenText, Place, first_heading
from services.common.documents.limits import require_at_most
from services.common.documents.office.packages import check_package, parse_part
from services.common.documents.office.properties import core_properties, custom_properties, own_title
from services.common.documents.pptx.reading_order import in_reading_order
from services.common.documents.pptx.shapes import KIND, Shape, shapes_of
from services.common.documents.refusals import refusing_damage
from services.common.documents.wording import collapse

_MANY_SLIDES: Final = 3
_COMMENTS: Final = ("/comments", "/comment")
_CUSTOM: Final = "/custom-properties"


@dataclass(frozen=True, slots=True)
class _Slide:
    number: int
    shapes: list[Shape]
    notes: str
    comments: list[str]
    hidden: bool


def read_pptx(content: bytes, max_slides: int, max_chars: int) -> Document:
    """Parse a PowerPoint presentation.

    Raises:
        InvalidRequestError: UNSUPPORTED_MEDIA: damaged.
        LimitExceededError: MESSAGE_TOO_LARGE: too many slides or characters, or what ``check_package`` refuses.
    """
    check_package(content, KIND)
    with refusing_damage(KIND):
        show = Presentation(io.BytesIO(content))
        require_at_most("slides", len(show.slides), max_slides)
        slides = list(_slides(show, max_chars))
        custom = next(
            (rel.target_part.blob for rel in show.part.package._rels.values() if rel.reltype.endswith(_CUSTOM)),  # noqa: SLF001
            b"",
        )
        properties = {**core_properties(show.core_properties), **custom_properties(custom, KIND)}
    return _document(slides, properties)


def _slides(show: Any, max_chars: int) -> Iterator[_Slide]:
    size = (float(show.slide_width or 1), float(show.slide_height or 1))
    total = 0
    for number, slide in enumerate(show.slides, start=1):
        shapes = list(shapes_of(slide, number, size))
        notes = ""
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            notes = collapse(slide.notes_slide.notes_text_frame.text)
        comments = [
            collapse(" ".join(_comment_texts(rel.target_part.blob)))
            for rel in slide.part.rels.values()
            if not rel.is_external and rel.reltype.endswith(_COMMENTS)
        ]
        total += len(notes) + sum(shape.size for shape in shapes)
        require_at_most("characters", total, max_chars)
        yield _Slide(number, shapes, notes, comments, slide.element.get("show") in {"0", "false"})


def _comment_texts(xml: bytes) -> Iterator[str]:
    for element in parse_part(xml, KIND).iter():
        if element.tag.rpartition("}")[2] in {"text", "t"} and element.text:
            yield element.text


def _document(slides: list[_Slide], properties: dict[str, str]) -> Document:
    repeated = _repeated(slides)
    blocks: list[Block] = []
    hidden: list[HiddenText] = []
    furniture: dict[str, None] = {}
    for slide in slides:
        place = Place(slide.number, path=f"slide {slide.number}")
        hidden.extend(HiddenText(text, "comment", place) for text in slide.comments if text)
        if slide.hidden:
            hidden.extend(HiddenText(text, "hidden slide", place) for shape in slide.shapes for text in shape.texts())
            if slide.notes:
                hidden.append(HiddenText(slide.notes, "hidden slide", place))
            continue
        seen = []
        for shape in slide.shapes:
            hidden.extend(HiddenText(text, why, place) for text, why in shape.unseen)
            if shape.why_hidden:
                hidden.extend(HiddenText(text, shape.why_hidden, place) for text in shape.texts())
            elif shape.is_furniture or shape.key() in repeated:
                furniture.update(dict.fromkeys(shape.texts()))
            else:
                seen.append(shape)
        blocks.extend(_slide_blocks(seen))
        if slide.notes:
            where = Place(slide.number, path=f"slide {slide.number}, speaker notes")
            blocks.append(Block(BlockKind.PARAGRAPH, f"Speaker notes: {slide.notes}", place=where))
    comments = sum(len(slide.comments) for slide in slides)
    warnings = (f"{comments} slide(s) with comments, which were left out",) if comments else ()
    return Document(
        MediaType.PPTX.value,
        own_title(properties) or first_heading(blocks),
        tuple(blocks),
        warnings,
        tuple(hidden),
        tuple(furniture),
        pages=len(slides),
        properties=properties,
    )


def _slide_blocks(shapes: list[Shape]) -> Iterator[Block]:
    """Yield the title, then everything else where it stands."""
    titles = [shape for shape in shapes if shape.is_title]
    others = [(shape.edges, shape) for shape in shapes if not shape.is_title]
    for shape in (*titles, *in_reading_order(others)):
        yield from shape.blocks


def _repeated(slides: list[_Slide]) -> frozenset[tuple[str, float, float]]:
    """Return what stands at one place of most slides, by text and place; a slide's number counts as one text."""
    shown = [slide for slide in slides if not slide.hidden]
    counts: Counter[tuple[str, float, float]] = Counter()
    for slide in shown:
        counts.update({shape.key() for shape in slide.shapes if shape.blocks and not shape.is_title})
    enough = max(_MANY_SLIDES, (len(shown) + 1) // 2)
    return frozenset(key for key, count in counts.items() if count >= enough)
