"""Settings of an engine that proposes nearest facts in the place of our own graphs."""

from pydantic import BaseModel, ConfigDict, Field, SecretStr


class VectorSettings(BaseModel):
    """Section ``vectors`` (``GROUNDTRAIL_VECTORS__…``, ADR 0129). Facts stay in knowledge.db."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    engine: str = Field(default="", pattern=r"^[a-z]*$", max_length=32)
    """Name of the engine, which is also the name of the extra that installs its client; empty = our own graphs. It is
    used for tenants with ``store.exact_search_below`` facts and more."""
    url: str = Field(default="", pattern=r"^(https?://[^\s@]+)?$", max_length=2_048)
    """Where the engine listens; empty = it runs in this process, with its files under ``store.data_dir``."""
    api_key: SecretStr = SecretStr("")
    """What the engine asks for; empty = nothing."""
    timeout_s: float = Field(default=10.0, gt=0.0, le=600.0)
    """Longest that one request may take, in seconds; then the vectors are compared without it. Default 10."""
