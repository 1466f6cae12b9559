"""Raw changes in the Neo4j that GROUNDTRAIL_TEST_NEO4J_URI names: every property of a session's nodes and edges.

As tests/faults/test_raw_changes.py does it with the file: what alters a record is found, nothing is a fault of ours,
and the session beside it goes on (ADR 0101).
"""

from pathlib import Path

import grpc
import pytest
from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.dag.v1 import session_service_pb2 as pb

from services.common.adapters.neo4j import Neo4jSessionStore
from tests.fakes.dag_world import Refusal
from tests.fakes.raw.template import BEFORE, Template, world_of, write_sessions
from tests.tenth import tenth

pytestmark = [pytest.mark.needs_neo4j, pytest.mark.timeout(600)]

FOUND_BY = frozenset(
    {"key", "id_key", "tenant_key", "session_key", "sort_key", "continuation_key", "root_key", "record_key"}
    | {"leaf_index"}
)
"""Digests that nodes are found by, and a leaf's place in the log, of which a session's own verification looks at the
order alone: no record says them, and what is not found by them is missing."""
LATER = {"trail_mac": "", "data_sha256": "", "inputs": "", "legal_hold": False, "budget_ceiling": 1.0}
"""Properties of later versions, each with what a node without it says."""
RECORDS = {"Session", "Window", "AuditEvent", "Report", "PARENT", "Leaf"}
NODES = (
    "MATCH (n) WHERE n.session_id = $session_id RETURN elementId(n) AS id, labels(n)[0] AS kind, n {.*} AS properties"
)
EDGES = (
    "MATCH (w:Window {session_id: $session_id})-[e:PARENT]->() "
    "RETURN elementId(e) AS id, type(e) AS kind, e {.*} AS properties"
)
SET_NODE = "MATCH (n) WHERE elementId(n) = $id SET n = $properties"
SET_EDGE = "MATCH ()-[e:PARENT]->() WHERE elementId(e) = $id SET e = $properties"


def ways(value):
    """Yield other values, each of a type of its own; ``None`` takes the property away."""
    yield None
    yield from (7, "abc", 1.5, ["abc"], [1])
    if isinstance(value, str) and value:
        yield ("0" if value[0] != "0" else "1") + value[1:]
        yield value[:-1]
    if isinstance(value, int):
        yield value + 1


def changes_of(held):
    """Return one changed node or relationship for every kind, property and way."""
    found = {}
    for record in held:
        for name, value in record["properties"].items():
            for number, changed in enumerate(ways(value)):
                if changed != value and not (changed is None and name in LATER and value == LATER[name]):
                    found[record["kind"], name, number] = (record, name, changed)
    return found


async def answer(client, rpc, request):
    try:
        return await client.call(rpc, request), None
    except grpc.aio.AioRpcError as error:
        return None, Refusal.of(error)


async def test_every_property_of_a_record_that_is_altered_is_found(emptied_neo4j, neo4j_database):
    store = await Neo4jSessionStore.open(emptied_neo4j)
    template = Template(Path(), Path())
    wrong = []
    world = world_of(store, after=-BEFORE)
    async with world.serving() as client:
        await write_sessions(world, client, template)
        victim, beside = template.sessions["victim"], template.sessions["beside"]
        held = [
            *await neo4j_database.rows(NODES, session_id=victim),
            *await neo4j_database.rows(EDGES, session_id=victim),
        ]
        cases = changes_of(held)
        assert {kind for kind, _, _ in cases} >= RECORDS
        for case in tenth("raw changes: neo4j", cases):
            record, name, changed = cases[case]
            statement = SET_EDGE if record["kind"] == "PARENT" else SET_NODE
            properties = {key: value for key, value in record["properties"].items() if key != name}
            if changed is not None:
                properties[name] = changed
            await neo4j_database.rows(statement, id=record["id"], properties=properties)
            try:
                wrong += [f"{case}: {what}" for what in await judged(client, victim, beside, case)]
            finally:
                await neo4j_database.rows(statement, id=record["id"], properties=record["properties"])
        found, _ = await answer(client, "VerifyChain", pb.VerifyChainRequest(session_id=victim))
        assert found.integrity == taxonomy.CHAIN_INTEGRITY_VALID
    await store.close()
    assert wrong == [], "\n".join(wrong)


async def judged(client, victim, beside, case):
    """Return what is not as it shall be."""
    kind, name, _ = case
    found, refused = await answer(client, "VerifyChain", pb.VerifyChainRequest(session_id=victim))
    broken = found is not None and found.integrity == taxonomy.CHAIN_INTEGRITY_BROKEN
    missing = refused is not None and refused.code is grpc.StatusCode.NOT_FOUND
    if kind in RECORDS and name not in FOUND_BY and not (broken or (missing and kind == "Session")):
        return [f"not found: {found or refused}"]
    problems = []
    for rpc, request in (
        ("GetDag", pb.GetDagRequest(session_id=victim)),
        ("ListAuditEvents", pb.ListAuditEventsRequest(session_id=victim)),
        ("ListReports", pb.ListReportsRequest(session_id=victim)),
    ):
        _, refused = await answer(client, rpc, request)
        if refused is not None and refused.code not in {grpc.StatusCode.DATA_LOSS, grpc.StatusCode.NOT_FOUND}:
            problems.append(f"{rpc}: {refused}")
    found, refused = await answer(client, "VerifyChain", pb.VerifyChainRequest(session_id=beside))
    if refused or found.integrity != taxonomy.CHAIN_INTEGRITY_VALID:
        problems.append(f"beside: {found or refused}")
    return problems
