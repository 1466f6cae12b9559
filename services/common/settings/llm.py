"""Settings of the language model that writes the answers."""

from typing import Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, model_validator

from services.common.settings.addresses import without_credentials


class ProviderPatience(BaseModel):
    """How long a provider is waited for, how often it is asked again, and when it is left alone."""

    timeout_s: float = Field(default=60.0, gt=0.0, le=3600.0)
    """Longest wait for a whole reply, in seconds, retries included; a caller's deadline may shorten it. Default 60."""
    first_token_s: float = Field(default=30.0, gt=0.0, le=3600.0)
    """Longest wait for the first event of a streamed reply, in seconds, retries included. Default 30."""
    between_tokens_s: float = Field(default=30.0, gt=0.0, le=3600.0)
    """Longest silence between two events of a streamed reply, in seconds. Default 30."""
    max_attempts: int = Field(default=3, ge=1, le=10)
    """Attempts per call, the first included; only failures that a retry can heal are tried again. Default 3."""
    circuit_failures: int = Field(default=5, ge=0, le=1000)
    """Failures in a row after which calls are refused at once (cause `circuit_open`); 0 = never. Default 5."""
    circuit_open_s: float = Field(default=10.0, gt=0.0, le=3600.0)
    """How long they are refused, in seconds, before one call tries again. Default 10."""


class LlmSettings(ProviderPatience):
    """``GROUNDTRAIL_LLM__*``: any OpenAI-compatible endpoint.

    An empty ``base_url`` means that none is configured and the built-in extractive answerer speaks.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    base_url: str = Field(default="", pattern=r"^(https?://\S+)?$")
    """Root of the API, e.g. ``https://api.openai.com/v1``, without user, password, query and fragment; empty = no
    provider. It is logged and shown by ``doctor``, and never told to callers."""
    provider: str = Field(default="llm", pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")
    """What callers are told of the provider: the first part of an answer's ``model_fingerprint``, which would otherwise
    name a host of the deployment. 1-64 letters, digits, ``.``, ``_`` and ``-``; default ``llm``."""
    api_key: SecretStr = SecretStr("")
    """Bearer key; empty for local servers that want none. Never logged, never sent anywhere but to ``base_url``."""
    model: str = Field(default="gpt-4o-mini", min_length=1)
    """Model that is asked when a request names none. One without a tokenizer is counted approximately (ADR 0217)."""

    @model_validator(mode="after")
    def _address_without_secrets(self) -> Self:
        parts = urlsplit(without_credentials(self.base_url, "the key goes into GROUNDTRAIL_LLM__API_KEY"))
        if parts.query or parts.fragment:
            msg = "base_url must hold no query and no fragment: it is the root that /chat/completions is appended to"
            raise ValueError(msg)
        return self

    @property
    def configured(self) -> bool:
        """Whether a provider is named."""
        return bool(self.base_url)
