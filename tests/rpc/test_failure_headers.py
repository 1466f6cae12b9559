"""What the protocol's headers say of failures at every door (SPEC-004 §16.2, §16.4, §17.2; SPEC-003 §8.4)."""

import json
from dataclasses import replace
from datetime import timedelta

import grpc
import pytest
from crp.dag.v1 import session_service_pb2 as pb

from services.common.errors import CrpError, ErrorReason
from services.common.rpc.protocol_headers import failure_headers, failure_metadata
from services.gateway.doors.http.problems import problem_response
from tests.each import each
from tests.fakes.dag_world import ALICE_2, TurnedClock, World, fresh_uuid
from tests.fakes.gateway_world import GatewayWorld
from tests.patience import patient

VERSION = {"crp-context-protocol-version": "3.0.0"}
AT_ONCE = {"crp-safety-retry-after": "0"} | VERSION
BROKEN = {"crp-provenance-chain-integrity": "BROKEN"} | VERSION
SAID = {
    ErrorReason.TOKEN_INVALID: AT_ONCE,
    ErrorReason.TOKEN_EXPIRED: AT_ONCE,
    ErrorReason.TOKEN_SPENT: AT_ONCE,
    ErrorReason.TOKEN_SCOPE_MISMATCH: AT_ONCE,
    ErrorReason.CHAIN_BROKEN: BROKEN,
}
TIER = {"crp-context-quality-tier": "B"}


@each("reason", list(ErrorReason))
def test_every_reason_says_what_the_protocol_wants_and_nothing_else(reason):
    assert dict(failure_metadata(CrpError(reason, "x"))) == SAID.get(reason, VERSION)
    assert dict(failure_metadata(CrpError(reason, "x", best_tier="B"))) == SAID.get(reason, VERSION) | TIER


@each("reason", list(ErrorReason))
def test_http_says_the_same(reason):
    error = CrpError(reason, "x", best_tier="B")
    answer = problem_response(error, request_id="r", trace_id=None, clock=TurnedClock())
    said = {name.lower(): value for name, value in answer.headers.items() if name.lower().startswith("crp-")}
    assert said == {name.lower(): value for name, value in failure_headers(error)} == SAID.get(reason, VERSION) | TIER
    assert json.loads(bytes(answer.body))["error"]["reason"] == reason.value


def expired(world, token):
    world.clock.advance(hours=2)
    return token


def forged(_, token):
    payload, _, signature = token.partition(".")
    return f"{payload}.{'A' if signature[0] != 'A' else 'B'}{signature[1:]}"


def as_it_is(_, token):
    return token


def tampered(world, token):
    session = next(iter(world.store._sessions.values()))
    (window_id,) = [name for name, window in session.windows.items() if window.window_number == 1]
    session.windows[window_id] = replace(session.windows[window_id], risk_level="HIGH")
    return token


CASES = [
    pytest.param(expired, {}, "TOKEN_EXPIRED", AT_ONCE, id="expired"),
    pytest.param(forged, {}, "TOKEN_INVALID", AT_ONCE, id="forged"),
    pytest.param(lambda *_: "x", {}, "TOKEN_INVALID", AT_ONCE, id="malformed"),
    pytest.param(as_it_is, {"spent": True}, "TOKEN_SPENT", AT_ONCE, id="replayed"),
    pytest.param(as_it_is, {"subject": ALICE_2.subject}, "TOKEN_SCOPE_MISMATCH", AT_ONCE, id="another's"),
    pytest.param(tampered, {}, "CHAIN_BROKEN", BROKEN, id="broken chain"),
    pytest.param(as_it_is, {"unknown": True}, "CONTINUATION_NOT_FOUND", VERSION, id="an unknown pointer"),
]


async def trailers_of(call):
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    trailing = dict(caught.value.trailing_metadata())
    return {name: value for name, value in trailing.items() if name.startswith("crp-")}, caught.value.details()


@pytest.mark.parametrize(("prepare", "how", "reason", "headers"), CASES)
async def test_the_session_service_s_trailers(prepare, how, reason, headers):
    world = World()
    async with world.serving() as client:
        first = await client.window()
        if how.get("spent"):
            await client.window(first.session_token)
        token = prepare(world, first.session_token)
        ids = ["crp_cont_" + "z" * 22] if how.get("unknown") else []
        request = pb.OpenWindowRequest(
            request_id=fresh_uuid(), session_token=token, available_budget_tokens=10, continuation_ids=ids
        )
        subject = how.get("subject", "alice")
        call = client.stub.OpenWindow(request, metadata=(("authorization", subject),), timeout=patient(20))
        found, _ = await trailers_of(call)
        assert found == headers
        assert (await client.fails("OpenWindow", request, subject)).reason == reason


@pytest.mark.parametrize(("prepare", "how", "reason", "headers"), CASES)
async def test_the_gateway_s_trailers(prepare, how, reason, headers):
    world = GatewayWorld(replies=("one.", "two.", "three."))
    async with world.serving() as client:
        first = (await client.dispatch()).answer
        if how.get("spent"):
            await client.dispatch("more?", session_token=first.session_token)
        token = prepare(world.dag, first.session_token)
        fields = {"continuation_ids": ["crp_cont_" + "z" * 22]} if how.get("unknown") else {}
        call = client.start("And a theft?", how.get("subject", "alice"), session_token=token, **fields)
        found, _ = await trailers_of(call)
        assert found == headers, reason


def test_a_lifetime_is_what_it_takes_to_expire():
    assert World().settings.token_lifetime_s < timedelta(hours=2).total_seconds()
