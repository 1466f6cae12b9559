"""The DAG as DOT, Mermaid and JSON Graph Format 2: what a window is stands in its label, colour only repeats it.

Nothing that a store holds becomes syntax: nodes are called ``w1``, ``w2`` …, DOT strings escape quotes and backslashes,
Mermaid labels spell everything but letters, digits and harmless punctuation as character codes, JSON is ASCII.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any, Final

from crp.dag.v1 import session_service_pb2 as pb

from services.common.counting import counted
from services.common.rpc.canonical import message_json
from services.dag.exports.picture import (
    COLOURS,
    WEIGHTS,
    AgentPicture,
    DagPicture,
    EdgePicture,
    WindowPicture,
    picture_of,
)
from services.dag.exports.plain import plain

GRAPH_TYPE: Final = "crp-session-dag"
ABSENT: Final = "not in this store"
_DOT_SHAPES: Final = {"LINEAR": "box", "FAN_OUT": "parallelogram", "FAN_IN": "hexagon", "BRANCH": "octagon"}
_DOT_BORDERS: Final = {"COMMITTED": "solid", "PENDING": "dashed", "FAILED": "dotted"}
_DOT_LINES: Final = {"FULL_CONTEXT": "bold", "SUMMARY": "solid", "FACTS_ONLY": "dashed", "RESULT_ONLY": "dotted"}
_MERMAID_SHAPES: Final = {"FAN_OUT": ("[/", "/]"), "FAN_IN": ("{{", "}}"), "BRANCH": ("([", "])")}
_MERMAID_BORDERS: Final = {"COMMITTED": "", "PENDING": ",stroke-dasharray:6 4", "FAILED": ",stroke-dasharray:1 4"}
_MERMAID_LINES: Final = {"FULL_CONTEXT": "==>", "SUMMARY": "-->", "FACTS_ONLY": "-.->", "RESULT_ONLY": "-.->"}
_MERMAID_SAFE: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _.,:=+-")


def dot(picture: DagPicture) -> str:
    """Return the DAG in Graphviz's language."""
    return "\n".join(_dot_lines(picture)) + "\n"


def _dot_lines(picture: DagPicture) -> Iterator[str]:
    names = _node_names(picture)
    yield f"digraph {_dot_text(picture.session_id)} {{"
    yield f"  label={_dot_text(_title(picture))};"
    yield "  labelloc=t;"
    yield "  rankdir=TB;"
    yield '  node [fontname="sans-serif", fontcolor="#000000", color="#000000"];'
    yield '  edge [fontname="sans-serif", color="#404040"];'
    for window in picture.windows:
        label = "\\n".join(_dot_escaped(line) for line in _label(window))
        shape = _DOT_SHAPES.get(window.pattern, "box")
        style = f"filled,{_DOT_BORDERS.get(window.status, 'dashed')}"
        shade = COLOURS.get(window.risk, COLOURS["-"])
        yield (
            f'  {names[window.window_id]} [label="{label}", shape={shape}, style="{style}", fillcolor="{shade}", '
            f"penwidth={WEIGHTS.get(window.risk, 1)}];"
        )
    for stranger in picture.strangers:
        yield f'  {names[stranger]} [label="{_dot_escaped(plain(stranger))}\\n{ABSENT}", shape=plaintext];'
    for key, lines in _agent_labels(picture).items():
        label = "\\n".join(_dot_escaped(line) for line in lines)
        yield f'  {names[key]} [label="{label}", shape=component];'
    for edge in picture.edges:
        line = _DOT_LINES.get(edge.transfer, "dotted")
        ends = f"{names[edge.source]} -> {names[edge.target]}"
        yield f"  {ends} [label={_dot_text(edge.label)}, style={line}];"
    for agent in picture.agents:
        line = _DOT_LINES[agent.transfer]
        yield f"  {names[agent.key]} -> {names[agent.target]} [label={_dot_text(agent.transfer)}, style={line}];"
    yield "}"


def mermaid(picture: DagPicture) -> str:
    """Return the DAG as a Mermaid flowchart."""
    return "\n".join(_mermaid_lines(picture)) + "\n"


def _mermaid_lines(picture: DagPicture) -> Iterator[str]:
    names = _node_names(picture)
    yield "flowchart TD"
    yield f"  accTitle: {_mermaid_text(_title(picture))}"
    agents = f", {counted(len(picture.agents), 'answer')} of agents merged" if picture.agents else ""
    yield f"  accDescr: {counted(len(picture.windows), 'window')} and {counted(len(picture.edges), 'edge')}{agents}"
    for window in picture.windows:
        opening, closing = _MERMAID_SHAPES.get(window.pattern, ("[", "]"))
        label = "<br/>".join(_mermaid_text(line) for line in _label(window))
        yield f'  {names[window.window_id]}{opening}"{label}"{closing}'
    for stranger in picture.strangers:
        yield f'  {names[stranger]}["{_mermaid_text(plain(stranger))}<br/>{ABSENT}"]'
    for key, lines in _agent_labels(picture).items():
        label = "<br/>".join(_mermaid_text(line) for line in lines)
        yield f'  {names[key]}[["{label}"]]'
    for edge in picture.edges:
        line = _MERMAID_LINES.get(edge.transfer, "-.->")
        yield f'  {names[edge.source]} {line}|"{_mermaid_text(edge.label)}"| {names[edge.target]}'
    for agent in picture.agents:
        line = _MERMAID_LINES[agent.transfer]
        yield f'  {names[agent.key]} {line}|"{_mermaid_text(agent.transfer)}"| {names[agent.target]}'
    for window in picture.windows:
        shade, width = COLOURS.get(window.risk, COLOURS["-"]), WEIGHTS.get(window.risk, 1)
        border = _MERMAID_BORDERS.get(window.status, ",stroke-dasharray:6 4")
        style = f"fill:{shade},color:#000000,stroke:#000000,stroke-width:{width}px{border}"
        yield f"  style {names[window.window_id]} {style}"


def json_graph(picture: DagPicture) -> str:
    """Return the DAG as a document of JSON Graph Format version 2, with the contract's fields as metadata."""
    session = message_json(picture.message.session)
    nodes = {window.window_id: _json_node(window) for window in picture.windows}
    nodes |= {stranger: {"label": f"{plain(stranger)}: {ABSENT}"} for stranger in picture.strangers}
    nodes |= {
        agent.key: {"label": ", ".join(_agent_label(agent)), "metadata": message_json(agent.message)}
        for agent in picture.agents
    }
    graph = {
        "id": picture.session_id,
        "type": GRAPH_TYPE,
        "label": _title(picture),
        "directed": True,
        "metadata": {"session": session},
        "nodes": nodes,
        "edges": [
            *(_json_edge(edge) for edge in picture.edges),
            *(_json_agent_edge(agent) for agent in picture.agents),
        ],
    }
    return json.dumps({"graph": graph}, indent=2) + "\n"


def _json_node(window: WindowPicture) -> dict[str, Any]:
    own = {
        "name": window.name,
        "pattern": window.pattern,
        "status": window.status,
        "quality_tier": window.tier,
        "risk_level": window.risk,
        "color": COLOURS.get(window.risk, COLOURS["-"]),
    }
    return {"label": ", ".join(_label(window)), "metadata": {**message_json(window.node), **own}}


def _json_edge(edge: EdgePicture) -> dict[str, Any]:
    return {
        "source": edge.source,
        "target": edge.target,
        "relation": edge.transfer,
        "directed": True,
        "label": edge.label,
        "metadata": {"transferred_tokens": edge.tokens, "summary_hash": edge.summary_hash},
    }


def _json_agent_edge(agent: AgentPicture) -> dict[str, Any]:
    return {
        "source": agent.key,
        "target": agent.target,
        "relation": agent.transfer,
        "directed": True,
        "label": agent.transfer,
    }


_RENDERERS: Final[dict[int, Callable[[DagPicture], str]]] = {
    pb.DAG_FORMAT_DOT: dot,
    pb.DAG_FORMAT_MERMAID: mermaid,
    pb.DAG_FORMAT_JSON_GRAPH: json_graph,
}


def draw(message: pb.GetDagResponse, form: int) -> str:
    """Return the DAG in the form that a value of ``DagFormat`` names; empty for UNSPECIFIED."""
    return _RENDERERS[form](picture_of(message)) if form else ""


def _node_names(picture: DagPicture) -> dict[str, str]:
    ids = (*(window.window_id for window in picture.windows), *picture.strangers)
    agents = dict.fromkeys(agent.key for agent in picture.agents)
    return {
        **{key: f"a{number}" for number, key in enumerate(agents, start=1)},
        **{window_id: f"w{number}" for number, window_id in enumerate(ids, start=1)},
    }


def _title(picture: DagPicture) -> str:
    return f"Session {plain(picture.session_id)}, {picture.status}"


def _label(window: WindowPicture) -> tuple[str, ...]:
    """Return the lines of a window's label."""
    return (
        f"Window {window.name}: {window.pattern}, {plain(window.strategy) or '-'}",
        f"Quality={window.tier}, Risk={window.risk}, Budget={window.budget:.2f}",
        window.status,
        plain(window.window_id),
    )


def _agent_label(agent: AgentPicture) -> tuple[str, ...]:
    """Return the lines of an agent's label."""
    return f"Agent {plain(agent.session_id)}", f"Budget={agent.budget:.2f}", plain(agent.window_id)


def _agent_labels(picture: DagPicture) -> dict[str, tuple[str, ...]]:
    """Return the label of each agent's end by its key; one that several windows merged stands there once."""
    return {agent.key: _agent_label(agent) for agent in picture.agents}


def _dot_escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _dot_text(text: str) -> str:
    return f'"{_dot_escaped(plain(text))}"'


def _mermaid_text(text: str) -> str:
    return "".join(character if character in _MERMAID_SAFE else f"#{ord(character)};" for character in text)
