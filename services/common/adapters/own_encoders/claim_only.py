"""What can be guessed from the hypothesis alone: the baseline that belongs beside every figure.

Where wording gives the labels away a model that never looks at the premise scores well, and so does the set. Naive
Bayes on words and pairs of words, fitted on the other folds, says how far that goes.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from services.common.adapters.own_encoders.fitting import splits

_WORD: Final = re.compile(r"\w+")
GIVEN_AWAY: Final = 0.65
"""From this AUROC on a set's wording tells too much for its figures to be believed without a word of warning."""
_LEAST: Final = 2
"""A word counts that so many rows have."""


def claim_only_scores(
    hypotheses: Sequence[str], labels: NDArray[np.bool_], fold: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return for each row how likely its hypothesis is to be supported, in log odds, by its words alone."""
    features = [_features(text) for text in hypotheses]
    scores = np.zeros(len(features))
    for fitted, held in splits(fold):
        counts = (Counter[str](), Counter[str]())
        rows = [0, 0]
        for place in fitted:
            counts[int(labels[place])].update(features[place])
            rows[int(labels[place])] += 1
        for place in held:
            scores[place] = sum(
                math.log((counts[1][word] + 1) / (rows[1] + 2)) - math.log((counts[0][word] + 1) / (rows[0] + 2))
                for word in features[place]
                if counts[0][word] + counts[1][word] >= _LEAST
            )
    return scores


def _features(text: str) -> frozenset[str]:
    words = _WORD.findall(text.lower())
    return frozenset([*words, *(f"{one} {two}" for one, two in pairwise(words))])
