"""The DAG as a tree in the terminal: SPEC-004 appendix A line by line, every pattern, and graphs that are no DAGs."""

import pytest
from crp.common.v1 import taxonomy_pb2 as taxonomy

from services.dag.exports.picture import picture_of
from services.dag.exports.tree import MAX_DEPTH, tree
from tests.unit.dag.exports.dags import AGENTS, APPENDIX_A, EVERY_STATUS, agent, dag, window


def drawn(message):
    return ["".join(text for text, _ in line) for line in tree(picture_of(message))]


def windows_of(message):
    """The part between the title and the HMAC chain."""
    lines = drawn(message)
    return lines[2 : lines.index("HMAC Chain:") - 1]


def test_appendix_a():
    assert drawn(APPENDIX_A) == [
        "Session: crp_sess_7f3a9bc2 (OPEN)",
        "",
        "Window 1 [root, LINEAR, Quality=A, Risk=LOW, Budget=1.00] crp_win_1",
        "│",
        "├──► Window 2a [FAN_OUT, Quality=A, Risk=LOW, Budget=0.95] crp_win_2a",
        "│    │",
        "│    └──► Window 3a [LINEAR, Quality=B, Risk=HIGH, Budget=0.80] crp_win_3a",
        "│",
        "├──► Window 2b [FAN_OUT, Quality=A, Risk=MEDIUM, Budget=0.90] crp_win_2b",
        "│",
        "└──► Window 2c [FAN_OUT, Quality=B, Risk=LOW, Budget=0.95] crp_win_2c",
        "",
        "Window 3a ──┐",
        "Window 2b ──┼──► Window 4 [FAN_IN, Quality=B, Risk=MEDIUM, Budget=0.80] crp_win_4",
        "Window 2c ──┘",
        "",
        "HMAC Chain:",
        "  Root: sha256:010101010101…",
        "  W2a: HMAC(W2a_content || W1_HMAC, key) = sha256:020202020202…",
        "  W2b: HMAC(W2b_content || W1_HMAC, key) = sha256:020202020202…",
        "  W2c: HMAC(W2c_content || W1_HMAC, key) = sha256:020202020202…",
        "  W3a: HMAC(W3a_content || W2a_HMAC, key) = sha256:030303030303…",
        "  W4: HMAC(W4_content || SORT[W3a, W2b, W2c]_HMACs, key) = sha256:040404040404…",
        "",
        "QualityHistory: A, [A,A,B], [B], B",
        "Safety Budget: 1.00 → [0.95, 0.90, 0.95] → [0.80] → 0.80",
    ]


def test_statuses_and_branches():
    assert windows_of(EVERY_STATUS) == [
        "Window 1 [root, LINEAR, Quality=A, Risk=LOW, Budget=1.00] w1",
        "│",
        "├──► Window 2a [LINEAR, Quality=D, Risk=CRITICAL, Budget=0.00] w2",
        "│    │",
        "│    ├──► Window 3aa [BRANCH, Quality=S, Risk=LOW, Budget=1.00] w3",
        "│    │",
        "│    └──► Window 3ab [BRANCH, Quality=-, Risk=-, Budget=1.00, PENDING] w3p",
        "│",
        "└──► Window 2b [LINEAR, Quality=-, Risk=-, Budget=1.00, FAILED] w2f",
    ]
    coloured = {word for line in tree(picture_of(EVERY_STATUS)) for _, word in line if word}
    assert {"LOW", "CRITICAL", "PENDING", "FAILED"} <= coloured


@pytest.mark.parametrize(
    ("parents", "lines"),
    [
        (2, ["Window 2a ──┬──► Window 3", "Window 2b ──┘"]),
        (4, ["Window 2a ──┐", "Window 2b ──┼──► Window 3", "Window 2c ──┤", "Window 2d ──┘"]),
    ],
)
def test_joins(parents, lines):
    children = [window(f"c{n}", 2, ["r"], pattern="FAN_OUT") for n in range(parents)]
    join = window("j", 3, [f"c{n}" for n in range(parents)], pattern="FAN_IN")
    shown = windows_of(dag(window("r", 1), *children, join))
    assert [line.partition(" [FAN_IN")[0] for line in shown[-parents:]] == lines


def test_a_fan_in_within_a_branch_keeps_the_branchs_letter_and_the_session_goes_on():
    message = dag(
        window("r", 1),
        window("a", 2, ["r"], pattern="FAN_OUT"),
        window("b", 2, ["r"], pattern="FAN_OUT"),
        window("aa", 3, ["a"], pattern="FAN_OUT"),
        window("ab", 3, ["a"], pattern="FAN_OUT"),
        window("aj", 4, ["aa", "ab"], pattern="FAN_IN"),
        window("end", 5, ["aj", "b"], pattern="FAN_IN"),
        window("more", 6, ["end"]),
    )
    names = {one.window_id: one.name for one in picture_of(message).windows}
    assert names == {
        "r": "1", "a": "2a", "b": "2b", "aa": "3aa", "ab": "3ab", "aj": "4a", "end": "5", "more": "6",
    }  # fmt: skip
    shown = windows_of(message)
    assert [line for line in shown if "6 [" in line] == [
        "└──► Window 6 [LINEAR, Quality=A, Risk=LOW, Budget=1.00] more"
    ]
    assert len([line for line in shown if "[" in line]) == 8


def test_an_empty_session():
    assert drawn(dag()) == [
        "Session: crp_sess_7f3a9bc2 (OPEN)",
        "",
        "",
        "HMAC Chain:",
        "",
        "QualityHistory: none yet",
        "Safety Budget: none spent yet",
    ]


def test_what_the_session_has_left():
    message = dag(window("w1", 1, [], budget=0.85))
    message.session.safety_budget, message.session.circuit_breaker = 0.31, taxonomy.BREAKER_STATE_HALF_OPEN
    assert drawn(message)[-2:] == ["Safety Budget: 0.85", "Left: 0.31, circuit breaker HALF_OPEN"]


def test_windows_of_another_instance_are_roots_of_their_own():
    lines = windows_of(dag(window("w4", 4, ["w3"]), window("w5", 5, ["w4"])))
    assert lines[0].startswith("Window 4 [LINEAR, ")
    assert lines[0].endswith("parents not in this store] w4")
    assert "W4: HMAC(W4_content || w3_HMAC, key)" in "\n".join(drawn(dag(window("w4", 4, ["w3"]))))


def test_long_chains_are_not_indented_for_ever():
    chain = [window("w1", 1), *(window(f"w{n}", n, [f"w{n - 1}"]) for n in range(2, 2001))]
    lines = windows_of(dag(*chain))
    assert len([line for line in lines if "Window" in line]) == 2000
    assert max(len(line) - len(line.lstrip(" │└├─►")) for line in lines) <= 5 * (MAX_DEPTH + 1)
    assert [line for line in lines if line.startswith(f"Window {MAX_DEPTH + 1} ───")] != []


@pytest.mark.parametrize(
    "message",
    [
        dag(window("a", 1, ["b"]), window("b", 2, ["a"])),
        dag(window("a", 1, ["a"])),
        dag(window("a", 1), window("a", 2), window("b", 2, ["a", "a"])),
        dag(window("a", 1), window("b", 2, ["a", "c"]), window("c", 3, ["b"])),
        dag(window("r", 1), window("x", 2, ["y", "r"]), window("y", 2, ["x"])),
    ],
    ids=["cycle", "loop", "twice", "cycle-behind-a-root", "cycle-with-a-root"],
)
def test_a_tampered_graph_is_drawn_once_and_ends(message):
    lines = windows_of(message)
    ids = {node.window_id for node in message.windows}
    assert sorted(line.rpartition("] ")[2] for line in lines if "] " in line) == sorted(ids)


def test_names_are_unique():
    children = [window(f"c{n:03}", 2, ["r"], pattern="FAN_OUT") for n in range(40)]
    names = [one.name for one in picture_of(dag(window("r", 1), *children, window("s", 1))).windows]
    assert len(set(names)) == 42
    assert names[2:5] == ["2a", "2b", "2c"]
    assert names[-1] == "2(40)"


def test_hostile_text_reaches_no_terminal():
    evil = window("w\x1b[2J\n", 1, hmac="\x1b]0;x\x07" + "0" * 60)
    text = "\n".join(drawn(dag(evil, session_id="s\u202e")))
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "w<U+001B>[2J<U+000A>" in text


def test_answers_of_agents_sessions_are_listed_with_what_merged_them():
    lines = drawn(AGENTS)
    at = lines.index("Merged from agents' sessions:")
    assert lines[at - 1 : at + 5] == [
        "",
        "Merged from agents' sessions:",
        "  crp_sess_a ──► Window 2 [RESULT_ONLY, Budget=0.62] crp_win_a2 sha256:0a0a0a0a0a0a…",
        "  crp_sess_b ──► Window 2 [RESULT_ONLY, Budget=1.00] crp_win_b1 sha256:0a0a0a0a0a0a…",
        "  crp_sess_b ──► Window 3 [RESULT_ONLY, Budget=1.00] crp_win_b1 sha256:0a0a0a0a0a0a…",
        "",
    ]
    assert "Merged from agents' sessions:" not in drawn(APPENDIX_A)


def test_a_merging_window_that_is_not_here_is_named_by_its_id():
    lines = drawn(dag(window("w1", 1), agent("gone", "crp_sess_a", "crp_win_a")))
    assert any(line.startswith("  crp_sess_a ──► gone [") for line in lines)
