"""``POST /v1/dispatch:fan-out``: ``FanOut`` in server-sent events: parent, child, fan_in, crp-headers (ADR 0162).

The contract streams it, so that it has no annotation there; the messages are the contract's own.
"""

import contextlib
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Any, Final

from crp.gateway.v1 import dispatch_service_pb2 as pb
from crp.gateway.v1.dispatch_service_pb2_grpc import DispatchServiceStub
from fastapi import APIRouter, Request
from pydantic import BaseModel, create_model
from starlette.responses import Response

from services.common.clock import Clock
from services.common.computing import compute_unless_small
from services.common.context import Role
from services.common.rpc.canonical import message_json
from services.common.rpc.credential_gate import CredentialGate
from services.common.rpc.validation import Violations
from services.common.settings.http import HttpSettings
from services.gateway.doors.http.calls import REFUSALS, RpcCalls, body
from services.gateway.doors.http.chat.checking import LATE_S
from services.gateway.doors.http.chat.sending import Streamed
from services.gateway.doors.http.guarded import Asked
from services.gateway.doors.http.message_schemas import MessageModels
from services.gateway.doors.http.protocol import HEADER_OF_FIELD, asked_in_headers, label
from services.gateway.doors.http.requests import call_metadata, request_id_for, until_disconnected
from services.gateway.doors.http.streamed_dispatch import COMMENT, HEADERS, Awaited, sse

FAN_OUT: Final = "/v1/dispatch:fan-out"
_SERVICE: Final = "crp.gateway.v1.DispatchService"
_TASK: Final = create_model("FannedOutDispatch", __base__=MessageModels().request(pb.DispatchRequest))
_FIELDS: Final[dict[str, Any]] = {"dispatch": (_TASK | None, None)}
_FORM: Final = create_model("FanOutRequest", __base__=MessageModels().request(pb.FanOutRequest), **_FIELDS)


class FanOutRoutes:
    """The endpoint.

    Args:
        dispatches: of the service, over a channel that raises the peer's own errors.
        gate: proves callers before anything of their bodies is read.
        settings: limits and deadlines.
        clock: the time in refusals.
    """

    forms: Sequence[type[BaseModel]] = (_FORM,)
    """Schemas of the bodies."""

    def __init__(
        self, dispatches: DispatchServiceStub, gate: CredentialGate, settings: HttpSettings, clock: Clock
    ) -> None:
        self._dispatches = dispatches
        self._settings = settings
        self._calls = RpcCalls(dispatches, _SERVICE, {"FanOut": Role.WRITER}, gate, settings, clock)

    def router(self) -> APIRouter:
        """Return the route, for an app."""
        router = APIRouter(tags=["Dispatch"])
        says = "Server-sent events: parent, child, fan_in, crp-headers; error where it breaks off."
        router.add_api_route(
            FAN_OUT,
            self._calls.guarded("FanOut", self._fan_out),
            methods=["POST"],
            responses={200: {"description": says}, **REFUSALS},
            openapi_extra=body(_FORM),
            summary="Answer the parts of a task side by side, and what follows from them.",
            operation_id="fan_out",
        )
        return router

    async def _fan_out(self, request: Request, asked: Asked) -> Response:
        wishes, found = asked_in_headers(request), Violations()
        message: pb.FanOutRequest = await self._calls.message(request, asked, _FORM, pb.FanOutRequest)
        for field, _ in wishes.ListFields():
            given: Any = getattr(message.dispatch, field.name)
            text = f"stands in the header {HEADER_OF_FIELD[field.name]} too; give it once"
            found.require(not given, f"dispatch.{field.name}", text)
        found.raise_if_any()
        message.dispatch.MergeFrom(wishes)
        named = message.dispatch.request_id
        message.dispatch.request_id = request_id_for(request, named, "dispatch.request_id")
        events = self._events(message, call_metadata(request, asked.request_id))
        awaited, opened = Awaited(events), contextlib.AsyncExitStack()
        opened.push_async_callback(awaited.close)
        interval_s = self._settings.event_interval_s
        try:
            with contextlib.suppress(TimeoutError):  # so that a refusal has its status
                await until_disconnected(request, awaited.pending, interval_s)
        except BaseException:
            await opened.aclose()
            raise
        written = _written(awaited, interval_s, lambda error: bytes(self._calls.refusal(error, asked).body))
        headers = {"X-Request-Id": asked.request_id}
        return label(Streamed(written, opened, self._settings.run_timeout_s + LATE_S, headers))

    async def _events(
        self, message: pb.FanOutRequest, metadata: tuple[tuple[str, str], ...]
    ) -> AsyncGenerator[pb.FanOutResponse, None]:
        call = self._dispatches.FanOut(message, timeout=self._settings.run_timeout_s, metadata=metadata)
        try:
            async for event in call:
                yield event
        finally:
            call.cancel()


async def _written(
    awaited: Awaited[pb.FanOutResponse], interval_s: float, refused: Callable[[Exception], bytes]
) -> AsyncGenerator[bytes, None]:
    try:
        async for event in awaited.all(interval_s):
            kind = None if event is None else event.WhichOneof("event")
            if event is None or kind is None:
                yield COMMENT
                continue
            part = getattr(event, kind)
            yield sse(kind, await compute_unless_small(part.ByteSize(), message_json, part))
            if kind == "fan_in":
                yield sse(HEADERS, {"headers": {one.name: one.value for one in event.fan_in.headers}})
    except Exception as error:  # noqa: BLE001 - told to the client
        yield b"event: error\ndata: " + refused(error) + b"\n\n"
