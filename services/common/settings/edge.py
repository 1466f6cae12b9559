"""What a peer may take that has proven nothing yet, over gRPC and HTTP alike (ADR 0089)."""

import ipaddress
from typing import Final, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

UNIX: Final = "unix"
"""What stands for the peers of a unix socket where addresses are named."""


class EdgeSettings(BaseModel):
    """Bounds on connections, streams and failed logins; environment prefix ``GROUNDTRAIL_EDGE__``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    trusted_proxies: tuple[str, ...] = ()
    """Addresses or networks of proxies in front, as a JSON list (``["10.0.0.0/8"]``); ``unix`` = whoever dials the unix
    socket. Only from them ``X-Forwarded-For`` is believed, and only they may hold any share of the HTTP connections.
    Default: none, so that the header means nothing."""
    failed_logins_per_minute: float = Field(default=30.0, gt=0, le=60_000)
    """Refused credentials of one address (of an IPv6 /64) that are answered as such, a minute; more of them get
    RESOURCE_EXHAUSTED (429 over HTTP) with the time to wait. A good credential is served all the same. Default 30."""
    failed_login_burst: int = Field(default=20, ge=1, le=100_000)
    """How many of them one address may send at once before that rate holds. Default 20."""
    failed_logins_per_minute_overall: float = Field(default=1_200.0, gt=0, le=1_000_000)
    """The same over all addresses; as many may come at once. Default 1,200."""
    max_connections: int = Field(default=1_000, ge=1, le=1_000_000)
    """Connections that the gRPC port takes at a time, over all peers: gRPC cannot count them by address. Default
    1,000."""
    max_streams_per_connection: int = Field(default=0, ge=0, le=100_000)
    """Calls that one gRPC connection may have open, those included that ended or were reset a moment ago and are not
    yet cleared away; one more is refused by the wire (UNAVAILABLE, not begun). At least twice
    ``server.max_concurrent_calls``: services call one another over one connection. 0 = that, and 512 at least."""
    handshake_timeout_s: float = Field(default=10.0, gt=0, le=120)
    """How long a gRPC connection may take for TLS and its first settings, in seconds; then it is closed. Default 10."""
    connection_idle_s: float = Field(default=900.0, ge=0, le=86_400)
    """How long a gRPC connection may stand without a call, in seconds; then it is told to go. 0 = for ever.
    Default 900."""
    connection_age_s: float = Field(default=0.0, ge=0, le=86_400)
    """How old a gRPC connection may grow, in seconds, so that a balancer spreads clients anew; 0 = any age.
    Default 0."""
    connection_age_grace_s: float = Field(default=960.0, ge=1, le=86_400)
    """How long calls on a connection that is too old may go on, in seconds. Default 960, longer than a run."""
    ping_interval_s: float = Field(default=60.0, ge=1, le=86_400)
    """How often a silent gRPC connection is asked whether its peer lives, in seconds; one that does not answer within
    20 is closed. Default 60."""
    min_ping_interval_s: float = Field(default=300.0, ge=0, le=86_400)
    """How far apart the pings of a peer without a call have to be, in seconds; three too early ones end the connection.
    Default 300."""

    @model_validator(mode="after")
    def _addresses(self) -> Self:
        for given in self.trusted_proxies:
            if given != UNIX:
                try:
                    ipaddress.ip_network(given)
                except ValueError:
                    raise ValueError(f"trusted_proxies: {given!r} is no address and no network") from None
        return self
