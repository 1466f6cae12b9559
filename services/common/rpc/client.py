"""Calling another service on behalf of the running call.

A channel from ``open_channel`` behaves like any ``grpc.aio.Channel`` to generated stubs, with three additions: it
forwards the running call's credential, request id, trace and remaining time; it gives up at once when no time is left;
and it raises the peer's own ``CrpError`` instead of ``AioRpcError``. What it raises itself goes on to a tenant, so that
it calls the peer by name; its address stands in the log.
"""

import logging
from collections.abc import AsyncIterator, Callable, Generator
from types import TracebackType
from typing import Any, Final, NamedTuple, Self

import grpc
from grpc.aio import AioRpcError, Channel

from services.common.concurrency import remaining_s
from services.common.context import current_call
from services.common.errors import DeadlineError, ErrorReason
from services.common.progress import Progress, current_progress
from services.common.rpc.nesting import WITHIN_KEY, own_mark
from services.common.rpc.pipeline import AUTHORIZATION_KEY, REQUEST_ID_KEY
from services.common.rpc.status import DETAILS_KEY, from_wire
from services.common.rpc.tls import channel_credentials
from services.common.settings import Settings
from services.common.telemetry import inject_trace

_LOG: Final = logging.getLogger(__name__)
_WIRE_SLACK: Final = 2
_SESSIONS: Final = "/crp.dag.v1.SessionService/"
WRITING_RPCS: Final = frozenset(
    _SESSIONS + name
    for name in (
        "CreateSession",
        "OpenWindow",
        "CommitWindow",
        "FailWindow",
        "AppendEvent",
        "TerminateSession",
        "EraseSession",
    )
)
"""What a service may ask of another that stores something: the caller of the one is told so if its time is up."""


def open_channel(target: str, settings: Settings, *, name: str = "a service of this deployment") -> Channel:
    """Return a channel to a peer; it connects on first use and reconnects by itself.

    Args:
        target: ``host:port``, ``dns:///name:port`` or ``unix:/path``.
        settings: TLS towards peers, the default deadline, the message size limit.
        name: what errors call the peer.
    """
    most = settings.server.max_message_bytes * _WIRE_SLACK
    options = [
        ("grpc.max_receive_message_length", most),
        ("grpc.max_send_message_length", -1),
        # A connection of its own: calls that wait for calls of theirs on one connection could fill its streams.
        ("grpc.use_local_subchannel_pool", 1),
    ]
    if settings.peers.tls.server_name:
        options.append(("grpc.ssl_target_name_override", settings.peers.tls.server_name))  # type: ignore[arg-type]
    credentials = None if target.startswith("unix:") else channel_credentials(settings.peers.tls)
    if credentials is None:
        inner = grpc.aio.insecure_channel(target, options=options)
    else:
        inner = grpc.aio.secure_channel(target, credentials, options=options)
    return PeerChannel(inner, Peer(name, target), settings.peers.timeout_s)


class Peer(NamedTuple):
    """Whom a channel leads to: what callers may be told of it, and its address, which they may not."""

    name: str
    target: str


class PeerChannel(Channel):
    """A channel that carries the running call's context along."""

    def __init__(self, inner: Channel, peer: Peer, timeout_s: float) -> None:
        self._inner = inner
        self._peer = peer
        self._timeout_s = timeout_s

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self, grace: float | None = None) -> None:
        """Close the connection."""
        await self._inner.close(grace)

    def get_state(self, try_to_connect: bool = False) -> grpc.ChannelConnectivity:  # noqa: FBT002 - gRPC's signature
        """Return the state of the connection."""
        return self._inner.get_state(try_to_connect)

    async def wait_for_state_change(self, last_observed_state: grpc.ChannelConnectivity) -> None:
        """Return when the state is another."""
        await self._inner.wait_for_state_change(last_observed_state)

    async def channel_ready(self) -> None:
        """Return when the peer is connected."""
        await self._inner.channel_ready()

    def unary_unary(self, *args: Any, **kwargs: Any) -> Any:
        """Return the callable of an RPC."""
        rpc = args[0] if args else kwargs["method"]
        wrapper = _WritingCall if rpc in WRITING_RPCS else _AwaitedCall
        return self._callable(self._inner.unary_unary(*args, **kwargs), wrapper)

    def stream_unary(self, *args: Any, **kwargs: Any) -> Any:
        """Return the callable of an RPC that streams requests."""
        return self._callable(self._inner.stream_unary(*args, **kwargs), _AwaitedCall)

    def unary_stream(self, *args: Any, **kwargs: Any) -> Any:
        """Return the callable of an RPC that streams responses."""
        return self._callable(self._inner.unary_stream(*args, **kwargs), _StreamedCall)

    def stream_stream(self, *args: Any, **kwargs: Any) -> Any:
        """Return the callable of an RPC that streams both ways."""
        return self._callable(self._inner.stream_stream(*args, **kwargs), _StreamedCall)

    def _callable(self, inner: Callable[..., Any], wrapper: type["_PeerCall"]) -> Callable[..., Any]:
        def call(
            request: Any = None,
            *,
            timeout: float | None = None,
            metadata: Any = None,
            **kwargs: Any,
        ) -> _PeerCall:
            left = self._time_left(timeout)
            started = inner(request, timeout=left, metadata=_outgoing(metadata), **kwargs)
            return wrapper(started, self._peer)

        return call

    def _time_left(self, timeout: float | None) -> float:
        """Return the caller's remaining time, or ``timeout`` if that is less.

        Raises:
            DeadlineError: no time is left.
        """
        remaining = remaining_s()
        if remaining is None:
            return self._timeout_s if timeout is None else timeout
        if remaining <= 0:
            text = f"no time was left to call {self._peer.name}"
            raise DeadlineError(ErrorReason.DEADLINE_EXCEEDED, text, peer=self._peer.name)
        return remaining if timeout is None else min(remaining, timeout)


class _PeerCall:
    """A started call; whatever is not defined here is the inner call's (``cancel``, ``trailing_metadata``, …)."""

    def __init__(self, inner: Any, peer: Peer) -> None:
        self._inner = inner
        self._peer = peer

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class _AwaitedCall(_PeerCall):
    def __await__(self) -> Generator[Any, None, Any]:
        try:
            return (yield from self._inner.__await__())
        except AioRpcError as error:
            raise _translated(error, self._peer) from error


class _WritingCall(_AwaitedCall):
    """A call that stores something, unless it is refused."""

    def __init__(self, inner: Any, peer: Peer) -> None:
        super().__init__(inner, peer)
        self._progress: Progress | None = current_progress()
        if self._progress is not None:
            self._progress.begin()

    def __await__(self) -> Generator[Any, None, Any]:
        error: BaseException | None = None
        try:
            return (yield from super().__await__())
        except BaseException as broken:
            error = broken
            raise
        finally:
            if self._progress is not None:
                self._progress.end(error)
                self._progress = None


class _StreamedCall(_PeerCall):
    async def __aiter__(self) -> AsyncIterator[Any]:
        try:
            async for response in self._inner:
                yield response
        except AioRpcError as error:
            raise _translated(error, self._peer) from error


def _translated(error: AioRpcError, peer: Peer) -> Exception:
    found = next((value for key, value in error.trailing_metadata() or () if key == DETAILS_KEY), None)
    details = found if isinstance(found, bytes) else None
    if details is None:  # gRPC's own text, which may name addresses
        _LOG.warning("%s at %s: %s: %s", peer.name, peer.target, error.code().name, error.details())
    return from_wire(error.code(), "", details, peer.name)


def _outgoing(metadata: Any) -> tuple[tuple[str, str | bytes], ...]:
    """Return the metadata of the outgoing call: what was given, and what of the running call is not given."""
    given = tuple((key, value) for key, value in metadata or ())
    try:
        call = current_call()
    except LookupError:
        return given
    carried = {REQUEST_ID_KEY: call.request_id, WITHIN_KEY: own_mark(), **inject_trace()}
    if call.credential:
        carried[AUTHORIZATION_KEY] = call.credential
    for key, _ in given:
        carried.pop(key, None)
    return (*given, *carried.items())
