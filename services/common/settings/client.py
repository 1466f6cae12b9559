"""Where the command line finds its server."""

import re
from pathlib import Path
from typing import Final, Self

from pydantic import BaseModel, ConfigDict, SecretStr, field_validator, model_validator

from services.common.settings.addresses import without_credentials

_PORT: Final = r"(?:[1-9]\d{0,3}|[1-5]\d{4}|6[0-4]\d{3}|65[0-4]\d\d|655[0-2]\d|6553[0-5])"
_ADDRESS: Final = re.compile(
    rf"(?:[^\s/:\[\]]+|\[[0-9A-Fa-f:.%\w]+\]):{_PORT}|(?:dns|unix|unix-abstract|ipv4|ipv6|vsock|xds):\S+"
)
"""``host:port``, or a target that names how gRPC finds it."""


class ClientSettings(BaseModel):
    """What ``groundtrail ask``, ``ingest``, ``verify`` … talk to."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    server: str = ""
    """``host:port`` of a running gateway (or all-in-one process), or another address of gRPC, such as ``unix:path``;
    empty = run the whole suite in the process."""
    api_key: SecretStr = SecretStr("")
    """The key to present to ``server``; empty for one that serves without credentials (``--insecure-local``). The
    in-process suite uses the key that it keeps in its data directory."""
    ca_file: Path | None = None
    """PEM certificates of the authority to trust; set = the connection uses TLS. Default: none, plain text."""
    certificate_file: Path | None = None
    """PEM certificate chain to present (mTLS); needs ``key_file`` and ``ca_file``. Default: none."""
    key_file: Path | None = None
    """PEM private key of ``certificate_file``. Default: none."""

    @field_validator("server")
    @classmethod
    def _is_an_address(cls, server: str) -> str:
        without_credentials(server, "the key goes into GROUNDTRAIL_CLIENT__API_KEY")
        if server and not _ADDRESS.fullmatch(server):
            raise ValueError("must be HOST:PORT of the gRPC port, such as 127.0.0.1:50051, without http:// and path")
        return server

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.certificate_file is None) != (self.key_file is None):
            raise ValueError("certificate_file and key_file are set together")
        if self.certificate_file is not None and self.ca_file is None:
            raise ValueError("certificate_file needs ca_file")
        if not all(" " < character < "\x7f" for character in self.api_key.get_secret_value()):
            raise ValueError("api_key holds spaces or characters that no key has: copy it whole")
        return self
