"""The package ``groundtrail`` before served services: checks, questions, sessions, refusals."""

import asyncio

import pytest
from crp.common.v1 import taxonomy_pb2 as taxonomy
from groundtrail import AsyncGroundtrail, Groundtrail, GroundtrailError, Level, WithheldError, check

from tests.fakes.checks import FEE, memory_models
from tests.fakes.dpe_world import World
from tests.fakes.gateway_world import ANSWER, GatewayWorld, Script

WRONG = "The fee for late reports is 7 euros."
THEFT = "A theft must be reported within 48 hours."


@pytest.fixture
async def checks():
    async with World(models=memory_models()).serving() as client:
        yield client.address


async def test_a_check_names_claims_and_the_facts_words(checks):
    def waiting():
        with Groundtrail(checks, "reader") as client:
            return client.check(WRONG, [FEE], "What is the fee?")

    async with AsyncGroundtrail(checks, "reader") as client:
        found = await client.check(WRONG, [FEE], "What is the fee?")
    for result in (found, await asyncio.to_thread(waiting)):
        assert (result.level, result.supported) == (Level.HIGH, False)
        (claim,) = result.judged
        assert (claim.verdict, claim.quotes[0].words, claim.kind) == ("CONTRADICTED", FEE, "FACTUAL")


async def test_refusals_have_the_servers_reason(checks):
    async with AsyncGroundtrail(checks, "nobody") as client:
        with pytest.raises(GroundtrailError) as refused:
            await client.check(FEE, [FEE])
    assert refused.value.reason == "CREDENTIAL_MISSING"
    with pytest.raises(GroundtrailError) as refused:
        await asyncio.to_thread(check, "", [FEE], server=checks, api_key="reader")
    assert refused.value.reason == "INVALID_FIELD"


async def test_the_environment_names_server_and_key(checks, monkeypatch):
    with pytest.raises(GroundtrailError, match="no server is named") as refused:
        Groundtrail()
    assert refused.value.reason == "NO_SERVER"
    monkeypatch.setenv("GROUNDTRAIL_CLIENT__SERVER", checks)
    monkeypatch.setenv("GROUNDTRAIL_CLIENT__API_KEY", "reader")
    async with AsyncGroundtrail() as client:
        assert (await client.check(FEE, [FEE])).supported


def test_one_client_serves_several_event_loops_one_after_the_other():
    async def one(client):
        async with World(models=memory_models()).serving() as served:
            client.address = served.address
            return (await client.check(FEE, [FEE])).supported

    client = AsyncGroundtrail("replaced", "reader")
    assert [asyncio.run(one(client)) for _ in range(2)] == [True, True]


async def test_a_session_goes_on_by_its_token():
    world = GatewayWorld(replies=(ANSWER, THEFT))
    async with world.serving() as served, AsyncGroundtrail(served.address, "alice") as client:
        session = client.session()
        first = await session.ask("How long do I have to report a motor accident?")
        second = await client.session(session.token, session.continuation_id).ask("And a theft?")
    assert (first.text, second.text) == (ANSWER, THEFT)
    assert first.session_id == second.session_id == session.session_id
    assert (first.headers["CRP-Context-Window"], second.headers["CRP-Context-Window"]) == ("1/5", "2/5")
    assert world.statuses() == ["COMMITTED", "COMMITTED"]


async def test_a_waiting_session_goes_on_as_well():
    def waiting(address):
        with Groundtrail(address, "alice") as client:
            session = client.session()
            return [session.ask(question) for question in ("A motor accident?", "And a theft?")]

    async with GatewayWorld(replies=(ANSWER, THEFT)).serving() as served:
        first, second = await asyncio.to_thread(waiting, served.address)
    assert first.session_id == second.session_id


async def test_a_withheld_answer_is_an_error_with_its_level():
    halting = {"risk_level": taxonomy.RISK_LEVEL_CRITICAL}
    async with (
        GatewayWorld(script=Script(report=halting)).serving() as served,
        AsyncGroundtrail(served.address, "alice") as client,
    ):
        session = client.session()
        with pytest.raises(WithheldError, match="Withheld: CRITICAL_HALLUCINATION_RISK") as withheld:
            await session.ask("How long do I have to report a motor accident?")
    assert (withheld.value.reason, withheld.value.level) == ("ANSWER_WITHHELD", Level.CRITICAL)
    assert ANSWER not in str(withheld.value)
    assert session.token == ""


async def test_a_wish_that_is_no_field_is_told():
    async with AsyncGroundtrail("127.0.0.1:1") as client:
        with pytest.raises(GroundtrailError, match="louder") as refused:
            await client.ask("What is the fee?", louder=True)
    assert refused.value.reason == "INVALID_FIELD"
