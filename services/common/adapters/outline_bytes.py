"""An outline's entries as bytes, as every durable store keeps them: columns of JSON, compressed (ADR 0113).

A fact takes some 25 bytes: its id cannot be compressed, the rest is alike from one fact to the next. What is longer
than ``MAX_BYTES`` is kept without what the format calls the places, and the ids, kinds and sections stay.
"""

import json
import zlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from services.common.adapters.stored_values import strings_in
from services.common.documents.document import NOWHERE, Place
from services.common.ports.outline import OutlineEntry

MAX_BYTES: Final = 8 * 1024 * 1024
"""Largest value that is stored, in bytes. 50,000 facts with a page, a box and a cell each take about 3 MB."""
_MAX_TEXT: Final = 256 * 1024 * 1024
"""No value unfolds to more than this."""
_LEVEL: Final = 6
_DIGITS: Final = 4
"""Of a share of a page: a tenth of a millimetre on paper."""


def pack(entries: Sequence[OutlineEntry], max_bytes: int = MAX_BYTES) -> bytes:
    """Return the entries as bytes, at most about ``max_bytes`` of them."""
    packed = _packed(entries)
    if len(packed) > max_bytes:
        packed = _packed([replace(one, place=replace(one.place, path="", box=None)) for one in entries])
    return packed


def unpack(value: bytes) -> tuple[OutlineEntry, ...]:
    """Read what ``pack`` wrote.

    Raises:
        ValueError: it was not written by ``pack``; so do TypeError, KeyError and zlib's own error, which is none of
            these and is turned into the first.
    """
    inflater = zlib.decompressobj()
    try:
        text = inflater.decompress(value, _MAX_TEXT)
    except zlib.error as error:
        raise ValueError(str(error)) from error
    if not inflater.eof:
        raise ValueError("an outline that does not end")
    columns = json.loads(text)
    kinds: list[str] = columns["kinds"]
    rows = zip(
        strings_in(columns["ids"]), columns["kind"], columns["section"], map(_place, columns["place"]), strict=True
    )
    return tuple(OutlineEntry(fact_id, kinds[kind], section, place) for fact_id, kind, section, place in rows)


def _packed(entries: Sequence[OutlineEntry]) -> bytes:
    kinds = list(dict.fromkeys(one.kind for one in entries))
    numbers = {kind: number for number, kind in enumerate(kinds)}
    columns = {
        "ids": [one.fact_id for one in entries],
        "kinds": kinds,
        "kind": [numbers[one.kind] for one in entries],
        "section": [one.section for one in entries],
        "place": [_row(one.place) for one in entries],
    }
    text = json.dumps(columns, ensure_ascii=False, separators=(",", ":"))
    return zlib.compress(text.encode("utf-8", "surrogatepass"), _LEVEL)


def _row(place: Place) -> Any:
    if place == NOWHERE:
        return 0
    box = None if place.box is None else [round(share, _DIGITS) for share in place.box]
    return [place.page, place.path, box, place.table, place.rows, place.columns]


def _place(row: Any) -> Place:
    if row == 0:
        return NOWHERE
    page, path, box, table, rows, columns = row
    return Place(page, _values(box), path, table, _values(rows), _values(columns))


def _values(found: list[Any] | None) -> Any:
    return None if found is None else tuple(found)
