"""Whatever a servicer raises leaves with its status, ErrorInfo and details; nothing else leaves."""

import asyncio
import re

import grpc
import pytest
from google.rpc import error_details_pb2

from services.common.context import current_call
from services.common.errors import INTERNAL_TEXT, CrpError, ErrorReason, FieldViolation, InvalidRequestError
from services.common.rpc.status import STATUS
from tests.fakes.event_sinks import eventually
from tests.fakes.runtime_probe import probe
from tests.patience import patient

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


async def failure(call):
    """Await a call that fails; return the error and its details by name."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    return caught.value, unpacked(caught.value)


def unpacked(error):
    from google.rpc import status_pb2

    data = dict(error.trailing_metadata()).get("grpc-status-details-bin")
    found = {}
    for packed in status_pb2.Status.FromString(data).details if data else ():
        for kind in ("ErrorInfo", "RetryInfo", "BadRequest", "PreconditionFailure"):
            message = getattr(error_details_pb2, kind)()
            if packed.Unpack(message):
                found[kind] = message
    return found


async def raise_reason(request, context):
    raise CrpError(ErrorReason(request.value), "it went wrong", retry_after_s=2.5, limit="9")


async def stream_then_raise(request, context):
    yield request
    raise CrpError(ErrorReason(request.value), "it went wrong", limit="9")


async def test_every_reason_reaches_the_client():
    async with probe({"Fail": raise_reason, "FailStream": stream_then_raise}) as p:
        for reason in ErrorReason:
            error, details = await failure(p.call("Fail", reason.value))
            assert (error.code(), error.details()) == (STATUS[reason].code, "it went wrong"), reason
            info = details["ErrorInfo"]
            assert (info.reason, info.domain, info.metadata["limit"]) == (reason.value, "groundtrail", "9")
            assert UUID.fullmatch(info.metadata["x-request-id"])
            assert dict(error.trailing_metadata())["x-request-id"] == info.metadata["x-request-id"]
            assert details["RetryInfo"].retry_delay.ToMicroseconds() == 2_500_000
            stream = p.stream("FailStream", reason.value)
            assert (await stream.read()).value == reason.value
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await stream.read()
            assert caught.value.code() is STATUS[reason].code
            assert unpacked(caught.value)["ErrorInfo"].reason == reason.value


async def test_violations_are_a_bad_request():
    async def check(request, context):
        raise InvalidRequestError.of(FieldViolation("query", "must not be empty"), FieldViolation("a.b", "1 to 5"))

    async with probe({"Check": check}) as p:
        error, details = await failure(p.call("Check"))
        fields = [(v.field, v.description) for v in details["BadRequest"].field_violations]
        assert fields == [("query", "must not be empty"), ("a.b", "1 to 5")]
        assert error.code() is grpc.StatusCode.INVALID_ARGUMENT


async def test_an_unexpected_exception_says_nothing_of_itself(capfd):
    async def explode(request, context):
        raise RuntimeError("the secret plan of " + request.value)

    async with probe({"Explode": explode}) as p:
        call = p.call("Explode", "mice", metadata=(("x-request-id", "abc-1"),))
        error, details = await failure(call)
    assert (error.code(), error.details()) == (grpc.StatusCode.INTERNAL, INTERNAL_TEXT)
    assert details["ErrorInfo"].reason == "INTERNAL"
    assert details["ErrorInfo"].metadata["x-request-id"] == "abc-1"
    assert "mice" not in str(error)
    out = capfd.readouterr()
    logged = out.out + out.err
    assert "secret plan of mice" in logged
    assert "abc-1" in logged


async def test_a_servicers_own_abort_passes_through():
    async def abort(request, context):
        await context.abort(grpc.StatusCode.ALREADY_EXISTS, "mine", (("k", "v"),))

    async with probe({"Abort": abort}) as p:
        error, details = await failure(p.call("Abort"))
        assert (error.code(), error.details()) == (grpc.StatusCode.ALREADY_EXISTS, "mine")
        assert details == {}
    # The client may hear of an abort before the server has counted it; once it is drained everything is counted.
    assert 'groundtrail_rpc_total{code="UNKNOWN",method="Abort"' in p.metrics()


async def test_trailing_metadata_of_the_servicer_is_kept():
    async def tag(request, context):
        context.set_trailing_metadata((("crp-tier", "A"),))
        if request.value == "fail":
            raise CrpError(ErrorReason.SESSION_CLOSED, "closed")
        return request

    async with probe({"Tag": tag}) as p:
        call = p.call("Tag", metadata=(("x-request-id", "r-1"),))
        await call
        assert dict(await call.trailing_metadata()) == {"crp-tier": "A", "x-request-id": "r-1"}
        error, _ = await failure(p.call("Tag", "fail", metadata=(("x-request-id", "r-2"),)))
        sent = dict(error.trailing_metadata())
        assert (sent["crp-tier"], sent["x-request-id"]) == ("A", "r-2")


@pytest.mark.parametrize(
    ("given", "kept"),
    [("abc-1", True), ("A.b_c:d-9", True), ("x" * 64, True), ("x" * 65, False), ("-a", False), ("a b", False)],
)
async def test_request_ids_are_taken_if_sane(given, kept):
    async def whoami(request, context):
        request.value = current_call().request_id
        return request

    async with probe({"Whoami": whoami}) as p:
        call = p.call("Whoami", metadata=(("x-request-id", given),))
        seen = (await call).value
        assert (seen == given) is kept
        assert kept or UUID.fullmatch(seen)
        assert dict(await call.trailing_metadata())["x-request-id"] == seen


async def test_bytes_that_are_no_message_are_a_malformed_request():
    async with probe() as p:
        raw = p.channel.unary_unary("/groundtrail.probe.v1.ProbeService/Echo")
        from tests.fakes.runtime_probe import KEYS

        metadata = (("authorization", f"Bearer {KEYS['writer']}"),)
        error, details = await failure(raw(b"\xff\xff\xff", metadata=metadata))
        assert error.code() is grpc.StatusCode.INVALID_ARGUMENT
        assert details["ErrorInfo"].reason == "INVALID_FIELD"


async def test_unknown_method_and_service_are_unimplemented():
    async with probe() as p:
        for method, service in (("Nope", "groundtrail.probe.v1.ProbeService"), ("Echo", "x.Y")):
            error, _ = await failure(p.call(method, service=service))
            assert error.code() is grpc.StatusCode.UNIMPLEMENTED


async def test_a_cancelled_call_stops_the_work_and_is_counted():
    stopped = asyncio.Event()
    started = asyncio.Event()

    async def linger(request, context):
        started.set()
        try:
            await asyncio.sleep(30)
        finally:
            stopped.set()

    async with probe({"Linger": linger}) as p:
        call = p.call("Linger")
        await asyncio.wait_for(started.wait(), patient(5))
        call.cancel()
        await asyncio.wait_for(stopped.wait(), patient(5))
        await eventually(lambda: 'groundtrail_rpc_total{code="CANCELLED",method="Linger"' in p.metrics())
        assert 'in_flight{method="Linger",service="groundtrail.probe.v1.ProbeService"} 0.0' in p.metrics()


async def test_a_client_that_leaves_a_stream_ends_its_generator():
    stopped = asyncio.Event()

    async def count(request, context):
        try:
            while True:
                yield request
                await asyncio.sleep(0.01)
        finally:
            stopped.set()

    async with probe({"Count": count}) as p:
        call = p.stream("Count")
        await call.read()
        call.cancel()
        await asyncio.wait_for(stopped.wait(), patient(5))


async def test_streams_in_both_directions():
    from google.protobuf.wrappers_pb2 import StringValue

    from tests.fakes.runtime_probe import KEYS, SERVICE

    async def bidi(requests, context):
        async for request in requests:
            yield StringValue(value=request.value * 2)

    async def join(requests, context):
        return StringValue(value="".join([request.value async for request in requests]))

    async with probe({"EchoBidi": bidi, "JoinClientStream": join}) as p:
        metadata = (("authorization", f"Bearer {KEYS['writer']}"),)
        ends = (StringValue.SerializeToString, StringValue.FromString)
        sent = [StringValue(value=text) for text in "abc"]
        both = p.channel.stream_stream(f"/{SERVICE}/EchoBidi", *ends)(iter(sent), metadata=metadata)
        assert [message.value async for message in both] == ["aa", "bb", "cc"]
        joined = await p.channel.stream_unary(f"/{SERVICE}/JoinClientStream", *ends)(iter(sent), metadata=metadata)
        assert joined.value == "abc"
