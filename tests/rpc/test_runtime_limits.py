"""Deadlines, message sizes, calls in flight."""

import asyncio

import grpc
import pytest

from services.common.context import current_call
from services.common.rpc.client import open_channel
from tests.fakes.runtime_probe import probe, probe_settings
from tests.patience import patient
from tests.rpc.test_runtime_client import unary as ends
from tests.rpc.test_runtime_errors import failure


async def test_a_deadline_that_is_too_short_is_refused_with_its_reason():
    async with probe(settings=probe_settings(min_deadline_ms=60_000)) as p:
        error, details = await failure(p.call(timeout=5))
        assert error.code() is grpc.StatusCode.DEADLINE_EXCEEDED
        info = details["ErrorInfo"]
        assert info.reason == "DEADLINE_EXCEEDED"
        assert info.metadata["needed_ms"] == "60000.0"
        assert 0 < float(info.metadata["left_ms"]) < 5100  # gRPC rounds up a little


async def test_a_call_without_deadline_is_served():
    async with probe(settings=probe_settings(min_deadline_ms=60_000)) as p:
        assert (await p.call(timeout=None)).value == "hi"


async def test_the_deadline_stands_in_the_context():
    left = []

    async def note(request, context):
        left.append(current_call().deadline - asyncio.get_running_loop().time())
        return request

    async with probe({"Note": note}) as p:
        await p.call("Note", timeout=7)
        assert 0 < left[0] < 7.1


async def test_a_call_whose_time_runs_out_is_stopped():
    stopped = asyncio.Event()

    async def linger(request, context):
        try:
            await asyncio.sleep(30)
        finally:
            stopped.set()

    async with probe({"Linger": linger}) as p:
        error, _ = await failure(p.call("Linger", timeout=0.3))
        assert error.code() is grpc.StatusCode.DEADLINE_EXCEEDED
        await asyncio.wait_for(stopped.wait(), patient(5))


@pytest.mark.parametrize(("text", "fits"), [("x" * 1020, True), ("x" * 1030, False)])
async def test_oversize_requests_get_full_details(text, fits):
    async with probe(settings=probe_settings(max_message_bytes=1024)) as p:
        if fits:
            assert (await p.call(text=text)).value == text
            return
        error, details = await failure(p.call(text=text))
        assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        info = details["ErrorInfo"]
        assert (info.reason, info.metadata["limit_bytes"]) == ("MESSAGE_TOO_LARGE", "1024")
        assert info.metadata["size_bytes"] == str(len(text) + 3)
        assert "RetryInfo" not in details


async def test_oversize_responses_get_full_details():
    async def grow(request, context):
        request.value = "y" * 5000
        return request

    async with probe({"Grow": grow}, settings=probe_settings(max_message_bytes=1024)) as p:
        error, details = await failure(p.call("Grow"))
        assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert details["ErrorInfo"].reason == "MESSAGE_TOO_LARGE"
        assert "response" in error.details()


async def test_far_oversize_requests_are_stopped_by_the_wire():
    async with probe(settings=probe_settings(max_message_bytes=1024)) as p:
        error, details = await failure(p.call(text="x" * 5000))
        assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert details == {}


class Gate:
    """A behaviour that waits until it is opened."""

    def __init__(self):
        self.entered = asyncio.Semaphore(0)
        self.open = asyncio.Event()

    async def wait(self, request, context):
        self.entered.release()
        await self.open.wait()
        return request

    async def hold(self, p, count, key="writer"):
        calls = [p.call("Wait", key=key) for _ in range(count)]
        for _ in calls:
            await asyncio.wait_for(self.entered.acquire(), patient(5))
        return calls


def gated():
    gate = Gate()

    async def wait(request, context):
        return await gate.wait(request, context)

    return gate, {"Wait": wait}


async def test_calls_over_the_process_limit_are_refused_and_let_in_again():
    gate, behaviours = gated()
    settings = probe_settings(max_concurrent_calls=2, max_concurrent_calls_per_tenant=2, overload_retry_s=0.25)
    async with probe(behaviours, settings=settings) as p:
        held = await gate.hold(p, 2)
        error, details = await failure(p.call("Wait", key="other"))
        assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        info = details["ErrorInfo"]
        assert (info.reason, info.metadata["scope"], info.metadata["limit"]) == ("CONCURRENCY_LIMIT", "process", "2")
        assert details["RetryInfo"].retry_delay.ToMicroseconds() == 250_000
        gate.open.set()
        await asyncio.gather(*held)
        assert (await p.call("Wait")).value == "hi"


async def test_one_tenant_cannot_take_all_places():
    gate, behaviours = gated()
    settings = probe_settings(max_concurrent_calls=10, max_concurrent_calls_per_tenant=2)
    async with probe(behaviours, settings=settings) as p:
        held = await gate.hold(p, 2)
        _, details = await failure(p.call("Wait"))
        info = details["ErrorInfo"]
        assert (info.reason, info.metadata["scope"]) == ("CONCURRENCY_LIMIT", "tenant")
        held += await gate.hold(p, 1, key="other")
        gate.open.set()
        await asyncio.gather(*held)


async def test_refused_and_failed_calls_give_their_place_back():
    async def fail(request, context):
        raise RuntimeError

    settings = probe_settings(max_concurrent_calls=1, max_concurrent_calls_per_tenant=1)
    async with probe({"Fail": fail}, settings=settings) as p:
        for key, code in (("writer", "INTERNAL"), ("reader", "PERMISSION_DENIED"), ("revoked", "UNAUTHENTICATED")) * 3:
            error, _ = await failure(p.call("Fail", key=key))
            assert error.code().name == code


async def test_an_open_stream_holds_its_place():
    opened = asyncio.Event()

    async def drip(request, context):
        yield request
        opened.set()
        await asyncio.sleep(30)

    settings = probe_settings(max_concurrent_calls=1, max_concurrent_calls_per_tenant=1)
    async with probe({"Drip": drip}, settings=settings) as p:
        call = p.stream("Drip")
        await call.read()
        await asyncio.wait_for(opened.wait(), patient(5))
        second = p.stream("Drip")
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await second.read()
        assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        call.cancel()


async def test_calls_that_a_process_makes_to_itself_are_counted_once():
    settings = probe_settings(max_concurrent_calls=1, max_concurrent_calls_per_tenant=1)

    async def inner(request, context):
        request.value += " inner"
        return request

    async def outer(request, context):
        return await ends(channel, "Inner")(request)

    behaviours = {"Inner": inner, "Outer": outer}
    async with probe(behaviours, settings=settings) as p, open_channel(p.server.address, settings) as channel:
        assert (await p.call("Outer")).value == "hi inner"
        assert (await p.call("Outer")).value == "hi inner"


async def test_a_guessed_mark_counts_as_any_other_call():
    gate, behaviours = gated()
    settings = probe_settings(max_concurrent_calls=1, max_concurrent_calls_per_tenant=1)
    async with probe(behaviours, settings=settings) as p:
        held = await gate.hold(p, 1)
        _, details = await failure(p.call("Wait", metadata=(("x-groundtrail-within", "0" * 32),)))
        assert details["ErrorInfo"].reason == "CONCURRENCY_LIMIT"
        gate.open.set()
        await asyncio.gather(*held)
