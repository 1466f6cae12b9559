"""Questions about what held before, through the whole suite: envelope, prompt, analysis, notices (ADR 0109)."""

from crp.ckf.v1 import ckf_pb2, knowledge_service_pb2, knowledge_service_pb2_grpc
from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.dpe.v1 import claim_pb2

from tests.fakes.dag_world import fresh_uuid
from tests.fakes.gateway_world import GatewayWorld
from tests.patience import patient
from tests.rpc.test_gateway_suite import suite

OLD = "The fee for a late report is ten euros."
NEW = "The fee for a late report is twenty-five euros."


async def put(caller, uri, text):
    stub = knowledge_service_pb2_grpc.KnowledgeServiceStub(caller.channel)
    request = knowledge_service_pb2.IngestSourceRequest(
        request_id=fresh_uuid(), uri=uri, source_type=ckf_pb2.SOURCE_TYPE_INTERNAL, content=text.encode()
    )
    await stub.IngestSource(request, metadata=caller.metadata, timeout=patient(10))


async def test_the_wish_travels_to_every_envelope_of_a_dispatch():
    gateway = GatewayWorld()
    async with gateway.serving() as client:
        await client.dispatch(if_match="*", include_superseded=True)
        await client.dispatch()
    assert [each.include_superseded for each in gateway.script.asked["BuildEnvelope"]] == [True, True, False]


async def test_what_was_replaced_is_quoted_only_where_it_is_asked_for_and_never_supported(tmp_path):
    async with suite(tmp_path) as caller:
        await put(caller, "fees.txt", OLD)
        await put(caller, "fees.txt", NEW)
        now = (await caller.ask("What is the fee for a late report?")).answer
        past = await caller.ask("What was the fee for a late report before the change?", include_superseded=True)
    assert "twenty-five" in now.text
    assert (now.envelope.facts_out_of_time, now.envelope.facts_included) == (0, 1)
    assert (past.answer.envelope.facts_out_of_time, past.answer.envelope.facts_included) == (1, 2)
    assert "FACTS_OUT_OF_TIME" in {warning.code for warning in past.warnings}
    verdicts = {claim.text: claim.verdict for claim in past.answer.report.claims}
    for text, verdict in verdicts.items():
        expected = claim_pb2.CLAIM_VERDICT_SUPERSEDED if "ten euros" in text else claim_pb2.CLAIM_VERDICT_SUPPORTED
        assert verdict == expected
    if claim_pb2.CLAIM_VERDICT_SUPERSEDED in verdicts.values():
        assert past.answer.report.risk_level >= taxonomy.RISK_LEVEL_MEDIUM


async def test_sources_that_disagree_are_a_notice_and_stand_in_the_report(tmp_path):
    async with suite(tmp_path) as caller:
        await put(caller, "a.txt", "The fee for a late report is 10 euros.")
        await put(caller, "b.txt", "The fee for a late report is 25 euros.")
        response = await caller.ask("What is the fee for a late report?")
    assert response.answer.envelope.source_conflicts == 1
    assert "SOURCES_DISAGREE" in {warning.code for warning in response.warnings}
    (told,) = response.answer.report.source_disagreements
    assert sorted(value.text for value in told.values) == ["10 euros", "25 euros"]
    assert {value.source.uri for value in told.values} == {"a.txt", "b.txt"}
