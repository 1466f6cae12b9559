"""Stored answers that quote an erased source: a graph.db of before, and what an erasure asks of Neo4j (ADR 0112)."""

import sqlite3
from typing import Any, cast

from services.common.adapters.neo4j import Neo4jKnowledgeGraph, knowledge_statements
from services.common.adapters.neo4j.values import key
from services.common.adapters.sqlite import SqliteKnowledgeGraph
from services.common.adapters.sqlite.connections import Schema, prepare
from services.common.ports.graph import SourceStatus
from services.common.quotations import quoted_sources
from tests.contract.adapters import PLAIN
from tests.contract.records import quoting, receipt, source

NAMES = {id(value): name for name, value in vars(knowledge_statements).items()}
BEFORE = 3
"""Version of the file while answers kept what they quote of erased sources."""


async def test_a_file_of_before_loses_what_it_quotes_of_erased_sources_when_it_is_opened(tmp_path):
    path = tmp_path / "graph.db"
    schema = SqliteKnowledgeGraph.schema
    prepare(path, Schema(schema.application_id, schema.migrations[:BEFORE]), PLAIN).close()
    answers = [quoting("r1", "gone", "there"), quoting("r2", "there"), receipt("r3", response=b"")]
    connection = sqlite3.connect(path)
    with connection:
        for name, status in (("gone", "ERASED"), ("there", "ACTIVE")):
            row = ("tenant-a", name, status, name, "", "", "", "", 0, 0, "[]", "[]", "{}", 0)
            connection.execute(f"INSERT INTO sources VALUES ({', '.join('?' * len(row))})", row)
        for one in answers:
            answer = (one.tenant_id, one.rpc, one.request_id, one.body_hash, one.response, 0, "s")
            connection.execute("INSERT INTO receipts VALUES (?, ?, ?, ?, ?, ?, ?)", answer)
    connection.close()
    graph = await SqliteKnowledgeGraph.open(path, PLAIN)
    kept = [await graph.get_receipt("tenant-a", "IngestSource", one.request_id) for one in answers]
    await graph.close()
    assert [None if one is None else one.response for one in kept] == [None, answers[1].response, b""]
    assert b"words of gone" not in path.read_bytes()


class FakeNeo4j:
    """A database that answers as the statements do, of two receipts and one erased source; it keeps what it was told.

    Each transaction's statements stand in ``asked``, by name, with what they were given.
    """

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, Any]]] = []

    async def run(self, job):
        return await job(self.transaction())

    async def rows(self, _statement, **_parameters):
        """Receipts past their retention: none."""
        return [{"forgotten": 0}]

    def transaction(self):
        database = self

        class Transaction:
            async def run(self, statement, parameters):
                return database.answer(NAMES[id(statement)], parameters)

        return Transaction()

    def answer(self, name, given):
        self.asked.append((name, given))
        found: list[Any] = []
        if name == "QUOTING_RECEIPTS":
            held = {"old": quoting("r1", "gone", "there").response, "other": quoting("r2", "there").response}
            found = [*({"key": one, "response": told} for one, told in held.items()), {"key": "bad", "response": 7}]
        elif name == "LOCK_QUOTED":
            found = [{"source_id": "gone", "status": "ERASED"}, {"source_id": "there", "status": "ACTIVE"}]
        elif name == "REMEMBER":
            found = [{name: given["receipt"][name] for name in ("body_hash", "response")}]

        class Rows:
            async def data(self):
                return found

        return Rows()


async def test_an_erasure_on_neo4j_rewrites_the_answers_that_quote_the_source():
    database = FakeNeo4j()
    graph = Neo4jKnowledgeGraph(cast("Any", database))
    await graph.put_source(source("gone", uri="", status=SourceStatus.ERASED))
    asked = dict(database.asked)
    assert asked["QUOTING_RECEIPTS"] == {"tenant_id": "tenant-a", "rpc": "IngestSource", "source_id": "gone"}
    (written,) = asked["UNQUOTE_RECEIPTS"]["receipts"]
    assert written["key"] == "old"
    assert quoted_sources(receipt("r1", response=written["response"])) == {"there"}


async def test_an_answer_on_neo4j_locks_whom_it_quotes_and_leaves_out_who_was_erased():
    database = FakeNeo4j()
    graph = Neo4jKnowledgeGraph(cast("Any", database))
    await graph.put_source(source("s"), quoting("r1", "gone", "there"))
    asked = dict(database.asked)
    assert [name for name, _ in database.asked] == ["PUT_SOURCE", "LOCK_QUOTED", "REMEMBER"]
    assert asked["LOCK_QUOTED"]["keys"] == sorted(key("tenant-a", one) for one in ("gone", "there"))
    assert asked["REMEMBER"]["receipt"]["quotes"] == ["there"]
    assert b"words of gone" not in asked["REMEMBER"]["receipt"]["response"]
