"""The Triton backend against a server that behaves, refuses, lies, is slow or goes away."""

import asyncio
from contextlib import asynccontextmanager
from multiprocessing import shared_memory
from pathlib import Path

import grpc
import numpy as np
import pytest

from services.common.adapters.triton.backend import open_triton_backend
from services.common.context import CallContext, Caller, set_current_call
from services.common.errors import DeadlineError, ErrorReason, LimitExceededError, UnavailableError
from services.common.settings.inference import InferenceSettings
from services.common.settings.triton import TritonSettings
from tests.fakes.kserve_server import FakeKserve, expected_outputs, serving, tiny_repository
from tests.patience import patient

FAST = {"backoff_s": 0.01, "start_timeout_s": 5.0}


def items_of(*lengths: int) -> list[tuple[int, ...]]:
    return [tuple(range(1 + n, 1 + n + length)) for n, length in enumerate(lengths)]


@asynccontextmanager
async def backend_of(root: Path, target: str, *, queue_items: int = 4096, **triton):
    repository = tiny_repository(root)
    settings = InferenceSettings(
        backend="triton", queue_items=queue_items, triton=TritonSettings(target=target, **(FAST | triton))
    )
    backend = await open_triton_backend(settings, repository, repository.entry("tiny"))
    try:
        yield backend
    finally:
        await backend.close()


@asynccontextmanager
async def served(root: Path, **settings):
    server = FakeKserve()
    async with serving(server) as target, backend_of(root, target, **settings) as backend:
        yield server, backend
        server.hold.set()


def assert_outputs(items, outputs):
    assert len(outputs) == len(items)
    for item, found in zip(items, outputs, strict=True):
        for own, expected in zip(found, expected_outputs(item), strict=True):
            assert own.dtype == np.float32
            np.testing.assert_array_equal(own, expected)


async def test_outputs_come_in_the_order_of_items_and_as_long_as_they_are(tmp_path):
    async with served(tmp_path) as (server, backend):
        items = items_of(5, 300, 12, 5, 120, 31)
        assert_outputs(items, await backend.run(items))
        assert server.shapes == [(1, 320), (1, 120), (4, 32)]  # of like length, at most 4, padded to a step


async def test_equal_items_are_sent_once_and_nothing_sends_nothing(tmp_path):
    async with served(tmp_path) as (server, backend):
        item = (7, 8, 9)
        assert_outputs([item, item], await backend.run([item, item]))
        assert server.shapes == [(1, 8)]
        assert await backend.run([]) == []
        assert len(server.shapes) == 1


async def test_requests_in_flight_are_bounded(tmp_path):
    async with served(tmp_path, requests_in_flight=3) as (server, backend):
        server.hold.clear()
        items = items_of(*([20] * 32))
        running = asyncio.create_task(backend.run(items))
        await _until(lambda: server.in_flight == 3)
        server.hold.set()
        assert_outputs(items, await running)
        assert server.most_in_flight == 3
        assert len(server.shapes) == 8


async def test_a_full_queue_refuses_and_sends_nothing(tmp_path):
    async with served(tmp_path, queue_items=10, requests_in_flight=1) as (server, backend):
        server.hold.clear()
        first = asyncio.create_task(backend.run(items_of(*([20] * 10))))
        await server.arrived.wait()
        assert backend.waiting == 6  # one request of 4 is with Triton
        with pytest.raises(LimitExceededError) as refused:
            await backend.run(items_of(1, 2, 3, 4, 5))
        assert refused.value.reason is ErrorReason.QUEUE_FULL
        assert refused.value.retry_after_s > 0
        assert refused.value.metadata == {"model": "tiny", "queue_items": "10"}
        assert backend.waiting == 6
        server.hold.set()
        assert len(await first) == 10
        assert backend.waiting == 0


async def test_unavailable_is_tried_again(tmp_path):
    async with served(tmp_path) as (server, backend):
        server.refusals.extend([grpc.StatusCode.UNAVAILABLE] * 2)
        items = items_of(5)
        assert_outputs(items, await backend.run(items))
        assert len(server.shapes) == 3


async def test_attempts_are_counted(tmp_path):
    async with served(tmp_path, attempts=2) as (server, backend):
        server.refusals.extend([grpc.StatusCode.UNAVAILABLE] * 2)
        with pytest.raises(UnavailableError) as failed:
            await backend.run(items_of(5))
        assert failed.value.reason is ErrorReason.MODEL_UNAVAILABLE
        assert failed.value.retry_after_s == 1.0
        assert failed.value.metadata == {"model": "tiny", "cause": "unavailable"}
        assert len(server.shapes) == 2


@pytest.mark.parametrize(
    ("status", "retry_after_s"),
    [
        (grpc.StatusCode.INVALID_ARGUMENT, None),
        (grpc.StatusCode.INTERNAL, None),
        (grpc.StatusCode.NOT_FOUND, None),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, 1.0),
        (grpc.StatusCode.CANCELLED, 1.0),
        (grpc.StatusCode.DEADLINE_EXCEEDED, 1.0),
    ],
)
async def test_other_refusals_are_not_tried_again(tmp_path, status, retry_after_s):
    async with served(tmp_path) as (server, backend):
        server.refusals.append(status)
        with pytest.raises(UnavailableError) as failed:
            await backend.run(items_of(5))
        assert failed.value.metadata["cause"] == status.name.lower()
        assert failed.value.retry_after_s == retry_after_s
        assert "refused by the test" not in failed.value.message
        assert len(server.shapes) == 1


def _nan(response):
    values = np.frombuffer(response.raw_output_contents[0], dtype=np.float32).copy()
    values[1] = np.nan
    response.raw_output_contents[0] = values.tobytes()


def _infinite_token(response):
    values = np.frombuffer(response.raw_output_contents[1], dtype=np.float32).copy()
    values[0] = np.inf
    response.raw_output_contents[1] = values.tobytes()


def _other_shape(response):
    response.outputs[0].shape[:] = [2, 1]


def _one_row_too_few(response):
    response.outputs[1].shape[:] = [1, 4]
    response.raw_output_contents[1] = response.raw_output_contents[1][:16]


def _no_bytes(response):
    response.raw_output_contents[0] = b""


def _broken_bytes(response):
    response.raw_output_contents[0] = response.raw_output_contents[0][:-1]


def _other_type(response):
    response.outputs[0].datatype = "FP64"
    response.raw_output_contents[0] *= 2


def _unknown_type(response):
    response.outputs[0].datatype = "FP4"


def _missing(response):
    del response.outputs[1], response.raw_output_contents[1]


def _nothing(response):
    response.Clear()


@pytest.mark.parametrize(
    ("spoil", "output"),
    [
        (_nan, "score"),
        (_infinite_token, "token_scores"),
        (_other_shape, "score"),
        (_one_row_too_few, "token_scores"),
        (_no_bytes, "score"),
        (_broken_bytes, "score"),
        (_other_type, "score"),
        (_unknown_type, "score"),
        (_missing, "token_scores"),
        (_nothing, "score"),
    ],
    ids=lambda value: value.__name__.strip("_") if callable(value) else value,
)
async def test_what_cannot_be_read_is_an_error_and_no_score(tmp_path, spoil, output):
    async with served(tmp_path) as (server, backend):
        server.spoil = spoil
        with pytest.raises(UnavailableError) as failed:
            await backend.run(items_of(5))
        assert failed.value.reason is ErrorReason.MODEL_UNAVAILABLE
        assert failed.value.metadata == {"model": "tiny", "output": output}
        assert failed.value.retry_after_s is None
        assert len(server.shapes) == 1


async def test_one_request_that_fails_ends_the_others_of_its_call(tmp_path):
    async with served(tmp_path, requests_in_flight=2) as (server, backend):
        server.refusals.append(grpc.StatusCode.INTERNAL)
        server.hold.clear()
        with pytest.raises(UnavailableError):
            await backend.run(items_of(*([20] * 32)))
        await _until(lambda: server.in_flight == 0)  # nothing else ends what is held there
        assert len(server.shapes) <= 3
        assert backend.waiting == 0


async def test_a_slow_server_is_given_up_after_the_timeout(tmp_path):
    async with served(tmp_path, timeout_s=0.2) as (server, backend):
        server.hold.clear()
        with pytest.raises(UnavailableError) as failed:
            await backend.run(items_of(5))
        assert failed.value.metadata["cause"] == "deadline_exceeded"
        assert failed.value.retry_after_s == 1.0
        assert 0 < server.timeouts[0] <= 0.21
        await _until(lambda: server.cancelled == 1)


async def test_the_callers_nearer_deadline_wins(tmp_path):
    async with served(tmp_path, timeout_s=30.0) as (server, backend):
        server.hold.clear()
        _call_ending_in(0.2)
        with pytest.raises(DeadlineError) as failed:
            await backend.run(items_of(5))
        assert failed.value.reason is ErrorReason.DEADLINE_EXCEEDED
        assert server.timeouts[0] <= 0.21


async def test_nothing_is_sent_for_a_caller_whose_time_is_up(tmp_path):
    async with served(tmp_path) as (server, backend):
        _call_ending_in(-1.0)
        with pytest.raises(DeadlineError):
            await backend.run(items_of(5))
        assert server.shapes == []


async def test_the_callers_deadline_bounds_the_pauses_too(tmp_path):
    async with served(tmp_path, backoff_s=10.0) as (server, backend):
        server.refusals.append(grpc.StatusCode.UNAVAILABLE)
        _call_ending_in(5.0)
        async with asyncio.timeout(4.5):
            with pytest.raises(UnavailableError):
                await backend.run(items_of(5))
        assert len(server.shapes) == 1


async def test_a_caller_that_goes_away_takes_its_requests_along(tmp_path):
    async with served(tmp_path, requests_in_flight=2) as (server, backend):
        server.hold.clear()
        gone = asyncio.create_task(backend.run(items_of(*([20] * 16))))
        stays = asyncio.create_task(backend.run([(42,)]))
        await _until(lambda: server.in_flight == 2)
        gone.cancel()
        await asyncio.wait([gone])
        assert gone.cancelled()
        await _until(lambda: server.cancelled == 2)
        server.hold.set()
        assert_outputs([(42,)], await stays)
        assert server.shapes.count((4, 24)) == 2  # the other two were never sent
        assert backend.waiting == 0


async def test_a_server_that_dies_in_the_middle_is_unavailable_and_comes_back_by_itself(tmp_path):
    server = FakeKserve()
    async with serving(server) as target:
        port = int(target.rsplit(":", 1)[1])
        opened = backend_of(tmp_path, target, attempts=1)
        backend = await opened.__aenter__()
        server.hold.clear()
        waiting = asyncio.create_task(backend.run(items_of(5)))
        await server.arrived.wait()
    with pytest.raises(UnavailableError) as failed:
        await waiting
    assert (failed.value.metadata["cause"], failed.value.retry_after_s) == ("unavailable", 1.0)
    with pytest.raises(UnavailableError):
        await backend.check()
    again = FakeKserve()
    async with serving(again, port):
        await _until_served(backend)
        await backend.check()
        await opened.__aexit__(None, None, None)


async def test_check_follows_the_model(tmp_path):
    async with served(tmp_path) as (server, backend):
        await backend.check()
        server.ready = False
        with pytest.raises(UnavailableError) as failed:
            await backend.check()
        assert failed.value.retry_after_s == 1.0


async def test_closing_fails_who_waits_and_is_idempotent(tmp_path):
    async with served(tmp_path) as (server, backend):
        server.hold.clear()
        waiting = asyncio.create_task(backend.run(items_of(5)))
        await server.arrived.wait()
        await backend.close()
        with pytest.raises(UnavailableError, match="shutting down"):
            await waiting
        with pytest.raises(UnavailableError, match="shutting down"):
            await backend.run(items_of(5))
        with pytest.raises(UnavailableError, match="shutting down"):
            await backend.check()
        await backend.close()


async def test_inputs_go_through_shared_memory_and_nothing_is_left(tmp_path):
    async with served(tmp_path, shared_memory=True, requests_in_flight=2) as (server, backend):
        ((name, (key, size)),) = server.regions.items()
        assert size == 2 * (2 * 4 * 512 * 8)  # places, of two inputs of 4 texts of 512 tokens
        items = items_of(5, 400, 512, *([20] * 20))
        assert_outputs(items, await backend.run(items))
        await backend.close()
        assert server.regions == {}
        with pytest.raises(FileNotFoundError):
            shared_memory.SharedMemory(key.lstrip("/"))
        assert name.startswith("groundtrail-tiny-")


async def test_shared_memory_is_registered_anew_with_a_server_that_was_restarted(tmp_path):
    async with served(tmp_path, shared_memory=True) as (server, backend):
        server.regions.clear()
        items = items_of(5)
        assert_outputs(items, await backend.run(items))
        assert len(server.regions) == 1


async def test_after_a_request_was_given_up_the_region_is_unlinked_alone(tmp_path):
    async with served(tmp_path, shared_memory=True, timeout_s=0.1) as (server, backend):
        server.hold.clear()
        with pytest.raises(UnavailableError):
            await backend.run(items_of(5))
        ((key, _),) = server.regions.values()
        await backend.close()
        assert len(server.regions) == 1  # it may still be read there
        with pytest.raises(FileNotFoundError):
            shared_memory.SharedMemory(key.lstrip("/"))


def _call_ending_in(seconds: float) -> None:
    deadline = asyncio.get_running_loop().time() + seconds
    set_current_call(CallContext(Caller("t", "s", frozenset(), "x"), "r", "/rpc", deadline=deadline))


async def _until(condition) -> None:
    async with asyncio.timeout(patient(5)):
        while not condition():  # noqa: ASYNC110 - the server's counters have no event
            await asyncio.sleep(0.005)


async def _until_served(backend) -> None:
    async with asyncio.timeout(patient(10)):
        while True:
            try:
                assert_outputs([(3, 4)], await backend.run([(3, 4)]))
            except UnavailableError:
                await asyncio.sleep(0.05)
            else:
                return
