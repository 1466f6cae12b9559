"""Settings of the provenance service: limits on input, and the scoring policy that every report is hashed with."""

from math import isclose
from typing import Final, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

_WEIGHT_TOLERANCE: Final = 1e-9


class DpeWeights(BaseModel):
    """Weights of the four risk signals (SPEC-005 §7.2, §16.3); they sum to 1.0 and keep the order of §16.2."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    attribution: float = Field(default=0.35, ge=0.0, le=1.0)
    """Weight of ``1 - grounding_pct``; the largest. Default 0.35."""
    fidelity: float = Field(default=0.25, ge=0.0, le=1.0)
    """Weight of ``1 - fidelity_score``. Default 0.25."""
    entailment: float = Field(default=0.25, ge=0.0, le=1.0)
    """Weight of ``1 - entailment_score``. Default 0.25."""
    specificity: float = Field(default=0.15, ge=0.0, le=1.0)
    """Weight of the share of unverifiable claims; the smallest. Default 0.15."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        total = self.attribution + self.fidelity + self.entailment + self.specificity
        if not isclose(total, 1.0, abs_tol=_WEIGHT_TOLERANCE):
            raise ValueError(f"the risk weights must sum to 1.0 (SPEC-005 §16.3), not to {total}")
        # SPEC-005 §16.2: attribution highest, fidelity and entailment equal second, specificity lowest.
        if not self.attribution >= self.fidelity == self.entailment >= self.specificity:
            raise ValueError("the risk weights must keep attribution >= fidelity = entailment >= specificity")
        return self


class DpeAmplifiers(BaseModel):
    """Factors that raise the risk (SPEC-005 §17); each at least 1.0, in the order of severity of §17."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    gdpr_pii: float = Field(default=1.30, ge=1.0, le=10.0)
    """Personal data in the answer or the prompt. Default 1.30."""
    eu_high_risk: float = Field(default=1.25, ge=1.0, le=10.0)
    """The AI system is HIGH under the EU AI Act. Default 1.25."""
    sector: float = Field(default=1.15, ge=1.0, le=10.0)
    """Financial or medical sector. Default 1.15."""
    loop_depth: float = Field(default=1.15, ge=1.0, le=10.0)
    """The agent loop is deeper than ``loop_depth_threshold``. Default 1.15."""
    cross_window_contradiction: float = Field(default=1.15, ge=1.0, le=10.0)
    """A contradiction with an earlier window; applied once (ADR 0017). Default 1.15."""
    severe_repetition: float = Field(default=1.05, ge=1.0, le=10.0)
    """Repetition level SEVERE. Default 1.05."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        moderate = (self.sector, self.loop_depth, self.cross_window_contradiction)
        if not self.gdpr_pii >= self.eu_high_risk >= max(moderate) or min(moderate) < self.severe_repetition:
            raise ValueError(
                "the amplifiers must keep the order of SPEC-005 §17: gdpr_pii >= eu_high_risk >= sector, loop_depth, "
                "cross_window_contradiction >= severe_repetition"
            )
        return self


class DpeSettings(BaseModel):
    """The provenance service's section (``GROUNDTRAIL_DPE__…``)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_response_chars: int = Field(default=500_000, ge=1_000, le=5_000_000)
    """Longest answer that is analysed, in Unicode code points; above it the call fails. Default 500,000."""
    max_claims: int = Field(default=10_000, ge=10, le=100_000)
    """Most claims of one answer; above it the call fails rather than leaving some unchecked. Default 10,000."""
    max_facts: int = Field(default=2_000, ge=1, le=20_000)
    """Most envelope facts of one call. Default 2,000."""
    max_prior_windows: int = Field(default=100, ge=0, le=1_000)
    """Most prior windows of one call. Default 100."""
    embed_batch_size: int = Field(default=2_048, ge=1, le=20_000)
    """Most texts in one call to the embedding model: a long answer cannot fill its queue. Default 2,048."""
    cache_mib: int = Field(default=64, ge=0, le=65_536)
    """Memory for what the models said before, over all tenants, in MiB; 0 = every call asks anew. Default 64."""
    min_remaining_s: float = Field(default=0.05, ge=0.0, le=60.0)
    """Seconds of the caller's time that are kept for settling, hashing and sending the report; with fewer left at the
    start the call ends with DEADLINE_EXCEEDED (ADR 0042). Default 0.05."""
    loop_depth_threshold: int = Field(default=3, ge=0, le=100)
    """Agent loop depth above which the amplifier applies (SPEC-005 §17). Default 3."""
    score_all_pairs: bool = False
    """Compare all pairs of claims, within and across windows, however many (ADR 0037). Default false."""
    level_floors: bool = True
    """Whether what was found keeps ``risk_level`` from being lower, e.g. HIGH for a claim that a value of a fact
    contradicts; false = SPEC-005 §7.4 of the composite score alone (ADR 0093). Default true."""
    weights: DpeWeights = DpeWeights()
    """Weights of the risk signals."""
    amplifiers: DpeAmplifiers = DpeAmplifiers()
    """Factors of the regulatory amplifiers."""
