"""Settings of coherence scores (Director-AI page, D1 to D4); the defaults are the page's constants."""

from enum import StrEnum, unique
from math import isclose
from typing import Final, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

_WEIGHT_TOLERANCE: Final = 1e-9


@unique
class JudgeUse(StrEnum):
    """When the LLM judge is asked, where an endpoint is configured."""

    ASKED = "asked"
    UNSURE = "unsure"


class CoherenceSettings(BaseModel):
    """Coherence scores (``GROUNDTRAIL_GUARD__COHERENCE__…``)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    logical_weight: float = Field(default=0.6, ge=0.0, le=1.0)
    """Weight of the divergence of answer and prompt, W_LOGIC. Default 0.6."""
    factual_weight: float = Field(default=0.4, ge=0.0, le=1.0)
    """Weight of the divergence of answer and facts, W_FACT; the two sum to 1.0. Default 0.4."""
    threshold: float = Field(default=0.6, ge=0.0, le=1.0)
    """Coherence from which an answer is approved where the request says nothing. Default 0.6."""
    soft_limit: float = Field(default=0.6, ge=0.0, le=1.0)
    """Coherence below which an answer is warned about. Default 0.6."""
    hard_limit: float = Field(default=0.5, ge=0.0, le=1.0)
    """Coherence below which it is more than a warning; at most ``soft_limit``. Default 0.5."""
    judge: JudgeUse = JudgeUse.UNSURE
    """When the endpoint of ``GROUNDTRAIL_SECOND_OPINION__…`` is asked as LLM judge: ``unsure``: when the entailment
    model is not sure of a claim that no rule decides, and when a request asks for it; ``asked``: only then. Without an
    endpoint never. Default ``unsure``."""
    judge_below_confidence: float = Field(default=0.6, ge=0.0, le=1.0)
    """The entailment model is sure of a claim from this probability of its likeliest class on. Default 0.6."""
    judge_model_weight: float = Field(default=0.7, ge=0.0, le=1.0)
    """Weight of the models' divergence beside the judge's, LLM_JUDGE_NLI_WEIGHT. Default 0.7."""
    judge_weight: float = Field(default=0.3, ge=0.0, le=1.0)
    """Weight of the judge's, LLM_JUDGE_LLM_WEIGHT; the two sum to 1.0. Default 0.3."""
    judge_agree_divergence: float = Field(default=0.2, ge=0.0, le=1.0)
    """Divergence when the judge says yes, LLM_JUDGE_AGREE_DIVERGENCE. Default 0.2."""
    judge_disagree_divergence: float = Field(default=0.8, ge=0.0, le=1.0)
    """Divergence when the judge says no, LLM_JUDGE_DISAGREE_DIVERGENCE; at least that of a yes. Default 0.8."""
    retrieved_facts: int = Field(default=20, ge=1, le=100)
    """Most facts that one search of the tenant's knowledge gives, where a request brings none: prompt and answer are
    searched for. Default 20."""
    knowledge_deadline_share: float = Field(default=0.5, gt=0.0, le=1.0)
    """Share of the time that a call has left which the search may take. Default 0.5."""
    cache_entries: int = Field(default=1_024, ge=0, le=1_000_000)
    """Scores that are remembered, over all tenants; the least recently used of the tenant that holds most goes first.
    0 = none are. Default 1,024."""
    cache_ttl_s: float = Field(default=300.0, ge=0.0, le=86_400.0)
    """How long a score is remembered, in seconds; 0 = not at all. Default 300."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        for first, second in (("logical_weight", "factual_weight"), ("judge_model_weight", "judge_weight")):
            total = getattr(self, first) + getattr(self, second)
            if not isclose(total, 1.0, abs_tol=_WEIGHT_TOLERANCE):
                raise ValueError(f"{first} and {second} must sum to 1.0, not to {total}")
        if self.hard_limit > self.soft_limit:
            raise ValueError("hard_limit must not be above soft_limit: there would be nothing to warn about")
        if self.judge_agree_divergence > self.judge_disagree_divergence:
            raise ValueError("judge_agree_divergence must not be above judge_disagree_divergence")
        return self
