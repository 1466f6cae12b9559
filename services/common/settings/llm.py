"""Settings of the language model that writes the answers."""

from pydantic import BaseModel, ConfigDict, Field, SecretStr


class LlmSettings(BaseModel):
    """``GROUNDTRAIL_LLM__*``: any OpenAI-compatible endpoint.

    An empty ``base_url`` means that none is configured and the built-in extractive answerer speaks.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    base_url: str = Field(default="", pattern=r"^(https?://\S+)?$")
    """Root of the API, e.g. ``https://api.openai.com/v1``; empty = no provider."""
    api_key: SecretStr = SecretStr("")
    """Bearer key; empty for local servers that want none. Never logged, never sent anywhere but to ``base_url``."""
    model: str = Field(default="gpt-4o-mini", min_length=1)
    """Model that is asked when a request names none; must be known to the token counter."""
    timeout_s: float = Field(default=60.0, gt=0.0, le=3600.0)
    """Longest wait for one reply, in seconds, retries included; a caller's deadline may shorten it."""
    max_attempts: int = Field(default=3, ge=1, le=10)
    """Attempts per call, the first included; only failures that a retry can heal are tried again."""

    @property
    def configured(self) -> bool:
        """Whether a provider is named."""
        return bool(self.base_url)
