"""``crp.dag.v1.RetentionService``: validate, convert, call, convert."""

# ruff: noqa: N802, ARG002 - gRPC gives the methods their names and the context its place

from collections.abc import Callable
from typing import Any, Final, TypeVar

import grpc
from crp.dag.v1 import retention_service_pb2 as pb
from crp.dag.v1 import retention_service_pb2_grpc as pb_grpc

from services.common.context import Caller, current_call
from services.common.rpc.idempotency import body_hash
from services.common.rpc.paging import decode_page, encode_page_token
from services.dag import retention_convert as convert
from services.dag import retention_validate as validate
from services.dag.registers import NewRules, Registers
from services.dag.retention import Holds, Retention, SweepMetrics, count
from services.dag.writing import RequestKey

Context = grpc.aio.ServicerContext[Any, Any]
ResultT = TypeVar("ResultT")
DEFAULT_SESSIONS: Final = 100


class RetentionServicer(pb_grpc.RetentionServiceServicer):
    """Serves each tenant's rules and holds."""

    def __init__(self, registers: Registers, retention: Retention, holds: Holds, metrics: SweepMetrics) -> None:
        self._registers = registers
        self._retention = retention
        self._holds = holds
        self._metrics = metrics

    async def GetRetention(self, request: pb.GetRetentionRequest, context: Context) -> pb.GetRetentionResponse:
        """Return the rules."""
        tenant_id = _caller().tenant_id
        return convert.register(tenant_id, await self._registers.read(tenant_id))

    async def SetRetention(self, request: pb.SetRetentionRequest, context: Context) -> pb.SetRetentionResponse:
        """Set the rules."""
        validate.set_retention(request)
        new = NewRules(convert.own_rules(request.rules), request.reason)
        answer = await self._registers.set(_caller(), new, _key("SetRetention", request, convert.rules_set))
        return pb.SetRetentionResponse.FromString(answer)

    async def SetLegalHold(self, request: pb.SetLegalHoldRequest, context: Context) -> pb.SetLegalHoldResponse:
        """Place or end a hold."""
        validate.set_legal_hold(request)
        key = _key("SetLegalHold", request, convert.hold_set)
        return pb.SetLegalHoldResponse.FromString(await self._holds.set(_caller(), convert.hold(request), key))

    async def PreviewRetention(
        self, request: pb.PreviewRetentionRequest, context: Context
    ) -> pb.PreviewRetentionResponse:
        """List what is due."""
        tenant_id = _caller().tenant_id
        bound = ("PreviewRetention", tenant_id)
        page = decode_page(request.page_size, request.page_token, bound)
        found = await self._retention.due(tenant_id, convert.place_of(page), page.limit)
        more = encode_page_token(convert.place_text(found.following), bound) if found.following else ""
        return pb.PreviewRetentionResponse(items=[convert.item(one) for one in found.items], next_page_token=more)

    async def ApplyRetention(self, request: pb.ApplyRetentionRequest, context: Context) -> pb.ApplyRetentionResponse:
        """Do what is due."""
        validate.apply_retention(request)
        done = await self._retention.apply(_caller().tenant_id, request.max_sessions or DEFAULT_SESSIONS)
        for one in done.items:
            count(self._metrics, one)
        return pb.ApplyRetentionResponse(items=[convert.item(one) for one in done.items], more=done.more)


def _caller() -> Caller:
    return current_call().caller


def _key(rpc: str, request: Any, encode: Callable[[ResultT], bytes]) -> RequestKey[ResultT]:
    return RequestKey(rpc, request.request_id, body_hash(request), encode)
