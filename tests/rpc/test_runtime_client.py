"""Calls from service to service: what is carried along, and how a peer's errors come back."""

import asyncio
import time

import grpc
import pytest
from google.protobuf.wrappers_pb2 import StringValue

from services.common.context import Role, current_call
from services.common.errors import (
    CrpError,
    DeadlineError,
    ErrorReason,
    FieldViolation,
    InvalidRequestError,
    LimitExceededError,
    UnavailableError,
)
from services.common.rpc.client import open_channel
from services.common.settings import PeerSettings, PeerTlsSettings, TlsSettings
from tests.fakes.event_sinks import eventually
from tests.fakes.runtime_probe import KEYS, SERVICE, probe, probe_settings
from tests.patience import patient
from tests.rpc.test_runtime_errors import failure
from tests.rpc.test_runtime_serving import Authority

TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
WRITER = (("authorization", f"Bearer {KEYS['writer']}"),)


def unary(channel, method):
    return channel.unary_unary(f"/{SERVICE}/{method}", StringValue.SerializeToString, StringValue.FromString)


def stream(channel, method):
    return channel.unary_stream(f"/{SERVICE}/{method}", StringValue.SerializeToString, StringValue.FromString)


async def raise_reason(request, context):
    raise CrpError(
        ErrorReason(request.value), "it went wrong", violations=(FieldViolation("a", "b"),), retry_after_s=3, limit="9"
    )


async def stream_raise(request, context):
    yield request
    raise CrpError(ErrorReason(request.value), "it went wrong", limit="9")


async def test_a_peers_error_comes_back_as_it_was_raised():
    behaviours = {"Fail": raise_reason, "FailStream": stream_raise}
    async with probe(behaviours) as p, open_channel(p.server.address, p.settings) as channel:
        for reason in ErrorReason:
            with pytest.raises(CrpError) as caught:
                await unary(channel, "Fail")(StringValue(value=reason.value), metadata=WRITER)
            found = caught.value
            assert (found.reason, found.message, found.metadata) == (reason, "it went wrong", {"limit": "9"})
            assert (found.retry_after_s, found.violations) == (3, (FieldViolation("a", "b"),))
            messages = aiter(stream(channel, "FailStream")(StringValue(value=reason.value), metadata=WRITER))
            assert (await anext(messages)).value == reason.value
            with pytest.raises(CrpError) as caught:
                await anext(messages)
            assert caught.value.reason is reason


async def test_classes_come_back_too():
    async with probe({"Fail": raise_reason}) as p, open_channel(p.server.address, p.settings) as channel:
        for reason, kind in (
            (ErrorReason.INVALID_FIELD, InvalidRequestError),
            (ErrorReason.QUEUE_FULL, LimitExceededError),
            (ErrorReason.STORE_UNAVAILABLE, UnavailableError),
        ):
            with pytest.raises(kind):
                await unary(channel, "Fail")(StringValue(value=reason.value), metadata=WRITER)


async def two_hops(behaviours, call):
    """Serve ``Front``, which calls ``Back`` at a second server through ``open_channel``; call it."""
    async with probe(behaviours) as back:

        async def front(request, context):
            return await unary(channel, "Back")(request)

        async with open_channel(back.server.address, back.settings) as channel, probe({"Front": front}) as p:
            return await call(p)


async def test_credential_request_id_trace_and_time_are_carried_along():
    seen = {}

    async def back(request, context):
        call = current_call()
        loop = asyncio.get_running_loop()
        seen.update(tenant=call.caller.tenant_id, request_id=call.request_id, left=call.deadline - loop.time())
        seen.update((key, value) for key, value in context.invocation_metadata() if key.startswith("trace"))
        return request

    metadata = (("x-request-id", "req-7"), ("traceparent", TRACE), ("tracestate", "a=b"))
    await two_hops({"Back": back}, lambda p: p.call("Front", timeout=patient(7), metadata=metadata))
    left = seen.pop("left")
    assert patient(4) < left < patient(7) + 0.1
    assert seen == {"tenant": "tenant-1", "request_id": "req-7", "traceparent": TRACE, "tracestate": "a=b"}


async def test_a_peers_error_reaches_the_first_caller_whole():
    async def back(request, context):
        raise CrpError(ErrorReason.SESSION_CLOSED, "the session is closed", session_id="s")

    async def call(p):
        return await failure(p.call("Front", metadata=(("x-request-id", "req-8"),)))

    error, details = await two_hops({"Back": back}, call)
    assert (error.code(), error.details()) == (grpc.StatusCode.FAILED_PRECONDITION, "the session is closed")
    expected = {"session_id": "s", "x-request-id": "req-8", "retryable": "false"}
    assert dict(details["ErrorInfo"].metadata) == expected


async def test_each_hop_checks_the_role_itself():
    async def back(request, context):
        return request

    async with probe({"Back": back}, roles={"Back": Role.ADMIN}) as second:

        async def front(request, context):
            return await unary(channel, "Back")(request)

        async with open_channel(second.server.address, second.settings) as channel, probe({"Front": front}) as p:
            _, details = await failure(p.call("Front"))
            assert details["ErrorInfo"].reason == "ROLE_MISSING"


async def test_an_explicit_timeout_wins_only_when_it_is_shorter():
    lefts = []

    async def back(request, context):
        lefts.append(current_call().deadline - asyncio.get_running_loop().time())
        return request

    async with probe({"Back": back}) as second:

        async def front(request, context):
            await unary(channel, "Back")(request, timeout=0.5)
            return await unary(channel, "Back")(request, timeout=100.0)

        async with open_channel(second.server.address, second.settings) as channel, probe({"Front": front}) as p:
            await p.call("Front", timeout=patient(5))
    assert 0 < lefts[0] < 0.6
    assert 1.1 < lefts[1] < patient(5) + 0.1


async def test_no_time_left_means_no_call():
    async def front(request, context):
        await asyncio.sleep(0)
        deadline = current_call().deadline
        time.sleep(max(deadline - asyncio.get_running_loop().time(), 0) + 0.2)  # noqa: ASYNC251 - overrun on purpose
        with pytest.raises(DeadlineError):
            await unary(channel, "Back")(request)
        done.append(True)
        return request

    done = []
    async with open_channel("127.0.0.1:1", probe_settings()) as channel, probe({"Front": front}) as p:
        await failure(p.call("Front", timeout=0.2))
        await eventually(lambda: done == [True])


async def test_a_call_outside_an_rpc_has_the_default_deadline():
    async def back(request, context):
        request.value = f"{current_call().deadline - asyncio.get_running_loop().time():.0f}"
        return request

    async with probe({"Back": back}) as p:
        settings = p.settings.model_copy(update={"peers": PeerSettings(timeout_s=33)})
        async with open_channel(p.server.address, settings) as channel:
            assert (await unary(channel, "Back")(StringValue(), metadata=WRITER)).value in {"32", "33"}


async def test_a_peer_that_is_not_there_is_unavailable_and_its_address_is_for_the_log_alone(caplog):
    async with open_channel("127.0.0.1:1", probe_settings(), name="dag") as channel:
        with pytest.raises(UnavailableError) as caught:
            await unary(channel, "Back")(StringValue(), timeout=patient(5))
        assert caught.value.reason is ErrorReason.SERVICE_UNAVAILABLE
        assert caught.value.metadata == {"peer": "dag", "code": "UNAVAILABLE"}
        assert "127.0.0.1" not in caught.value.message
    assert "dag at 127.0.0.1:1: UNAVAILABLE" in caplog.text


async def test_a_peer_that_answers_too_late_is_a_deadline():
    async def back(request, context):
        await asyncio.sleep(30)

    async with probe({"Back": back}) as p, open_channel(p.server.address, p.settings) as channel:
        with pytest.raises(DeadlineError):
            await unary(channel, "Back")(StringValue(), metadata=WRITER, timeout=0.2)


async def test_trailing_metadata_and_cancel_are_at_hand():
    entered = asyncio.Event()

    async def back(request, context):
        context.set_trailing_metadata((("crp-tier", "A"),))
        if request.value:
            entered.set()
            await asyncio.sleep(30)
        return request

    async with probe({"Back": back}) as p, open_channel(p.server.address, p.settings) as channel:
        call = unary(channel, "Back")(StringValue(), metadata=WRITER)
        await call
        assert dict(await call.trailing_metadata())["crp-tier"] == "A"
        call = unary(channel, "Back")(StringValue(value="x"), metadata=WRITER)
        waiting = asyncio.ensure_future(_awaited(call))
        await entered.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting


async def _awaited(call):
    return await call


async def test_mtls_towards_peers(tmp_path):
    ours, clients = Authority(tmp_path, "ours"), Authority(tmp_path, "clients")
    cert, key = ours.issue("server")
    server = probe_settings(tls=TlsSettings(cert_file=cert, key_file=key, client_ca_file=clients.file))
    client_cert, client_key = clients.issue("gateway")
    tls = PeerTlsSettings(ca_file=ours.file, cert_file=client_cert, key_file=client_key, server_name="localhost")
    async with probe(settings=server) as p:
        settings = p.settings.model_copy(update={"peers": PeerSettings(tls=tls)})
        async with open_channel(p.server.address, settings) as channel:
            assert (await unary(channel, "Echo")(StringValue(value="x"), metadata=WRITER)).value == "x"
        bare = p.settings.model_copy(update={"peers": PeerSettings(tls=PeerTlsSettings(ca_file=ours.file))})
        async with open_channel(p.server.address, bare) as channel:
            with pytest.raises(UnavailableError):
                await unary(channel, "Echo")(StringValue(value="x"), metadata=WRITER, timeout=patient(5))


async def test_unix_sockets_are_dialled_in_plaintext_even_with_tls_settings(tmp_path):
    ours = Authority(tmp_path, "ours")
    socket = tmp_path / "p.sock"
    async with probe(settings=probe_settings(unix_socket=socket)) as p:
        peers = PeerSettings(tls=PeerTlsSettings(ca_file=ours.file))
        async with open_channel(f"unix:{socket}", p.settings.model_copy(update={"peers": peers})) as channel:
            assert (await unary(channel, "Echo")(StringValue(value="x"), metadata=WRITER)).value == "x"
