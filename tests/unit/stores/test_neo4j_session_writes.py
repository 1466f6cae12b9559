"""What a write over several sessions asks of Neo4j, by statement: locks in one order, every change, the log last."""

from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from services.common.adapters.neo4j import Neo4jSessionStore, session_log, session_statements
from services.common.adapters.neo4j.values import key
from services.common.errors import ConflictError, ErrorReason, LogInconsistentError
from services.common.merkle import leaf_hash
from services.common.ports.sessions import SessionChange
from services.common.ports.transparency_log import LeafKind, LogLeaf
from tests.contract.records import digest, event, receipt, session

NAMES = {id(value): name for module in (session_statements, session_log) for name, value in vars(module).items()}


@dataclass
class Rows:
    rows: list[Any]

    async def data(self):
        return self.rows


@dataclass
class FakeNeo4j:
    """A database whose sessions have versions and whose answers are those of the statements; it keeps the log's end.

    ``asked`` is what was run in each transaction, by name with the key or the number of leaves.
    """

    versions: dict[str, int]
    asked: list[tuple[str, Any]] = field(default_factory=list)
    finished: list[bool] = field(default_factory=list)
    log: dict[str, Any] = field(default_factory=lambda: {"size": 0, "peaks": b"", "head": None})

    async def run(self, job):
        try:
            result = await job(self.transaction())
        except Exception:
            self.finished.append(False)
            raise
        self.finished.append(True)
        return result

    async def rows(self, _statement, **_parameters):
        """Receipts past their retention: none."""
        return [{"forgotten": 0}]

    def transaction(self):
        database = self

        class Transaction:
            async def run(self, statement, parameters):
                return Rows(database.answer(NAMES[id(statement)], parameters))

        return Transaction()

    def answer(self, name, given):
        match name:
            case "LOCK_SESSION":
                session_id = next(one for one in self.versions if key("tenant-a", one) == given["key"])
                self.asked.append((name, session_id))
                version = self.versions[session_id]
                return [{"version": version, "last_sequence": version - 1}]
            case "CREATE_SESSION":
                self.asked.append((name, given["session"]["session_id"]))
                return []
            case "APPLY":
                self.asked.append((name, given["session"]["session_id"]))
                return [{"edges": len(given["edges"])}]
            case "REMEMBER":
                self.asked.append((name, given["receipt"]["session_key"]))
                return [{"body_hash": given["receipt"]["body_hash"], "response": given["receipt"]["response"]}]
            case "LOCK_LOG":
                self.asked.append((name, None))
                return [self.log]
            case "APPEND":
                self.log = {"size": given["size"], "peaks": given["peaks"], "head": None}
        self.asked.append((name, len(given.get("leaves", ()))))
        return []


def change(session_id, version, **changes):
    hashed = leaf_hash(session_id.encode())
    leaf = LogLeaf(session_id, LeafKind.EVENT, f"e{version}", version - 1, digest(session_id), hashed)
    return SessionChange(
        session(session_id, version), events=(event(session_id, version - 1),), leaves=(leaf,), **changes
    )


async def test_locks_come_in_one_order_then_every_change_then_the_log():
    database = FakeNeo4j({"s-agent": 4, "s-parent": 7})
    store = Neo4jSessionStore(cast("Any", database))
    asked = receipt("q")
    for order in (1, -1):
        database.asked.clear()
        changes = [change("s-agent", 5, receipt=asked), change("s-parent", 8)][::order]
        await store.write(*changes)
        assert database.asked[:2] == [("LOCK_SESSION", "s-agent"), ("LOCK_SESSION", "s-parent")]
        assert database.asked[2:5] == [
            ("APPLY", "s-agent"),
            ("REMEMBER", key("tenant-a", "s-agent")),
            ("APPLY", "s-parent"),
        ]
        # Who wrote the log's end knows it; whoever meets it first looks at the leaves there.
        looks = [("READ_LEAVES", 0), ("READ_SUBTREES", 0)] if order == 1 else []
        assert database.asked[5:] == [("LOCK_LOG", None), *looks, ("APPEND", 2)]
    assert database.finished == [True, True]
    assert database.log["size"] == 4


async def test_a_log_that_lost_what_was_written_takes_nothing_of_any_session():
    database = FakeNeo4j({"s-agent": 4, "s-parent": 7})
    store = Neo4jSessionStore(cast("Any", database))
    await store.write(change("s-agent", 5), change("s-parent", 8))
    database.log = {"size": 0, "peaks": b"", "head": None}
    database.asked.clear()
    with pytest.raises(LogInconsistentError):
        await store.write(change("s-agent", 5), change("s-parent", 8))
    assert "APPEND" not in {name for name, _ in database.asked}
    assert database.finished == [True, False]


@pytest.mark.parametrize("stale", ["s-agent", "s-parent"])
async def test_one_that_moved_on_ends_the_transaction_before_anything_is_applied(stale):
    versions = {"s-agent": 4, "s-parent": 7}
    database = FakeNeo4j(versions | {stale: versions[stale] + 1})
    with pytest.raises(ConflictError) as caught:
        await Neo4jSessionStore(cast("Any", database)).write(change("s-agent", 5), change("s-parent", 8))
    assert caught.value.reason is ErrorReason.COMMIT_RACE
    assert {name for name, _ in database.asked} == {"LOCK_SESSION"}
    assert database.finished == [False]


async def test_a_new_session_is_made_under_its_lock_beside_one_that_is_there():
    database = FakeNeo4j({"s-parent": 7})
    await Neo4jSessionStore(cast("Any", database)).write(change("s-agent", 1), change("s-parent", 8))
    assert database.asked[:3] == [("CREATE_SESSION", "s-agent"), ("LOCK_SESSION", "s-parent"), ("APPLY", "s-agent")]


async def test_two_tenants_are_no_one_write():
    database = FakeNeo4j({})
    other = change("t", 1)
    with pytest.raises(ValueError, match="different tenants"):
        await Neo4jSessionStore(cast("Any", database)).write(
            change("s", 1), SessionChange(session("t", tenant_id="tenant-b"), events=other.events)
        )
    assert database.finished == []
