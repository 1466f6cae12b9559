"""What the runtime knows of one RPC before any call arrives, so that a call looks nothing up."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeAlias

import grpc
from google.protobuf.message import DecodeError

from services.common.context import Role
from services.common.errors import ErrorReason, InvalidRequestError, LimitExceededError
from services.common.rpc.rate_limits import RateLimits
from services.common.rpc.work import Work
from services.common.telemetry import RpcMetrics
from services.common.telemetry.metrics import MethodMetrics

_GENERATED: Final = "_pb2_grpc"

WrappedHandler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"
"""What gRPC calls; a string, because the class takes no parameters at run time."""


class RpcHandler(Protocol):
    """What generated code registers for one RPC (``grpc.RpcMethodHandler``)."""

    request_streaming: bool
    response_streaming: bool
    request_deserializer: Callable[[bytes], Any]
    response_serializer: Callable[[Any], bytes]
    unary_unary: Callable[..., Any] | None
    unary_stream: Callable[..., Any] | None
    stream_unary: Callable[..., Any] | None
    stream_stream: Callable[..., Any] | None


@dataclass(frozen=True, slots=True)
class Method:
    """One RPC.

    Attributes:
        rpc: full name, ``/crp.dpe.v1.ProvenanceService/Analyze``.
        role: what the caller needs; ``None`` = the call needs no credential.
        behavior: the servicer's coroutine function, or async generator where responses are streamed.
        metrics: its numbers; ``None`` = not counted.
        work: what it costs beyond a read; ``None`` = nothing.
        limits: what its callers may ask for in a minute; ``None`` = as much as they want.
    """

    rpc: str
    role: Role | None
    handler: RpcHandler
    behavior: Callable[..., Any]
    max_bytes: int
    metrics: MethodMetrics | None
    work: Work | None = None
    limits: RateLimits | None = None

    def decode(self, raw: bytes) -> Any:
        """Read a request.

        Raises:
            LimitExceededError: MESSAGE_TOO_LARGE.
            InvalidRequestError: INVALID_FIELD, the bytes are no message of the type.
        """
        if len(raw) > self.max_bytes:
            raise self._too_large("request", len(raw))
        try:
            return self.handler.request_deserializer(raw)
        except DecodeError:
            text = f"the request is not a protobuf message of the type that {self.rpc} takes"
            raise InvalidRequestError(ErrorReason.INVALID_FIELD, text, rpc=self.rpc) from None

    def encode(self, response: Any) -> bytes:
        """Write a response.

        Raises:
            LimitExceededError: MESSAGE_TOO_LARGE.
        """
        data = self.handler.response_serializer(response)
        if len(data) > self.max_bytes:
            raise self._too_large("response", len(data))
        return data

    def _too_large(self, what: str, size: int) -> LimitExceededError:
        return LimitExceededError(
            ErrorReason.MESSAGE_TOO_LARGE,
            f"the {what} has {size} bytes; the limit is {self.max_bytes}",
            limit_bytes=str(self.max_bytes),
            size_bytes=str(size),
        )


class MethodTable:
    """Stands in for the server while services register, and keeps what they register.

    An RPC that a servicer does not override is left out: gRPC itself answers UNIMPLEMENTED.
    """

    def __init__(self) -> None:
        self.handlers: dict[str, dict[str, RpcHandler]] = {}

    def add_registered_method_handlers(self, service_name: str, method_handlers: Mapping[str, Any]) -> None:
        """Keep the handlers that the servicer implements."""
        kept = {name: handler for name, handler in method_handlers.items() if not _is_generated(_behavior(handler))}
        self.handlers.setdefault(service_name, {}).update(kept)

    def add_generic_rpc_handlers(self, generic_rpc_handlers: Iterable[Any]) -> None:
        """Take no notice: generated code registers the same methods a second time in this form."""


def build_method(
    service: str,
    name: str,
    handler: RpcHandler,
    *,
    role: Role | None,
    max_bytes: int,
    metrics: RpcMetrics | None,
) -> Method:
    """Gather what is known of an RPC."""
    counts = None if metrics is None else metrics.of_method(service, name)
    return Method(f"/{service}/{name}", role, handler, _behavior(handler), max_bytes, counts)


def _behavior(handler: RpcHandler) -> Callable[..., Any]:
    found = handler.unary_unary or handler.unary_stream or handler.stream_unary or handler.stream_stream
    if found is None:
        raise TypeError("a method handler without behavior")
    return found


def _is_generated(behavior: Callable[..., Any]) -> bool:
    return (getattr(behavior, "__module__", "") or "").endswith(_GENERATED)


class HandlerTable(grpc.GenericRpcHandler):
    """All served RPCs under one lookup."""

    def __init__(self, handlers: Mapping[str, WrappedHandler]) -> None:
        self._handlers = handlers

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> "WrappedHandler | None":
        """Return the handler of the called RPC, or ``None`` (UNIMPLEMENTED)."""
        return self._handlers.get(handler_call_details.method)
