"""``CutDocument`` as JSON, between the process that reads documents and the one that has them read."""

from collections.abc import Iterable, Iterator
from typing import Final

from services.common.documents.document import NOWHERE, DoubtfulTable, HiddenText, Place
from services.common.documents.facts.draft import FactDraft, FactKind
from services.common.ports.documents import CutDocument
from services.common.workers.frames import Json

_DRAFTS_AT_ONCE: Final = 500
"""In one part of an answer, so that reading a part keeps the serving process for a few milliseconds."""


def write_parts(found: CutDocument) -> Iterator[Json]:
    """Yield the document without its facts, then its facts, some at a time."""
    yield [
        found.media_type,
        found.title,
        list(found.warnings),
        [[one.text, one.why, _write_place(one.place)] for one in found.hidden],
        list(found.furniture),
        found.language,
        found.pages,
        dict(found.properties),
        [[one.caption, one.rows, one.columns, one.why, _write_place(one.place)] for one in found.doubtful],
    ]
    for at in range(0, len(found.drafts), _DRAFTS_AT_ONCE):
        some = found.drafts[at : at + _DRAFTS_AT_ONCE]
        yield [[one.content, one.section, one.location, one.kind.value, _write_place(one.place)] for one in some]


def read_parts(parts: Iterable[Json]) -> CutDocument:
    """Return what ``write_parts`` gave."""
    head, *rest = parts
    kind, title, warnings, hidden, furniture, language, pages, properties, doubtful = head
    return CutDocument(
        kind,
        title,
        tuple(warnings),
        tuple(_read_draft(draft) for part in rest for draft in part),
        tuple(HiddenText(text, why, _read_place(place)) for text, why, place in hidden),
        tuple(furniture),
        language,
        pages,
        properties,
        tuple(DoubtfulTable(caption, n, m, why, _read_place(place)) for caption, n, m, why, place in doubtful),
    )


def _read_draft(draft: Json) -> FactDraft:
    content, section, location, kind, place = draft
    return FactDraft(content, section, location, FactKind(kind), _read_place(place))


def _write_place(place: Place) -> Json:
    return None if place == NOWHERE else [place.page, place.box, place.path, place.table, place.rows, place.columns]


def _read_place(place: Json) -> Place:
    if place is None:
        return NOWHERE
    page, box, path, table, rows, columns = place
    return Place(page, _tuple(box), path, table, _tuple(rows), _tuple(columns))


def _tuple(values: Json) -> Json:
    return None if values is None else tuple(values)
