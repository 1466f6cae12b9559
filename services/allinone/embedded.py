"""The whole suite inside the calling process, on a free loopback port: for the command line and for tests.

``async with embedded(settings) as system`` starts it; ``await system.issue_key("my script")`` gives a key, and
``grpc.aio.insecure_channel(system.address)`` a channel.
"""

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from services.allinone.parts import Part, build_parts
from services.common.composition import Adapters
from services.common.errors import UnauthenticatedError
from services.common.rpc.authentication import open_authenticator
from services.common.rpc.main import running_server
from services.common.settings import PeerSettings, ServerSettings, Settings
from services.gateway.admin.app import ensure_first_key, issue_admin_key


class EmbeddedSystem:
    """A running suite.

    Attributes:
        address: ``127.0.0.1:port``, plaintext.
        settings: as they are in force.
    """

    def __init__(self, address: str, settings: Settings, adapters: Adapters) -> None:
        self.address = address
        self.settings = settings
        self._adapters = adapters

    async def first_key(self) -> str | None:
        """Return the API key of a fresh installation, this once; ``None`` when there are keys already."""
        adapters = self._adapters
        store = await adapters.credentials()
        return await ensure_first_key(store, adapters.clock, adapters.ids, self.settings.auth.environment)

    async def issue_key(self, label: str) -> str:
        """Make a new administrator's key: whoever can read the data directory owns the installation anyway."""
        adapters = self._adapters
        store = await adapters.credentials()
        return await issue_admin_key(store, adapters.clock, adapters.ids, self.settings.auth.environment, label)

    async def accepts(self, key: str) -> bool:
        """Say whether the key opens this installation now."""
        store = await self._adapters.credentials()
        authenticator = open_authenticator(self.settings.auth, store, self._adapters.clock)
        try:
            await authenticator.authenticate(f"Bearer {key}")
        except UnauthenticatedError:
            return False
        return True


@asynccontextmanager
async def embedded(
    settings: Settings, *, adapters: Adapters | None = None, parts: Collection[Part] = ()
) -> AsyncIterator[EmbeddedSystem]:
    """Run the suite, or parts of it, until the block ends; then calls in flight finish and everything is closed.

    Args:
        settings: as for a server; where it listens, TLS and peers are replaced by a loopback port of its own.
        adapters: shared ones of the caller, who closes them; made and closed here when not given.
        parts: what to start; none = everything.

    Raises:
        SettingsError: the settings cannot be used.
    """
    own = _own_settings(settings)
    build = partial(build_parts, frozenset(parts))
    if adapters is not None:
        async with running_server("embedded", build, own, adapters=adapters) as server:
            yield EmbeddedSystem(server.address, own, adapters)
        return
    async with (
        Adapters(own) as made,
        running_server("embedded", build, own, adapters=made) as server,
    ):
        yield EmbeddedSystem(server.address, own, made)


def _own_settings(settings: Settings) -> Settings:
    private: dict[str, Any] = {"host": "127.0.0.1", "port": 0, "unix_socket": None, "insecure_local": False}
    kept = settings.server.model_dump(exclude={*private, "tls"})
    return settings.model_copy(
        update={
            "server": ServerSettings(**kept, **private),
            "peers": PeerSettings(timeout_s=settings.peers.timeout_s),
            "telemetry": settings.telemetry.model_copy(update={"http_port": None}),
        }
    )
