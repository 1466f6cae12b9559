"""The channel to Triton: TLS, keepalive, how soon a lost connection is tried again."""

import asyncio
from typing import Any, Final

import grpc
from tritonclient.grpc.aio import InferenceServerClient

from services.common.errors import StartupError
from services.common.settings.triton import TritonSettings

CHANNEL_OPTIONS: Final[tuple[tuple[str, Any], ...]] = (
    ("grpc.max_send_message_length", -1),
    ("grpc.max_receive_message_length", -1),
    # gRPC's own pause between attempts to connect grows to two minutes; a Triton that is back is to be used at once.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 1_000),
    ("grpc.max_reconnect_backoff_ms", 1_000),
    # A peer that vanished without a word is noticed while calls wait for it, not when TCP gives up.
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 5_000),
    ("grpc.keepalive_permit_without_calls", 0),
)


async def open_client(settings: TritonSettings) -> InferenceServerClient:
    """Return a client of the running event loop; nothing is sent before its first call.

    Raises:
        StartupError: the file of root certificates cannot be read.
    """
    roots = settings.tls_root_certificates
    credentials = None
    if roots is not None:
        try:
            pem = await asyncio.to_thread(roots.read_bytes)
        except OSError as error:
            raise StartupError(
                f"GROUNDTRAIL_INFERENCE__TRITON__TLS_ROOT_CERTIFICATES: {roots} cannot be read: {error.strerror}"
            ) from error
        credentials = grpc.ssl_channel_credentials(root_certificates=pem)
    return InferenceServerClient(settings.target, creds=credentials, channel_args=list(CHANNEL_OPTIONS))
