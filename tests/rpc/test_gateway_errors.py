"""Every error that a dispatch may end with, at every door: status, reason, metadata, headers, body (SPEC-004 §16).

The list is the contract's own: the comment of ``Dispatch``.
"""

import ast
import re
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.rpc import error_details_pb2, status_pb2

from services.common.errors import CrpError, ErrorReason, LimitExceededError, PermissionDeniedError
from services.common.rpc.protocol_headers import failure_headers
from services.common.rpc.status import _CLASSES, STATUS
from services.gateway.doors.http.problems import http_status
from services.gateway.doors.http.record_routes import DISPATCH
from tests.fakes.gateway_world import QUESTION, Fault, GatewayWorld, Script
from tests.rpc.test_gateway_batch import asked, batch
from tests.rpc.test_gateway_http_records import served

ROOT = Path(__file__).parents[2]
PROTO = (ROOT / "proto/crp/gateway/v1/dispatch_service.proto").read_text(encoding="utf-8")
LISTED = sorted(
    {
        word
        for word in re.findall(r"[A-Z]+(?:_[A-Z]+)+", PROTO.partition("  rpc Dispatch(")[0].partition("service ")[2])
        if word in ErrorReason.__members__
    }
)
DEMANDED = {
    ErrorReason.CONTINUATION_NOT_FOUND: {"continuation_id"},  # SPEC-004 §16.1
    ErrorReason.UNKNOWN_DIRECTIVE: {"directive"},  # CRP-SPEC-006
    ErrorReason.POLICY_RELAXED: {"directive", "parent_value", "child_value"},  # CRP-SPEC-006
    ErrorReason.QUALITY_UNREACHABLE: {"best_tier"},  # SPEC-003 §8.4
    ErrorReason.WINDOW_LIMIT: {"limit"},
    ErrorReason.FAN_OUT_LIMIT: {"limit"},
    ErrorReason.DAG_NODE_LIMIT: {"limit"},
    ErrorReason.LOOP_DEPTH_LIMIT: {"limit"},
    ErrorReason.UNSUPPORTED_STRATEGY: set(),
}
"""What the specifications, or a caller that goes on by itself, need of an error beside its reason."""
BODIES = {
    ErrorReason.CONTINUATION_NOT_FOUND: "continuation_not_found",
    ErrorReason.UNKNOWN_DIRECTIVE: "unknown directive",
    ErrorReason.POLICY_RELAXED: "safety_policy_inheritance_violation",
}


def raised(reason):
    told: dict[str, Any] = {name: f"of-{name}" for name in DEMANDED.get(reason, ())}
    return _CLASSES.get(STATUS[reason].code, CrpError)(reason, "as it is told", **told)


def test_the_contract_lists_them():
    assert len(LISTED) > 30
    assert {reason.value for reason in DEMANDED} <= set(LISTED)


async def test_every_error_of_a_dispatch_says_all_over_grpc():
    world = GatewayWorld()
    async with world.serving() as client:
        for name in LISTED:
            error = raised(ErrorReason(name))
            world.script.faults["BuildEnvelope"] = Fault(error, times=9)
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await client.start()
            found, trailing = caught.value, dict(caught.value.trailing_metadata())
            info = error_details_pb2.ErrorInfo()
            assert status_pb2.Status.FromString(trailing["grpc-status-details-bin"]).details[0].Unpack(info)
            assert (found.code(), info.reason) == (STATUS[error.reason].code, name)
            assert info.metadata["x-request-id"] == trailing["x-request-id"]
            assert error.metadata.items() <= dict(info.metadata).items(), name
            told = {key: value for key, value in trailing.items() if key.startswith("crp-")}
            assert told == {key.lower(): value for key, value in failure_headers(error)}, name
            assert told["crp-context-protocol-version"] == "3.0.0"
    assert set(world.statuses()) == {"FAILED"}


async def test_every_error_of_a_dispatch_says_all_over_http():
    world = GatewayWorld()
    async with served(world) as http:
        for name in LISTED:
            error = raised(ErrorReason(name))
            world.script.faults["BuildEnvelope"] = Fault(error, times=9)
            answer = await http.post(DISPATCH, json={"query": QUESTION})
            body = answer.json()
            assert (answer.status_code, body["error"]["reason"]) == (http_status(error), name)
            assert error.metadata.items() <= body["error"]["metadata"].items(), name
            assert all(answer.headers[key] == value for key, value in failure_headers(error)), name
            assert body.get("crp_error", "") == BODIES.get(error.reason, ""), name
            if error.reason in BODIES:
                assert all(body[key] == f"of-{key}" for key in DEMANDED[error.reason])


async def test_every_error_of_an_item_says_what_it_would_say_alone():
    world = GatewayWorld()
    async with world.serving() as client:
        for name in LISTED:
            error = raised(ErrorReason(name))
            world.script.faults["BuildEnvelope"] = Fault(error, times=9)
            (item,) = (await batch(client, asked(1))).items
            assert item.failure.reason == name
            assert error.metadata.items() <= dict(item.failure.metadata).items()
            assert [(one.name, one.value) for one in item.failure.headers] == list(failure_headers(error))


def test_whoever_raises_one_says_what_is_demanded():
    seen = set()
    # What the dag service refuses without knowing the directives, the gateway tells as a whole (dispatch/opening.py).
    for folder, own in (("gateway", set()), ("dag", {ErrorReason.POLICY_RELAXED})):
        for path in sorted((ROOT / "services" / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                for reason, names in _told(node):
                    seen.add(reason)
                    missing = set() if reason in own else DEMANDED.get(reason, set()) - names
                    assert not missing, f"{path.name}: {ast.unparse(node)}: without {missing}"
    assert {reason for reason in DEMANDED if not reason.value.endswith("_LIMIT")} <= seen  # limits are made by name


def _told(node):
    """Yield the reason that an error is made with, and the names of its metadata."""
    if not (isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Attribute)):
        return
    first = node.args[0]
    is_error = isinstance(node.func, ast.Name) and node.func.id.endswith("Error")
    if is_error and isinstance(first.value, ast.Name) and first.value.id == "ErrorReason":
        yield ErrorReason[first.attr], {keyword.arg for keyword in node.keywords}


async def test_a_parent_s_policy_that_nobody_can_read_is_told_as_a_whole():
    refusal = PermissionDeniedError(ErrorReason.POLICY_RELAXED, "x", parent_policy_hash="a" * 64, policy_hash="b" * 64)
    world = GatewayWorld(Script(faults={"OpenWindow": Fault(refusal)}))
    async with served(world) as http:
        answer = await http.post(DISPATCH, json={"query": QUESTION})
    body = answer.json()
    assert (answer.status_code, body["crp_error"]) == (403, "safety_policy_inheritance_violation")
    assert (body["directive"], body["parent_value"]) == ("policy", "sha256:" + "a" * 64)
    assert body["child_value"].startswith("sha256:")


async def test_a_limit_says_which_over_http():
    """The whole way once, from the service that refuses: a fan-out that is too wide."""
    world = GatewayWorld(
        Script(faults={"OpenWindow": Fault(LimitExceededError(ErrorReason.FAN_OUT_LIMIT, "x", limit="10"))})
    )
    async with served(world) as http:
        answer = await http.post(DISPATCH, json={"query": QUESTION})
    assert (answer.status_code, answer.json()["error"]["metadata"]["limit"]) == (429, "10")
