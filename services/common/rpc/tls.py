"""TLS and mTLS from files in PEM."""

from pathlib import Path

import grpc

from services.common.settings import PeerTlsSettings, SettingsError, TlsSettings


def server_credentials(settings: TlsSettings) -> grpc.ServerCredentials | None:
    """Return the server's side of TLS, or ``None`` for plaintext; ``client_ca_file`` makes it mTLS.

    Raises:
        SettingsError: a file cannot be read.
    """
    if settings.cert_file is None or settings.key_file is None:
        return None
    pair = (_read(settings.key_file), _read(settings.cert_file))
    if settings.client_ca_file is None:
        return grpc.ssl_server_credentials([pair])
    return grpc.ssl_server_credentials(
        [pair], root_certificates=_read(settings.client_ca_file), require_client_auth=True
    )


def channel_credentials(settings: PeerTlsSettings) -> grpc.ChannelCredentials | None:
    """Return the client's side of TLS, or ``None`` for plaintext.

    Raises:
        SettingsError: a file cannot be read.
    """
    if settings.ca_file is None:
        return None
    certificate = None if settings.cert_file is None else _read(settings.cert_file)
    key = None if settings.key_file is None else _read(settings.key_file)
    return grpc.ssl_channel_credentials(_read(settings.ca_file), private_key=key, certificate_chain=certificate)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise SettingsError([f"{path} cannot be read: {error.strerror}"]) from None
