"""Admission by work on a real server: whose call computes, who is refused and how, and what is given back."""

import asyncio
import json

import grpc
import pytest

from services.common.rpc.client import open_channel
from services.common.rpc.work import Work
from tests.fakes.runtime_probe import SERVICE, probe, probe_settings
from tests.patience import patient
from tests.rpc.test_runtime_client import unary as ends
from tests.rpc.test_runtime_errors import failure
from tests.rpc.test_runtime_limits import gated
from tests.rpc.test_runtime_serving import http

HEAVY = Work(lambda request: 10 * len(request.value))
ONE_EACH = {"max_heavy_calls": 2, "max_heavy_calls_per_tenant": 1}


async def shown(p, line):
    async with asyncio.timeout(patient(10)):
        while line not in p.metrics():  # noqa: ASYNC110 - metrics are scraped, nobody tells
            await asyncio.sleep(0.01)


async def waiting_in_line(p, count):
    await shown(p, f'groundtrail_admission_waiting{{tenant_class="standard"}} {count}.0')


async def echo(request, context):
    return request


async def test_heavy_calls_wait_in_line_and_reads_and_others_pass():
    gate, behaviours = gated()
    behaviours["Read"] = echo
    settings = probe_settings(**ONE_EACH)
    async with probe(behaviours, settings=settings, work={"Wait": HEAVY}) as p:
        held = await gate.hold(p, 1)
        in_line = [p.call("Wait") for _ in range(5)]
        await waiting_in_line(p, 5)
        assert (await p.call("Read", timeout=patient(5))).value == "hi"
        held += await gate.hold(p, 1, key="other")
        assert gate.entered.locked()  # of the six of the one tenant one was begun
        gate.open.set()
        assert [answer.value for answer in await asyncio.gather(*held, *in_line)] == ["hi"] * 7


async def test_a_tenants_work_is_bounded_and_the_refusal_says_when_to_come_back():
    gate, behaviours = gated()
    settings = probe_settings(max_admitted_work_per_tenant=100, tenant_classes={"tenant-1": "trial"})
    async with probe(behaviours, settings=settings, work={"Wait": HEAVY}) as p:
        held = [p.call("Wait", "x" * 9)]
        await asyncio.wait_for(gate.entered.acquire(), 5)
        error, details = await failure(p.call("Wait", "x" * 2))
        assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert (details["ErrorInfo"].reason, details["ErrorInfo"].metadata["units"]) == ("WORK_LIMIT", "20")
        assert details["RetryInfo"].retry_delay.ToMicroseconds() == 500_000
        held.append(p.call("Wait", "x" * 99, key="other"))
        await asyncio.wait_for(gate.entered.acquire(), 5)
        gate.open.set()
        await asyncio.gather(*held)
        assert (await p.call("Wait", "x" * 20)).value == "x" * 20
        assert 'groundtrail_admission_refused_total{reason="WORK_LIMIT",tenant_class="trial"} 1.0' in p.metrics()
        await shown(p, 'groundtrail_admitted_work_in_flight{tenant_class="trial"} 0.0')


async def test_a_call_that_cannot_end_in_time_is_refused_before_it_is_begun():
    gate, behaviours = gated()

    async def slow(request, context):
        await asyncio.sleep(0.2)
        return request

    work = {"Wait": HEAVY, "Slow": HEAVY}
    async with probe(behaviours | {"Slow": slow}, settings=probe_settings(**ONE_EACH), work=work) as p:
        await p.call("Slow", "x")  # about 50 units a second
        held = await gate.hold(p, 1)
        error, details = await failure(p.call("Wait", "x" * 100, timeout=5))
        assert details["ErrorInfo"].reason == "DEADLINE_UNREACHABLE"
        assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert float(details["ErrorInfo"].metadata["needed_ms"]) > 5000
        assert details["RetryInfo"].retry_delay.ToMicroseconds() >= 500_000
        patient = p.call("Wait", "x", timeout=None)
        await waiting_in_line(p, 1)
        gate.open.set()
        await asyncio.gather(*held, patient)


async def test_who_goes_away_in_line_or_runs_out_of_time_there_leaves_it():
    gate, behaviours = gated()
    async with probe(behaviours, settings=probe_settings(**ONE_EACH), work={"Wait": HEAVY}) as p:
        held = await gate.hold(p, 1)
        gone, late, stays = p.call("Wait"), p.call("Wait", timeout=0.3), p.call("Wait")
        await waiting_in_line(p, 3)
        gone.cancel()
        error, _ = await failure(late)
        assert error.code() is grpc.StatusCode.DEADLINE_EXCEEDED
        await waiting_in_line(p, 1)
        gate.open.set()
        await asyncio.gather(*held, stays)
        assert gate.entered._value == 1  # of the three only the one that stayed was begun
        await shown(p, 'groundtrail_admitted_work_in_flight{tenant_class="standard"} 0.0')


async def test_a_stream_holds_its_place_to_its_end_and_gives_it_back_however_it_ends():
    more = asyncio.Event()

    async def drip(request, context):
        yield request
        if request.value == "fails":
            raise RuntimeError
        await more.wait()
        yield request

    async with probe({"Drip": drip}, settings=probe_settings(**ONE_EACH), work={"Drip": HEAVY}) as p:
        cancelled = p.stream("Drip")
        await cancelled.read()
        second = p.stream("Drip", "fails")
        await waiting_in_line(p, 1)
        cancelled.cancel()
        with pytest.raises(grpc.aio.AioRpcError):
            async for _ in second:
                pass
        last = p.stream("Drip")
        await last.read()
        more.set()
        await last.read()
        assert await last.read() is grpc.aio.EOF
        await shown(p, 'groundtrail_admitted_work_in_flight{tenant_class="standard"} 0.0')


async def test_a_reader_who_lets_a_stream_wait_keeps_no_place():
    async def pour(request, context):
        for _ in range(100):
            request.value = "x" * 100_000  # far more than the connection takes without a reader
            yield request

    behaviours = {"Pour": pour, "Heavy": echo}
    async with probe(behaviours, settings=probe_settings(**ONE_EACH), work={"Pour": HEAVY, "Heavy": HEAVY}) as p:
        slow = p.stream("Pour", timeout=patient(30))
        await slow.read()
        assert (await p.call("Heavy", timeout=patient(20))).value == "hi"
        slow.cancel()


@pytest.mark.parametrize("computes", [True, False])
async def test_calls_that_a_process_makes_to_itself_never_wait_for_their_own_place(computes):
    settings = probe_settings(**ONE_EACH, max_admitted_work_per_tenant=25)

    async def inner(request, context):
        request.value += " inner"
        return request

    async def outer(request, context):
        answers = await asyncio.gather(*(ends(channel, "Inner")(request) for _ in range(3)))
        return answers[0]

    work = {"Inner": HEAVY, "Outer": Work(HEAVY.units, computes=computes)}
    async with (
        probe({"Inner": inner, "Outer": outer}, settings=settings, work=work) as p,
        open_channel(p.server.address, settings) as channel,
    ):
        for _ in range(2):
            assert (await p.call("Outer", timeout=patient(5))).value == "hi inner"
        await shown(p, 'groundtrail_admitted_work_in_flight{tenant_class="standard"} 0.0')


async def test_a_drain_ends_what_was_begun_and_sends_away_what_was_not():
    gate, behaviours = gated()
    async with probe(behaviours, settings=probe_settings(**ONE_EACH), work={"Wait": HEAVY}) as p:
        held = await gate.hold(p, 1)
        in_line = p.call("Wait")
        await waiting_in_line(p, 1)
        draining = asyncio.create_task(p.server.drain())
        error, details = await failure(in_line)
        assert error.code() is grpc.StatusCode.UNAVAILABLE
        assert details["ErrorInfo"].reason == "SERVICE_UNAVAILABLE"
        assert "RetryInfo" in details
        status, body = await http(p, "/readyz")
        states = {SERVICE: "draining: this process takes no new calls"}
        assert (status, json.loads(body)) == (503, {"ready": False, "services": states})
        assert await http(p, "/healthz") == (200, "alive\n")
        gate.open.set()
        assert (await held[0]).value == "hi"
        await draining


async def test_tenants_who_use_all_they_may_leave_places_for_one_that_comes_with_few_calls():
    gate, behaviours = gated()
    settings = probe_settings(max_concurrent_calls=32, max_concurrent_calls_per_tenant=31)
    async with probe(behaviours, settings=settings) as p:
        held = await gate.hold(p, 28)
        _, details = await failure(p.call("Wait"))
        assert (details["ErrorInfo"].reason, details["ErrorInfo"].metadata["scope"]) == ("CONCURRENCY_LIMIT", "process")
        held += await gate.hold(p, 2, key="other")
        gate.open.set()
        await asyncio.gather(*held)
        assert (
            'groundtrail_admission_refused_total{reason="CONCURRENCY_LIMIT",tenant_class="standard"} 1.0' in p.metrics()
        )


async def test_work_of_an_rpc_that_is_not_served_stops_the_start():
    with pytest.raises(TypeError, match="Typo"):
        async with probe(work={"Typo": HEAVY}):
            pass
