"""Documents before and after they are ingested, over HTTP: ``/v1/sources``, its dry run and its comparison (ADR 0113).

The paths are those that the contract's annotations name, each over one RPC of KnowledgeService. Nothing here writes:
what does (``POST /v1/sources``, erasing, facts) is served over gRPC. Answers are the protobuf JSON mapping with the
contract's field names.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from crp.ckf.v1 import knowledge_service_pb2 as pb
from crp.ckf.v1.knowledge_service_pb2_grpc import KnowledgeServiceStub
from fastapi import APIRouter, Request
from google.protobuf.message import Message
from pydantic import BaseModel
from starlette.responses import Response

from services.common.clock import Clock
from services.common.context import Role
from services.common.rpc.credential_gate import CredentialGate
from services.common.settings.http import HttpSettings
from services.gateway.doors.http.calls import REFUSALS, RpcCalls, body, protocol_answer
from services.gateway.doors.http.ercp_answers import RefusalAnswer
from services.gateway.doors.http.guarded import Asked, Handler
from services.gateway.doors.http.message_schemas import MessageModels
from services.gateway.doors.http.parameters import filled, parameters

SERVICE: Final = "crp.ckf.v1.KnowledgeService"
SOURCES: Final = "/v1/sources"
PREVIEW: Final = f"{SOURCES}:preview"
DIFF: Final = f"{SOURCES}:diff"
ROLES: Final = {
    "PreviewIngestion": Role.WRITER,
    "DiffSources": Role.READER,
    "ListSources": Role.READER,
    "GetSource": Role.READER,
}
"""What each RPC will ask for in the end; asked for here before the body is read."""
_MODELS: Final = MessageModels()
_NOT_FOUND: Final[dict[int | str, dict[str, Any]]] = {
    404: {"model": RefusalAnswer, "description": "There is no such source or version, or it is not the caller's."}
}


@dataclass(frozen=True, slots=True)
class SourceEndpoint:
    """One call.

    Attributes:
        path: where it is served.
        rpc: of KnowledgeService.
        message: the request: of a POST its body, of a GET what stands in path and query.
        name: of the operation in the OpenAPI document.
        says: one line for it.
        form: of the body; None for a GET.
    """

    path: str
    rpc: str
    message: type[Message]
    name: str
    says: str
    form: type[BaseModel] | None = None


SOURCE_ENDPOINTS: Final = (
    SourceEndpoint(
        PREVIEW,
        "PreviewIngestion",
        pb.PreviewIngestionRequest,
        "preview_ingestion",
        "What an ingestion of a document would do; nothing is written.",
        _MODELS.request(pb.PreviewIngestionRequest),
    ),
    SourceEndpoint(
        DIFF,
        "DiffSources",
        pb.DiffSourcesRequest,
        "diff_sources",
        "What differs between two sources, versions or documents.",
        _MODELS.request(pb.DiffSourcesRequest),
    ),
    SourceEndpoint(SOURCES, "ListSources", pb.ListSourcesRequest, "list_sources", "The tenant's sources."),
    SourceEndpoint(
        f"{SOURCES}/{{source_id}}", "GetSource", pb.GetSourceRequest, "source", "A source and its kept versions."
    ),
)


class SourceRoutes:
    """The endpoints.

    Args:
        stub: KnowledgeService, over a channel that raises the peer's own errors.
        gate: proves callers before anything of their bodies is read.
        settings: limits and deadlines; a document may take as long as a whole run.
        clock: the time in refusals.
    """

    forms: Sequence[type[BaseModel]] = tuple(one.form for one in SOURCE_ENDPOINTS if one.form)
    """Schemas of the bodies."""

    def __init__(self, stub: KnowledgeServiceStub, gate: CredentialGate, settings: HttpSettings, clock: Clock) -> None:
        self._calls = RpcCalls(stub, SERVICE, ROLES, gate, settings, clock)
        self._document_s = settings.run_timeout_s

    def router(self) -> APIRouter:
        """Return the routes, for an app."""
        router = APIRouter(tags=["Sources"])
        for endpoint in SOURCE_ENDPOINTS:
            extra = (
                body(endpoint.form) if endpoint.form else {"parameters": parameters(endpoint.message, endpoint.path)}
            )
            router.add_api_route(
                endpoint.path,
                self._calls.guarded(endpoint.rpc, self._handler(endpoint)),
                methods=["POST" if endpoint.form else "GET"],
                responses={200: {"description": endpoint.says}, **REFUSALS, **_NOT_FOUND},
                openapi_extra=extra,
                summary=endpoint.says,
                operation_id=endpoint.name,
            )
        return router

    def _handler(self, endpoint: SourceEndpoint) -> Handler:
        form, kind, rpc = endpoint.form, endpoint.message, endpoint.rpc

        async def looking(request: Request, asked: Asked) -> Response:
            return await protocol_answer(await self._calls.call(request, asked, rpc, filled(kind, request)), asked)

        if form is None:
            return looking

        async def comparing(request: Request, asked: Asked) -> Response:
            message = await self._calls.message(request, asked, form, kind)
            return await protocol_answer(await self._calls.call(request, asked, rpc, message, self._document_s), asked)

        return comparing
