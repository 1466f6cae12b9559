"""DispatchService over gRPC: check, convert, call the app, convert back."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any, Final

from crp.gateway.v1 import dispatch_service_pb2 as pb
from crp.gateway.v1 import dispatch_service_pb2_grpc

from services.common.computing import compute
from services.common.context import Role
from services.common.fair_turns import FairTurns
from services.common.settings import GatewaySettings
from services.gateway import wire
from services.gateway.dispatch.app import DispatchApp
from services.gateway.dispatch.batch import BatchApp
from services.gateway.dispatch.fanning import FanOutApp
from services.gateway.dispatch.outlet import Begun
from services.gateway.dispatch.streaming import streamed
from services.gateway.doors.grpc import convert, validate
from services.gateway.doors.grpc.batches import batch_items, batch_request, batch_response
from services.gateway.doors.grpc.fan_outs import fan_out_command, fan_out_event, fan_out_request

SERVICE_NAME: Final = "crp.gateway.v1.DispatchService"
ROLES: Final = dict.fromkeys(("Dispatch", "DispatchStream", "DispatchBatch", "FanOut"), Role.WRITER)


class DispatchServicer(dispatch_service_pb2_grpc.DispatchServiceServicer):
    """Serves dispatches."""

    def __init__(self, app: DispatchApp, settings: GatewaySettings) -> None:
        # Places of their own: an item that fans out holds one while its children wait for theirs.
        items, children = (
            FairTurns(settings.batch_max_running, settings.batch_max_running_per_tenant) for _ in range(2)
        )
        self._app = FanOutApp(app, children, by_intent=settings.strategy_by_intent)
        self._batches = BatchApp(self._app, items)
        self._settings = settings

    async def Dispatch(self, request: pb.DispatchRequest, context: Any) -> pb.DispatchResponse:  # noqa: N802 - gRPC's name
        """Run one query; the outcome's headers also go as initial and as trailing metadata."""
        validate.request_metadata(context.invocation_metadata() or ())
        validate.dispatch_request(request, self._settings)
        result = await self._app.dispatch(convert.dispatch_command(request))
        response = convert.dispatch_response(result, request.report_view)
        metadata = convert.header_metadata(response.headers)
        await context.send_initial_metadata(metadata)
        context.set_trailing_metadata(metadata)
        return response

    async def DispatchBatch(self, request: pb.DispatchBatchRequest, context: Any) -> pb.DispatchBatchResponse:  # noqa: N802 - gRPC's name
        """Run independent queries; the worst case of their headers also goes as initial and as trailing metadata."""
        validate.request_metadata(context.invocation_metadata() or ())
        batch_request(request)
        came_to = await self._batches.run(batch_items(request, self._settings))
        response = await compute(batch_response, request, came_to)
        metadata = convert.header_metadata(response.headers)
        await context.send_initial_metadata(metadata)
        context.set_trailing_metadata(metadata)
        return response

    async def FanOut(  # noqa: N802 - gRPC's name
        self, request: pb.FanOutRequest, context: Any
    ) -> AsyncIterator[pb.FanOutResponse]:
        """Answer the parts of a task side by side and merge them; the fan-in's headers go as trailing metadata."""
        validate.request_metadata(context.invocation_metadata() or ())
        fan_out_request(request, self._settings)
        async with aclosing(self._app.events(fan_out_command(request), request.queries)) as events:
            async for event in events:
                told = fan_out_event(event, request.dispatch.report_view)
                if told.HasField("fan_in"):
                    context.set_trailing_metadata(convert.header_metadata(told.fan_in.headers))
                yield told

    async def DispatchStream(  # noqa: N802 - gRPC's name
        self, request: pb.DispatchStreamRequest, context: Any
    ) -> AsyncIterator[pb.DispatchStreamResponse]:
        """Run one query and send its answer as it passes; what is known of the headers goes as initial metadata."""
        validate.request_metadata(context.invocation_metadata() or ())
        validate.streamed_request(request, self._settings)
        asked = request.dispatch
        wish = wire.STREAM_MODES.get(asked.stream_safety_mode)
        async with aclosing(streamed(self._app, convert.dispatch_command(asked), wish)) as events:
            async for event in events:
                if isinstance(event, Begun):
                    await context.send_initial_metadata(convert.header_metadata(convert.headers(event.headers)))
                elif isinstance(event, str):
                    yield pb.DispatchStreamResponse(token=event)
                else:
                    response = convert.dispatch_response(event, asked.report_view)
                    context.set_trailing_metadata(convert.header_metadata(response.headers))
                    for stage in convert.stages(event):
                        yield pb.DispatchStreamResponse(stage=stage)
                    yield pb.DispatchStreamResponse(outcome=response)
