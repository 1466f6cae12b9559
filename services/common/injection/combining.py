"""One score of three stages: rules, divergence of the answer, classifier (Director-AI page; ADR 0125).

The page's formula joins stages 1 and 2. Stage 3 is a judgement of the same input as stage 1, by other means: the larger
of the two scores counts. So an absent stage changes nothing, and a classifier that is sure is not outvoted by an answer
that happened to obey nobody.
"""

from typing import Final

PATTERN_WEIGHT: Final = 0.3
RISK_WEIGHT: Final = 0.7
BLOCKED_FROM: Final = 0.8
"""Score of stage 1 from which an input is blocked, whatever the other stages say."""


def combined_score(pattern: float, risk: float | None, probability: float | None) -> float:
    """Return the score of an input, in [0, 1].

    Args:
        pattern: stage 1, the largest weight of a match.
        risk: stage 2, the mean over the answer's claims; ``None`` = it did not run.
        probability: stage 3, the classifier's; ``None`` = it did not run.
    """
    page = pattern if risk is None else PATTERN_WEIGHT * pattern + RISK_WEIGHT * risk
    return page if probability is None else max(page, probability)


def is_detected(score: float, pattern: float, threshold: float) -> bool:
    """Return whether an input is an injection: the threshold as given, or blocked by stage 1."""
    return score >= threshold or pattern >= BLOCKED_FROM
