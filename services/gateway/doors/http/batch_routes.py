"""``POST /v1/dispatch:batch``: independent queries in one call, the worst case of their headers on top (ADR 0153).

The answer is 200 whatever became of the items: each has its outcome or its failure. The protocol's request headers hold
for every item, but for those that speak of one session or one envelope.
"""

from collections.abc import Sequence
from types import GenericAlias
from typing import Annotated, Any, Final

from crp.gateway.v1 import dispatch_service_pb2 as pb
from crp.gateway.v1.dispatch_service_pb2_grpc import DispatchServiceStub
from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field, create_model
from starlette.responses import Response

from services.common.clock import Clock
from services.common.computing import compute
from services.common.context import Role
from services.common.rpc.canonical import message_json
from services.common.rpc.credential_gate import CredentialGate
from services.common.rpc.validation import Violations
from services.common.settings.http import HttpSettings
from services.gateway.domain.command import derived_id
from services.gateway.doors.http.calls import REFUSALS, RpcCalls, body
from services.gateway.doors.http.guarded import Asked
from services.gateway.doors.http.message_schemas import MAX_LIST, MessageModels
from services.gateway.doors.http.problems import json_response
from services.gateway.doors.http.protocol import HEADER_OF_FIELD, asked_in_headers, label
from services.gateway.doors.http.requests import call_metadata, idempotency_key, until_disconnected

BATCH: Final = "/v1/dispatch:batch"
_SERVICE: Final = "crp.gateway.v1.DispatchService"
_OF_ONE: Final = frozenset({"session_token", "continuation_ids", "session_id", "if_match", "stream_safety_mode"})
"""Fields that speak of one query."""
_ITEM: Final = create_model("BatchedDispatch", __base__=MessageModels().request(pb.DispatchRequest))
_FIELDS: Final[dict[str, Any]] = {
    "dispatches": (Annotated[GenericAlias(list, (_ITEM,)), Field(max_length=MAX_LIST)], Field(default_factory=list))
}
_FORM: Final = create_model("DispatchBatchRequest", __config__=ConfigDict(extra="forbid"), **_FIELDS)


class BatchRoutes:
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
        self._calls = RpcCalls(dispatches, _SERVICE, {"DispatchBatch": Role.WRITER}, gate, settings, clock)

    def router(self) -> APIRouter:
        """Return the route, for an app."""
        router = APIRouter(tags=["Dispatch"])
        router.add_api_route(
            BATCH,
            self._calls.guarded("DispatchBatch", self._batch),
            methods=["POST"],
            responses={200: {"description": "A result for each query, in their order."}, **REFUSALS},
            openapi_extra=body(_FORM),
            summary="Answer up to 100 independent queries; each fails on its own.",
            operation_id="dispatch_batch",
        )
        return router

    async def _batch(self, request: Request, asked: Asked) -> Response:
        wishes = asked_in_headers(request)
        message = await self._calls.message(request, asked, _FORM, pb.DispatchBatchRequest)
        _join(message, wishes, idempotency_key(request))
        metadata = call_metadata(request, asked.request_id)
        call = self._dispatches.DispatchBatch(message, timeout=self._settings.run_timeout_s, metadata=metadata)
        found: pb.DispatchBatchResponse = await until_disconnected(request, call)
        headers = {"X-Request-Id": asked.request_id, **{one.name: one.value for one in found.headers}}
        return label(json_response(await compute(message_json, found), headers=headers))


def _join(message: pb.DispatchBatchRequest, wishes: pb.DispatchRequest, key: str) -> None:
    """Give every item what the headers ask for, and an id of its own where it has none.

    Raises:
        InvalidRequestError: INVALID_FIELD: a header speaks of one query, or an item says the same.
    """
    found, wished = Violations(), [field.name for field, _ in wishes.ListFields()]
    for name in wished:
        found.require(name not in _OF_ONE, HEADER_OF_FIELD[name], "is about one query: give it in the item's field")
    for index, item in enumerate(message.dispatches):
        for name in wished:
            given: Any = getattr(item, name)
            text = f"stands in the header {HEADER_OF_FIELD[name]} too; give it once"
            found.require(not given, f"dispatches[{index}].{name}", text)
        item.MergeFrom(wishes)
        item.request_id = item.request_id or derived_id(key, f"batch/{index}")
    found.raise_if_any()
