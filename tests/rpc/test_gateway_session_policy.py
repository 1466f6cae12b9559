"""A session's policy in its later windows: inherited, tightened, never relaxed (CRP-SPEC-006 facts; ADR 0093)."""

import grpc
import pytest
from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.gateway.v1 import dispatch_pb2

from services.common.encoding import sha256_hex
from services.common.ports.credentials import TenantPolicyRecord
from services.common.settings.gateway import GatewaySettings
from tests.fakes.dag_world import NOW, fresh_uuid
from tests.fakes.gateway_world import GatewayWorld, headers_of

DEFAULT = "halt-on CRITICAL; warn-on HIGH; warn-on-contradiction"


def applied(response):
    return headers_of(response).get("CRP-Safety-Policy-Applied", "")


async def two_windows(first, second, world=None):
    """Dispatch twice in one session; return the responses, or the refusal of the second, and the world."""
    world = world or GatewayWorld(replies=("One.", "Two."))
    async with world.serving() as client:
        one = await client.dispatch(**first)
        token = {"session_token": one.answer.session_token, "continuation_ids": [one.answer.continuation_id]}
        try:
            two = await client.dispatch(**token, **second)
        except grpc.aio.AioRpcError:
            two = await client.fails(**token, **second)
    return one, two, world


def policy(text, mode=0):
    return {"safety_policy": text, "safety_mode": mode}


WARN, STRICT = dispatch_pb2.SAFETY_MODE_WARN, dispatch_pb2.SAFETY_MODE_STRICT


@pytest.mark.parametrize(
    ("first", "second", "joint"),
    [
        (policy("halt-on CRITICAL"), policy("halt-on HIGH"), "halt-on HIGH"),
        (
            policy("halt-on CRITICAL; max-repetition MINOR", WARN),
            policy("warn-on LOW", WARN),
            "halt-on CRITICAL; warn-on LOW; max-repetition MINOR (mode warn)",
        ),
        (policy("halt-on HIGH; warn-on LOW"), {}, "halt-on HIGH; warn-on LOW"),
        ({}, policy("block-contradiction"), f"{DEFAULT}; block-contradiction"),
        ({}, {}, DEFAULT),
        (policy("warn-on LOW"), policy("warn-on LOW"), "warn-on LOW"),
        (policy("warn-on LOW", WARN), {}, "warn-on LOW (mode warn)"),
        (policy("warn-on LOW", WARN), policy("warn-on LOW"), "warn-on LOW"),
        (
            policy("upgrade-on-risk reflexive"),
            {"safety_mode": STRICT},
            (
                "halt-on CRITICAL; warn-on HIGH; incomplete-risk HIGH; require-grounding 0.75; block-ungrounded; "
                "upgrade-on-risk reflexive"
            ),
        ),
    ],
)
async def test_a_later_window_inherits_and_may_tighten(first, second, joint):
    _, two, world = await two_windows(first, second)
    assert applied(two) == joint
    began = [event for event in world.events_of("DISPATCH_STARTED") if event["node"]["window_number"] == 2]
    assert began[0]["policy"] == joint
    assert began[0]["policy_hash"] == sha256_hex(joint)


async def test_the_opening_of_a_tightened_window_says_what_it_was_compared_with():
    _, _, world = await two_windows(policy("halt-on CRITICAL"), policy("halt-on HIGH"))
    root, child = world.events_of("DISPATCH_STARTED")
    assert "policy_tightened_from" not in root
    assert child["policy_tightened_from"] == [root["policy_hash"]] == [sha256_hex("halt-on CRITICAL")]


@pytest.mark.parametrize(
    ("first", "second", "directive", "parent", "child"),
    [
        (policy("halt-on HIGH"), policy("halt-on CRITICAL"), "halt-on", "halt-on HIGH", "halt-on CRITICAL"),
        (
            policy("profile=medical; oversight auto", WARN),
            policy("incomplete-risk MEDIUM"),
            "incomplete-risk",
            "incomplete-risk HIGH",
            "incomplete-risk MEDIUM",
        ),
        (policy("halt-on HIGH"), {"safety_mode": WARN}, "mode", "enforced", "warn"),
        ({}, {"safety_mode": dispatch_pb2.SAFETY_MODE_PERMISSIVE}, "mode", "enforced", "permissive"),
    ],
)
async def test_a_later_window_may_not_relax(first, second, directive, parent, child):
    _, refusal, world = await two_windows(first, second)
    assert (refusal.code, refusal.reason) == (grpc.StatusCode.PERMISSION_DENIED, "POLICY_RELAXED")
    told = (refusal.metadata["directive"], refusal.metadata["parent_value"], refusal.metadata["child_value"])
    assert told == (directive, parent, child)
    assert world.statuses() == ["COMMITTED"]


async def test_a_session_without_a_policy_may_be_given_one_and_keeps_it():
    world = GatewayWorld(replies=("One.", "Two."), settings=GatewaySettings(default_safety_policy=""))
    one, two, _ = await two_windows({}, policy("halt-on HIGH"), world)
    assert (applied(one), applied(two)) == ("", "halt-on HIGH")


async def test_permissive_cannot_drop_a_sessions_policy_where_there_is_no_default():
    world = GatewayWorld(replies=("One.", "Two."), settings=GatewaySettings(default_safety_policy=""))
    _, refusal, _ = await two_windows(
        policy("halt-on HIGH"), {"safety_mode": dispatch_pb2.SAFETY_MODE_PERMISSIVE}, world
    )
    assert refusal.reason == "POLICY_RELAXED"


async def test_a_tenants_new_floor_holds_beside_the_sessions_policy():
    world = GatewayWorld(replies=("One.", "Two."))
    async with world.serving() as client:
        one = await client.dispatch(safety_policy="warn-on LOW")
        await world.credentials.put_policy(TenantPolicyRecord("tenant-a", "block-pii", (), "", 1, NOW))
        two = await client.dispatch(
            session_token=one.answer.session_token, continuation_ids=[one.answer.continuation_id]
        )
    assert two.halted.halt_reason == "block-pii"  # the scripted report has no stage 11
    assert applied(two) == "warn-on LOW; block-pii"


async def test_a_retry_of_a_tightened_window_meets_the_same_window():
    world = GatewayWorld(replies=("One.", "Two."))
    request_id = fresh_uuid()
    async with world.serving() as client:
        one = await client.dispatch(safety_policy="halt-on CRITICAL")
        given = {
            "request_id": request_id,
            "session_token": one.answer.session_token,
            "continuation_ids": [one.answer.continuation_id],
            "safety_policy": "halt-on HIGH",
        }
        two = await client.dispatch(**given)
        again = await client.dispatch(**given)
    assert two == again
    assert world.statuses() == ["COMMITTED", "COMMITTED"]


async def test_a_fan_in_takes_the_strictest_of_its_branches():
    world = GatewayWorld(replies=("One.", "Two.", "Three.", "Four."))
    fan_out = {"strategies": [taxonomy.DISPATCH_STRATEGY_FAN_OUT]}
    async with world.serving() as client:
        one = await client.dispatch(safety_policy="halt-on CRITICAL")
        parent = {"session_token": one.answer.session_token, "continuation_ids": [one.answer.continuation_id]}
        left = await client.dispatch(**parent, **fan_out, safety_policy="warn-on LOW")
        right = await client.dispatch(**parent, **fan_out, safety_policy="halt-on HIGH")
        merged = await client.dispatch(
            session_token=right.answer.session_token,
            continuation_ids=[left.answer.continuation_id, right.answer.continuation_id],
            strategies=[taxonomy.DISPATCH_STRATEGY_FAN_IN],
        )
    assert applied(merged) == "halt-on HIGH; warn-on LOW"
