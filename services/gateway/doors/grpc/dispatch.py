"""DispatchService over gRPC: check, convert, call the app, convert back."""

from typing import Any, Final

from crp.gateway.v1 import dispatch_service_pb2 as pb
from crp.gateway.v1 import dispatch_service_pb2_grpc

from services.common.context import Role
from services.common.settings import GatewaySettings
from services.gateway.dispatch.app import DispatchApp
from services.gateway.doors.grpc import convert, validate

SERVICE_NAME: Final = "crp.gateway.v1.DispatchService"
ROLES: Final = {"Dispatch": Role.WRITER}


class DispatchServicer(dispatch_service_pb2_grpc.DispatchServiceServicer):
    """Serves dispatches; what is not overridden answers UNIMPLEMENTED."""

    def __init__(self, app: DispatchApp, settings: GatewaySettings) -> None:
        self._app = app
        self._settings = settings

    async def Dispatch(self, request: pb.DispatchRequest, context: Any) -> pb.DispatchResponse:  # noqa: N802 - gRPC's name
        """Run one query; the outcome's headers also go as initial and as trailing metadata."""
        validate.request_metadata(context.invocation_metadata() or ())
        validate.dispatch_request(request, self._settings)
        result = await self._app.dispatch(convert.dispatch_command(request))
        response = convert.dispatch_response(result, request.report_view)
        metadata = convert.header_metadata(response)
        await context.send_initial_metadata(metadata)
        context.set_trailing_metadata(metadata)
        return response
