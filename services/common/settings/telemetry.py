"""Logs, traces and metrics."""

import re
from pathlib import Path
from typing import Final, Literal, Self
from urllib.parse import unquote, urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, model_validator

from services.common.settings.addresses import without_credentials
from services.common.settings.server import is_loopback

_HEADER_NAME: Final = re.compile(r"[a-z0-9_.-]{1,64}")
_HEADER_VALUE: Final = re.compile(r"[\x20-\x7e]{1,4096}")


class TelemetrySettings(BaseModel):
    """What a process tells about itself. Content of prompts, facts and claims is never told by default."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    log_format: Literal["json", "console"] = "json"
    """One JSON object per line, or coloured text for people."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """The least severe level that is written."""
    log_calls: bool = True
    """Whether each RPC gets an access line (level info)."""
    log_content: bool = False
    """Whether prompts, facts and claims may appear in logs and spans, and what is said to and by language models in
    spans. The only setting that allows it. Default false."""
    otlp_protocol: Literal["grpc", "http/protobuf"] = "grpc"
    """How traces are sent: OTLP over gRPC, or over HTTP with protobuf bodies. Default gRPC."""
    otlp_endpoint: str = ""
    """Where traces go; empty = no traces. For gRPC ``host:port``; for HTTP the whole address, ``https://host/v1/traces``
    (``https://host:4318`` alone gets that path). It is logged: credentials belong into ``otlp_headers``."""
    otlp_insecure: bool = False
    """Whether a gRPC collector is reached without TLS; over HTTP the address says so itself."""
    otlp_headers: SecretStr = SecretStr("")
    """Headers of every export, ``name=value,name=value`` with values percent-encoded, e.g.
    ``authorization=Basic%20cHVibGljOnNlY3JldA%3D%3D``. Default: none."""
    otlp_ca_file: Path | None = None
    """PEM certificates to trust at the collector instead of the system's; over HTTP a proxy that the environment names
    is then passed by. Default: none."""
    trace_ratio: float = Field(default=1.0, ge=0, le=1)
    """Fraction of root traces that is sampled, 0-1 inclusive; a caller's sampling decision is kept."""
    http_host: str = "127.0.0.1"
    """Address of ``/metrics``, ``/healthz`` and ``/readyz``."""
    http_port: int | None = Field(default=None, ge=0, le=65535)
    """Port of ``/metrics``, ``/healthz`` and ``/readyz``; 0 takes a free one, unset serves none."""
    loop_dead_s: float = Field(default=60.0, gt=0, le=3600)
    """How long the event loop may not turn before ``/healthz`` fails, so that the process is restarted, in seconds."""

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if "://" not in self.otlp_endpoint:
            without_credentials(self.otlp_endpoint, "otlp_endpoint is host:port alone")
        given = {
            "otlp_insecure": self.otlp_insecure,
            "otlp_headers": bool(self.otlp_headers.get_secret_value()),
            "otlp_ca_file": self.otlp_ca_file is not None,
        }
        idle = [name for name, is_given in given.items() if is_given and not self.otlp_endpoint]
        if idle:
            raise ValueError(f"{', '.join(idle)}: no meaning without otlp_endpoint")
        header_pairs(self.otlp_headers.get_secret_value())
        if self.otlp_endpoint and self.otlp_protocol == "http/protobuf":
            self._check_address()
        elif "://" in self.otlp_endpoint:
            raise ValueError("otlp_endpoint is a web address: set otlp_protocol=http/protobuf, or give host:port")
        if self.otlp_insecure and self.otlp_ca_file is not None:
            raise ValueError("otlp_ca_file has no meaning with otlp_insecure")
        return self

    def _check_address(self) -> None:
        parts = urlsplit(self.otlp_endpoint)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ValueError("otlp_endpoint must be http://… or https://… with otlp_protocol=http/protobuf")
        if parts.username is not None or parts.password is not None:
            raise ValueError("otlp_endpoint holds a user or password: put them into otlp_headers")
        if self.otlp_insecure:
            raise ValueError("otlp_insecure is for gRPC: write http:// into otlp_endpoint")
        plain = parts.scheme == "http"
        if plain and self.otlp_ca_file is not None:
            raise ValueError("otlp_ca_file has no meaning with http://")
        if plain and self.otlp_headers.get_secret_value() and not is_loopback(parts.hostname):
            raise ValueError("otlp_headers would travel in the open: use https:// beyond loopback")


def header_pairs(text: str) -> dict[str, str]:
    """Return the headers that ``name=value,name=value`` stands for, names in lower case.

    Raises:
        ValueError: it is not of that form; values are never told.
    """
    pairs: dict[str, str] = {}
    for number, part in enumerate(filter(None, (one.strip() for one in text.split(","))), start=1):
        name, equals, value = part.partition("=")
        name, value = name.strip().lower(), unquote(value.strip())
        if not equals or not _HEADER_NAME.fullmatch(name) or not _HEADER_VALUE.fullmatch(value) or name in pairs:
            raise ValueError(f"otlp_headers: part {number} is not name=value in plain ASCII, or names a header twice")
        pairs[name] = value
    return pairs
