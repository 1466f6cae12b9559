"""The gateway's words for tiers, risks, modes and states, spelled as the CRP headers spell them.

Ordered enums list their members from best to worst (tiers, risks, repetition) or from weakest to strictest (oversight);
``rank`` gives the position, so that "at least" and "at most" are comparisons of ranks and never of letters.
"""

from enum import StrEnum, unique
from typing import Final


class _Ordered(StrEnum):
    """A string enum whose members are ordered as written."""

    @property
    def rank(self) -> int:
        """Return the 0-based position in the order of the definition."""
        return list(type(self)).index(self)


@unique
class QualityTier(_Ordered):
    """Completeness and relevance of an envelope, best first (SPEC-003 §8.2)."""

    S = "S"
    A = "A"
    B = "B"
    C = "C"
    D = "D"


@unique
class RiskLevel(_Ordered):
    """Composite hallucination risk, lowest first (SPEC-005 §7.4)."""

    LOW = "LOW"
    MEDIUM = "MEDIUM"
    HIGH = "HIGH"
    CRITICAL = "CRITICAL"


@unique
class RepetitionLevel(_Ordered):
    """How much of earlier windows an answer repeats, least first (SPEC-005 §9.2)."""

    NONE = "NONE"
    MINOR = "MINOR"
    SIGNIFICANT = "SIGNIFICANT"
    SEVERE = "SEVERE"


@unique
class BreakerState(StrEnum):
    """What the safety budget's circuit breaker lets through (CRP-SPEC-012)."""

    CLOSED = "CLOSED"
    HALF_OPEN = "HALF_OPEN"
    OPEN = "OPEN"


@unique
class OversightMode(_Ordered):
    """What happens to answers under a policy, weakest first (CRP-SPEC-002, CRP-Safety-Oversight-Mode)."""

    LOG_ONLY = "log-only"
    AUTO = "auto"
    HUMAN_REVIEW = "human-review"
    HALT = "halt"


@unique
class SafetyMode(StrEnum):
    """Ready-made policies (CRP-SPEC-002, CRP-Safety-Mode)."""

    STRICT = "strict"
    WARN = "warn"
    PERMISSIVE = "permissive"


@unique
class GroundingMode(StrEnum):
    """What the model may answer from (SPEC-003 §13.1)."""

    CONTEXT_STRICT = "context-strict"
    CONTEXT_PREFERRED = "context-preferred"
    OPEN = "open"


@unique
class Strategy(StrEnum):
    """How a query is dispatched (CRP-SPEC-008)."""

    PUSH = "push"
    PULL = "pull"
    REFLEXIVE = "reflexive"
    AGENTIC = "agentic"
    HIERARCHICAL = "hierarchical"
    BATCH = "batch"
    STREAMING = "streaming"
    FAN_OUT = "fan-out"
    FAN_IN = "fan-in"


@unique
class RemedyMode(_Ordered):
    """Which remedies are carried out, fewest first (SPEC-005 §19; ADR 0059)."""

    OFF = "off"
    POLICY = "policy"
    REQUIRED = "required"
    RECOMMENDED = "recommended"


@unique
class Degradation(_Ordered):
    """Trend of a session's quality, least first (SPEC-004 §13.2)."""

    NONE = "NONE"
    FIRST_DROP = "FIRST_DROP"
    SUSTAINED = "SUSTAINED"
    CRITICAL = "CRITICAL"
    PERSISTENT = "PERSISTENT"


SUSTAINED_OR_WORSE: Final = frozenset({Degradation.SUSTAINED, Degradation.CRITICAL, Degradation.PERSISTENT})
"""What the audit trail is warned of (SPEC-003 §14.3)."""


@unique
class RetrievalMode(StrEnum):
    """How facts are retrieved (SPEC-003 §5.2, ADR 0066)."""

    DENSE = "dense"
    TEXT = "text"
    HYBRID = "hybrid"
    RERANKED = "reranked"
    LATE_INTERACTION = "late-interaction"


@unique
class FanInPolicy(StrEnum):
    """What a fan-in does about failed children (SPEC-004 §16.3)."""

    REQUIRE_ALL = "require-all"
    PARTIAL = "partial"


@unique
class ChainIntegrity(StrEnum):
    """Whether the recomputed chain matches what is stored (SPEC-004 §9.4)."""

    VALID = "VALID"
    BROKEN = "BROKEN"
    PARTIAL = "PARTIAL"
    UNVERIFIED = "UNVERIFIED"
    TRUNCATED = "TRUNCATED"


@unique
class WindowStatus(StrEnum):
    """Life of a window."""

    PENDING = "PENDING"
    COMMITTED = "COMMITTED"
    FAILED = "FAILED"


@unique
class StageStatus(StrEnum):
    """How a stage of the analysis ended (ADR 0018)."""

    COMPLETED = "COMPLETED"
    NOT_APPLICABLE = "NOT_APPLICABLE"
    SKIPPED = "SKIPPED"
    DEGRADED = "DEGRADED"
    FAILED = "FAILED"


def worse_tier(first: QualityTier, second: QualityTier) -> QualityTier:
    """Return the worse of two tiers."""
    return first if first.rank >= second.rank else second
