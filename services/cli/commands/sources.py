"""``groundtrail sources list | show | erase`` and ``groundtrail facts quarantine | restore``."""

import uuid

from crp.ckf.v1 import ckf_pb2 as ckf
from crp.ckf.v1 import knowledge_service_pb2 as knowledge
from rich.text import Text

from services.allinone.parts import Part
from services.cli import render
from services.cli.commands.facts import fact_id_of
from services.cli.connection import connect
from services.cli.console import Output
from services.cli.exits import Exit
from services.cli.source_names import all_sources, source_id_of
from services.cli.words import enum_text
from services.common.counting import counted
from services.common.settings import Settings


async def list_sources(settings: Settings, output: Output) -> Exit:
    """List every source, the latest first, erased ones included."""
    async with connect(settings, Part.STORED_KNOWLEDGE) as suite:
        found = await all_sources(suite)
    rows = [
        (
            _called(each),
            enum_text(ckf.SourceType, each.source_type).lower().replace("_", "-"),
            str(each.fact_count),
            enum_text(ckf.SourceStatus, each.status).lower(),
            f"{each.ingested_at.ToDatetime():%Y-%m-%d}",
        )
        for each in found
    ]
    output.table("Sources", ("source", "type", "facts", "status", "ingested"), rows)
    if found:
        output.say("`groundtrail sources show file:…` says more of one, its id as well.", style="dim")
    output.result({"sources": [render.response_json(each) for each in found]})
    return Exit.OK


def _called(source: ckf.Source) -> str:
    """Return what a source is called, and under it what it is named by; of an erased one its id is left."""
    name = source.uri or source.source_id
    return f"{source.title}\n{name}" if source.title and source.title != name else name


async def show_source(settings: Settings, output: Output, named: str) -> Exit:
    """Show one source, and the versions of it that ``sources diff`` can compare."""
    async with connect(settings, Part.STORED_KNOWLEDGE) as suite:
        source_id = await source_id_of(suite, named)
        found: knowledge.GetSourceResponse = await suite.call(
            suite.knowledge.GetSource, knowledge.GetSourceRequest(source_id=source_id)
        )
    source = found.source
    rows: list[tuple[str | Text, ...]] = [
        ("title", source.title or "-"),
        ("uri", source.uri or "-"),
        ("status", render.coloured(enum_text(ckf.SourceStatus, source.status))),
        ("type", enum_text(ckf.SourceType, source.source_type).lower()),
        ("read as", source.media_type or "-"),
        ("facts", str(source.fact_count)),
        ("source id", source.source_id),
    ]
    output.table("", ("what", "value"), rows)
    versions = [
        (
            f"{source.uri or source.source_id}@{each.version}",
            str(each.fact_count),
            f"{each.ingested_at.ToDatetime():%Y-%m-%d %H:%M}",
        )
        for each in found.versions
    ]
    output.table("Versions that can be compared", ("version", "facts", "ingested (UTC)"), versions, whole="version")
    output.result(render.response_json(found))
    return Exit.OK


async def erase_source(settings: Settings, output: Output, named: str) -> Exit:
    """Erase a source: its facts are returned by nothing from the answer on (SPEC-003 §17.2)."""
    async with connect(settings, Part.KNOWLEDGE) as suite:
        source_id = await source_id_of(suite, named)
        request = knowledge.EraseSourceRequest(request_id=str(uuid.uuid4()), source_id=source_id)
        erased: knowledge.EraseSourceResponse = await suite.call(suite.knowledge.EraseSource, request)
    output.say(f"{named} erased, with {counted(erased.facts_erased, 'fact')}. Nothing brings them back.", style="green")
    output.result(render.response_json(erased))
    return Exit.OK


async def quarantine_fact(settings: Settings, output: Output, fact_id: str) -> Exit:
    """Withhold a fact from every retrieval until it is restored; the beginning of its id is enough, as for ``show``."""
    async with connect(settings, Part.KNOWLEDGE) as suite:
        fact_id = await fact_id_of(suite, fact_id)
        request = knowledge.QuarantineFactRequest(request_id=str(uuid.uuid4()), fact_id=fact_id)
        changed = await suite.call(suite.knowledge.QuarantineFact, request)
    output.say(f"{fact_id} is withheld until `groundtrail facts restore {fact_id}`.", style="green")
    output.result(render.response_json(changed))
    return Exit.OK


async def restore_fact(settings: Settings, output: Output, fact_id: str) -> Exit:
    """Make a withheld fact retrievable again; the beginning of its id is enough."""
    async with connect(settings, Part.KNOWLEDGE) as suite:
        fact_id = await fact_id_of(suite, fact_id)
        request = knowledge.RestoreFactRequest(request_id=str(uuid.uuid4()), fact_id=fact_id)
        changed: knowledge.RestoreFactResponse = await suite.call(suite.knowledge.RestoreFact, request)
    output.say(f"{fact_id} is {enum_text(ckf.FactStatus, changed.status)}.", style="green")
    output.result(render.response_json(changed))
    return Exit.OK
