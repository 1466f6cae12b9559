"""``groundtrail search QUERY``: facts of the knowledge fabric, in any mode of retrieval (ADR 0066)."""

from typing import Final

from crp.ckf.v1 import knowledge_service_pb2 as knowledge

from services.allinone.parts import Part
from services.cli import render
from services.cli.connection import connect
from services.cli.console import Output
from services.cli.exits import Exit
from services.cli.modes import search_mode
from services.cli.words import enum_text, time_mark, where
from services.common.settings import Settings

MAX_FACT_CHARS: Final = 240
"""More of a fact is not shown in the table; --json has all of it."""


async def search(
    settings: Settings, output: Output, query: str, mode: str, limit: int, *, include_superseded: bool = False
) -> Exit:
    """Find facts and show them best first; no mode means the server's. What retrieval lacked is said in yellow."""
    wanted = search_mode("--mode", mode) if mode else None
    request = knowledge.SearchFactsRequest(query=query, mode=wanted, limit=limit, include_superseded=include_superseded)
    async with connect(settings, Part.KNOWLEDGE) as suite:
        found: knowledge.SearchFactsResponse = await suite.call(suite.knowledge.SearchFacts, request)
    rows = [
        (
            str(place),
            f"{hit.score:.4f}",
            time_mark(hit.fact.stale_reason) + _shortened(hit.fact.content),
            where(hit.fact.source_location),
            hit.fact.fact_id,
        )
        for place, hit in enumerate(found.hits, start=1)
    ]
    title = f"Facts ({enum_text(knowledge.SearchMode, found.mode).lower().replace('_', '-')})"
    output.table(title, ("", "score", "fact", "where", "fact id"), rows)
    if found.keyword_fallback:
        output.say("The vectors returned nothing: found by words.", style="yellow")
    for warning in found.warnings:
        output.say(warning, style="yellow")
    output.result(render.response_json(found))
    return Exit.OK


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MAX_FACT_CHARS else f"{line[: MAX_FACT_CHARS - 1]}…"
