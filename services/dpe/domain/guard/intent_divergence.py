"""Stage 2 of DetectInjection: how far each claim of an answer is from the intent (Director-AI page; ADR 0125).

Sans-IO: ``questions_of`` says what to ask of the entailment model, both directions at once; ``judge`` makes verdicts of
its rows. A pair diverges by its probability of contradiction and half of that of neutrality: of what the intent says
nothing about, nothing is known. Linear in the answer; of a long intent a bounded part is read for each claim.
"""

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum, unique
from typing import Final

import numpy as np
from numpy.typing import NDArray

from services.common.ports.entailment import CONTRADICTION, NEUTRAL
from services.common.reading.sentences import sentences
from services.common.reading.text_types import Claim
from services.common.reading.words import containment, content_stems

BASELINE: Final = 0.4
"""Raw divergence of what is as it should be; calibration takes it off."""
PREMISE_CHARS: Final = 1_200
"""So much of the intent is read for one claim."""
_NEUTRAL_SHARE: Final = 0.5
_MOST_SENTENCES: Final = 12
_RISK: Final = {"GROUNDED": 0.0, "DRIFTED": 0.4, "INJECTED": 1.0}

Pair = tuple[str, str]


@unique
class ClaimVerdict(StrEnum):
    """How a claim relates to the intent."""

    GROUNDED = "GROUNDED"
    DRIFTED = "DRIFTED"
    INJECTED = "INJECTED"


@dataclass(frozen=True, slots=True)
class Thresholds:
    """From where a claim has drifted or was injected, and the least share of its words that must be traceable."""

    drifted: float = 0.6
    injected: float = 0.75
    traceability_floor: float = 0.15


@dataclass(frozen=True, slots=True)
class JudgedClaim:
    """A claim with its verdict and what it rests on; offsets in the answer."""

    start: int
    end: int
    verdict: ClaimVerdict
    forward: float
    reverse: float
    divergence: float
    traceability: float


@dataclass(frozen=True, slots=True)
class Question:
    """A claim, the part of the intent that it is held against, and how much of it can be traced."""

    claim: Claim
    premise: str
    traceability: float

    @property
    def pairs(self) -> tuple[Pair, Pair]:
        """Intent to claim, claim to intent."""
        return (self.premise, self.claim.text), (self.claim.text, self.premise)


def questions_of(claims: Sequence[Claim], intent: str, given: str) -> tuple[Question, ...]:
    """Return what to ask about each claim.

    Args:
        claims: of the answer.
        intent: what the application is for.
        given: the input; words of it are traceable too.
    """
    known = content_stems(intent) | content_stems(given)
    texts = [intent[one.start : one.end] for one in sentences(intent)] if len(intent) > PREMISE_CHARS else []
    parts = [(text, content_stems(text)) for text in texts]
    return tuple(
        Question(claim, _premise(claim, intent, parts), traceability(content_stems(claim.text), known))
        for claim in claims
    )


def traceability(claim: frozenset[str], known: frozenset[str]) -> float:
    """Return the share of a claim's content words that are known; 1.0 for a claim that has none."""
    return containment(claim, known) if claim else 1.0


def _premise(claim: Claim, intent: str, parts: Sequence[tuple[str, frozenset[str]]]) -> str:
    """Return the intent, or of a long one the sentences that share most words with the claim, in their order."""
    if not parts:
        return intent
    asked = content_stems(claim.text)
    ranked = heapq.nlargest(_MOST_SENTENCES, range(len(parts)), key=lambda at: (len(asked & parts[at][1]), -at))
    chosen: list[int] = []
    size = 0
    for at in ranked:
        if chosen and size + len(parts[at][0]) > PREMISE_CHARS:
            break
        chosen.append(at)
        size += len(parts[at][0])
    return " ".join(parts[at][0] for at in sorted(chosen))[:PREMISE_CHARS]


def judge(
    questions: Sequence[Question], classified: Mapping[Pair, NDArray[np.float32]], thresholds: Thresholds
) -> tuple[JudgedClaim, ...]:
    """Return the claims with their verdicts, in the order of the answer."""
    return tuple(_judged(one, classified, thresholds) for one in questions)


def _judged(question: Question, classified: Mapping[Pair, NDArray[np.float32]], thresholds: Thresholds) -> JudgedClaim:
    forward, reverse = (raw_divergence(classified[pair]) for pair in question.pairs)
    divergence = calibrated(forward, reverse)
    traced = question.traceability
    return JudgedClaim(
        question.claim.start,
        question.claim.end,
        verdict_of(divergence, traced, thresholds),
        forward,
        reverse,
        divergence,
        traced,
    )


def raw_divergence(row: NDArray[np.float32]) -> float:
    """Return how far a hypothesis is from its premise, 0.0 to 1.0."""
    return min(1.0, float(row[CONTRADICTION]) + _NEUTRAL_SHARE * float(row[NEUTRAL]))


def calibrated(forward: float, reverse: float) -> float:
    """Return the smaller divergence without the baseline, 0.0 to 1.0."""
    return min(1.0, max(0.0, (min(forward, reverse) - BASELINE) / (1.0 - BASELINE)))


def verdict_of(divergence: float, traced: float, thresholds: Thresholds) -> ClaimVerdict:
    """Return the verdict on a claim."""
    if divergence >= thresholds.injected or traced < thresholds.traceability_floor:
        return ClaimVerdict.INJECTED
    return ClaimVerdict.DRIFTED if divergence >= thresholds.drifted else ClaimVerdict.GROUNDED


def risk_of(verdicts: Sequence[ClaimVerdict]) -> float | None:
    """Return the mean of 1 for injected, 0.4 for drifted and 0 for grounded claims; ``None`` without claims."""
    return sum(_RISK[verdict] for verdict in verdicts) / len(verdicts) if verdicts else None
