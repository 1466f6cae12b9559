"""Fields that this version does not know are kept over HTTP and over gRPC (ERCP 1.0 §10, ADR 0079)."""

import copy
import json
from pathlib import Path

import pytest
from ercp.v1 import ercp_pb2 as pb

from services.common.ids import trace_session_id
from services.common.message_json import json_of
from services.ercp.node_key import signature, trace_key
from tests.fakes.ercp_http import ercp_http
from tests.fakes.ercp_world import NODE_KEY, QUESTION, ErcpWorld, constraint
from tests.rpc.test_ercp_operators import request_for

VECTORS = json.loads(
    (Path(__file__).resolve().parents[1] / "vectors/ercp/unknown_fields.json").read_text(encoding="utf-8")
)
KEPT = {vector["id"]: vector for vector in VECTORS["kept"]}
REFUSED = {vector["id"]: vector for vector in VECTORS["refused"]}


@pytest.fixture
async def ercp():
    async with ercp_http(ErcpWorld()) as opened:
        yield opened


def at(body, path):
    for step in path:
        body = body[step]
    return body


def told(event):
    """What an event says of unknown fields, by place."""
    summary = event["input_summary"]["unknown_fields"]
    assert summary["objects"] == len(summary["items"])
    return {item["object"]: json.loads(item["excerpt"]) for item in summary["items"]}


@pytest.mark.parametrize("name", KEPT)
async def test_what_goes_in_comes_back_and_is_told_by_the_first_event(ercp, name):
    vector = KEPT[name]
    response = await ercp.post(vector["call"], vector["request"])
    assert response.status_code == 200, response.text
    body = response.json()
    for expected in vector["returned"]:
        assert at(body, expected["at"]) == expected["value"]
    events = (await ercp.trace(body["trace_id"])).json()["trace_events"]
    assert told(events[0]) == vector["told"]
    assert all("unknown_fields" not in event["input_summary"] for event in events[1:])


def refused_request(vector):
    unknown = {f"x{number}": 1 for number in range(vector.get("names", 0))}
    if "name_chars" in vector:
        unknown["x" * vector["name_chars"]] = 1
    if "levels" in vector:
        nested = 1
        for _ in range(vector["levels"] - 1):
            nested = [nested]
        unknown["x"] = nested
    if "value_chars" in vector:
        unknown["x"] = "x" * vector["value_chars"]
    problem = {"description": QUESTION}
    if "constraints" not in vector:
        return {"problem": problem | unknown}
    predicate = {"predicate_name": "Equal", "args": {"left": "a.b", "right": "1"}}
    rule = {"type": "custom", "nl_text": "x", "predicate": predicate} | unknown
    return {"problem": problem, "constraints": [rule] * vector["constraints"]}


@pytest.mark.parametrize("name", REFUSED)
async def test_too_much_is_refused_with_the_bound(ercp, name):
    vector = REFUSED[name]
    response = await ercp.post("run", refused_request(vector))
    assert response.status_code == 400, response.text
    (fault,) = response.json()["error"]["fields"]
    assert fault["field"] == vector["field"]
    assert vector["says"] in fault["description"]


@pytest.mark.parametrize("name", ["65 names", "a name of 201 characters", "17 levels", "more than 16 KiB"])
async def test_just_within_the_bound_is_accepted(ercp, name):
    vector = REFUSED[name]
    within = {key: value - (20 if key == "value_chars" else 1) if isinstance(value, int) else value
              for key, value in vector.items()}  # fmt: skip
    body = refused_request(within) | {"mutation_strategy": "relax"}
    response = await ercp.post("mutate", body)
    assert response.status_code == 200, response.text
    assert body["problem"].items() <= response.json()["new_problem"].items()


async def test_a_known_field_is_never_shadowed(ercp):
    """Over gRPC alone: in the document's JSON a known field's name is the known field."""
    problem = pb.Problem(description=QUESTION)
    problem.extensions.update({"id": "another", "metadata": {}})
    refused = await ercp.grpc.fails("Mutate", request_for("Mutate", problem=problem))
    assert set(refused.fields) == {"problem.extensions.id", "problem.extensions.metadata"}
    problem.ClearField("extensions")
    problem.extensions.update({"id": "another"})
    assert json_of(problem)["id"] == ""


async def test_no_json_is_no_unknown_field(ercp):
    for value in (float("nan"), None):
        problem = pb.Problem(description=QUESTION)
        if value is None:
            problem.extensions.fields["x"].SetInParent()
        else:
            problem.extensions.fields["x"].number_value = value
        assert "problem" in (await ercp.grpc.fails("Run", request_for("Run", problem=problem))).fields


async def test_over_grpc_they_are_kept_in_their_field_and_signed_as_json(ercp):
    rule = constraint("Equal", left="tank.volume", right="5", unit="l")
    rule.extensions.update({"x_note": "kept"})
    rule.source.extensions.update({"x_author": "desk 4"})
    answer = await ercp.grpc.call("Mutate", request_for("Mutate", constraints=[rule]))
    (kept,) = answer.new_constraints
    assert (kept.extensions["x_note"], kept.source.extensions["x_author"]) == ("kept", "desk 4")
    document = json_of(answer)
    assert document["new_constraints"][0]["x_note"] == "kept"
    assert "extensions" not in document["new_constraints"][0]
    key = trace_key(NODE_KEY, trace_session_id("tenant-a", answer.trace_id))
    assert answer.node_signature == signature(key, document)
    document["new_constraints"][0]["x_note"] = "changed"
    assert answer.node_signature != signature(key, document)


async def test_personal_data_in_names_and_values_is_taken_out_of_the_trace(ercp):
    unknown = {"jane.doe@example.org": 1, "x": {"ask": ["john.roe@example.org"]}}
    request = {"problem": {"description": QUESTION, **unknown}, "mutation_strategy": "relax"}
    body = (await ercp.post("mutate", request)).json()
    assert body["new_problem"]["x"] == unknown["x"]
    text = (await ercp.trace(body["trace_id"])).text
    assert "jane.doe" not in text
    assert "john.roe" not in text
    assert text.count("<EMAIL_ADDRESS>") == 2


async def test_a_repeat_and_a_resumed_run_give_them_back_again(ercp):
    request = copy.deepcopy(VECTORS["kept"][0]["request"]) | {"trace_id": "9b2f2f39-8a9e-4d4e-9c6b-0d9b6f6f2a19"}
    first, second = [(await ercp.post("run", request)).json() for _ in range(2)]
    assert second["constraints"][0]["x_note"] == "from the drawing"
    assert second["trace_events"] == first["trace_events"]
    changed = copy.deepcopy(request)
    changed["config"]["x_beam_width"] = 5
    other = await ercp.post("run", changed)
    assert other.json()["error"]["reason"] == "TRACE_MISMATCH"
