"""The five invariants and the printed lineage over hand-made DAGs (SPEC-004 §3.3, appendix A)."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from services.common.ports.sessions import EdgeRecord, TransferType, WindowPattern, WindowRecord
from services.common.taxonomy import WindowStatus
from services.dag.domain.invariants import Invariant, violations
from services.dag.domain.lineage import lineage_text
from services.dag.domain.view import DagView


def window(name, number, *parents, status=WindowStatus.COMMITTED, report_id="r"):
    return WindowRecord(
        session_id="s",
        window_id=name,
        window_number=number,
        parent_ids=parents,
        pattern=WindowPattern.LINEAR,
        status=status,
        strategy="push",
        timestamp=datetime(2026, 5, 24, tzinfo=UTC),
        hmac="h" * 64 if status is WindowStatus.COMMITTED else "",
        report_id=report_id,
    )


def dag(*windows, drop_edges=(), extra_edges=()):
    edges = [(w.window_id, parent) for w in windows for parent in w.parent_ids]
    edges = [pair for pair in edges if pair not in drop_edges] + list(extra_edges)
    return DagView(
        tuple(sorted(windows, key=lambda w: (w.window_number, w.window_id))),
        tuple(EdgeRecord("s", source, target, TransferType.FULL_CONTEXT, 0) for target, source in sorted(edges)),
    )


APPENDIX_A = (
    window("w1", 1),
    window("w2a", 2, "w1"),
    window("w2b", 2, "w1"),
    window("w2c", 2, "w1"),
    window("w3a", 3, "w2a"),
    window("w4", 4, "w3a", "w2b", "w2c"),
)


def test_appendix_a_holds():
    assert violations(dag(*APPENDIX_A)) == []


def test_an_empty_session_holds():
    assert violations(dag()) == []


def test_a_failed_root_may_be_followed_by_another():
    assert violations(dag(window("w0", 1, status=WindowStatus.FAILED), window("w1", 1), window("w2", 2, "w1"))) == []


def test_an_adopted_root_keeps_its_number():
    assert violations(dag(window("w3", 3, report_id=""), window("w4", 4, "w3"))) == []


@pytest.mark.parametrize(
    ("broken", "invariant", "record"),
    [
        pytest.param(
            dag(window("w1", 1), window("w2", 2, "w3"), window("w3", 3, "w2")), Invariant.ACYCLIC, "w2", id="a cycle"
        ),
        pytest.param(dag(window("w1", 1), window("w2", 2, "w2")), Invariant.ACYCLIC, "w2", id="its own parent"),
        pytest.param(dag(window("w1", 1), window("w2", 1)), Invariant.SINGLE_ROOT, "w2", id="two roots"),
        pytest.param(dag(window("w1", 2)), Invariant.SINGLE_ROOT, "w1", id="a root numbered 2"),
        pytest.param(dag(window("w1", 1), window("w2", 2, "gone")), Invariant.CONNECTED, "w2", id="an unknown parent"),
        pytest.param(
            dag(window("w1", 1), window("w2", 2, "w1"), drop_edges=[("w2", "w1")]),
            Invariant.CONNECTED,
            "w2",
            id="a missing edge",
        ),
        pytest.param(
            dag(window("w1", 1), extra_edges=[("w9", "w1")]), Invariant.CONNECTED, "w1 -> w9", id="an edge to nowhere"
        ),
        pytest.param(dag(window("w1", 1), window("w2", 2, "w1", "w1")), Invariant.CONNECTED, "w2", id="a parent twice"),
        pytest.param(
            dag(window("w1", 1, status=WindowStatus.PENDING), window("w2", 2, "w1")),
            Invariant.HMAC_CHAINED,
            "w2",
            id="a pending parent",
        ),
        pytest.param(dag(replace(window("w1", 1), hmac="")), Invariant.HMAC_CHAINED, "w1", id="committed without hmac"),
        pytest.param(
            dag(replace(window("w1", 1, status=WindowStatus.PENDING), hmac="h" * 64)),
            Invariant.HMAC_CHAINED,
            "w1",
            id="pending with hmac",
        ),
        pytest.param(
            dag(window("w1", 1), window("w2", 3, "w1")), Invariant.MONOTONIC_NUMBERING, "w2", id="a number too high"
        ),
        pytest.param(
            dag(window("w1", 1), window("w2", 1, "w1")), Invariant.MONOTONIC_NUMBERING, "w2", id="a number too low"
        ),
    ],
)
def test_each_invariant_can_break(broken, invariant, record):
    found = violations(broken)
    assert (invariant, record) in [(violation.invariant, violation.record_id) for violation in found]


def test_a_session_without_a_root_is_broken():
    found = violations(dag(window("w2", 2, "w1")))
    assert [violation.invariant for violation in found] == [Invariant.SINGLE_ROOT, *[Invariant.CONNECTED] * 2]


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("w1", "w1"),
        ("w3a", "w1 -> w2a -> w3a"),
        ("w4", "w1 -> [w2a -> w3a, w2b, w2c] -> w4"),
    ],
)
def test_lineage(target, expected):
    assert lineage_text(dag(*APPENDIX_A), target) == expected


def test_lineage_goes_on_after_a_fan_in():
    windows = (*APPENDIX_A, window("w5", 5, "w4"))
    assert lineage_text(dag(*windows), "w5") == "w1 -> [w2a -> w3a, w2b, w2c] -> w4 -> w5"


def test_lineage_of_a_nested_fan_in():
    nested = (
        window("a", 1),
        window("b", 2, "a"),
        window("c", 2, "a"),
        window("d", 3, "b"),
        window("e", 3, "b"),
        window("f", 4, "d", "e"),
        window("g", 5, "f", "c"),
    )
    assert lineage_text(dag(*nested), "g") == "a -> [b -> [d, e] -> f, c] -> g"


def test_view_knows_children_leaves_and_ancestors():
    view = dag(*APPENDIX_A, window("w5", 5, "w4", status=WindowStatus.FAILED))
    assert view.child_ids("w1") == ("w2a", "w2b", "w2c")
    assert [leaf.window_id for leaf in view.leaves()] == ["w4"]
    assert [found.window_id for found in view.lineage(("w3a",))] == ["w1", "w2a", "w3a"]
    assert view.living_children("w4") == ()
    assert view.highest_number() == 4
    assert view.root is not None
    assert view.root.window_id == "w1"
