"""Groups, quality histories and lineages of DAGs with parallel windows, and steps that would break an invariant."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from services.common.errors import CrpError, ErrorReason, LimitExceededError, PreconditionError, UnauthenticatedError
from services.common.ports.sessions import (
    EdgeRecord,
    SessionRecord,
    SessionSnapshot,
    SessionStatus,
    TransferType,
    WindowPattern,
    WindowRecord,
)
from services.common.taxonomy import Degradation, WindowStatus
from services.dag.domain.branch import place_branch
from services.dag.domain.fan_in import place_fan_in
from services.dag.domain.fan_out import place_fan_out
from services.dag.domain.groups import Groups
from services.dag.domain.limits import Limits
from services.dag.domain.lineage import lineage_text
from services.dag.domain.linear import place_linear
from services.dag.domain.opening import OpenCommand, open_child
from services.dag.domain.place import NewWindow
from services.dag.domain.quality import degradation, history_of, latest, printed_history, tiers_of
from services.dag.domain.step import Step, to_change
from services.dag.domain.token import TokenState
from services.dag.domain.view import DagView

START = datetime(2026, 5, 24, tzinfo=UTC)
FRESH = NewWindow("new", START + timedelta(seconds=60), timedelta(seconds=900))
LATE = replace(FRESH, now=START + timedelta(seconds=900))
LIMITS = Limits(max_windows=9, max_fan_out=3, max_dag_nodes=50, max_loop_depth=5)
COMMITTED, PENDING, FAILED = WindowStatus.COMMITTED, WindowStatus.PENDING, WindowStatus.FAILED
FAN_OUT, FAN_IN, BRANCH = WindowPattern.FAN_OUT, WindowPattern.FAN_IN, WindowPattern.BRANCH


def window(name, number, *parents, pattern=WindowPattern.LINEAR, status=COMMITTED, tier="A", **changes):
    done = status is COMMITTED
    record = WindowRecord(
        session_id="s",
        window_id=name,
        window_number=number,
        parent_ids=parents,
        pattern=pattern,
        status=status,
        strategy="push",
        timestamp=START,
        continuation_id=f"c-{name}" if done else "",
        quality_tier=tier if done else "",
        hmac=name.rjust(64, "0") if done else "",
        report_id=f"r-{name}" if done else "",
    )
    return replace(record, **changes)


def edges(windows):
    pairs = [(w.window_id, parent) for w in windows for parent in w.parent_ids]
    return tuple(EdgeRecord("s", source, target, TransferType.FULL_CONTEXT, 0) for target, source in sorted(pairs))


def dag(*windows):
    return DagView(tuple(sorted(windows, key=lambda w: (w.window_number, w.window_id))), edges(windows))


APPENDIX_A = (
    window("w1", 1),
    window("w2a", 2, "w1", pattern=FAN_OUT),
    window("w2b", 2, "w1", pattern=FAN_OUT),
    window("w2c", 2, "w1", pattern=FAN_OUT, tier="B"),
    window("w3a", 3, "w2a", tier="B"),
    window("w4", 4, "w2b", "w2c", "w3a", pattern=FAN_IN, tier="B"),
)
NESTED = (
    window("a", 1),
    window("b", 2, "a", pattern=FAN_OUT),
    window("c", 2, "a", pattern=FAN_OUT, tier="C"),
    window("d", 3, "b", pattern=FAN_OUT),
    window("e", 3, "b", pattern=FAN_OUT, tier="B"),
    window("f", 4, "d", "e", pattern=FAN_IN),
    window("g", 5, "c", "f", pattern=FAN_IN),
)


def paths(*windows):
    return dict(Groups.of(dag(*windows)).paths)


def test_groups_of_appendix_a():
    expected = {"w1": (), "w2a": ("w1",), "w2b": ("w1",), "w2c": ("w1",), "w3a": ("w1",), "w4": ()}
    assert paths(*APPENDIX_A) == expected
    assert {group: w.window_id for group, w in Groups.of(dag(*APPENDIX_A)).takers.items()} == {"w1": "w4"}


def test_groups_of_a_nested_fan_out():
    found = paths(*NESTED)
    assert (found["d"], found["f"], found["g"]) == (("a", "b"), ("a",), ())
    before = Groups.of(dag(*NESTED[:5]))
    assert before.takers == {}
    assert before.is_parallel("b")
    assert not before.is_parallel("a")


def test_a_failed_fan_in_takes_nothing():
    assert (
        Groups.of(dag(*APPENDIX_A[:5], window("w4", 4, "w2b", "w2c", "w3a", pattern=FAN_IN, status=FAILED))).takers
        == {}
    )


def test_a_reflexive_window_is_parallel_once_a_branch_stands_beside_it():
    line = (window("a", 1), window("b", 2, "a"))
    assert paths(*line)["b"] == ()
    assert paths(*line, window("c", 2, "a", pattern=BRANCH))["b"] == ("a",)
    assert paths(*line, window("c", 2, "a", pattern=BRANCH, status=FAILED))["b"] == ()


@pytest.mark.parametrize(
    ("leaf", "expected"),
    [
        ("w1", "A"),
        ("w2c", "A,B"),
        ("w3a", "A,A,B"),
        ("w4", "A,[A,A,B],[B],B"),
    ],
)
def test_quality_history_of_appendix_a(leaf, expected):
    assert printed_history(history_of(dag(*APPENDIX_A), (leaf,))) == expected


def test_quality_history_of_a_fan_in_that_is_being_opened():
    view = dag(*APPENDIX_A[:5])
    assert printed_history(history_of(view, ("w2b", "w2c", "w3a"))) == "A,[A,A,B],[B]"


def test_quality_history_of_a_nested_fan_in():
    assert printed_history(history_of(dag(*NESTED), ("g",))) == "A,[A,C],[A,B],[A],A"
    assert printed_history(history_of(dag(*NESTED), ("f",))) == "A,A,[A,B],A"


def test_quality_history_after_an_adopted_window():
    view = dag(window("x", 3, report_id=""), window("y", 4, "x", tier="B"))
    assert history_of(view, ("y",), {"x": ("A", "[A,B]", "B"), "other": ("S",)}) == ("A", "[A,B]", "B", "B")


def test_tiers_without_brackets():
    assert tiers_of(("A", "[A,A,B]", "[B]", "B")) == ("A", "A", "A", "B", "B", "B")


@pytest.mark.parametrize(
    ("most", "expected"), [(6, ("A", "[A,A,B]", "[B]", "B")), (5, ("[A,A,B]", "[B]", "B")), (4, ("[B]", "B")), (0, ())]
)
def test_the_latest_tiers(most, expected):
    assert latest(("A", "[A,A,B]", "[B]", "B"), most) == expected


@pytest.mark.parametrize(
    ("history", "expected"),
    [
        pytest.param(("A", "[A,B,A]"), Degradation.FIRST_DROP, id="the worst of parallel windows counts"),
        pytest.param(("A", "[B,A,A]"), Degradation.FIRST_DROP, id="in whatever order they stand"),
        pytest.param(("A", "[A,B]", "[C]"), Degradation.SUSTAINED, id="sustained over a branch"),
        pytest.param(("A", "[A,D]", "[D]", "A"), Degradation.NONE, id="recovered by the synthesis"),
        pytest.param(("B", "[A,D]"), Degradation.CRITICAL, id="a drop to D in one branch"),
        pytest.param(("B", "[A,D]", "D"), Degradation.PERSISTENT, id="D and D again"),
    ],
)
def test_degradation_over_parallel_windows(history, expected):
    assert degradation(history) is expected


def test_lineage_of_two_levels_that_meet_at_once():
    windows = (*NESTED[:5], window("g", 4, "c", "d", "e", pattern=FAN_IN))
    assert lineage_text(dag(*windows), "g") == "a -> [b -> [d, e], c] -> g"


def test_lineage_with_the_ids_of_appendix_a():
    renamed = {old.window_id: old.window_id.replace("w", "crp_win_") for old in APPENDIX_A}
    windows = [
        replace(w, window_id=renamed[w.window_id], parent_ids=tuple(renamed[p] for p in w.parent_ids))
        for w in APPENDIX_A
    ]
    expected = "crp_win_1 -> [crp_win_2a -> crp_win_3a, crp_win_2b, crp_win_2c] -> crp_win_4"
    assert lineage_text(dag(*windows), "crp_win_4") == expected


def test_lineage_of_many_fan_outs_in_a_row():
    """A thousand windows in a hundred diamonds: each fork is found once."""
    windows, top, text = [window("r0", 1)], "r0", "r0"
    for level in range(100):
        children = [window(f"k{level:02}{child}", 2 * level + 2, top, pattern=FAN_OUT) for child in range(9)]
        top = f"r{level + 1}"
        windows += [*children, window(top, 2 * level + 3, *(c.window_id for c in children), pattern=FAN_IN)]
        text += f" -> [{', '.join(c.window_id for c in children)}] -> {top}"
    assert lineage_text(dag(*windows), top) == text


def test_the_lineage_of_a_cycle_ends():
    """Only a tampered store holds one; whoever reads it is not to wait for ever."""
    view = dag(window("a", 1), window("b", 2, "a", "c"), window("c", 3, "b"))
    assert lineage_text(view, "c") == "a -> b -> c"
    assert lineage_text(dag(window("b", 2, "c"), window("c", 2, "b")), "c") == "c"


def placed(view, *names, partial=False, fresh=FRESH):
    return place_fan_in(view, [view.by_id[name] for name in names], fresh, partial=partial)


def test_a_fan_in_takes_its_parents_in_the_order_of_their_ids():
    view = dag(*APPENDIX_A[:5])
    for names in (("w3a", "w2b", "w2c"), ("w2c", "w3a", "w2b")):
        place = placed(view, *names)
        assert [parent.window_id for parent in place.parents] == ["w2b", "w2c", "w3a"]
        assert (place.pattern, place.abandoned, place.left_out) == (FAN_IN, (), ())


THREE = (window("a", 1), window("b", 2, "a", pattern=FAN_OUT), window("c", 2, "a", pattern=FAN_OUT))


@pytest.mark.parametrize(
    ("third", "fresh", "state", "partial_helps"),
    [
        pytest.param({"status": FAILED}, FRESH, "FAILED", True, id="failed"),
        pytest.param({"status": PENDING}, FRESH, "PENDING", False, id="pending"),
        pytest.param({"status": PENDING}, LATE, "ABANDONED", True, id="abandoned"),
        pytest.param({"continuation_id": ""}, FRESH, "ENDED", True, id="ended"),
        pytest.param({}, FRESH, "NOT_NAMED", False, id="not named"),
    ],
)
def test_what_a_fan_in_may_go_without(third, fresh, state, partial_helps):
    view = dag(*THREE, window("d", 2, "a", pattern=FAN_OUT, **third))
    with pytest.raises(PreconditionError) as caught:
        placed(view, "b", "c", fresh=fresh)
    assert caught.value.reason is ErrorReason.FAN_IN_INCOMPLETE
    assert caught.value.metadata == {"window_id": "d", "status": state}
    if partial_helps:
        place = placed(view, "b", "c", partial=True, fresh=fresh)
        assert place.left_out == ("d",)
        assert [w.window_id for w in place.abandoned] == (["d"] if state == "ABANDONED" else [])
    else:
        with pytest.raises(PreconditionError):
            placed(view, "b", "c", partial=True, fresh=fresh)


def test_a_child_whose_continuation_failed_is_still_to_be_named():
    view = dag(*THREE, window("d", 3, "b", status=FAILED))
    with pytest.raises(PreconditionError) as caught:
        placed(view, "c", partial=True)
    assert caught.value.metadata["status"] == "NOT_NAMED"
    assert placed(view, "b", "c").left_out == ()


def test_what_an_inner_fan_in_left_out_is_settled():
    inner = (
        window("d", 3, "b", pattern=FAN_OUT),
        window("e", 3, "b", pattern=FAN_OUT, status=FAILED),
        window("f", 4, "d", pattern=FAN_IN),
    )
    assert placed(dag(*THREE, *inner), "f", "c").left_out == ()
    with pytest.raises(PreconditionError):
        placed(dag(*THREE, *inner[:2]), "d", "c")


def test_a_fan_in_of_a_parent_with_a_child_is_refused():
    view = dag(*THREE, window("d", 3, "b"))
    with pytest.raises(UnauthenticatedError) as caught:
        placed(view, "b", "c")
    assert (caught.value.reason, caught.value.metadata["window_id"]) == (ErrorReason.TOKEN_SPENT, "d")


@pytest.mark.parametrize("names", [("b",), ("a",)])
def test_windows_of_a_line_do_not_merge(names):
    with pytest.raises(PreconditionError) as caught:
        placed(dag(window("a", 1), *(() if names == ("a",) else (window("b", 2, "a"),))), *names)
    assert caught.value.reason is ErrorReason.UNSUPPORTED_STRATEGY


def test_a_fan_out_is_full_and_makes_room_only_when_it_must():
    full = (*THREE, window("d", 2, "a", pattern=FAN_OUT, status=PENDING))
    with pytest.raises(LimitExceededError):
        place_fan_out(dag(*full), full[0], LIMITS, FRESH)
    assert [w.window_id for w in place_fan_out(dag(*full), full[0], LIMITS, LATE).abandoned] == ["d"]
    room = dag(window("a", 1), window("d", 2, "a", pattern=FAN_OUT, status=PENDING))
    assert place_fan_out(room, room.by_id["a"], LIMITS, LATE).abandoned == ()


def test_a_fan_out_that_was_taken_is_closed():
    view = dag(*APPENDIX_A)
    with pytest.raises(UnauthenticatedError) as caught:
        place_fan_out(view, view.by_id["w1"], LIMITS, FRESH)
    assert caught.value.metadata["window_id"] == "w4"


def test_a_line_a_fan_out_and_a_branch_do_not_mix():
    line = dag(window("a", 1), window("b", 2, "a"))
    with pytest.raises(UnauthenticatedError):
        place_fan_out(line, line.by_id["a"], LIMITS, FRESH)
    with pytest.raises(PreconditionError):
        place_branch(line, line.by_id["a"], LIMITS, FRESH)
    fan = dag(*THREE)
    with pytest.raises(UnauthenticatedError):
        place_linear(fan, fan.by_id["a"], FRESH)
    reflexive = dag(*THREE[:1], replace(THREE[1], strategy="reflexive"))
    with pytest.raises(PreconditionError):
        place_branch(reflexive, reflexive.by_id["a"], LIMITS, FRESH)


def session(**changes):
    record = SessionRecord(
        tenant_id="t",
        session_id="s",
        scope="k",
        status=SessionStatus.OPEN,
        created_at=START,
        version=4,
        audit_trail_id="x",
        key_version=1,
        policy_hash="",
        max_windows=5,
        max_fan_out=10,
        max_dag_nodes=50,
        max_loop_depth=5,
    )
    return replace(record, **changes)


BREAKING = [
    pytest.param(window("w1", 3, "w2"), "ACYCLIC", id="a cycle"),
    pytest.param(window("w3", 1), "SINGLE_ROOT", id="a second root"),
    pytest.param(window("w3", 2, "gone"), "CONNECTED", id="an unknown parent"),
    pytest.param(window("w3", 3, "w2", hmac=""), "HMAC_CHAINED", id="no hmac"),
    pytest.param(window("w3", 2, "w2"), "MONOTONIC_NUMBERING", id="its parent's number"),
]


@pytest.mark.parametrize(("new", "invariant"), BREAKING)
def test_no_step_that_breaks_an_invariant_reaches_the_store(new, invariant):
    """SPEC-004 §3.3, on the way of every write: the version guard then keeps what was checked true."""
    stored = (window("w1", 1), window("w2", 2, "w1"))
    before = SessionSnapshot(session(), stored, edges(stored), None)
    with pytest.raises(CrpError) as caught:
        to_change(Step(session(), windows=(new,), edges=edges((new,))), before, START, b"k" * 32)
    assert (caught.value.reason, caught.value.metadata["invariant"]) == (ErrorReason.INTERNAL, invariant)
    fine = window("w3", 3, "w2")
    change = to_change(Step(session(), windows=(fine,), edges=edges((fine,))), before, START, b"k" * 32)
    assert change.session.version == before.session.version + 1


def token(leaf, **changes):
    state = TokenState(
        session_id="s",
        window_number=leaf.window_number,
        quality_history=("A",),
        safety_budget=1.0,
        chain_tip=leaf.hmac,
        continuation_id=leaf.continuation_id,
        dag_structure=leaf.pattern.value,
        strategy="push",
        policy_hash="",
        ckf_state_hash="",
        scope="k",
        tenant="",
        limits=(),
        issued_at=START,
        expires_at=START,
        key_version=1,
        hmac_key_version=1,
    )
    return replace(state, **changes)


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        ({"max_windows": 3}, ErrorReason.WINDOW_LIMIT),
        ({"max_dag_nodes": 5}, ErrorReason.DAG_NODE_LIMIT),
    ],
)
def test_the_limits_hold_for_the_verified_session_too(limits, reason):
    """What was checked before the chain was read may have changed by then; the deepest parent counts."""
    stored = APPENDIX_A[:5]
    ask = OpenCommand("fan-in", "r", tuple(f"c-{name}" for name in ("w2b", "w2c", "w3a")), available_budget_tokens=9)
    ordered = tuple(sorted(stored, key=lambda w: (w.window_number, w.window_id)))
    before = SessionSnapshot(session(**limits), ordered, edges(stored), None)
    with pytest.raises(LimitExceededError) as caught:
        open_child(before, token(stored[2]), "", ask, FRESH)
    assert caught.value.reason is reason
    allowed = replace(before, session=session())
    assert open_child(allowed, token(stored[2]), "", ask, FRESH).window.window_number == 4
