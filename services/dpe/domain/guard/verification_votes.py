"""From votes and the engine's verdict to the verdict on a claim: the page's count beside it (ADR 0127, 0229).

The page counts votes: what half of the signals that apply contradict is CONTRADICTED, what half of them support is
SUPPORTED, what cannot be traced to any source is FABRICATED, the rest UNVERIFIABLE, and so is everything of a
confidence below 0.4. That counts names and words that merely occur as much as the encoders, and outvotes an exact rule
by three signals of overlap. So the count is shown, and what decides is the engine's own verdict on the claim, the one
that ``check`` gives: exact rules first, then its calibrated probability of support.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum, unique
from typing import Any, Final

from services.dpe.domain.findings import Basis, Verdict
from services.dpe.domain.guard.verification_signals import Limits, Signal, SignalKind, Signalled, Vote

HALF: Final = 0.5
UNDER_HALF: Final = 0.499
"""Most support of a claim that is not SUPPORTED: its verdict has more against it than the probability knows of."""


@unique
class ClaimVerdict(StrEnum):
    """What the signals say together."""

    SUPPORTED = "SUPPORTED"
    CONTRADICTED = "CONTRADICTED"
    FABRICATED = "FABRICATED"
    UNVERIFIABLE = "UNVERIFIABLE"


@dataclass(frozen=True, slots=True)
class VerificationPolicy:
    """What a deployment chose; hashed into what is reported."""

    limits: Limits = field(default_factory=Limits)
    min_confidence: float = 0.4
    rule_confidence: float = 0.9

    def document(self) -> dict[str, Any]:
        """Return it as JSON data, the form that is hashed."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Decision:
    """A verdict with its confidence; ``support`` as ``support_of`` gives it."""

    verdict: ClaimVerdict
    confidence: float
    support: float | None = None


def by_count(signals: Sequence[Signal], min_confidence: float) -> Decision:
    """Return the page's verdict: half of the votes of the signals that apply."""
    votes = [signal.vote for signal in signals if signal.vote is not Vote.NONE]
    if not votes:
        return Decision(ClaimVerdict.UNVERIFIABLE, 0.0)
    contradicts, supports = (votes.count(vote) / len(votes) for vote in (Vote.CONTRADICTS, Vote.SUPPORTS))
    trace = _of(signals, SignalKind.TRACEABILITY)
    if contradicts >= HALF:
        found = Decision(ClaimVerdict.CONTRADICTED, contradicts)
    elif supports >= HALF:
        found = Decision(ClaimVerdict.SUPPORTED, supports)
    elif trace.vote is Vote.FABRICATES:
        found = Decision(ClaimVerdict.FABRICATED, 1.0 - (trace.value or 0.0))
    else:
        found = Decision(ClaimVerdict.UNVERIFIABLE, max(contradicts, supports))
    if found.confidence < min_confidence:
        return Decision(ClaimVerdict.UNVERIFIABLE, found.confidence)
    return found


def support_of(item: Signalled, policy: VerificationPolicy) -> float | None:
    """Return how likely the sources bear a claim out: 0.5 or more exactly where the engine calls it SUPPORTED.

    It is the engine's calibrated probability, 1 for a sentence of a source, held on the verdict's side of one half. Of
    a claim in which a rule found a difference half of it is left, and of one that a rule decides against only what the
    rule leaves. ``None``: the grounding model said nothing, and no rule decides.
    """
    judgement = item.judgement
    if judgement.verdict is Verdict.SUPPORTED:
        return 1.0 if judgement.basis is Basis.QUOTATION else max(HALF, judgement.support or 0.0)
    if item.deciding:
        return (1.0 - policy.rule_confidence) * (judgement.support or 0.0)
    if judgement.support is None:
        return None
    return min(judgement.support, UNDER_HALF) * (HALF if item.doubted else 1.0)


def decide(item: Signalled, policy: VerificationPolicy) -> Decision:
    """Return the engine's verdict in the page's words; where it has none the count's, but that supports nothing."""
    support = support_of(item, policy)
    if item.judgement.verdict is Verdict.SUPPORTED and support is not None:
        found = Decision(ClaimVerdict.SUPPORTED, support, support)
    elif item.deciding:
        return Decision(ClaimVerdict.CONTRADICTED, policy.rule_confidence, support)
    elif support is not None:
        found = Decision(_without_support(item), 1.0 - support, support)
    elif item.judgement.verdict is Verdict.CONTRADICTED:  # by the entailment model, the only one that answered
        found = Decision(ClaimVerdict.CONTRADICTED, item.judgement.contradiction or 0.0)
    elif item.judgement.verdict is Verdict.UNDECIDED:
        return Decision(ClaimVerdict.UNVERIFIABLE, 0.0)
    else:
        counted = by_count(item.signals, policy.min_confidence)
        is_known = counted.verdict is not ClaimVerdict.SUPPORTED
        return counted if is_known else Decision(ClaimVerdict.UNVERIFIABLE, 0.0)
    if found.confidence < policy.min_confidence:
        return Decision(ClaimVerdict.UNVERIFIABLE, found.confidence, support)
    return found


def _without_support(item: Signalled) -> ClaimVerdict:
    """Say what a claim is that nothing bears out: contradicted, invented, or neither can be said."""
    if item.judgement.verdict is Verdict.CONTRADICTED:
        return ClaimVerdict.CONTRADICTED
    is_open = item.judgement.verdict is Verdict.UNDECIDED
    is_traced = all(signal.vote is not Vote.FABRICATES for signal in item.signals)
    if not is_open and (not is_traced or _of(item.signals, SignalKind.ENTITY).vote is Vote.CONTRADICTS):
        return ClaimVerdict.FABRICATED
    return ClaimVerdict.UNVERIFIABLE


def _of(signals: Sequence[Signal], kind: SignalKind) -> Signal:
    return next((signal for signal in signals if signal.kind is kind), Signal(kind))
