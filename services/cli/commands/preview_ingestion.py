"""``groundtrail ingest --dry-run FILE…``: what would become of documents; nothing is written (ADR 0113)."""

import asyncio
from pathlib import Path
from typing import Any, Final

from crp.ckf.v1 import ingestion_pb2 as reading
from crp.ckf.v1 import knowledge_service_pb2 as knowledge

from services.allinone.parts import Part
from services.cli import render
from services.cli.commands.ingest import REFUSALS, documents, left_out, own_data, show_left_out, uri_of
from services.cli.connection import Suite, connect
from services.cli.console import Output
from services.cli.document_files import read_document_file
from services.cli.exits import Exit, exit_of
from services.cli.reading_report import show_facts, show_report
from services.cli.source_names import all_sources, called
from services.common.counting import counted
from services.common.errors import CrpError, InvalidRequestError
from services.common.settings import Settings

_PAGE: Final = 1000
_PAGED: Final = frozenset({"facts", "next_page_token"})


async def preview_all(
    settings: Settings, output: Output, paths: list[Path], most: int, *, skip_comparison: bool
) -> Exit:
    """Show what an ingestion of files and folders would do; the exit code tells whether every file would be taken."""
    files = documents(paths, without=own_data(settings))
    told: list[dict[str, Any]] = []
    async with connect(settings, Part.KNOWLEDGE) as suite:
        for path, name in files:
            told.append(await _preview_one(suite, output, path, name, most, skip_comparison=skip_comparison))
    passed_over = left_out(paths, without=own_data(settings))
    show_left_out(passed_over, output)
    told += [{"path": one.path, "error": one.error, "reason": one.reason} for one in passed_over]
    output.result({"documents": told})
    refused = [one for one in told if "error" in one]
    if not refused:
        output.say("Nothing was written.", style="dim")
        return Exit.OK
    output.say(f"would not be taken: {len(refused)} of {counted(len(told), 'file')}", style="red")
    return exit_of(InvalidRequestError.of()) if len(refused) == len(told) else Exit.VERDICT


async def _preview_one(
    suite: Suite, output: Output, path: Path, name: str, most: int, *, skip_comparison: bool
) -> dict[str, Any]:
    try:
        content = await asyncio.to_thread(read_document_file, path)
        found, facts = await _read(suite, uri_of(name), content, most, skip_comparison=skip_comparison)
    except OSError as error:
        return _refused(output, path, error.strerror or "cannot be read", "FILE_UNREADABLE")
    except CrpError as error:
        if error.reason not in REFUSALS:
            raise
        return _refused(output, path, error.message, error.reason.value)
    show_report(str(path), found.report, output, await _others(suite, found.report))
    if facts:
        show_facts(facts, found.report.fact_count, output)
    change = f"{counted(found.facts_created, 'fact')} would be written, {found.facts_unchanged} left as they are"
    output.say("The same bytes are stored already." if found.unchanged else f"{change}, {found.facts_stale} replaced.")
    shown = {key: value for key, value in render.response_json(found).items() if key not in _PAGED}
    return {"path": str(path), **shown, "facts": [render.response_json(fact) for fact in facts]}


async def _others(suite: Suite, report: reading.IngestionReport) -> dict[str, str]:
    """Return what the sources that a report names by their ids are called."""
    if not report.duplicates and not report.disagreements:
        return {}
    return {each.source_id: called(each) for each in await all_sources(suite)}


def _refused(output: Output, path: Path, error: str, reason: str) -> dict[str, Any]:
    output.say(f"{path}: {error}", style="red")
    return {"path": str(path), "error": error, "reason": reason}


async def _read(
    suite: Suite, uri: str, content: bytes, most: int, *, skip_comparison: bool
) -> tuple[knowledge.PreviewIngestionResponse, list[reading.PreviewedFact]]:
    """Return what the first page says, and so many facts of it and those behind it."""
    request = knowledge.PreviewIngestionRequest(
        uri=uri,
        content=content,
        skip_comparison=skip_comparison,
        page_size=min(max(1, most), _PAGE),
    )
    first: knowledge.PreviewIngestionResponse = await suite.call(suite.knowledge.PreviewIngestion, request)
    facts, token = list(first.facts), first.next_page_token
    while token and len(facts) < most:
        request.page_token, request.skip_comparison = token, True
        page = await suite.call(suite.knowledge.PreviewIngestion, request)
        facts += page.facts
        token = page.next_page_token
    return first, facts[:most]
