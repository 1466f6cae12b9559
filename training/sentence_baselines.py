"""What the heads on the encoder have to beat: the readers of ERCP alone, and a bag of words (ADR 0118)."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from services.common.sentence_heads.features import FIRST, SECOND, Values, bag, words
from services.common.sentence_heads.model import logistic
from services.ercp.domain.predicates import Span, TextFacts, contradictions, extract_facts
from services.ercp.domain.predicates.phrases import HYPOTHETICAL
from training.sentence_fit import Rows, Scale, duals, out_of_fold, weights_of
from training.sentence_heads import KINDS, RELATIONS, Couple, Single

_CONDITION: Final = re.compile(r"\b(?:if|when|whenever|unless|once|provided|as\s+long\s+as|given)\b", re.IGNORECASE)
_ASSUMPTION: Final = re.compile(r"\b(?:suppose|supposing|assume|assuming|imagine|let)\b", re.IGNORECASE)
_RESULT: Final = re.compile(
    r"^(?:therefore|thus|hence|consequently|accordingly|so|ergo|as a (?:result|consequence)|it follows|"
    r"this (?:proves|shows|means)|for (?:this|that) reason|in conclusion|clearly|which is why)\b",
    re.IGNORECASE,
)
"""As the validators find conclusions."""


def kinds_by_readers(single: Single) -> frozenset[str]:
    """Return what the readers of predicates and conclusions take a sentence for; none of them knows definitions."""
    facts = _facts(single.text)
    supposed = HYPOTHETICAL.match(single.text)
    found = {
        "order": bool(facts.orders),
        "justification": any(each.is_given for each in facts.justifications),
        "condition": bool(supposed and _CONDITION.search(supposed.group())),
        "assumption": bool(supposed and _ASSUMPTION.search(supposed.group())),
        "result": bool(_RESULT.search(single.text)),
    }
    return frozenset(kind for kind, holds in found.items() if holds)


def relation_by_readers(couple: Couple) -> frozenset[str]:
    """Return what the readers take a pair for: a contradiction of values or statements, a reason behind its claim."""
    facts = _facts(couple.first, couple.second)
    border = len(couple.first) + 1
    clash = any(
        min(one.start, two.start) < border <= max(one.start, two.start) for one, two, _ in contradictions(facts)
    )
    reason = any(each.is_given and each.claim.start < border <= each.reason.start for each in facts.justifications)
    return frozenset(name for name, holds in (("contradicts", clash), ("justifies", reason)) if holds)


def _facts(*sentences: str) -> TextFacts:
    spans, at = [], 0
    for sentence in sentences:
        spans.append(Span(at, at + len(sentence)))
        at += len(sentence) + 1
    return extract_facts(" ".join(sentences), spans)


@dataclass(frozen=True, slots=True)
class BagOfWords:
    """Logistic regressions on the words alone, each with the threshold that had the best F1 on domains left out."""

    weights: Values
    biases: Values
    thresholds: Values
    places: Mapping[str, int]

    def answers(self, texts: Sequence[frozenset[str]]) -> np.ndarray:
        """Return per text and head whether it says yes."""
        return np.asarray(logistic(bag(texts, self.places) @ self.weights + self.biases) >= self.thresholds)


def words_of_single(single: Single) -> frozenset[str]:
    """Return the words of a sentence."""
    return frozenset(words(single.text))


def words_of_couple(couple: Couple) -> frozenset[str]:
    """Return the words of both sentences, told apart."""
    return frozenset([FIRST + word for word in words(couple.first)] + [SECOND + word for word in words(couple.second)])


def fit_bag(texts: Sequence[frozenset[str]], domains: Sequence[str], truth: np.ndarray) -> BagOfWords:
    """Return the regressions that the training data gives."""
    rows = Rows(np.zeros((len(texts), 0)), (), texts, domains)
    held, scale = out_of_fold(rows, truth), Scale.of(rows)
    _, weights, biases = weights_of(scale, rows, duals(scale.likeness(rows), truth))
    thresholds = np.array([best_threshold(truth[:, head], held[:, head]) for head in range(truth.shape[1])])
    return BagOfWords(weights, biases, thresholds, scale.places)


def best_threshold(truth: np.ndarray, probabilities: Values) -> float:
    """Return the threshold with the best F1."""
    order = np.argsort(-probabilities, kind="stable")
    right = np.cumsum(truth[order])
    scores = 2 * right / (np.arange(1, len(order) + 1) + max(1, int(truth.sum())))
    return float(probabilities[order[int(np.argmax(scores))]])


__all__ = [
    "KINDS",
    "RELATIONS",
    "BagOfWords",
    "best_threshold",
    "fit_bag",
    "kinds_by_readers",
    "relation_by_readers",
    "words_of_couple",
    "words_of_single",
]
