"""The document's canonical example (ERCP 1.0 §12): why water boils at different temperatures at different altitudes."""

import json
from pathlib import Path

import pytest
from ercp.v1 import ercp_service_pb2 as rpc
from google.protobuf.json_format import ParseDict

from services.common.message_json import json_of
from tests.fakes.dag_world import fresh_uuid
from tests.fakes.ercp_world import ErcpWorld
from tests.fakes.gateway_world import Script

EXAMPLE = json.loads(
    (Path(__file__).resolve().parents[1] / "vectors/ercp/canonical_example.json").read_text(encoding="utf-8")
)


@pytest.fixture
async def answer():
    world = ErcpWorld(replies=tuple(EXAMPLE["replies"]), script=Script(facts=tuple(EXAMPLE["knowledge"])))
    async with world.serving() as client:
        request = ParseDict(EXAMPLE["request"] | {"request_id": fresh_uuid()}, rpc.RunRequest())
        made = json_of(await client.call("Run", request))
        made["asked"] = world.model.requests
    return made


async def test_generate_mentions_the_boiling_point_and_verify_finds_a_missing_justification(answer):
    first, second = answer["trace_events"][:2]
    assert "boiling point" in first["output_summary"]["reasoning"]["excerpt"]
    assert [item["type"] for item in second["output_summary"]["errors"]["items"]] == EXAMPLE["expected"]["error_types"]


async def test_extract_derives_that_water_boils_at_about_100_degrees_at_sea_level(answer):
    expected = EXAMPLE["expected"]["constraint"]
    learned = next(each for each in answer["constraints"] if each["predicate"]["predicate_name"] == "Equal")
    assert learned["predicate"] == expected
    assert "100 °C" in learned["nl_text"]
    assert learned["confidence"] >= 0.75


async def test_it_is_generated_again_until_it_is_stable_and_the_whole_trace_is_returned(answer):
    assert [event["operator"] for event in answer["trace_events"]] == EXAMPLE["expected"]["operators"]
    assert answer["status"] == EXAMPLE["expected"]["status"]
    assert answer["final_reasoning"]["reasoning_text"] == EXAMPLE["replies"][1]
    assert answer["trace_events"][-1]["output_summary"] == {"stable": True, "score": 1}


async def test_the_model_of_the_config_is_asked_greedily(answer):
    assert {asked.model for asked in answer["asked"]} == {"evo-41m"}
    assert {(asked.temperature, asked.top_p) for asked in answer["asked"]} == {(0.0, 1.0)}
