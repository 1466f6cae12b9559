"""A caller whose time is up is told, by the server, what was done and what to do next."""

import asyncio

import grpc
import pytest

from services.common.context import Role
from services.common.errors import ConflictError, DeadlineError, ErrorReason, UnavailableError
from services.common.lateness import late, told_truly
from services.common.progress import Done, Progress, at, open_progress, stored, writing
from services.common.rpc import pipeline
from services.common.rpc.client import WRITING_RPCS
from services.dag import compose
from tests.fakes.runtime_probe import probe, probe_settings
from tests.rpc.test_runtime_errors import failure

TIMEOUT_S = 10.5
FOREVER_S = 3600


@pytest.fixture(autouse=True)
def early(monkeypatch):
    """End calls half a second in: the answer has the rest of the time to arrive, however busy the machine is."""
    monkeypatch.setattr(pipeline, "_MOST_MARGIN", 0.95)


def serving(behaviour):
    return probe({"Late": behaviour}, settings=probe_settings(deadline_margin_ms=10_000))


async def end_of(behaviour):
    async with serving(behaviour) as p:
        error, details = await failure(p.call("Late", timeout=TIMEOUT_S))
    assert error.code() is grpc.StatusCode.DEADLINE_EXCEEDED
    assert details["ErrorInfo"].reason == "DEADLINE_EXCEEDED"
    return error.details(), dict(details["ErrorInfo"].metadata)


async def test_of_a_read_nothing_was_stored():
    async def linger(request, context):
        at("searching")
        await asyncio.sleep(FOREVER_S)

    text, metadata = await end_of(linger)
    assert text == "the time was up while searching: nothing was stored; allow more time"
    assert (metadata["done"], metadata["next"], metadata["stage"]) == ("nothing", "ALLOW_MORE_TIME", "searching")


async def test_of_a_write_that_has_begun_nobody_knows():
    async def write(request, context):
        with writing():
            await asyncio.sleep(FOREVER_S)

    text, metadata = await end_of(write)
    assert "it is not known whether all of it was stored" in text
    assert (metadata["done"], metadata["next"]) == ("unknown", "REPEAT_WITH_SAME_REQUEST_ID")


def test_a_write_that_may_be_one_of_several_is_not_all():
    progress = open_progress()
    with writing():
        pass
    assert progress.done is Done.UNKNOWN
    stored()
    assert progress.done is Done.STORED


@pytest.mark.parametrize(
    ("error", "done"),
    [
        (ConflictError(ErrorReason.COMMIT_RACE, "another came first"), Done.NOTHING),
        (UnavailableError(ErrorReason.STORE_UNAVAILABLE, "the store does not answer"), Done.UNKNOWN),
        (DeadlineError(ErrorReason.DEADLINE_EXCEEDED, "no answer"), Done.UNKNOWN),
        (DeadlineError(ErrorReason.DEADLINE_EXCEEDED, "no answer", done="nothing"), Done.NOTHING),
        (asyncio.CancelledError(), Done.UNKNOWN),
    ],
)
def test_a_refused_write_was_not_made(error, done):
    progress = open_progress()
    with pytest.raises(type(error)), writing():
        raise error
    assert progress.done is done


async def test_what_is_stored_is_said_to_be_stored():
    async def write(request, context):
        with writing():
            pass
        stored()
        at("answering")
        await asyncio.sleep(FOREVER_S)

    text, metadata = await end_of(write)
    assert text.endswith("it was stored; repeat it with the same request_id to get the answer")
    assert (metadata["done"], metadata["next"]) == ("stored", "REPEAT_WITH_SAME_REQUEST_ID")


async def test_what_is_begun_in_another_task_counts():
    async def apart():
        with writing():
            pass

    progress = open_progress()
    await asyncio.create_task(apart())
    assert progress.done is Done.UNKNOWN


async def test_an_error_of_the_service_itself_is_told_as_truly():
    async def refuse(request, context):
        with writing():
            pass
        raise DeadlineError(ErrorReason.DEADLINE_EXCEEDED, "0.001 s are left for the model", step="model")

    text, metadata = await end_of(refuse)
    assert text.startswith("0.001 s are left for the model: it is not known")
    assert (metadata["done"], metadata["step"]) == ("unknown", "model")


async def test_a_stream_ends_in_time_too():
    async def trickle(request, context):
        yield request
        at("the second part")
        await asyncio.sleep(FOREVER_S)
        yield request

    async with serving(trickle) as p:
        call = p.stream("Late", timeout=TIMEOUT_S)
        assert (await call.read()).value == "hi"
        error, details = await failure(call.read())
    assert error.code() is grpc.StatusCode.DEADLINE_EXCEEDED
    assert details["ErrorInfo"].metadata["stage"] == "the second part"


async def test_a_timeout_of_the_services_own_is_no_deadline():
    async def broken(request, context):
        async with asyncio.timeout(0):
            await asyncio.sleep(FOREVER_S)

    async with serving(broken) as p:
        error, _ = await failure(p.call("Late", timeout=TIMEOUT_S))
    assert error.code() is grpc.StatusCode.INTERNAL


async def test_the_end_reaches_what_waits_for_the_work():
    ended = asyncio.Event()

    async def linger(request, context):
        try:
            await asyncio.sleep(FOREVER_S)
        finally:
            ended.set()

    await end_of(linger)
    assert ended.is_set()


def test_what_a_nested_call_left_behind_is_no_word_about_this_one():
    inner = told_truly(late(Progress()), Progress())
    outer = Progress()
    outer.begin()
    told = told_truly(inner, outer)
    assert "nothing was stored" not in told.message
    assert told.metadata["done"] == "unknown"


def test_the_rpcs_that_store_something_are_known():
    writing_roles = {name for name, role in compose.ROLES.items() if role is not Role.READER}
    # A key is for writers, and giving it stores nothing.
    assert {rpc.rpartition("/")[2] for rpc in WRITING_RPCS} == writing_roles - {"GetHoldingKey"}
    assert {rpc.rpartition("/")[0] for rpc in WRITING_RPCS} == {"/crp.dag.v1.SessionService"}
