"""The transparency log in SQLite: what is read by which index, and what a process remembers of its own writes."""

import sqlite3

import pytest

from services.common.adapters.log_tips import LogTips
from services.common.adapters.sqlite import log_rows
from services.common.errors import LogInconsistentError
from services.common.merkle import leaf_hash
from services.common.ports.transparency_log import LeafKind, LogLeaf


@pytest.fixture
def database():
    connection = sqlite3.connect(":memory:", isolation_level=None)
    for statement in (*log_rows.LOG_SCHEMA, *log_rows.HEADS_SCHEMA):
        connection.execute(statement)
    yield connection
    connection.close()


def leaves(count, name="s"):
    return [
        LogLeaf(name, LeafKind.EVENT, f"{name}{n}", n, "0" * 64, leaf_hash(f"{name}{n}".encode())) for n in range(count)
    ]


def append(database, new, tips):
    return log_rows.append_leaves(database, "t", new, tips)


def test_the_leaves_of_a_session_are_looked_up(database):
    plan = database.execute("EXPLAIN QUERY PLAN " + log_rows._OF_SESSION, ("t", "s")).fetchall()
    steps = [step[-1] for step in plan]
    assert "SEARCH leaves USING COVERING INDEX leaf_of_record (tenant_id=? AND session_id=?)" in steps
    assert "SEARCH leaves USING PRIMARY KEY (tenant_id=? AND leaf_index=?)" in steps
    assert not [step for step in steps if step.startswith("SCAN leaves")]


@pytest.mark.parametrize("known", [True, False], ids=["written here", "written by another process"])
def test_appends_go_on_from_what_is_stored(database, known):
    tips = LogTips()
    for size, name in ((3, "a"), (4, "b"), (1, "c")):
        append(database, leaves(size, name), tips if known else LogTips())
    assert log_rows.log_state(database, "t").size == 8
    assert [leaf.leaf_index for leaf in log_rows.session_leaves(database, "t", "b")] == [3, 4, 5, 6]


@pytest.mark.parametrize(
    ("change", "detail"),
    [
        ("UPDATE trees SET peaks = zeroblob(length(peaks))", "peaks"),
        ("UPDATE trees SET size = 3, peaks = zeroblob(64)", "beyond"),
        ("DELETE FROM trees", "beyond"),
        ("DELETE FROM leaves WHERE leaf_index = 4", "leaf 4 is missing"),
        ("UPDATE leaves SET subtrees = 'x' WHERE leaf_index = 4", "leaf 4 was changed"),
        ("UPDATE trees SET size = 0", "cannot be read"),
    ],
)
def test_another_process_meets_what_was_changed(database, change, detail):
    append(database, leaves(5), LogTips())
    database.execute(change)
    with pytest.raises(LogInconsistentError, match=detail):
        append(database, leaves(1, "z"), LogTips())


def test_a_log_is_never_smaller_than_what_was_durable(database):
    tips = LogTips()
    tips.settle("t", append(database, leaves(5), tips))
    database.execute("DELETE FROM leaves")
    database.execute("DELETE FROM trees")
    with pytest.raises(LogInconsistentError, match="had 5"):
        append(database, leaves(1, "z"), tips)
    assert append(database, leaves(1, "z"), LogTips()) == 1


def test_a_write_that_was_rolled_back_is_not_missed(database):
    tips = LogTips()
    append(database, leaves(2), tips)
    database.execute("BEGIN")
    append(database, leaves(2, "b"), tips)
    database.execute("ROLLBACK")
    assert append(database, leaves(2, "c"), tips) == 4
