"""From five votes to a verdict: the page's rule, half of the signals, and the weighed one that decides (ADR 0127).

The page counts votes: what half of the signals that apply contradict is CONTRADICTED, what half of them support is
SUPPORTED, what cannot be traced to any source is FABRICATED, the rest UNVERIFIABLE, and so is everything of a
confidence below 0.4. That counts names and words that merely occur as much as the encoders, and outvotes an exact rule
by three signals of overlap. So the verdict weighs: a rule that decides contradicts whatever the others say; then the
signals' values, weighed, are one probability of support.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum, unique
from math import exp, log
from typing import Any, Final

from services.dpe.domain.findings import Basis
from services.dpe.domain.guard.verification_signals import Limits, Signal, SignalKind, Vote, Weighed

HALF: Final = 0.5
_CLIPPED: Final = 0.001
"""Probabilities are held so far from 0 and 1: one encoder alone is never certain."""


@unique
class ClaimVerdict(StrEnum):
    """What the signals say together."""

    SUPPORTED = "SUPPORTED"
    CONTRADICTED = "CONTRADICTED"
    FABRICATED = "FABRICATED"
    UNVERIFIABLE = "UNVERIFIABLE"


@dataclass(frozen=True, slots=True)
class Weights:
    """Log-odds of support: ``bias``, and the weight of each signal times how far it leans (``leanings``).

    The defaults are those of the settings, fitted on development data (docs/guard-evaluation.md).
    """

    bias: float = -0.11
    nli: float = 0.42
    entity: float = 0.04
    number: float = 0.67
    negation: float = 0.24
    traceability: float = 0.0


@dataclass(frozen=True, slots=True)
class VerificationPolicy:
    """What a deployment chose; hashed into what is reported."""

    limits: Limits = field(default_factory=Limits)
    weights: Weights = Weights()
    support_threshold: float = 0.5
    min_confidence: float = 0.4
    rule_confidence: float = 0.9

    def document(self) -> dict[str, Any]:
        """Return it as JSON data, the form that is hashed."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Decision:
    """A verdict with its confidence; ``support`` is the weighed probability, ``None`` = nothing could be weighed."""

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


def leanings(signals: Sequence[Signal]) -> tuple[float, ...]:
    """Return how far each signal leans to support, above 0, or against it: what its weight is multiplied with.

    Of NLI it is the log-odds of its probability, of the others 2 · value - 1; of one that does not apply 0.
    """
    values = [_of(signals, kind).value for kind in SignalKind]
    return tuple(
        0.0 if value is None else _log_odds(value) if kind is SignalKind.NLI else 2.0 * value - 1.0
        for kind, value in zip(SignalKind, values, strict=True)
    )


def support_of(signals: Sequence[Signal], weights: Weights) -> float | None:
    """Return the weighed probability of support; ``None`` when no signal applies."""
    if all(signal.value is None for signal in signals):
        return None
    total = weights.bias
    for kind, leaning in zip(SignalKind, leanings(signals), strict=True):
        total += getattr(weights, kind.lower()) * leaning
    return 1.0 / (1.0 + exp(-total))


def decide(item: Weighed, policy: VerificationPolicy) -> Decision:
    """Return the weighed verdict; without the encoders' word the page's, but that nothing is SUPPORTED by overlap."""
    if item.judgement.basis is Basis.QUOTATION and not item.deciding:
        return Decision(ClaimVerdict.SUPPORTED, 1.0, 1.0)
    support = support_of(item.signals, policy.weights)
    if item.deciding:
        left = 1.0 - policy.rule_confidence  # how likely the rule is wrong
        return Decision(ClaimVerdict.CONTRADICTED, policy.rule_confidence, left * (support or 0.0))
    if support is None or _of(item.signals, SignalKind.NLI).value is None:
        counted = by_count(item.signals, policy.min_confidence)
        known = counted.verdict is not ClaimVerdict.SUPPORTED
        return counted if known else Decision(ClaimVerdict.UNVERIFIABLE, 0.0)
    if item.judgement.basis is Basis.VALUES:  # every value of it is plainly the sources', and a source has its words
        support = max(support, policy.support_threshold)
    if support >= policy.support_threshold and not item.is_unworded:
        found = Decision(ClaimVerdict.SUPPORTED, support, support)
    else:
        found = Decision(_without_support(item), 1.0 - support, support)
    if found.confidence < policy.min_confidence:
        return Decision(ClaimVerdict.UNVERIFIABLE, found.confidence, support)
    return found


def _without_support(item: Weighed) -> ClaimVerdict:
    """Say what a claim is that nothing bears out: contradicted, invented, or neither can be said."""
    votes = {signal.kind: signal.vote for signal in item.signals}
    if votes[SignalKind.NLI] is Vote.CONTRADICTS:
        return ClaimVerdict.CONTRADICTED
    if Vote.FABRICATES in votes.values() or votes[SignalKind.ENTITY] is Vote.CONTRADICTS:
        return ClaimVerdict.FABRICATED
    return ClaimVerdict.UNVERIFIABLE


def _of(signals: Sequence[Signal], kind: SignalKind) -> Signal:
    return next((signal for signal in signals if signal.kind is kind), Signal(kind))


def _log_odds(value: float) -> float:
    held = min(1.0 - _CLIPPED, max(_CLIPPED, value))
    return log(held / (1.0 - held))
