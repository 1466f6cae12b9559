"""Stage 12 over gRPC: what a profile must be, and what its analysis states (SPEC-005 §14)."""

import grpc
import pytest
from crp.common.v1 import regulation_pb2 as regulation
from crp.dpe.v1 import provenance_service_pb2 as pb
from crp.dpe.v1 import regulatory_pb2, report_pb2

from services.common.encoding import sha256_hex
from services.common.provenance import kept_report, report_hash
from services.common.rpc.canonical import message_json
from tests.fakes.dpe_world import World, refusal
from tests.rpc.test_dpe_provenance import request

TRAIL = "crp_trail_0123456789abcdef"


def profile(**changes):
    return regulatory_pb2.AiSystemProfile(**({"domain": "EMPLOYMENT", "version": 3} | changes))


@pytest.fixture
async def client():
    async with World().serving() as client:
        yield client


async def test_the_class_stands_in_the_hashed_report(client):
    asked = request(ai_system_id="bot", ai_system=profile(), audit_trail_id=TRAIL)
    report = (await client.call("Analyze", asked)).report
    assert report.eu_ai_act_class == report_pb2.EU_AI_ACT_CLASS_HIGH
    assert (report.ai_system_id, report.ai_system.version) == ("bot", 3)
    assert report.report_hash == report_hash(kept_report(message_json(report)))
    report.ai_system.intended_purpose = "something else"
    assert report.report_hash != report_hash(kept_report(message_json(report)))
    assert report.response_content_hash == sha256_hex(asked.response_text)


async def test_the_words_of_the_table_are_a_domain_too(client):
    asked = request(ai_system_id="bot", ai_system=profile(domain="Creative/entertainment"))
    report = (await client.call("Analyze", asked)).report
    assert (report.eu_ai_act_class, report.ai_system.domain) == (report_pb2.EU_AI_ACT_CLASS_MINIMAL, "CREATIVE")


async def test_the_stream_has_an_event_for_the_stage(client):
    analysis = request(ai_system_id="bot", ai_system=profile(interacts_with_people=True))
    events = await client.stream(pb.AnalyzeStreamRequest(analysis=analysis))
    (stage,) = [event.stage for event in events if event.HasField("stage") and event.stage.outcome.number == 12]
    assert (stage.outcome.name, stage.outcome.reason, stage.findings) == ("Regulatory Classification", "", 2)


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"ai_system_id": "bot", "ai_system": profile(domain="HR")}, ["ai_system.domain"]),
        ({"ai_system": profile()}, ["ai_system_id"]),
        ({"ai_system_id": "x" * 65}, ["ai_system_id"]),
        ({"audit_trail_id": "trail"}, ["audit_trail_id"]),
        ({"ai_system_id": "bot", "ai_system": profile(annex_iii_areas=[0])}, ["ai_system.annex_iii_areas"]),
        (
            {
                "ai_system_id": "bot",
                "ai_system": profile(
                    prohibited_practices=[regulation.PROHIBITED_PRACTICE_FACE_SCRAPING] * 2,
                    role=9,
                    regulated_sector=9,
                    sector="x" * 101,
                    intended_purpose="x" * 2001,
                    iso_42001_evidence={"A.2.2": "x" * 501},
                ),
            },
            [
                "ai_system.prohibited_practices",
                "ai_system.role",
                "ai_system.regulated_sector",
                "ai_system.sector",
                "ai_system.intended_purpose",
                "ai_system.iso_42001_evidence",
            ],
        ),
    ],
)
async def test_what_is_wrong_with_a_profile_is_said_by_field(client, changes, fields):
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await client.call("Analyze", request(**changes))
    assert refusal(caught.value) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_FIELD", fields)
