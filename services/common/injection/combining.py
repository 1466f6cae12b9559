"""One score of three stages: rules, divergence of the answer, classifier (Director-AI page; ADR 0125).

The page's formula joins stages 1 and 2. Stage 3 is a judgement of the same input as stage 1, by other means: what rules
find in plain words raises the classifier's odds, and what they find in disguise, which it cannot read, counts in full
(ADR 0176). Beside stage 2 the larger of the page's score and the input's counts, so that a classifier that is sure is
not outvoted by an answer that happened to obey nobody; without stage 2 the input's own is the score.
"""

import math
from typing import Final

PATTERN_WEIGHT: Final = 0.3
RISK_WEIGHT: Final = 0.7
RULES_LOG_ODDS: Final = 2.0
"""How much a match of weight 1 adds to the classifier's log odds."""
_NEVER: Final = 1e-6
BLOCKED_FROM: Final = 0.8
"""Score of stage 1 from which an input is blocked, whatever the other stages say."""


def combined_score(pattern: float, risk: float | None, probability: float | None, *, disguised: bool = False) -> float:
    """Return the score of an input, in [0, 1].

    Args:
        pattern: stage 1, the largest weight of a match.
        risk: stage 2, the mean over the answer's claims; ``None`` = it did not run.
        probability: stage 3, the classifier's; ``None`` = it did not run.
        disguised: whether a match of stage 1 stands in what was decoded or restored.
    """
    page = pattern if risk is None else PATTERN_WEIGHT * pattern + RISK_WEIGHT * risk
    if probability is None:
        return page
    own = max(pattern, probability) if disguised else _raised(probability, pattern)
    return own if risk is None else max(page, own)


def _raised(probability: float, pattern: float) -> float:
    """Return a probability of which a match has raised the log odds; without one it stays as it is."""
    if not pattern:
        return probability
    bounded = min(1.0 - _NEVER, max(_NEVER, probability))
    return 1.0 / (1.0 + (1.0 - bounded) / bounded * math.exp(-RULES_LOG_ODDS * pattern))


def is_detected(score: float, pattern: float, threshold: float) -> bool:
    """Return whether an input is an injection: the threshold as given, or blocked by stage 1."""
    return score >= threshold or pattern >= BLOCKED_FROM
