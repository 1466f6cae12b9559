"""Objects over gRPC that no JSON could be, that have no end, or that carry personal data in odd places (§4, §11)."""

import json

import pytest
from ercp.v1 import ercp_pb2 as pb

from services.common.message_json import json_of
from tests.fakes.dag_world import fresh_uuid
from tests.fakes.ercp_world import ErcpWorld, constraint
from tests.rpc.test_ercp_operators import error, request_for


@pytest.fixture
async def client():
    async with ErcpWorld().serving() as client:
        yield client


def rule(**args):
    return constraint("Equal", constraint_id=fresh_uuid(), left="tank.volume", right="5", unit="l", **args)


def unset(message, *path):
    """Set a field of a Struct to a Value that is nothing at all."""
    message.fields[path[0]].SetInParent()
    return message


async def test_a_value_that_is_none_is_refused_at_its_place(client):
    broken = rule()
    unset(broken.predicate.args, "x")
    refused = await client.fails("Mutate", request_for("Mutate", constraints=[broken]))
    assert (refused.reason, refused.fields) == ("INVALID_FIELD", ("constraints[0].predicate.args",))
    asked = request_for("Mutate", mutation_strategy="MUTATION_STRATEGY_RELAX")
    unset(asked.mutation_config, "core")
    refused = await client.fails("Mutate", asked)
    assert (refused.reason, refused.fields) == ("INVALID_FIELD", ("mutation_config",))


LONG = {
    "an error's id": (lambda fault: setattr(fault, "error_id", "x" * 201), "errors[0].error_id"),
    "evidence without end": (
        lambda fault: setattr(fault.evidence[0], "excerpt", "x" * 100_001), "errors[0].evidence[0].excerpt",
    ),
    "a source without end": (
        lambda fault: setattr(fault.evidence[0], "source", "x" * 201), "errors[0].evidence[0].source",
    ),
    "detectors without end": (lambda fault: fault.detected_by.extend(["x"] * 101), "errors[0].detected_by"),
}  # fmt: skip


@pytest.mark.parametrize(("change", "field"), LONG.values(), ids=LONG)
async def test_an_error_without_end_is_refused(client, change, field):
    fault = error("CONTRADICTION", "x", 0.9, evidence="y")
    change(fault)
    assert (await client.fails("ExtractConstraints", request_for("ExtractConstraints", errors=[fault]))).fields == (
        field,
    )


@pytest.mark.parametrize("name", ["detected_by", "error_id"])
async def test_a_source_without_end_is_refused(client, name):
    broken = rule()
    setattr(broken.source, name, "x" * 201)
    refused = await client.fails("Mutate", request_for("Mutate", constraints=[broken]))
    assert refused.fields == (f"constraints[0].source.{name}",)


async def test_a_request_within_its_bounds_fits_into_its_event(client):
    """The event's summary is cut as far as the keeper of events wants it; the counts and digests stay."""
    rules = []
    for _ in range(200):
        one = rule(note=["水" * 900], **{"ключ" * 20: "水" * 900})
        one.nl_text = "水" * 2_000
        one.extensions.update({"x": "水" * 300})
        rules.append(one)
    asked = request_for("Mutate", trace_id=fresh_uuid(), constraints=rules)
    assert len((await client.call("Mutate", asked)).new_constraints) == 200
    (event,) = (await client.trace(asked.trace_id)).trace_events
    summary = json_of(event)["input_summary"]
    assert len(json.dumps(json_of(event), ensure_ascii=False).encode()) < 65_536
    assert summary["constraints"]["count"] == 200
    assert summary["constraints"]["items"]
    assert summary["unknown_fields"]["objects"] == 200


async def test_personal_data_is_taken_out_wherever_it_stands(client):
    broken = rule(
        **{"jane@example.org": ["john@example.org", {"jim@example.org": "jack@example.org"}], "y": "k@example.org"}
    )
    asked = request_for("Mutate", trace_id=fresh_uuid(), constraints=[broken])
    assert (await client.call("Mutate", asked)).new_constraints[0].predicate.args["y"] == "k@example.org"
    fault = pb.Error()
    fault.CopyFrom(error("CONTRADICTION", "ask jo@example.org", 0.9))
    fault.error_id = "joe@example.org"
    extracted = request_for("ExtractConstraints", trace_id=asked.trace_id, errors=[fault])
    await client.call("ExtractConstraints", extracted)
    text = json.dumps([json_of(event) for event in (await client.trace(asked.trace_id)).trace_events])
    assert "@example.org" not in text
    assert "<EMAIL_ADDRESS>" in text
    assert '"left": "tank.volume"' in text
