"""Where the command line finds its server."""

from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, SecretStr, model_validator

from services.common.settings.addresses import without_credentials


class ClientSettings(BaseModel):
    """What ``groundtrail ask``, ``ingest``, ``verify`` … talk to."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    server: str = ""
    """``host:port`` of a running gateway (or all-in-one process); empty = run the whole suite in the process."""
    api_key: SecretStr = SecretStr("")
    """The key to present to ``server``; empty for one that serves without credentials (``--insecure-local``). The
    in-process suite uses the key that it keeps in its data directory."""
    ca_file: Path | None = None
    """PEM certificates of the authority to trust; set = the connection uses TLS. Default: none, plain text."""
    certificate_file: Path | None = None
    """PEM certificate chain to present (mTLS); needs ``key_file`` and ``ca_file``. Default: none."""
    key_file: Path | None = None
    """PEM private key of ``certificate_file``. Default: none."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.certificate_file is None) != (self.key_file is None):
            raise ValueError("certificate_file and key_file are set together")
        if self.certificate_file is not None and self.ca_file is None:
            raise ValueError("certificate_file needs ca_file")
        without_credentials(self.server, "the key goes into GROUNDTRAIL_CLIENT__API_KEY")
        if not all(" " < character < "\x7f" for character in self.api_key.get_secret_value()):
            raise ValueError("api_key holds spaces or characters that no key has: copy it whole")
        return self
