"""The words that several services say, each declared once: tiers, levels, modes, strategies, states, remedies.

What ``crp/common/v1/taxonomy.proto`` declares stands here under the same names and in the same order; a test walks that
file, and another keeps any second declaration out of ``services``. The rest mirrors enums of one area that another area
reads: windows and degradation of ``crp.dag.v1``, levels, remedies and constraints of ``crp.dpe.v1``, and modes of
``crp.ckf.v1``. A value is what headers print and what is stored and hashed: none ever changes. What a single service
says alone stays in its own domain. Numbers of the contract are in ``services.common.rpc.enums``.
"""

from enum import StrEnum, unique
from typing import Final

PROTOCOL_VERSION: Final = "3.0.0"
"""CRP-Context-Protocol-Version, of every response."""


class OrderedWord(StrEnum):
    """A word whose members have an order, which is that of the definition.

    ``<`` and ``max`` compare strings, hence letters: compare by ``rank``.
    """

    @property
    def rank(self) -> int:
        """Return the 0-based position in the order of the definition."""
        return list(type(self)).index(self)


# What crp/common/v1/taxonomy.proto declares.


@unique
class QualityTier(OrderedWord):
    """Completeness and relevance of an envelope, best first (SPEC-003 §8.2)."""

    S = "S"
    A = "A"
    B = "B"
    C = "C"
    D = "D"


@unique
class RiskLevel(OrderedWord):
    """Composite hallucination risk, lowest first (SPEC-005 §7.4)."""

    LOW = "LOW"
    MEDIUM = "MEDIUM"
    HIGH = "HIGH"
    CRITICAL = "CRITICAL"


@unique
class GroundingMode(StrEnum):
    """What the model may answer from (SPEC-003 §13.1), as CRP-LLM-Grounding-Mode spells it."""

    CONTEXT_STRICT = "context-strict"
    CONTEXT_PREFERRED = "context-preferred"
    OPEN = "open"


@unique
class DispatchStrategy(StrEnum):
    """How a query is dispatched (CRP-SPEC-008), as CRP-Context-Strategy spells it."""

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
class BreakerState(StrEnum):
    """What the safety budget's circuit breaker lets through (CRP-SPEC-012, ADR 0103)."""

    CLOSED = "CLOSED"
    HALF_OPEN = "HALF_OPEN"
    OPEN = "OPEN"


@unique
class ChainIntegrity(StrEnum):
    """Whether the recomputed chain matches what is stored (SPEC-004 §9.4)."""

    VALID = "VALID"
    BROKEN = "BROKEN"
    PARTIAL = "PARTIAL"
    UNVERIFIED = "UNVERIFIED"
    TRUNCATED = "TRUNCATED"


@unique
class StageStatus(StrEnum):
    """How a stage of the analysis ended."""

    COMPLETED = "COMPLETED"
    NOT_APPLICABLE = "NOT_APPLICABLE"
    SKIPPED = "SKIPPED"
    DEGRADED = "DEGRADED"
    FAILED = "FAILED"


# What one area declares and others read.


@unique
class WindowStatus(StrEnum):
    """Life of a window: PENDING between OpenWindow and CommitWindow or FailWindow."""

    PENDING = "PENDING"
    COMMITTED = "COMMITTED"
    FAILED = "FAILED"


@unique
class Degradation(OrderedWord):
    """Trend of a session's quality, least first (SPEC-004 §13.2)."""

    NONE = "NONE"
    FIRST_DROP = "FIRST_DROP"
    SUSTAINED = "SUSTAINED"
    CRITICAL = "CRITICAL"
    PERSISTENT = "PERSISTENT"


@unique
class RetrievalMode(StrEnum):
    """How facts are searched (SPEC-003 §5.2, ADR 0066); ``crp.ckf.v1.SearchHit.score`` says what each orders by."""

    DENSE = "dense"
    TEXT = "text"
    HYBRID = "hybrid"
    RERANKED = "reranked"
    LATE_INTERACTION = "late-interaction"


@unique
class RepetitionLevel(OrderedWord):
    """How much of earlier windows an answer repeats, least first (SPEC-005 §9.2)."""

    NONE = "NONE"
    MINOR = "MINOR"
    SIGNIFICANT = "SIGNIFICANT"
    SEVERE = "SEVERE"


@unique
class ConstraintState(StrEnum):
    """Whether a text obeys a constraint (ADR 0078)."""

    HELD = "HELD"
    VIOLATED = "VIOLATED"
    UNKNOWN = "UNKNOWN"


@unique
class Remedy(StrEnum):
    """What to do about an analysis, by the section that asks for it (SPEC-005 §19.2)."""

    UPGRADE_STRATEGY = "UPGRADE_STRATEGY"
    ANTI_REPETITION = "ANTI_REPETITION"
    CORRECT_CONTRADICTION = "CORRECT_CONTRADICTION"
    AUTO_CONTINUE = "AUTO_CONTINUE"
    AUGMENT_FLOW = "AUGMENT_FLOW"
    STITCH_FLOW = "STITCH_FLOW"
    WARN_CLIENT = "WARN_CLIENT"


@unique
class RemedyForce(OrderedWord):
    """How strongly the text asks for a remedy, the strongest first."""

    REQUIRED = "REQUIRED"
    RECOMMENDED = "RECOMMENDED"
    ALTERNATIVE = "ALTERNATIVE"


@unique
class RemedyCall(OrderedWord):
    """What carrying a remedy out takes, in the order in which it is done."""

    RE_DISPATCH = "RE_DISPATCH"
    CONTINUATION = "CONTINUATION"
    STITCH = "STITCH"
    NOTICE = "NOTICE"


@unique
class RemedyCondition(StrEnum):
    """What only the gateway can know of a remedy."""

    UPGRADE_ON_RISK = "UPGRADE_ON_RISK"
    PROMPT_AUGMENTATION = "PROMPT_AUGMENTATION"
    REDISPATCH_OVER_BUDGET = "REDISPATCH_OVER_BUDGET"


SUSTAINED_OR_WORSE: Final = frozenset({Degradation.SUSTAINED, Degradation.CRITICAL, Degradation.PERSISTENT})
"""What the audit trail is warned of (SPEC-003 §14.3)."""


def worst_tier(first: QualityTier, *others: QualityTier) -> QualityTier:
    """Return the worst of the tiers."""
    return max((first, *others), key=lambda tier: tier.rank)
