"""A session's audit trail as lines, NDJSON or OCSF, over HTTP: what ``ExportAudit`` streams (ADR 0057, ADR 0164).

The status waits for the first line, so that a refusal has its own; an export that breaks off later ends the connection
without its end, so that no client takes a part for the whole.
"""

from collections.abc import AsyncIterator
from typing import Any, Final

from crp.dag.v1 import session_service_pb2 as dag
from crp.dag.v1.session_service_pb2_grpc import SessionServiceStub
from fastapi import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from services.common.settings.http import HttpSettings
from services.gateway.doors.http.guarded import Asked
from services.gateway.doors.http.parameters import filled
from services.gateway.doors.http.protocol import label
from services.gateway.doors.http.requests import call_metadata, until_disconnected

FORMAT: Final = "format"
MEDIA_TYPE: Final = "application/x-ndjson"
_ENDED: Final = None
PARAMETERS: Final[tuple[dict[str, Any], ...]] = (
    {
        "name": FORMAT,
        "in": "query",
        "required": False,
        "description": "Lines of the whole trail instead of a page: ndjson with proofs, or ocsf. No page goes with it.",
        "schema": {"type": "string", "enum": ["ndjson", "ocsf"]},
    },
    {
        "name": "with_content",
        "in": "query",
        "required": False,
        "description": "With ndjson: answers and reports too, for groundtrail replay.",
        "schema": {"type": "boolean"},
    },
)
"""Of the audit endpoint, for the OpenAPI document."""


def is_export(request: Request) -> bool:
    """Say whether lines are asked for, not a page."""
    return FORMAT in request.query_params


async def exported(request: Request, asked: Asked, sessions: SessionServiceStub, settings: HttpSettings) -> Response:
    """Return the lines of a session's audit trail.

    Raises:
        InvalidRequestError: INVALID_FIELD.
        CrpError: what the service refuses before its first line.
    """
    message: Any = filled(dag.ExportAuditRequest, request)
    call = sessions.ExportAudit(
        message, timeout=settings.run_timeout_s, metadata=call_metadata(request, asked.request_id)
    )
    lines = aiter(call)
    try:
        first = await until_disconnected(request, _next(lines))
    except BaseException:
        call.cancel()
        raise
    name = f"{message.session_id}.{request.query_params[FORMAT]}"
    headers = {
        "X-Request-Id": asked.request_id,
        "Content-Disposition": f'attachment; filename="{name}"',
        "X-Accel-Buffering": "no",
    }
    return label(_Lines(_written(first, lines), call, headers))


class _Lines(StreamingResponse):
    """Sends lines, and ends the call that they come from, whether they were all sent or the client left."""

    def __init__(self, lines: AsyncIterator[bytes], call: Any, headers: dict[str, str]) -> None:
        self._call = call
        super().__init__(lines, headers=headers, media_type=MEDIA_TYPE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._call.cancel()


async def _next(lines: AsyncIterator[dag.ExportAuditResponse]) -> dag.ExportAuditResponse | None:
    return await anext(lines, _ENDED)


async def _written(
    first: dag.ExportAuditResponse | None, lines: AsyncIterator[dag.ExportAuditResponse]
) -> AsyncIterator[bytes]:
    line = first
    while line is not None:
        yield line.line.encode() + b"\n"
        line = await _next(lines)
