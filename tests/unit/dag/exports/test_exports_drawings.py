"""The DAG as DOT, Mermaid and JSON Graph: what must be on it, without colour too, and what can never get into it."""

import json
import re
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
from crp.dag.v1 import session_service_pb2 as pb
from hypothesis import given, settings
from hypothesis import strategies as st

from services.dag.exports.drawings import dot, draw, json_graph, mermaid
from services.dag.exports.picture import COLOURS, WEIGHTS, picture_of
from services.dag.exports.plain import plain
from tests.tenth import examples
from tests.unit.dag.exports.dags import AGENTS, APPENDIX_A, EVERY_STATUS, agent, dag, edge, window

JSON_GRAPH = json.loads(
    (Path(__file__).resolve().parents[3] / "vectors" / "exports" / "json_graph_v2.json").read_text(encoding="utf-8")
)
ALL = (APPENDIX_A, EVERY_STATUS, AGENTS)
RENDERERS = (dot, mermaid, json_graph)
HOSTILE = (
    '"];evil[label="',
    "\\",
    '\\"',
    "end\n  evil --> w1",
    "`js` <script>alert(1)</script>",
    "#quot; #59; ;%%{init: {}}%%",
    'w1"] click w1 "https://evil.example',
    "\x1b[31mred\x1b]0;title\x07",
    "\u202egnp.exe\u2066\u200b",
    "line\u2028break\u2029\r\n\tend",
    "{{}}|/]",
    "ü 漢 🙂",
    "x" * 5000,
)


DOT_ROOT = (
    '  w1 [label="Window 1: LINEAR, push\\nQuality=A, Risk=LOW, Budget=1.00\\nCOMMITTED\\ncrp_win_1", '
    'shape=box, style="filled,solid", fillcolor="#cdebdd", penwidth=1];'
)


def dot_tokens(text):
    """Take DOT apart: (kind, text) of strings, words and marks; fails on anything else."""
    scanner = re.compile(r'"((?:[^"\\]|\\.)*)"|([A-Za-z0-9_.]+)|(->|[{}\[\];=,])|(\s+)')
    tokens, place = [], 0
    while place < len(text):
        found = scanner.match(text, place)
        assert found, text[place : place + 40]
        if found.lastindex != 4:
            tokens.append((found.lastindex, found[found.lastindex]))
        place = found.end()
    return tokens


def dot_statements(text):
    """Return what DOT says, statement by statement, as the marks and words outside of strings."""
    body = dot_tokens(text)
    assert [value for _, value in body[:1]] == ["digraph"]
    assert body[2][1] == "{"
    assert body[-1][1] == "}"
    statements, current = [], []
    for kind, value in body[3:-1]:
        if (kind, value) == (3, ";"):
            statements.append(current)
            current = []
        else:
            current.append("…" if kind == 1 else value)
    assert current == []
    return [" ".join(statement) for statement in statements]


@pytest.mark.parametrize("message", ALL, ids=["appendix-a", "every-status", "agents"])
@pytest.mark.parametrize("render", RENDERERS, ids=lambda render: render.__name__)
def test_every_drawing_says_what_a_window_is_in_words(message, render):
    text = render(picture_of(message))
    picture = picture_of(message)
    for one in picture.windows:
        for words in (one.window_id, f"Quality={one.tier}, Risk={one.risk}, Budget={one.budget:.2f}", one.status):
            assert words in text
        assert f"Window {one.name}: {one.pattern}" in text
    for one in picture.edges:
        assert one.label in text
    for one in picture.agents:
        for words in (one.session_id, one.window_id, f"Budget={one.budget:.2f}", one.transfer):
            assert words in text
    assert text.endswith("\n")


def test_dot_of_appendix_a():
    text = dot(picture_of(APPENDIX_A))
    assert text.splitlines()[:7] == [
        'digraph "crp_sess_7f3a9bc2" {',
        '  label="Session crp_sess_7f3a9bc2, OPEN";',
        "  labelloc=t;",
        "  rankdir=TB;",
        '  node [fontname="sans-serif", fontcolor="#000000", color="#000000"];',
        '  edge [fontname="sans-serif", color="#404040"];',
        DOT_ROOT,
    ]
    lines = text.splitlines()
    assert '  w1 -> w4 [label="SUMMARY, 12 tokens", style=solid];' in lines
    assert '  w5 -> w6 [label="RESULT_ONLY, 5 tokens", style=dotted];' in lines
    assert len(dot_statements(text)) == 5 + 6 + 7


def test_mermaid_of_appendix_a():
    lines = mermaid(picture_of(APPENDIX_A)).splitlines()
    assert lines[:5] == [
        "flowchart TD",
        "  accTitle: Session crp_sess_7f3a9bc2, OPEN",
        "  accDescr: 6 windows and 7 edges",
        '  w1["Window 1: LINEAR, push<br/>Quality=A, Risk=LOW, Budget=1.00<br/>COMMITTED<br/>crp_win_1"]',
        '  w2[/"Window 2a: FAN_OUT, push<br/>Quality=A, Risk=LOW, Budget=0.95<br/>COMMITTED<br/>crp_win_2a"/]',
    ]
    assert '  w1 -->|"SUMMARY, 12 tokens"| w4' in lines
    assert '  w4 -.->|"RESULT_ONLY, 7 tokens"| w6' in lines
    assert "  style w5 fill:#f7c49a,color:#000000,stroke:#000000,stroke-width:3px" in lines


def test_one_window_is_told_in_the_singular():
    picture = picture_of(APPENDIX_A)
    alone = replace(picture, windows=picture.windows[:1], edges=())
    assert mermaid(alone).splitlines()[2] == "  accDescr: 1 window and 0 edges"


def test_json_graph_of_appendix_a():
    document = json.loads(json_graph(picture_of(APPENDIX_A)))
    jsonschema.validate(document, JSON_GRAPH)
    graph = document["graph"]
    assert (graph["id"], graph["type"], graph["directed"]) == ("crp_sess_7f3a9bc2", "crp-session-dag", True)
    assert list(graph["nodes"]) == ["crp_win_1", "crp_win_2a", "crp_win_2b", "crp_win_2c", "crp_win_3a", "crp_win_4"]
    node = graph["nodes"]["crp_win_3a"]["metadata"]
    assert (node["name"], node["pattern"], node["status"]) == ("3a", "LINEAR", "COMMITTED")
    assert (node["quality_tier"], node["risk_level"], node["safety_budget"]) == ("B", "HIGH", 0.8)
    assert node["color"] == COLOURS["HIGH"]
    (summary,) = [one for one in graph["edges"] if one["relation"] == "SUMMARY"]
    assert summary["metadata"] == {"transferred_tokens": 12, "summary_hash": "ab" * 32}


def test_agents_answers_are_drawn_with_what_merged_them():
    picture = picture_of(AGENTS)
    lines = dot(picture).splitlines()
    assert '  a1 [label="Agent crp_sess_a\\nBudget=0.62\\ncrp_win_a2", shape=component];' in lines
    assert [line for line in lines if line.startswith("  a") and "->" in line] == [
        '  a1 -> w2 [label="RESULT_ONLY", style=dotted];',
        '  a2 -> w2 [label="RESULT_ONLY", style=dotted];',
        '  a2 -> w3 [label="RESULT_ONLY", style=dotted];',
    ]
    assert sum("shape=component" in line for line in lines) == 2
    drawn = mermaid(picture).splitlines()
    assert drawn[2] == "  accDescr: 3 windows and 2 edges, 3 answers of agents merged"
    assert '  a1[["Agent crp_sess_a<br/>Budget=0.62<br/>crp_win_a2"]]' in drawn
    assert [line for line in drawn if line.startswith("  a2 ")] == [
        '  a2 -.->|"RESULT_ONLY"| w2',
        '  a2 -.->|"RESULT_ONLY"| w3',
    ]
    document = json.loads(json_graph(picture))
    jsonschema.validate(document, JSON_GRAPH)
    node = document["graph"]["nodes"]["crp_sess_a/crp_win_a2"]
    assert node["label"] == "Agent crp_sess_a, Budget=0.62, crp_win_a2"
    assert (node["metadata"]["hmac"], node["metadata"]["safety_budget"]) == ("0a" * 32, 0.62)
    assert [(one["source"], one["target"], one["relation"]) for one in document["graph"]["edges"][2:]] == [
        ("crp_sess_a/crp_win_a2", "w2", "RESULT_ONLY"),
        ("crp_sess_b/crp_win_b1", "w2", "RESULT_ONLY"),
        ("crp_sess_b/crp_win_b1", "w3", "RESULT_ONLY"),
    ]


def test_an_agents_answer_for_a_window_that_is_not_here_is_drawn_all_the_same():
    picture = picture_of(dag(window("w1", 1), agent("gone", "crp_sess_a", "crp_win_a")))
    assert picture.strangers == ("gone",)
    assert '  a1 -> w2 [label="RESULT_ONLY", style=dotted];' in dot(picture)


def test_status_shows_without_colour():
    text = dot(picture_of(EVERY_STATUS))
    borders = dict(re.findall(r'\\n(COMMITTED|PENDING|FAILED)\\n.*?style="filled,(\w+)"', text))
    assert borders == {"COMMITTED": "solid", "PENDING": "dashed", "FAILED": "dotted"}
    assert "stroke-dasharray:1 4" in mermaid(picture_of(EVERY_STATUS))


def luminance(colour):
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_colours_work_in_grey_and_carry_black_text():
    shades = [luminance(COLOURS[risk]) for risk in ("LOW", "MEDIUM", "HIGH", "CRITICAL")]
    assert min(shades) > 7 * 0.05 - 0.05
    assert min((luminance(colour) + 0.05) / 0.05 for colour in COLOURS.values()) > 7
    assert shades[1] > shades[2] > shades[3]
    widths = [WEIGHTS[risk] for risk in ("LOW", "MEDIUM", "HIGH", "CRITICAL")]
    assert widths == sorted(set(widths))


def test_parents_that_are_not_here_are_drawn_as_such():
    message = dag(window("w3", 3, ["elsewhere"]), edge("elsewhere", "w3", "SUMMARY", 4))
    picture = picture_of(message)
    assert picture.strangers == ("elsewhere",)
    assert '  w2 [label="elsewhere\\nnot in this store", shape=plaintext];' in dot(picture)
    assert '  w2["elsewhere<br/>not in this store"]' in mermaid(picture)
    document = json.loads(json_graph(picture))
    jsonschema.validate(document, JSON_GRAPH)
    assert document["graph"]["nodes"]["elsewhere"] == {"label": "elsewhere: not in this store"}


def test_an_edge_that_nobody_recorded_is_drawn_and_says_so():
    picture = picture_of(dag(window("w1", 1), window("w2", 2, ["w1"])))
    assert [one.label for one in picture.edges] == ["not recorded"]
    assert '  w1 -> w2 [label="not recorded", style=dotted];' in dot(picture)


def test_draw_takes_the_contracts_enum():
    drawn = {form: draw(APPENDIX_A, form)[:9] for form in pb.DagFormat.values()}
    assert drawn == {0: "", 1: 'digraph "', 2: "flowchart", 3: '{\n  "grap'}


def hostile(text, other):
    first = window(text, 1, strategy=other)
    second = window(other + "2", 2, [text], strategy=text)
    merged = agent(other + "2", text, other)
    return dag(first, second, edge(text, other + "2", tokens=3), merged, session_id=text)


def assert_only_the_shape_of_a_dag(message):
    harmless = picture_of(
        dag(window("a", 1), window("b", 2, ["a"]), edge("a", "b", tokens=3), agent("b", "session", "end"))
    )
    picture = picture_of(message)
    assert dot_statements(dot(picture)) == dot_statements(dot(harmless))
    pattern = re.compile(r'"[^"]*"|(?<=accTitle: ).*')
    assert [pattern.sub("…", line) for line in mermaid(picture).split("\n")] == [
        pattern.sub("…", line) for line in mermaid(harmless).split("\n")
    ]
    assert re.fullmatch(r"[\n\x20-\x7e]*", mermaid(picture))
    inside = re.findall(r'"([^"]*)"', mermaid(picture).replace("<br/>", ""))
    assert all(re.fullmatch(r"(?:[A-Za-z0-9 _.,:=+-]|#[0-9]+;)*", text) for text in inside)
    document = json_graph(picture)
    assert document.isascii()
    jsonschema.validate(json.loads(document), JSON_GRAPH)
    assert len(json.loads(document)["graph"]["nodes"]) == 3


@pytest.mark.parametrize("other", ["x", HOSTILE[0], HOSTILE[3]])
@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_ids_and_labels_stay_text(text, other):
    assert_only_the_shape_of_a_dag(hostile(text, other))


@pytest.mark.tenth(inside=True)
@settings(max_examples=examples(60), deadline=None)
@given(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40),
    st.text('ab"\\\n#;|]`<>&%{}', max_size=12),
)
def test_any_text_stays_text(text, other):
    assert_only_the_shape_of_a_dag(hostile(text, other + "o"))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("\x1b[0m", "<U+001B>[0m"),
        ("a\nb", "a<U+000A>b"),
        ("\u202e", "<U+202E>"),
        ("\ud800", "<U+D800>"),
        ("ü漢", "ü漢"),
        ("x" * 161, "x" * 160 + "…"),
    ],
)
def test_plain_spells_out_what_draws_nothing(text, shown):
    assert plain(text) == shown
