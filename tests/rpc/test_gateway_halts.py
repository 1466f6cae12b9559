"""What an auditor finds of a withheld answer, and of a system that nothing is done for (SPEC-004 §16.3, -005 §14)."""

import dataclasses
import json

import pytest
from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.common.v1 import text_pb2
from crp.dpe.v1 import claim_pb2, finding_pb2

from services.common.encoding import sha256_hex
from services.common.ports.credentials import AiSystemRecord
from services.dpe.domain.regulation.eu_ai_act import DOMAIN_ROWS, PRACTICE_ROWS, EuAiActClass
from services.gateway.clients.audit_events import MAX_CLAIMS
from services.gateway.domain.ai_systems import prohibited_rows
from tests.fakes.dag_world import NOW, fresh_uuid
from tests.fakes.gateway_world import GatewayWorld, Script, headers_of

SECRET = "Alpenrose paid 900 euros to Jane Doe."
SYSTEM = AiSystemRecord("tenant-a", "scorer", "Scorer", "CREATIVE", "", NOW, prohibited_practices=("SOCIAL_SCORING",))


def finding(number=1):
    return claim_pb2.Claim(
        claim_id=f"c{number}",
        text=SECRET,
        claim_type=claim_pb2.CLAIM_TYPE_FACTUAL,
        span=text_pb2.TextSpan(start=0, end=len(SECRET)),
        attribution=claim_pb2.Attribution(type=claim_pb2.ATTRIBUTION_TYPE_UNVERIFIABLE),
        verdict=claim_pb2.CLAIM_VERDICT_UNSUPPORTED,
    )


REPORT = {
    "claims": [finding()],
    "claims_total": 1,
    "fabrication_count": 1,
    "distortion_count": 1,
    "distortions": [finding_pb2.Distortion(claim_id="c1", type=finding_pb2.DISTORTION_TYPE_NUMBER_CHANGED)],
    "composite_score": 0.8125,
    "policy_hash": "d" * 64,
    "stages": [{"number": 1, "status": taxonomy.STAGE_STATUS_COMPLETED}],
}


async def test_the_event_of_a_halt_holds_the_reports_hash_and_findings_and_no_word_of_it():
    world = GatewayWorld(script=Script(risk="CRITICAL", report=REPORT), replies=(SECRET,))
    async with world.serving() as client:
        response = await client.dispatch()
        verified = await client.verify(response.halted.session_id)
    (event,) = world.events_of("SAFETY_HALT")
    assert event["report_hash"] == response.halted.report_hash != ""
    assert event["response_content_hash"] == sha256_hex(SECRET)
    assert event["claims"] == [["c1", 0, len(SECRET), "FACTUAL", "UNVERIFIABLE", "UNSUPPORTED"]]
    assert event["distortions"] == {"DISTORTION_TYPE_NUMBER_CHANGED": 1}
    assert (event["fabrication_count"], event["hallucination_score"]) == (1, 0.8125)
    assert event["stages"] == {"1": "COMPLETED"}
    assert event["directives"] == ["halt-on CRITICAL", "warn-on HIGH", "warn-on-contradiction"]
    assert not {"Alpenrose", "Jane", "euros"} & set(json.dumps(event).replace(".", " ").split())
    assert verified.integrity == taxonomy.CHAIN_INTEGRITY_UNVERIFIED
    assert verified.events_verified == verified.events_total


async def test_a_report_of_very_many_claims_still_fits_into_its_event():
    claims = [finding(number) for number in range(1, 2_001)]
    world = GatewayWorld(script=Script(risk="CRITICAL", report=REPORT | {"claims": claims, "claims_total": 2_000}))
    async with world.serving() as client:
        assert (await client.dispatch()).halted.halt_reason
    (event,) = world.events_of("SAFETY_HALT")
    assert (len(event["claims"]), event["claims_total"]) == (MAX_CLAIMS, 2_000)
    assert len(json.dumps(event)) < 65_536


async def test_a_prohibited_system_halts_before_anything_is_built_or_asked():
    world = GatewayWorld()
    await world.credentials.put_ai_system(SYSTEM)
    request_id = fresh_uuid()
    async with world.serving() as client:
        response = await client.dispatch(ai_system_id="scorer", request_id=request_id, safety_mode="SAFETY_MODE_WARN")
        again = await client.dispatch(ai_system_id="scorer", request_id=request_id, safety_mode="SAFETY_MODE_WARN")
    said = headers_of(response)
    assert response.halted.halt_reason == "UNACCEPTABLE_EU_AI_ACT"
    assert response.halted.risk_level == 0
    assert said["CRP-Compliance-EU-AI-Act"] == "UNACCEPTABLE"
    assert said["CRP-Safety-Retry-After"] == "oversight-required"
    assert world.model.requests == []
    assert not {"BuildEnvelope", "Analyze"} & set(world.script.asked)
    assert again == response
    assert world.statuses() == ["FAILED"]
    (classified,) = world.events_of("EU_AI_ACT_CLASSIFIED")
    assert classified["rows"] == ["PROHIBITED_PRACTICE_SOCIAL_SCORING"]
    (halt,) = world.events_of("SAFETY_HALT")
    assert halt["model_called"] is False


@pytest.mark.parametrize("domain", list(DOMAIN_ROWS))
def test_the_gateway_knows_every_row_that_makes_a_system_unacceptable_by_domain(domain):
    system = dataclasses.replace(SYSTEM, domain=domain.value, prohibited_practices=())
    row = DOMAIN_ROWS[domain]
    assert prohibited_rows(system) == ((row.token,) if row.eu_class is EuAiActClass.UNACCEPTABLE else ())


@pytest.mark.parametrize("practice", list(PRACTICE_ROWS))
def test_the_gateway_knows_every_row_that_makes_a_system_unacceptable_by_practice(practice):
    system = dataclasses.replace(SYSTEM, prohibited_practices=(practice.value,))
    assert prohibited_rows(system) == (PRACTICE_ROWS[practice].token,)


def test_no_system_is_no_prohibited_one():
    assert prohibited_rows(None) == ()
