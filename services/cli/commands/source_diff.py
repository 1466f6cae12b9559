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
from services.cli.connection import Suite, connect
from services.cli.console import Output
from services.cli.document_files import read_document_file
from services.cli.exits import Exit
from services.cli.reading_report import one_line
from services.cli.source_names import source_id_of
from services.cli.words import where
from services.common.counting import counted
from services.common.errors import FieldViolation, InvalidRequestError
from services.common.locations import BELOW
from services.common.settings import Settings

MOST: Final = 1000
_VERSIONED: Final = re.compile(r"(?P<name>.+)@(?P<version>[1-9]\d{0,8})", re.DOTALL)


async def diff_sources(settings: Settings, output: Output, before: str, after: str, limit: int) -> Exit:
    """Compare two sides; each a source's uri or id, with or without a version (``file:fees.md@2``), or a file."""
    async with connect(settings, Part.KNOWLEDGE) as suite:
        request = knowledge.DiffSourcesRequest(
            before=await _side(suite, "A", before), after=await _side(suite, "B", after), limit=limit
        )
        found: knowledge.DiffSourcesResponse = await suite.call(suite.knowledge.DiffSources, request)
    rows = [
        *(("renamed", _name(one.before), _name(one.after), _above(one.after)) for one in found.renamed),
        *(("added", "", one_line(one.content), where(one.source_location)) for one in found.added),
        *(("removed", one_line(one.content), "", where(one.source_location)) for one in found.removed),
        *(_paired("changed", found.changed)),
        *(_paired("moved", found.moved)),
    ]
    output.table("", ("what", "before", "after", "where"), rows)
    output.say(
        f"{found.added_count} added, {found.removed_count} removed, {found.changed_count} changed, "
        f"{found.moved_count} moved, {found.unchanged_count} unchanged{_headings(found.renamed_count)}"
    )
    output.result(render.response_json(found))
    return Exit.OK


def _name(path: str) -> str:
    return one_line(path.rpartition(BELOW)[2].lstrip("# "))


def _above(path: str) -> str:
    return where(path.rpartition(BELOW)[0])


def _headings(count: int) -> str:
    return f", {counted(count, 'heading')} renamed" if count else ""


def _paired(what: str, pairs: Sequence[reading.FactPair]) -> list[tuple[str, str, str, str]]:
    return [
        (
            what,
            one_line(one.before.content),
            one_line(one.after.content) if what == "changed" else "",
            where(one.after.source_location)
            if one.before.source_location == one.after.source_location
            else f"{where(one.before.source_location)} → {where(one.after.source_location)}",
        )
        for one in pairs
    ]


async def _side(suite: Suite, argument: str, text: str) -> knowledge.DiffSide:
    """Return what an argument names: a file where there is one of this name, else a source.

    Raises:
        InvalidRequestError: it is neither a source nor a file that can be read.
    """
    path = Path(text)
    is_file = await asyncio.to_thread(path.is_file)
    if text and is_file:
        return await asyncio.to_thread(_file_side, argument, path)
    versioned = _VERSIONED.fullmatch(text)
    named, version = (versioned["name"], int(versioned["version"])) if versioned else (text, 0)
    source_id = await source_id_of(suite, named, argument)
    return knowledge.DiffSide(stored=knowledge.StoredVersion(source_id=source_id, version=version))


def _file_side(argument: str, path: Path) -> knowledge.DiffSide:
    name = path.name.encode(errors="backslashreplace").decode()
    try:
        content = read_document_file(path)
    except OSError as error:
        raise InvalidRequestError.of(FieldViolation(argument, error.strerror or "cannot be read")) from None
    document = knowledge.UnstoredDocument(name=name, content=content)
    return knowledge.DiffSide(document=document)
