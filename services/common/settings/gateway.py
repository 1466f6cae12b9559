"""Settings of the gateway: limits of a dispatch, defaults of its calls, and what it does when time runs short."""

from enum import StrEnum, unique

from pydantic import BaseModel, ConfigDict, Field


@unique
class BudgetProfile(StrEnum):
    """Which reading of the safety budget is in force (architecture decision 6)."""

    SPEC_004 = "spec-004"
    SPEC_012 = "spec-012"


class GatewaySettings(BaseModel):
    """How the gateway dispatches."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    max_query_chars: int = Field(default=16_384, ge=1, le=1_000_000)
    """Longest query, in Unicode code points. Default 16384."""

    default_max_tokens: int = Field(default=2_048, ge=1, le=131_072)
    """Upper bound of an answer when the request names none, in tokens of the target model. Default 2048."""

    default_temperature: float = Field(default=0.7, ge=0.0, le=2.0)
    """Sampling temperature when the request names none (CRP-SPEC-005 §19.2 gives 0.7). Default 0.7."""

    extractive_model: str = Field(default="gpt-4o-mini", min_length=1)
    """Model name whose tokenizer and context window the built-in extractive answerer is budgeted with. Default gpt-4o-mini."""

    extractive_max_sentences: int = Field(default=5, ge=1, le=50)
    """Most sentences of an extractive answer. Default 5."""

    extractive_min_relevance: float = Field(default=0.35, ge=0.0, le=1.0)
    """Least score (0.0-1.0) of a sentence's match with the query for it to enter an extractive answer. Default 0.35."""

    budget_profile: BudgetProfile = BudgetProfile.SPEC_004
    """``spec-004``: human review from <= 0.10, halt at <= 0. ``spec-012``: review below 0.25, halt at <= 0.10. Default spec-004."""

    llm_min_seconds: float = Field(default=0.5, ge=0.0, le=60.0)
    """Least time in seconds that must be left before the model is called; less is DEADLINE_EXCEEDED at once. Default 0.5."""

    reserve_seconds: float = Field(default=0.25, ge=0.0, le=60.0)
    """Seconds of the caller's deadline kept back from the model call for analysis and commit. Default 0.25."""

    cleanup_seconds: float = Field(default=5.0, gt=0.0, le=60.0)
    """Most seconds that FailWindow may take after a dispatch broke off. Default 5."""

    state_hash_headers: bool = True
    """Whether ``CRP-Memory-CKF-Community`` is sent (CRP-SPEC-003 §16.3 lets a deployment suppress it). Default true."""
