"""Settings of the second opinion: the operator's endpoint, and what an analysis may spend on it (ADR 0119)."""

from enum import StrEnum, unique
from typing import Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, model_validator

from services.common.settings.addresses import without_credentials
from services.common.settings.llm import LlmSettings
from services.common.settings.server import is_loopback


@unique
class EndpointKind(StrEnum):
    """What stands behind the endpoint."""

    JUDGE = "judge"
    SPANS = "spans"


@unique
class OpinionScope(StrEnum):
    """Which claims are asked about."""

    UNDECIDED = "undecided"
    ALL = "all"


@unique
class ReplyFormat(StrEnum):
    """What the endpoint is asked to see to: a schema, any JSON object, or nothing."""

    JSON_SCHEMA = "json_schema"
    JSON_OBJECT = "json_object"
    TEXT = "text"


class SecondOpinionSettings(BaseModel):
    """``GROUNDTRAIL_SECOND_OPINION__*``; an empty ``base_url`` means that nobody is asked."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    base_url: str = Field(default="", pattern=r"^(https?://\S+)?$")
    """Root of an OpenAI-compatible API, e.g. ``http://127.0.0.1:8000/v1``, without user, password, query and fragment;
    empty = no second opinion. Claims and facts are sent there. It is logged and shown by ``doctor``, and never told to
    callers."""
    provider: str = Field(default="opinion", pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")
    """What reports call the endpoint: the first part of the model's name. 1-64 letters, digits, ``.``, ``_`` and ``-``;
    default ``opinion``."""
    api_key: SecretStr = SecretStr("")
    """Bearer key; empty for servers that want none. It goes to ``base_url`` alone, in clear to loopback alone."""
    model: str = Field(default="", max_length=256)
    """Name of the model as the endpoint knows it; required with ``base_url``."""
    kind: EndpointKind = EndpointKind.JUDGE
    """``judge``: a language model that votes on each claim. ``spans``: a detector that names unsupported stretches, in
    the form of LettuceDetect v2. Default ``judge``."""
    prompt_file: str = ""
    """System prompt that a detector was trained on, as a text file; for ``spans`` alone. Empty = words of our own."""
    scope: OpinionScope = OpinionScope.UNDECIDED
    """``undecided``: claims that are not SUPPORTED and that no exact rule contradicts; ``all``: every claim with a
    verdict but quotations. Default ``undecided``."""
    reply_format: ReplyFormat = ReplyFormat.JSON_SCHEMA
    """What the endpoint is asked to keep to: ``json_schema``, ``json_object`` (servers without schemas) or ``text``. An
    answer is read as strictly in any case. A detector is asked for ``json_object`` at most. Default ``json_schema``."""
    max_calls: int = Field(default=4, ge=1, le=1_000)
    """Most calls for one analysis, repeated attempts included; a request may lower it. Default 4."""
    max_tokens: int = Field(default=32_000, ge=256, le=100_000_000)
    """Most tokens for one analysis, prompts and answers together; a request may lower it. Default 32,000."""
    max_call_tokens: int = Field(default=8_000, ge=256, le=10_000_000)
    """Most tokens of one call, prompt and answer together: what the model's context holds. All claims of an analysis go
    out in one call if they fit. Default 8,000."""
    max_seconds: float = Field(default=20.0, gt=0.0, le=3600.0)
    """Longest time for all calls of one analysis, in seconds, and at most half of what the caller's deadline leaves. A
    request may lower it. Default 20."""
    thinking_tokens: int = Field(default=0, ge=0, le=1_000_000)
    """Tokens that a reasoning model may spend before it answers, added to the bound of each answer. Default 0."""
    cache_ttl_s: float = Field(default=3600.0, ge=0.0, le=2_592_000.0)
    """How long a vote on the same claim beside the same facts is remembered, in seconds, within the memory of
    ``GROUNDTRAIL_DPE__CACHE_MIB``; 0 = not at all. Default 3600."""

    @model_validator(mode="after")
    def _usable(self) -> Self:
        parts = urlsplit(without_credentials(self.base_url, "the key goes into GROUNDTRAIL_SECOND_OPINION__API_KEY"))
        if parts.query or parts.fragment:
            msg = "base_url must hold no query and no fragment: it is the root that /chat/completions is appended to"
            raise ValueError(msg)
        if self.base_url and not self.model:
            msg = "model must name the model as the endpoint knows it"
            raise ValueError(msg)
        if self.api_key.get_secret_value() and parts.scheme == "http" and not is_loopback(parts.hostname or ""):
            msg = "base_url must be https for an api_key, but for a loopback address: the key would cross in clear"
            raise ValueError(msg)
        if self.prompt_file and self.kind is not EndpointKind.SPANS:
            msg = "prompt_file is for kind=spans: a judge's prompt is part of the release"
            raise ValueError(msg)
        return self

    @property
    def configured(self) -> bool:
        """Whether an endpoint is named."""
        return bool(self.base_url)

    def endpoint(self) -> LlmSettings:
        """Return the endpoint as the client takes it: one attempt a call, since attempts are counted elsewhere."""
        return LlmSettings(
            circuit_failures=0,  # what a failing endpoint costs an analysis is bounded there
            base_url=self.base_url,
            provider=self.provider,
            api_key=self.api_key,
            model=self.model,
            timeout_s=self.max_seconds,
            max_attempts=1,
        )
