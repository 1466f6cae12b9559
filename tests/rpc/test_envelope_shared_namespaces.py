"""Shared read-only namespaces over gRPC: who sees them, who writes them, and what a state is made of (CRP-SPEC-009)."""

import grpc
import pytest
from crp.ckf.v1 import ckf_pb2
from pydantic import ValidationError

from services.common.settings.envelope import EnvelopeSettings
from tests.fakes.envelope_world import World, refused

DENIED = grpc.StatusCode.PERMISSION_DENIED
NOT_FOUND = grpc.StatusCode.NOT_FOUND
READ_ONLY = "NAMESPACE_READ_ONLY"
REGULATIONS, CLINICS = "shared:regulations", "shared:clinics"
OWN = "Our handbook asks for a report of a data breach within one day of the discovery."
LAW = "The regulation asks for a report of a data breach within 72 hours of the discovery."
MEDICAL = "Clinics keep the records of a treatment and of a data breach for thirty years."
QUERY = "When must a data breach be reported after its discovery?"
GRANTS = {REGULATIONS: ("*",), CLINICS: ("tenant-a",)}


def world_with(grants, former=None):
    settings = EnvelopeSettings(shared_namespaces=grants)
    return World(settings=settings) if former is None else World(former.facts, former.graph, settings=settings)


@pytest.fixture
def world():
    return world_with(GRANTS)


@pytest.fixture
async def clients(world):
    async with world.serving() as clients:
        await clients("alice").ingest(OWN, uri="handbook.txt")
        await clients("operator").ingest(LAW, uri="gdpr.txt", source_type=ckf_pb2.SOURCE_TYPE_REGULATION)
        await clients("clinics").ingest(MEDICAL, uri="records.txt")
        yield clients


def contents(facts):
    return sorted(fact.content for fact in facts)


async def seen(client):
    """Return what a caller reads in every way there is; all ways must agree."""
    listed = await client.facts()
    dense = (await client.call("SearchFacts", query=QUERY, limit=50)).hits
    words = (await client.call("SearchFacts", query="data breach report", mode="SEARCH_MODE_TEXT", limit=50)).hits
    built = (await client.build(QUERY)).envelope.facts
    for fact in listed:
        assert (await client.call("GetFact", fact_id=fact.fact_id)).fact.content == fact.content
    assert contents(listed) == contents(hit.fact for hit in dense) == contents(hit.fact for hit in words)
    assert contents(listed) == contents(built)
    return contents(listed)


async def test_a_tenant_reads_its_own_and_what_was_granted_to_it_and_nothing_else(clients):
    assert await seen(clients("alice")) == sorted([OWN, LAW, MEDICAL])
    assert await seen(clients("mallory")) == [LAW]
    assert await seen(clients("operator")) == [LAW]
    assert await seen(clients("clinics")) == [MEDICAL]


async def test_facts_say_in_which_namespace_they_stand(clients):
    alice = clients("alice")
    assert {fact.content: fact.namespace for fact in await alice.facts()} == {
        OWN: "", LAW: REGULATIONS, MEDICAL: CLINICS,
    }  # fmt: skip
    envelope = (await alice.build(QUERY)).envelope
    assert {fact.content: fact.namespace for fact in envelope.facts}[LAW] == REGULATIONS
    assert list(envelope.shared_namespaces) == [CLINICS, REGULATIONS]
    assert list((await clients("mallory").build(QUERY)).envelope.shared_namespaces) == [REGULATIONS]


async def test_without_the_grant_nothing_of_it_is_seen_not_even_by_id(clients):
    (fact,) = await clients("clinics").facts()
    mallory = clients("mallory")
    async with refused(NOT_FOUND, "FACT_NOT_FOUND"):
        await mallory.call("GetFact", fact_id=fact.fact_id)
    for rpc in ("QuarantineFact", "RestoreFact"):
        async with refused(NOT_FOUND, "FACT_NOT_FOUND"):
            await mallory.call(rpc, fact_id=fact.fact_id)
    async with refused(NOT_FOUND, "SOURCE_NOT_FOUND"):
        await mallory.call("EraseSource", source_id=fact.source_id)
    ids = [fact.fact_id]
    built = await mallory.build(QUERY, deferred_fact_ids=ids, transferred_fact_ids=ids, active_fact_ids=ids)
    assert contents(built.envelope.facts) == [LAW]


async def test_a_revoked_grant_is_gone_with_the_next_start(world, clients):
    assert LAW in await seen(clients("mallory"))
    async with world_with({REGULATIONS: ("tenant-a",)}, world).serving() as later:
        assert await seen(later("mallory")) == []
        assert await seen(later("alice")) == sorted([OWN, LAW])


async def test_tenants_do_not_write_what_is_shared(clients):
    alice = clients("alice")
    law = next(fact for fact in await alice.facts() if fact.content == LAW)
    for rpc in ("QuarantineFact", "RestoreFact"):
        async with refused(DENIED, READ_ONLY):
            await alice.call(rpc, fact_id=law.fact_id)
    async with refused(DENIED, READ_ONLY):
        await alice.call("EraseSource", source_id=law.source_id)
    entry = {"content": "A newer rule asks for a report within a day.", "supersedes_fact_ids": [law.fact_id]}
    async with refused(DENIED, READ_ONLY):
        await alice.call("IngestFacts", uri="x", source_type=ckf_pb2.SOURCE_TYPE_USER, facts=[entry])
    assert contents(await clients("operator").facts()) == [LAW]


async def test_the_same_document_of_a_tenant_stays_its_own(clients):
    mallory = clients("mallory")
    await mallory.ingest("A tenant's own note on a data breach.", uri="gdpr.txt")
    assert len(await mallory.facts()) == 2
    assert contents(await clients("operator").facts()) == [LAW]


async def test_the_operator_erases_and_withholds_for_everybody(clients):
    alice, operator = clients("alice"), clients("operator")
    (law,) = await operator.facts()
    await alice.build(QUERY)
    await operator.call("QuarantineFact", fact_id=law.fact_id)
    assert await seen(alice) == sorted([OWN, MEDICAL])
    withheld = await operator.facts(statuses=[ckf_pb2.FACT_STATUS_QUARANTINED])
    assert (contents(withheld), await alice.facts(statuses=[ckf_pb2.FACT_STATUS_QUARANTINED])) == ([LAW], [])
    await operator.call("RestoreFact", fact_id=law.fact_id)
    assert LAW in await seen(alice)
    await operator.call("EraseSource", source_id=law.source_id)
    assert await seen(alice) == sorted([OWN, MEDICAL])
    async with refused(NOT_FOUND, "FACT_NOT_FOUND"):
        await alice.call("GetFact", fact_id=law.fact_id)


async def test_a_write_to_a_shared_namespace_ends_the_etags_of_those_who_read_it_and_of_no_other(clients):
    alice, mallory = clients("alice"), clients("mallory")
    etags = {client: (await client.build(QUERY)).envelope.etag for client in (alice, mallory)}
    states = {client: (await client.call("GetState")).state_hash for client in (alice, mallory)}
    assert (await alice.build(QUERY, if_match_etag=etags[alice])).not_modified
    await clients("clinics").ingest("Clinics report a data breach to the chamber as well.", uri="more.txt")
    answered = await alice.build(QUERY, if_match_etag=etags[alice])
    assert (answered.not_modified, len(answered.envelope.facts)) == (False, 4)
    assert (await mallory.build(QUERY, if_match_etag=etags[mallory])).not_modified
    assert (await alice.call("GetState")).state_hash != states[alice]
    assert (await mallory.call("GetState")).state_hash == states[mallory]


async def test_equal_labels_of_two_namespaces_are_two_communities(world, clients):
    for tenant in ("tenant-a", REGULATIONS):
        ids = [fact.fact_id for fact in await clients("alice" if tenant == "tenant-a" else "operator").facts()]
        await world.facts.set_communities(tenant, dict.fromkeys(ids, "breach-report"))
    envelope = (await clients("alice").build(QUERY)).envelope
    assert {fact.community for fact in envelope.facts if fact.content in {OWN, LAW}} == {
        "breach-report", f"{REGULATIONS}/breach-report",
    }  # fmt: skip
    for name, expected in (("breach-report", [OWN, LAW]), (f"{REGULATIONS}/breach-report", [LAW])):
        hits = (await clients("alice").call("SearchFacts", query=QUERY, communities=[name])).hits
        assert contents(hit.fact for hit in hits) == sorted(expected)


@pytest.mark.parametrize(
    "grants",
    [{"regulations": ["*"]}, {"shared:": ["*"]}, {"shared:A": ["*"]}, {"shared:a": [""]}, {"shared:a": ["shared:b"]}],
    ids=str,
)
def test_a_grant_that_is_none_fails_at_start(grants):
    with pytest.raises(ValidationError, match="shared"):
        EnvelopeSettings(shared_namespaces=grants)
