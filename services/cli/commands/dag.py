"""``groundtrail dag``: a session's windows and what flowed between them, in the terminal or for other tools."""

from typing import Final

from crp.dag.v1 import dag_pb2
from crp.dag.v1 import session_service_pb2 as sessions

from services.allinone.parts import Part
from services.cli import render
from services.cli.connection import Suite, connect
from services.cli.console import Output
from services.cli.exits import Exit
from services.cli.forms import DagForm
from services.common.settings import Settings
from services.dag.exports.drawings import draw
from services.dag.exports.picture import picture_of
from services.dag.exports.plain import plain
from services.dag.exports.tree import tree

_FORMATS: Final = {
    DagForm.TREE: sessions.DAG_FORMAT_UNSPECIFIED,
    DagForm.DOT: sessions.DAG_FORMAT_DOT,
    DagForm.MERMAID: sessions.DAG_FORMAT_MERMAID,
    DagForm.JSON: sessions.DAG_FORMAT_JSON_GRAPH,
}


async def dag(settings: Settings, output: Output, session_id: str, form: DagForm) -> Exit:
    """Draw a session's DAG; SPEC-004 appendix A is what the tree looks like."""
    async with connect(settings, Part.SESSIONS) as suite:
        request = sessions.GetDagRequest(session_id=session_id)
        found: sessions.GetDagResponse = await suite.call(suite.sessions.GetDag, request)
        lineage = await _lineage(suite, found) if form is DagForm.TREE and not output.as_json else ""
    # Drawn here and not by the server: what reaches the terminal is then ours, whatever the server says.
    found.rendered = draw(found, _FORMATS[form])
    if form is DagForm.TREE:
        for line in tree(picture_of(found)):
            output.drawn([(text, render.style_of(word)) for text, word in line])
        output.drawn([(lineage, "")])
    else:
        output.document(found.rendered)
    output.result(render.response_json(found))
    return Exit.OK


async def _lineage(suite: Suite, found: sessions.GetDagResponse) -> str:
    """Return the lineage of the latest committed window, as the header prints it."""
    committed = [window for window in found.windows if window.status == dag_pb2.WINDOW_STATUS_COMMITTED]
    if not committed:
        return ""
    last = committed[-1].window_id
    request = sessions.GetLineageRequest(session_id=found.session.session_id, window_id=last)
    answer: sessions.GetLineageResponse = await suite.call(suite.sessions.GetLineage, request)
    return f"Window Lineage (for {plain(last)}): {plain(answer.lineage, limit=len(answer.lineage))}"
