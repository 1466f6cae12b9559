"""Tokens and pointers as an attacker or a broken clock would send them (SPEC-004 §10, §17; CRP-SPEC-007; ADR 0058)."""

import json
import random
import string
from datetime import timedelta

import pytest
from crp.dag.v1 import session_service_pb2 as pb

from services.common.context import Caller, Role
from services.common.encoding import base64url, base64url_decode
from services.common.errors import CrpError
from services.common.taxonomy import ChainIntegrity
from services.dag.domain.keys import MasterKey, session_sign_key
from services.dag.domain.opening import OpenCommand
from services.dag.domain.token import issue, read
from services.dag.master_keys import FixedMasterKeys
from services.dag.tokens import Tokens
from tests.fakes.dag_world import ALICE, MASTER, CountingIds, World, fresh_uuid

LIFETIME = timedelta(hours=1)


@pytest.fixture
async def world():
    return World()


@pytest.fixture
async def client(world):
    async with world.serving() as client:
        yield client


def open_request(token, **fields):
    values = {"request_id": fresh_uuid(), "session_token": token, "available_budget_tokens": 1000}
    return pb.OpenWindowRequest(**(values | fields))


async def reason(client, token, subject="alice", **fields):
    return (await client.fails("OpenWindow", open_request(token, **fields), subject)).reason


def payload_of(token):
    return json.loads(base64url_decode(token.partition(".")[0]))


def signed(token, **changes):
    """The token with a changed payload, signed with the right key: what only a holder of the key could make."""
    state = read(token).state
    key = session_sign_key(MASTER, state.session_id)
    from services.dag.domain.token import signature

    body = base64url(json.dumps(payload_of(token) | changes).encode())
    return f"{body}.{base64url(signature(body, key))}"


async def believes(world, token, caller=ALICE, **asked):
    """Return the reason why the token is not believed; empty when it is."""
    service = Tokens(world.keys, world.clock, LIFETIME)
    try:
        await service.verify(token, caller, OpenCommand("push", "r", **asked))
    except CrpError as error:
        return error.reason.value
    return ""


async def test_every_changed_character_is_refused(world, client):
    token = (await client.window()).session_token
    assert await believes(world, token) == ""
    for position, character in enumerate(token):
        other = "A" if character != "A" else "B"
        changed = token[:position] + other + token[position + 1 :]
        assert await believes(world, changed) == "TOKEN_INVALID", position
    for length in range(len(token)):
        assert await believes(world, token[:length]) == "TOKEN_INVALID", length


async def test_parts_of_two_good_tokens_do_not_make_a_third(world, client):
    first, second = [(await client.window()).session_token.split(".") for _ in range(2)]
    for token in (f"{first[0]}.{second[1]}", f"{second[0]}.{first[1]}", ".".join(first + second), first[0], first[1]):
        assert await believes(world, token) == "TOKEN_INVALID"


async def test_a_token_in_the_form_of_a_jwt_is_refused(world, client):
    """The header is fixed and not sent: nobody chooses the algorithm."""
    token = (await client.window()).session_token
    for header in ({"alg": "none"}, {"alg": "HS256", "typ": "CRP"}):
        head = base64url(json.dumps(header, separators=(",", ":")).encode())
        for other in (f"{head}.{token}", f"{head}.{token.partition('.')[0]}.", f"{token.partition('.')[0]}."):
            assert await believes(world, other) == "TOKEN_INVALID"


async def test_guessed_pointers_and_tokens_find_nothing(world, client):
    first = await client.window()
    rng = random.Random(5)
    letters = string.ascii_letters + string.digits
    for _ in range(100):
        pointer = "crp_cont_" + "".join(rng.choices(letters, k=32))
        assert await reason(client, first.session_token, continuation_ids=[pointer]) == "CONTINUATION_NOT_FOUND"
        assert await reason(client, "", continuation_ids=[pointer]) == "TOKEN_INVALID"
    for _ in range(100):
        token = base64url(rng.randbytes(300)) + "." + base64url(rng.randbytes(32))
        assert await reason(client, token) == "TOKEN_INVALID"
    assert len(world.store._sessions) == 1


async def test_a_foreign_pointer_looks_like_a_guessed_one(client):
    mine = await client.window()
    theirs = await client.commit(await client.open(subject="mallory"), subject="mallory")
    guessed = "crp_cont_" + "z" * 32
    refusals = [
        await client.fails("OpenWindow", open_request(mine.session_token, continuation_ids=[pointer]))
        for pointer in (theirs.continuation_id, guessed)
    ]
    assert refusals[0].reason == refusals[1].reason == "CONTINUATION_NOT_FOUND"
    assert set(refusals[0].metadata) == set(refusals[1].metadata)


async def test_the_checks_come_in_their_order(world, client):
    """Signature, expiry, scope, policy, nonce: of several faults the first one is told (CRP-SPEC-007)."""
    opened = await client.open(policy_hash="a" * 64)
    token = (await client.commit(opened)).session_token
    stranger = Caller("tenant-a", "crp_gw_test_stranger", frozenset({Role.WRITER}), "stranger")
    relaxed, nonce = {"policy_hash": "b" * 64}, signed(token, nonce="AAAA")
    forged = signed(token, nonce="AAAA")[:-1] + "_"
    assert await believes(world, nonce) == "TOKEN_INVALID"
    assert await believes(world, nonce, **relaxed) == "POLICY_RELAXED"
    assert await believes(world, nonce, stranger, **relaxed) == "TOKEN_SCOPE_MISMATCH"
    world.clock.advance(hours=2)
    assert await believes(world, nonce, stranger, **relaxed) == "TOKEN_EXPIRED"
    assert await believes(world, forged, stranger, **relaxed) == "TOKEN_INVALID"


async def test_a_token_that_names_another_key_version_than_it_was_signed_with(world, client):
    token = (await client.window()).session_token
    other = MasterKey(2, b"\x77" * 32)
    world.keys._keys[2] = other
    assert await believes(world, signed(token, kv=2)) == "TOKEN_INVALID"
    state = read(token).state
    assert await believes(world, issue(state, session_sign_key(other, state.session_id))) == "TOKEN_INVALID"
    assert await believes(world, token) == ""


async def test_another_tenant_with_the_same_key_prefix(world, client):
    token = (await client.window()).session_token
    twin = Caller("tenant-b", ALICE.scope, ALICE.roles, "twin")
    assert await believes(world, token, twin) == "TOKEN_SCOPE_MISMATCH"


async def test_a_clock_that_steps_back_a_little_disturbs_nobody(world, client):
    first = await client.window()
    world.clock.moment -= timedelta(minutes=4)
    second = await client.window(first.session_token)
    third = await client.window(second.session_token)
    found = await world.reads.verify("tenant-a", first.session.session_id)
    assert (found.integrity, found.windows_verified) == (ChainIntegrity.VALID, 3)
    assert third.window.window_number == 3
    events = world.held(first.session.session_id).events
    moments = [event.timestamp for event in events]
    assert moments != sorted(moments), "the trail says what the clock said; its order is that of the chain"
    assert [event.sequence for event in events] == list(range(len(events)))


async def test_a_clock_that_steps_back_far_refuses_tokens_of_its_future(world, client):
    token = (await client.window()).session_token
    issued = world.clock.moment
    world.clock.moment = issued - timedelta(hours=2)
    assert await reason(client, token) == "TOKEN_INVALID"
    assert (await client.window()).session_token, "new sessions go on meanwhile"
    world.clock.moment = issued + timedelta(minutes=1)
    assert (await client.window(token)).window.window_number == 2


async def test_an_expired_token_does_not_come_back_to_life(world, client):
    token = (await client.window()).session_token
    issued = world.clock.moment
    world.clock.moment = issued + timedelta(hours=1, minutes=1)
    assert await reason(client, token) == "TOKEN_EXPIRED"
    world.clock.moment = issued - timedelta(minutes=6)
    assert await reason(client, token) == "TOKEN_INVALID"


async def test_a_clock_that_steps_back_abandons_no_pending_window(world, client):
    first = await client.window()
    opened = await client.open(first.session_token)
    world.clock.moment -= timedelta(minutes=4)
    assert await reason(client, first.session_token) == "TOKEN_SPENT"
    assert (await client.commit(opened)).window.window_number == 2


async def test_a_retired_key_signs_for_one_lifetime_and_its_chains_for_good(client):
    clock_start = World().clock.moment
    retired = MasterKey(1, MASTER.secret, clock_start + timedelta(minutes=10))
    old = World()
    async with old.serving() as before:
        first = await before.window()
    keys = FixedMasterKeys({1: retired, 2: MasterKey(2, b"\x66" * 32)})
    world = World(keys=keys, store=old.store, ids=CountingIds(prefix="y"))
    async with world.serving() as after:
        world.clock.moment = clock_start + timedelta(minutes=59)
        second = await after.window(first.session_token)
        assert payload_of(second.session_token)["kv"] == 2
        world.clock.moment = clock_start + timedelta(hours=1, minutes=10)
        assert await reason(after, first.session_token) == "TOKEN_INVALID"
        third = await after.window(second.session_token)
    found = await world.reads.verify("tenant-a", third.session.session_id)
    assert (found.integrity, found.windows_verified) == (ChainIntegrity.VALID, 3)


@pytest.mark.parametrize(("seconds", "refused"), [(-60, False), (0, False), (1, True), (240, True)])
async def test_a_retired_key_signs_nothing_that_is_dated_after_its_retirement(seconds, refused):
    """Whoever got hold of a retired key else makes tokens with it for a lifetime more (ADR 0102)."""
    old = World()
    async with old.serving() as before:
        first = await before.window()
    retired_at = old.clock.moment.replace(microsecond=0) + timedelta(minutes=5)
    keys = FixedMasterKeys({1: MasterKey(1, MASTER.secret, retired_at), 2: MasterKey(2, b"\x66" * 32)})
    world = World(keys=keys, store=old.store, ids=CountingIds(prefix="y"))
    world.clock.moment = retired_at + timedelta(minutes=4)
    issued = int((retired_at + timedelta(seconds=seconds)).timestamp())
    token = signed(first.session_token, iat=issued, exp=issued + 3600)
    async with world.serving() as after:
        if refused:
            assert await reason(after, token) == "TOKEN_INVALID"
        else:
            assert payload_of((await after.window(token)).session_token)["kv"] == 2
