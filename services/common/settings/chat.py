"""Settings of the door: what happens to chats in OpenAI's and Anthropic's forms, and Anthropic's own endpoint."""

from typing import Literal, Self, TypeAlias
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, model_validator

from services.common.settings.addresses import without_credentials
from services.common.settings.llm import ProviderPatience

ChatMode: TypeAlias = Literal["ground", "check", "observe"]
"""ground: we retrieve, write and chain; check: a provider writes, we judge; observe: as check, never enforced."""


class ChatSettings(BaseModel):
    """Chats over HTTP; environment prefix ``GROUNDTRAIL_CHAT__``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    mode: ChatMode | None = None
    """Mode where neither the request nor its key names one. Unset: check where a provider of the dialect is configured,
    else ground."""
    mode_of_keys: dict[str, ChatMode] = {}
    """Mode by key where the request names none, as a JSON object: the prefix of an API key (``crp_gw_<env>_`` and 8
    characters) or ``jwt:<subject>`` to ground, check or observe."""
    conversations: int = Field(default=10_000, ge=1, le=1_000_000)
    """Conversations that this process remembers the head of, about 2 KiB each; the longest unused goes first. Default
    10,000."""
    conversation_s: int = Field(default=3_600, ge=1, le=86_400)
    """How long a conversation is remembered after its last answer, in seconds; its session token expires by itself.
    Default 3600."""
    observe_backlog: int = Field(default=256, ge=1, le=100_000)
    """Answers that may wait to be analysed in mode observe; what comes beyond is counted as shed. Default 256."""
    observe_backlog_bytes: int = Field(default=67_108_864, ge=65_536, le=4_294_967_296)
    """Characters of answers and sources that may wait, in all. Default 67108864."""
    observe_at_once: int = Field(default=2, ge=1, le=64)
    """Answers of mode observe that are analysed at once. Default 2."""

    def mode_for(self, scope: str) -> ChatMode | None:
        """Return the mode that the deployment has chosen for a credential; ``None`` = none."""
        return self.mode_of_keys.get(scope) or self.mode


class AnthropicSettings(ProviderPatience):
    """``GROUNDTRAIL_ANTHROPIC__*``: an endpoint of Anthropic's form.

    ``/v1/messages`` goes there in the modes check and observe, and dispatches whose model ``models`` names.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    base_url: str = Field(default="", pattern=r"^(https?://\S+)?$")
    """Root of the API, e.g. ``https://api.anthropic.com/v1``, without user, password, query and fragment; empty = none.
    It is logged, and never told to callers."""
    api_key: SecretStr = SecretStr("")
    """Key, sent as ``x-api-key`` to ``base_url`` alone; empty for servers that want none."""
    provider: str = Field(default="anthropic", pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")
    """What callers are told of the provider: the first part of an answer's `model_fingerprint`. Default anthropic."""
    model: str = Field(default="claude-sonnet-4-5", min_length=1)
    """Model that is asked when a request names none and no other provider is configured; tokens are counted
    approximately unless its tokenizer is named (ADR 0217). Default claude-sonnet-4-5."""
    models: tuple[str, ...] = ()
    """Names of models that dispatches ask here, as a JSON list, e.g. ["claude-*"]; `*` stands for any characters. The
    others go to GROUNDTRAIL_LLM__BASE_URL. Default []: no dispatch asks here."""

    @model_validator(mode="after")
    def _address_without_secrets(self) -> Self:
        parts = urlsplit(without_credentials(self.base_url, "the key goes into GROUNDTRAIL_ANTHROPIC__API_KEY"))
        if parts.query or parts.fragment:
            msg = "base_url must hold no query and no fragment: it is the root that /messages is appended to"
            raise ValueError(msg)
        return self
