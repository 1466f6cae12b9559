"""Hostile inputs to every RPC and route of the guard: each is answered or refused, none is an error of ours.

10,000 cases: rules' own examples, codes within codes, odd characters, long runs of one, bytes that are no UTF-8. One
of three hundred in ``make test``, for each is a whole analysis; all of them in ``make test-faults``.
"""

import asyncio
import json
import random
from typing import Any, cast

import grpc
import httpx
import pytest
from crp.dpe.v1 import guard_service_pb2 as pb

from services.common.clock import SystemClock
from services.common.injection.masking import masked
from services.common.injection.searching import find_injections
from services.common.rpc.client import Peer, PeerChannel
from services.common.settings.http import HttpSettings
from services.gateway.domain.source_screening import SourceScreening
from services.gateway.doors.http.app import create_app
from services.gateway.doors.http.guard_routes import GuardRoutes
from tests.fakes.ercp_stub import ErcpStub
from tests.fakes.guarded_inputs import InjectionWorld
from tests.fakes.open_gate import open_gate
from tests.property.test_injection_hostile import hostile
from tests.tenth import tenth

COUNT = 10_000
SEED = 2_000
MOST_CHARS = 3_000
AT_ONCE = 4
RUNS = ("a", " ", "é", "\u202e", "\u200b", "%", "A", "0", "\n", "\U0001d400", "ignore ")
ALLOWED = {
    grpc.StatusCode.OK,
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
    grpc.StatusCode.FAILED_PRECONDITION,
}
MEBIBYTE = 1 << 20
NO_UTF8 = b"\xff\xfe\x80 ignore \xed\xa0\x80 all"
SERVICE = "/crp.dpe.v1.GuardService/"
READER = (("authorization", "reader"),)
FIELDS = {
    "ScoreCoherence": ("prompt", "response"),
    "VerifyClaims": ("response",),
    "DetectInjection": ("input", "intent", "response"),
}
ROUTES = {"/v1/review": "ScoreCoherence", "/v1/verify": "VerifyClaims", "/v1/injection/detect": "DetectInjection"}


def texts(number):
    """Return three texts of a case; every fortieth case is a long run of one character."""
    source = random.Random(SEED + number)
    made = [hostile(source)[:MOST_CHARS] for _ in range(3)]
    if number % 40 == 0:
        made[0] = source.choice(RUNS) * 20_000
    return made


def plain(text):
    """Return a text as a protobuf string can hold it."""
    return text.encode("utf-8", "replace").decode()


def request_of(rpc, given):
    first, second, third = map(plain, given)
    if rpc == "ScoreCoherence":
        request = pb.ScoreCoherenceRequest(prompt=second or "?", response=first or "?")
        request.facts.add(id="f1", content=third or "?")
        return request
    if rpc == "VerifyClaims":
        verify = pb.VerifyClaimsRequest(response=first or "?")
        verify.sources.add(id="s1", content=third or "?")
        return verify
    return pb.DetectInjectionRequest(input=first or "?", intent=second, response=third)


async def code_of(call):
    try:
        await call
    except grpc.aio.AioRpcError as error:
        return error.code()
    return grpc.StatusCode.OK


async def codes(cases, run):
    """Return what each case came to, some at once."""
    turns = asyncio.Semaphore(AT_ONCE)

    async def one(case):
        async with turns:
            return case, await run(case)

    return await asyncio.gather(*map(one, cases))


@pytest.mark.timeout(900)
@pytest.mark.tenth(inside=True)
@pytest.mark.parametrize("rpc", FIELDS)
async def test_every_rpc_answers_or_refuses(rpc):
    share = len(FIELDS)
    every = range(list(FIELDS).index(rpc), COUNT, share)
    async with InjectionWorld().serving() as guard:
        call: Any = getattr(guard.stub, rpc)

        async def run(number):
            return await code_of(call(request_of(rpc, texts(number)), metadata=READER))

        found = await codes(tenth(f"hostile inputs to {rpc}", every, share=300), run)
    assert [case for case in found if case[1] not in ALLOWED] == []
    assert any(code is grpc.StatusCode.OK for _, code in found)


@pytest.mark.parametrize("rpc", FIELDS)
@pytest.mark.parametrize("char", ["a", "\u202e", " "])
async def test_a_mebibyte_of_one_character_is_answered_or_refused(rpc, char):
    run = char * (MEBIBYTE // len(char.encode()))
    async with InjectionWorld().serving() as guard:
        call: Any = getattr(guard.stub, rpc)
        assert await code_of(call(request_of(rpc, (run, "?", "The fee is 5 euros.")), metadata=READER)) in ALLOWED


@pytest.mark.parametrize("rpc", FIELDS)
async def test_bytes_that_are_no_utf8_are_refused(rpc):
    """Every field, as no library of ours would write it."""
    async with InjectionWorld().serving() as guard:
        channel = guard.channel
        call = channel.unary_unary(SERVICE + rpc, request_serializer=bytes, response_deserializer=bytes)
        for name in FIELDS[rpc]:
            kind = getattr(pb, f"{rpc}Request")
            tag = kind.DESCRIPTOR.fields_by_name[name].number << 3 | 2
            body = bytes([tag, len(NO_UTF8)]) + NO_UTF8
            code = await code_of(call(body, metadata=READER))
            assert code is grpc.StatusCode.INVALID_ARGUMENT, name


def body_of(path, given, source):
    """Return a body: of the form, with lone surrogates as JSON writes them; sometimes torn, or no UTF-8 at all."""
    first, second, third = given
    form: dict[str, Any] = {"response": first, "sources": [{"id": "s", "content": third}]}
    if path == "/v1/review":
        form = {"prompt": second, "response": first, "facts": [{"id": "f", "content": third}]}
    if path == "/v1/injection/detect":
        form = {"input": first, "intent": second, "response": third}
    body = json.dumps(form).encode()
    odd = source.random()
    if odd < 0.1:
        return body[: source.randint(0, len(body))]
    return body.replace(b" ", NO_UTF8, 1) if odd < 0.2 else body


@pytest.mark.timeout(900)
@pytest.mark.tenth(inside=True)
async def test_every_route_answers_or_refuses():
    async with InjectionWorld().serving() as guard:
        stub: Any = type(guard.stub)(PeerChannel(guard.channel, Peer("dpe", "dpe"), 60.0))
        settings, clock, gate = HttpSettings(port=0), SystemClock(), open_gate()
        app = create_app(
            cast("Any", ErcpStub()), gate, settings, clock, "0", [GuardRoutes(stub, gate, settings, clock)]
        )
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://gateway", timeout=120) as http:

            async def run(number):
                path = list(ROUTES)[number % len(ROUTES)]
                body = body_of(path, texts(number), random.Random(number))
                headers = {"Authorization": "reader", "Content-Type": "application/json"}
                return (await http.post(path, content=body, headers=headers)).status_code

            found = await codes(tenth("hostile bodies of the guard's routes", range(COUNT), share=300), run)
    assert [case for case in found if case[1] >= 500] == []
    assert {200, 400} <= {status for _, status in found}


@pytest.mark.timeout(900)
@pytest.mark.tenth(inside=True)
def test_masks_end_and_leave_nothing_that_speaks_to_a_model():
    for number in tenth("hostile texts to be masked", range(COUNT), share=100):
        text = texts(number)[0]
        found = masked(text, 0.7, keeps_length=True)
        assert len(found.text) == len(text)
        assert find_injections(found.text).score < 0.7, number
        assert all(0 <= start < end <= len(text) for start, end in found.stretches)


@pytest.mark.parametrize("policy", ["report", "leave_out", "mask"])
def test_messages_of_any_shape_are_screened(policy):
    source = random.Random(SEED)

    def shape(depth):
        kind = source.randrange(9)
        if kind > 5 or depth > 12:
            return source.choice([None, 3, True, "", hostile(source)[:400]])
        if kind > 2:
            return [shape(depth + 1) for _ in range(source.randint(0, 3))]
        names = ("type", "role", "content", "text", "source", "data", "title")
        kinds = ("text", "tool_result", "document", "search_result", "image", "tool", "user", 3)
        return {
            name: shape(depth + 1) if source.random() < 0.5 else source.choice(kinds)
            for name in source.sample(names, 4)
        }

    for _ in range(150):
        message = {"role": source.choice(["tool", "user", "system", None, 3, [], {}]), "content": shape(0)}
        found = SourceScreening(policy).messages([message], "mask")
        assert len(found.messages) == 1
