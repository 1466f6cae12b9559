"""What gRPC's own transport is told to bound, before any code of ours sees a call (ADR 0089).

``grpc.http.overload_protection`` is what makes the number of streams a bound at all: with it a stream that its peer
reset counts until it is cleared away, so that HEADERS and RST_STREAM in turns (rapid reset) meet the same limit as
calls that stay open. gRPC counts nothing by address; that is for a proxy in front.
"""

from typing import Any, Final

from services.common.settings import Settings

WIRE_SLACK: Final = 2
"""The wire takes messages up to this multiple of the configured limit, so that what is moderately too large is refused
with its reason and size; beyond it gRPC refuses without details."""
MAX_METADATA_BYTES: Final = 32 * 1024
_STREAMS_PER_CALL: Final = 2
"""A stream whose call ended counts until it is cleared away: as many again have room for that."""
_FEWEST_STREAMS: Final = 512
_PING_TIMEOUT_MS: Final = 20_000
_PING_STRIKES: Final = 2
_MS: Final = 1000


def server_options(settings: Settings) -> list[tuple[str, Any]]:
    """Return the options of the server."""
    edge = settings.edge
    options: list[tuple[str, Any]] = [
        ("grpc.max_receive_message_length", settings.server.max_message_bytes * WIRE_SLACK),
        ("grpc.max_send_message_length", -1),  # checked where the message is written
        ("grpc.max_metadata_size", MAX_METADATA_BYTES),
        ("grpc.absolute_max_metadata_size", MAX_METADATA_BYTES),
        ("grpc.so_reuseport", 0),  # two processes on one port is an error to be told, not load balancing
        ("grpc.max_concurrent_streams", edge.max_streams_per_connection or _streams(settings)),
        ("grpc.http.overload_protection", 1),
        ("grpc.max_allowed_incoming_connections", edge.max_connections),
        ("grpc.server_handshake_timeout_ms", round(edge.handshake_timeout_s * _MS)),
        ("grpc.keepalive_time_ms", round(edge.ping_interval_s * _MS)),
        ("grpc.keepalive_timeout_ms", _PING_TIMEOUT_MS),
        ("grpc.http2.min_ping_interval_without_data_ms", round(edge.min_ping_interval_s * _MS)),
        ("grpc.http2.max_ping_strikes", _PING_STRIKES),
    ]
    if edge.connection_idle_s:
        options.append(("grpc.max_connection_idle_ms", round(edge.connection_idle_s * _MS)))
    if edge.connection_age_s:
        options.append(("grpc.max_connection_age_ms", round(edge.connection_age_s * _MS)))
        options.append(("grpc.max_connection_age_grace_ms", round(edge.connection_age_grace_s * _MS)))
    return options


def _streams(settings: Settings) -> int:
    return max(_FEWEST_STREAMS, _STREAMS_PER_CALL * settings.server.max_concurrent_calls)
