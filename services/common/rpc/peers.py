"""The channels to the other services. A peer without a target in the settings is one that this process serves itself.

One process and five behave alike: also within a process every call goes over gRPC, to the address that the server
listens on, with the caller's credential.
"""

import asyncio
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from types import TracebackType
from typing import Any, Final, Self

import grpc
from grpc.aio import Channel
from grpc_health.v1 import health_pb2, health_pb2_grpc

from services.common.errors import ErrorReason, UnavailableError
from services.common.rpc.client import open_channel
from services.common.settings import Settings, SettingsError

PEERS: Final = {
    "envelope": "crp.envelope.v1.EnvelopeService",
    "dpe": "crp.dpe.v1.ProvenanceService",
    "dag": "crp.dag.v1.SessionService",
}
"""What each peer must serve: those that the gateway and the ERCP service call."""


class PeerChannels:
    """One channel for each peer; peers of this process are dialled once it listens.

    Args:
        settings: where the peers are.
        peers: the service that each must serve, by its name in ``settings.peers``.
    """

    def __init__(self, settings: Settings, peers: Mapping[str, str] = PEERS) -> None:
        self._settings = settings
        self._peers = peers
        self._own: Channel | None = None
        self._opened: list[Channel] = []
        self._remote: dict[str, Channel] = {}

    def to(self, peer: str) -> Channel:
        """Return the channel to ``peer``, by its name in the settings."""
        target = self._target(peer)
        if not target:
            return OwnChannel(self._own_channel)
        self._remote[peer] = self._open(target, peer)
        return self._remote[peer]

    async def check(self) -> None:
        """Return when every peer outside this process serves.

        Raises:
            UnavailableError: SERVICE_UNAVAILABLE, naming the peer.
        """
        await asyncio.gather(*(self._check_one(peer, channel) for peer, channel in self._remote.items()))

    async def _check_one(self, peer: str, channel: Channel) -> None:
        stub: Any = health_pb2_grpc.HealthStub(channel)
        answer = await stub.Check(health_pb2.HealthCheckRequest(service=self._peers[peer]))
        if answer.status != health_pb2.HealthCheckResponse.SERVING:
            raise UnavailableError(ErrorReason.SERVICE_UNAVAILABLE, f"{peer} is not serving", peer=peer)

    def listening(self, target: str, names: frozenset[str]) -> None:
        """Take note of where this process listens and what it serves.

        Raises:
            SettingsError: a peer has no target and this process does not serve it, or cannot be dialled by itself.
        """
        here = [peer for peer in self._peers if not self._target(peer)]
        problems = unset_peers(self._settings, self._peers, names)
        over_tls = self._settings.server.tls.enabled and not target.startswith("unix:")
        if here and over_tls and self._settings.peers.tls.ca_file is None:
            problems.append(
                "GROUNDTRAIL_SERVER__UNIX_SOCKET: set it, or PEERS__TLS__CA_FILE: services of one process call"
            )
        if problems:
            raise SettingsError(problems)
        if here:
            self._own = self._open(target, "this process")

    async def close(self) -> None:
        """Close every channel; idempotent."""
        for channel in self._opened:
            await channel.close()

    def _target(self, peer: str) -> str:
        """Return where a peer is; empty for this process, as for a service that the settings cannot put elsewhere."""
        return _target(self._settings, peer)

    def _open(self, target: str, name: str) -> Channel:
        channel = open_channel(target, self._settings, name=name)
        self._opened.append(channel)
        return channel

    def _own_channel(self) -> Channel:
        if self._own is None:
            text = "this process does not listen yet; try again"
            raise UnavailableError(ErrorReason.SERVICE_UNAVAILABLE, text, retry_after_s=1.0)
        return self._own


def unset_peers(settings: Settings, peers: Mapping[str, str], names: AbstractSet[str]) -> list[str]:
    """Return one line for each peer that has no target though a process with these services does not serve it."""
    return [
        f"GROUNDTRAIL_PEERS__{peer.upper()}: not set, and this process does not serve {service}"
        for peer, service in peers.items()
        if not _target(settings, peer) and service not in names
    ]


def _target(settings: Settings, peer: str) -> str:
    return str(getattr(settings.peers, peer, ""))


class OwnChannel(Channel):
    """A channel whose target is known later: each callable finds its way when it is first called."""

    def __init__(self, channel: Callable[[], Channel]) -> None:
        self._channel = channel

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self, grace: float | None = None) -> None:
        """Leave the shared channel to ``PeerChannels``."""

    def get_state(self, try_to_connect: bool = False) -> grpc.ChannelConnectivity:  # noqa: FBT002 - gRPC's signature
        """Return the state of the connection."""
        return self._channel().get_state(try_to_connect)

    async def wait_for_state_change(self, last_observed_state: grpc.ChannelConnectivity) -> None:
        """Return when the state is another."""
        await self._channel().wait_for_state_change(last_observed_state)

    async def channel_ready(self) -> None:
        """Return when the connection stands."""
        await self._channel().channel_ready()

    def unary_unary(self, *args: Any, **kwargs: Any) -> Any:
        """Return the callable of an RPC."""
        return self._later("unary_unary", args, kwargs)

    def unary_stream(self, *args: Any, **kwargs: Any) -> Any:
        """Return the callable of an RPC that streams responses."""
        return self._later("unary_stream", args, kwargs)

    def stream_unary(self, *args: Any, **kwargs: Any) -> Any:
        """Return the callable of an RPC that streams requests."""
        return self._later("stream_unary", args, kwargs)

    def stream_stream(self, *args: Any, **kwargs: Any) -> Any:
        """Return the callable of an RPC that streams both ways."""
        return self._later("stream_stream", args, kwargs)

    def _later(self, kind: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Callable[..., Any]:
        found: list[Callable[..., Any]] = []

        def call(*request: Any, **options: Any) -> Any:
            if not found:
                found.append(getattr(self._channel(), kind)(*args, **kwargs))
            return found[0](*request, **options)

        return call
