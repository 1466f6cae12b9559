"""``groundtrail sources diff A B``: what differs between two versions of a document, fact by fact (ADR 0113)."""

import asyncio
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from crp.ckf.v1 import ingestion_pb2 as reading
from crp.ckf.v1 import knowledge_service_pb2 as knowledge

from services.allinone.parts import Part
from services.cli import render
from services.cli.connection import connect
from services.cli.console import Output
from services.cli.document_files import read_document_file
from services.cli.exits import Exit
from services.cli.reading_report import shortened
from services.cli.words import where
from services.common.errors import FieldViolation, InvalidRequestError
from services.common.settings import Settings

MOST: Final = 1000
_STORED: Final = re.compile(r"(?P<id>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:@(?P<version>[1-9]\d{0,8}))?")


async def diff_sources(settings: Settings, output: Output, before: str, after: str, limit: int) -> Exit:
    """Compare two sides; each a source's id, its id and a version (``ID@2``), or a file."""
    request = knowledge.DiffSourcesRequest(
        before=await asyncio.to_thread(_side, "A", before),
        after=await asyncio.to_thread(_side, "B", after),
        limit=limit,
    )
    async with connect(settings, Part.KNOWLEDGE) as suite:
        found: knowledge.DiffSourcesResponse = await suite.call(suite.knowledge.DiffSources, request)
    rows = [
        *(("added", "", shortened(one.content), where(one.source_location)) for one in found.added),
        *(("removed", shortened(one.content), "", where(one.source_location)) for one in found.removed),
        *(_paired("changed", found.changed)),
        *(_paired("moved", found.moved)),
    ]
    output.table("", ("what", "before", "after", "where"), rows)
    output.say(
        f"{found.added_count} added, {found.removed_count} removed, {found.changed_count} changed, "
        f"{found.moved_count} moved, {found.unchanged_count} unchanged"
    )
    output.result(render.response_json(found))
    return Exit.OK


def _paired(what: str, pairs: Sequence[reading.FactPair]) -> list[tuple[str, str, str, str]]:
    return [
        (
            what,
            shortened(one.before.content),
            shortened(one.after.content) if what == "changed" else "",
            where(one.after.source_location)
            if one.before.source_location == one.after.source_location
            else f"{where(one.before.source_location)} → {where(one.after.source_location)}",
        )
        for one in pairs
    ]


def _side(argument: str, text: str) -> knowledge.DiffSide:
    """Return what an argument names.

    Raises:
        InvalidRequestError: it is neither a source's id nor a file that can be read.
    """
    stored = _STORED.fullmatch(text)
    if stored is not None:
        version = int(stored["version"] or 0)
        return knowledge.DiffSide(stored=knowledge.StoredVersion(source_id=stored["id"], version=version))
    path = Path(text)
    if not path.is_file():
        why = (
            f"{text} is neither a file nor a source's id with or without @VERSION; `groundtrail sources list` has them"
        )
        raise InvalidRequestError.of(FieldViolation(argument, why))
    name = path.name.encode(errors="backslashreplace").decode()
    try:
        content = read_document_file(path)
    except OSError as error:
        raise InvalidRequestError.of(FieldViolation(argument, error.strerror or "cannot be read")) from None
    document = knowledge.UnstoredDocument(name=name, content=content)
    return knowledge.DiffSide(document=document)
