"""How a dispatch chooses its retrieval and names the facts that its window holds already (SPEC-003 §5.2).

The suite is the real one in one process, over memory stores; nothing but generated stubs speaks to it.
"""

import grpc
import pytest
from crp.ckf.v1 import ckf_pb2, knowledge_service_pb2, knowledge_service_pb2_grpc

from services.cli.commands import ask as ask_command
from services.cli.commands.ask import ContextWishes
from services.cli.console import Output
from services.cli.exits import Exit
from services.common.errors import InvalidRequestError
from services.common.settings import ClientSettings, Settings, StoreSettings
from services.common.settings.envelope import EnvelopeSettings
from tests.fakes.dag_world import fresh_uuid
from tests.fakes.gateway_world import GatewayWorld
from tests.patience import patient
from tests.rpc.test_gateway_envelope import printed, refusal
from tests.rpc.test_gateway_remedies import CLEAN, REQUIRED, gap, plan, world
from tests.rpc.test_gateway_suite import suite

QUERY = "How long is the deadline for a motor accident?"
NEAR = "The deadline for a motor accident is seven days from the event."
FAR = "A replacement car is paid for up to fourteen days under the plus plan."
OTHER = "The cafeteria of the head office opens at noon."
ONE = EnvelopeSettings(retrieval_k=1, neighbours_of=0)
MODES = ("DENSE", "TEXT", "HYBRID")


def mode(name):
    return knowledge_service_pb2.SearchMode.Value(f"SEARCH_MODE_{name}")


async def ingest_facts(caller, *facts):
    """Return the ids of the facts, in their order."""
    stub = knowledge_service_pb2_grpc.KnowledgeServiceStub(caller.channel)
    request = knowledge_service_pb2.IngestFactsRequest(
        request_id=fresh_uuid(),
        uri="rules.txt",
        source_type=ckf_pb2.SOURCE_TYPE_INTERNAL,
        facts=[knowledge_service_pb2.FactInput(content=text) for text in facts],
    )
    return list((await stub.IngestFacts(request, metadata=caller.metadata, timeout=patient(10))).fact_ids)


async def test_each_mode_runs_as_asked_and_the_envelope_says_so(tmp_path):
    async with suite(tmp_path) as caller:
        await ingest_facts(caller, NEAR, FAR)
        answers = [(await caller.ask(QUERY, retrieval_mode=mode(each))).answer for each in MODES]
        # No word of the query stands in a fact: words find nothing, vectors find the nearest there is.
        found = [
            (await caller.ask("zebra quantum yoghurt", retrieval_mode=mode(each))).answer.envelope.facts_available
            for each in MODES
        ]
    assert [answer.envelope.retrieval_mode for answer in answers] == [mode(each) for each in MODES]
    assert all("seven days" in answer.text for answer in answers)
    assert [count > 0 for count in found] == [True, False, True]


async def test_unset_is_the_deployments_mode(tmp_path):
    async with suite(tmp_path, envelope=EnvelopeSettings(retrieval_mode="text")) as caller:
        await ingest_facts(caller, NEAR)
        assert (await caller.ask(QUERY)).answer.envelope.retrieval_mode == mode("TEXT")
        assert (await caller.ask(QUERY, retrieval_mode=mode("DENSE"))).answer.envelope.retrieval_mode == mode("DENSE")


async def test_a_mode_whose_model_is_not_there_ran_as_another_and_a_warning_says_why(tmp_path):
    async with suite(tmp_path) as caller:
        await ingest_facts(caller, NEAR)
        response = await caller.ask(QUERY, retrieval_mode=mode("RERANKED"))
    assert response.answer.envelope.retrieval_mode == mode("HYBRID")
    assert any("MODEL_UNAVAILABLE" in warning.message for warning in response.warnings)


async def test_a_retry_tells_the_mode_again(tmp_path):
    request_id = fresh_uuid()
    async with suite(tmp_path) as caller:
        await ingest_facts(caller, NEAR)
        asked = {"retrieval_mode": mode("HYBRID"), "request_id": request_id}
        first, again = [await caller.ask(QUERY, **asked) for _ in range(2)]
        other = await refusal(caller.ask(QUERY, request_id=request_id, retrieval_mode=mode("TEXT")))
    assert first.SerializeToString(deterministic=True) == again.SerializeToString(deterministic=True)
    assert other.reason == "REQUEST_ID_REUSED"


async def test_an_active_fact_is_a_candidate_that_no_search_found(tmp_path):
    async with suite(tmp_path, envelope=ONE) as caller:
        near, far, _ = await ingest_facts(caller, NEAR, FAR, OTHER)
        plain = (await caller.ask(QUERY)).answer.envelope
        named = (await caller.ask(QUERY, active_fact_ids=[far])).answer.envelope
    assert list(plain.fact_ids) == [near]
    assert sorted(named.fact_ids) == sorted([near, far])
    assert plain.etag != named.etag


async def test_a_fact_that_a_former_window_held_is_a_candidate_again_when_it_is_active(tmp_path):
    async with suite(tmp_path, envelope=ONE) as caller:
        near, _ = await ingest_facts(caller, NEAR, FAR)
        first = (await caller.ask(QUERY)).answer
        go_on = {"session_token": first.session_token, "continuation_ids": [first.continuation_id]}
        # With so little room the parent hands on its answer, and no facts of its envelope: they are left out (§14.2).
        tight = {"strategies": ["DISPATCH_STRATEGY_FAN_OUT"], "max_envelope_tokens": 20} | go_on
        without = (await caller.ask(QUERY, **tight)).answer.envelope
        again = (await caller.ask(QUERY, active_fact_ids=[near], **tight)).answer.envelope
    assert list(first.envelope.fact_ids) == [near]
    assert near not in without.fact_ids
    assert again.facts_available == without.facts_available + 1


async def test_what_is_not_the_tenants_is_passed_over(tmp_path):
    async with suite(tmp_path, envelope=ONE) as caller:
        near, _ = await ingest_facts(caller, NEAR, FAR)
        unknown = [fresh_uuid() for _ in range(3)]
        answer = (await caller.ask(QUERY, active_fact_ids=unknown)).answer
    assert list(answer.envelope.fact_ids) == [near]


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"retrieval_mode": 77}, "retrieval_mode"),
        ({"active_fact_ids": [""]}, "active_fact_ids"),
        ({"active_fact_ids": ["f-1"]}, "active_fact_ids"),
        ({"active_fact_ids": [fresh_uuid().upper() + "0"]}, "active_fact_ids"),
        ({"active_fact_ids": [fresh_uuid()] * 2}, "active_fact_ids"),
        ({"active_fact_ids": [fresh_uuid() for _ in range(10_001)]}, "active_fact_ids"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_a_malformed_field_is_named_and_nothing_is_done(fields, wrong):
    gateway = GatewayWorld()
    async with gateway.serving() as client:
        found = await client.fails(**fields)
    assert (found.code, found.reason, found.fields) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_FIELD", (wrong,))
    assert gateway.windows() == []


async def test_a_window_that_the_gateway_adds_keeps_the_mode_and_not_the_active_facts():
    gateway = world({"plan": plan(gap("Who pays?"))}, CLEAN)
    fact = fresh_uuid()
    async with gateway.serving() as client:
        await client.dispatch(remediation=REQUIRED, retrieval_mode=mode("HYBRID"), active_fact_ids=[fact])
    built = gateway.script.asked["BuildEnvelope"]
    assert [each.retrieval_mode for each in built] == [mode("HYBRID")] * 2
    assert [list(each.active_fact_ids) for each in built] == [[fact], []]


async def test_a_comparison_before_the_window_is_asked_with_both():
    gateway = GatewayWorld()
    fact = fresh_uuid()
    async with gateway.serving() as client:
        await client.dispatch(if_match="*", retrieval_mode=mode("TEXT"), active_fact_ids=[fact])
    compared, built = gateway.script.asked["BuildEnvelope"]
    assert (compared.compare_only, built.compare_only) == (True, False)
    for request in (compared, built):
        assert (request.retrieval_mode, list(request.active_fact_ids)) == (mode("TEXT"), [fact])


async def test_the_command_line_asks_with_both(tmp_path, capsys):
    async with suite(tmp_path / "data", envelope=ONE) as caller:
        near, far = await ingest_facts(caller, NEAR, FAR)
        key = dict(caller.metadata)["authorization"].removeprefix("Bearer ")
        settings = Settings(
            client=ClientSettings(server=caller.system.address, api_key=key),
            store=StoreSettings(data_dir=tmp_path / "own"),
        )
        wishes = ContextWishes("hybrid", (far,))
        assert await ask_command.ask(settings, Output(as_json=True), ask_command.Asked(QUERY), wishes) is Exit.OK
        envelope = printed(capsys.readouterr().out)["answer"]["envelope"]
        with pytest.raises(InvalidRequestError) as caught:
            await ask_command.ask(settings, Output(as_json=True), ask_command.Asked(QUERY), ContextWishes("fuzzy"))
    assert envelope["retrieval_mode"] == "SEARCH_MODE_HYBRID"
    assert sorted(envelope["fact_ids"]) == sorted([near, far])
    assert [each.field for each in caught.value.violations] == ["--retrieval-mode"]
