"""What lies nearest to a question that got no answer, for a reader to look at; no part of the answer (ADR 0191)."""

from typing import Final

from crp.ckf.v1 import knowledge_service_pb2 as knowledge
from crp.dpe.v1 import quality_pb2
from crp.gateway.v1 import dispatch_service_pb2 as dispatch

from services.cli.connection import Suite
from services.cli.console import Output
from services.cli.words import time_mark, where
from services.common.errors import CrpError

NEAREST: Final = 3
_LINES: Final = 2
_INDENT: Final = 2


def found_nothing(response: dispatch.DispatchResponse) -> bool:
    """Say whether an answer says that it has none."""
    return (
        response.HasField("answer") and response.answer.report.relevance.status == quality_pb2.RELEVANCE_STATUS_REFUSAL
    )


async def show_nearest(suite: Suite, output: Output, question: str) -> None:
    """Show the facts nearest to a question, best first, with their places; nothing where search cannot be asked.

    Args:
        suite: whose knowledge is searched, as the caller may see it.
        output: where they are shown; JSON has the response alone.
        question: as it was asked.
    """
    if output.as_json:
        return
    try:
        request = knowledge.SearchFactsRequest(query=question, limit=NEAREST)
        found: knowledge.SearchFactsResponse = await suite.call(suite.knowledge.SearchFacts, request)
    except CrpError:
        return  # the answer stands without it
    if not found.hits:
        return
    output.say("\nNearest to the question, to look at; not checked to answer it:", style="yellow")
    for hit in found.hits:
        fact = hit.fact
        quoted = f"“{time_mark(fact.stale_reason)}{' '.join(fact.content.split())}”"
        output.show_lines(output.folded([(quoted, "")], indent=_INDENT, most=_LINES))
        place = where(fact.source_location)
        if place:
            output.show_lines(output.folded([(place, "dim")], indent=2 * _INDENT, most=1))
