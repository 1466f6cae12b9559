"""The file of the heads: logistic models with the bounds from which each of them decides (ADR 0118).

A head says yes above one bound and no below another, both taken from predictions on domains that it was not trained on;
between them it says nothing. A head that is not worth its word is not in the file: the rules alone speak then.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from services.common.sentence_heads.features import Values, bag

SCHEMA_VERSION: Final = 1
_KEYS: Final = frozenset({"schema_version", "version", "encoder", "width", "states", "kinds", "relations", "fitted_on"})
_GROUP_KEYS: Final = frozenset({"means", "scales", "marks", "heads"})
_HEAD_KEYS: Final = frozenset({"weights", "mark_weights", "bias", "yes_from", "no_below", "measured"})


class SentenceHeadsError(ValueError):
    """A file of heads cannot be used; the message names the place and what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Head:
    """One logistic model.

    Attributes:
        weights: of the standardised numbers.
        mark_weights: of the marks.
        bias: the logit of a sentence without marks whose numbers are all at their means.
        yes_from: at or above this probability it says yes; above 1 = never.
        no_below: below this probability it says no; 0 = never.
    """

    name: str
    weights: Values
    mark_weights: Values
    bias: float
    yes_from: float
    no_below: float

    def verdict(self, probability: float) -> bool | None:
        """Return yes, no, or ``None`` between the bounds."""
        if probability >= self.yes_from:
            return True
        return False if probability < self.no_below else None


@dataclass(frozen=True, slots=True)
class HeadGroup:
    """Heads over the same features.

    Attributes:
        means: what is taken from each number.
        scales: what each is then divided by.
        marks: where each known mark stands.
    """

    means: Values
    scales: Values
    marks: Mapping[str, int]
    heads: tuple[Head, ...]

    def probabilities(self, numbers: Values, marks: Sequence[frozenset[str]]) -> Values:
        """Return per row the probability of every head, in their order; shape ``(rows, heads)``."""
        if not self.heads:
            return np.zeros((len(marks), 0))
        dense = (numbers - self.means) / self.scales
        weights = np.array([head.weights for head in self.heads])
        mark_weights = np.array([head.mark_weights for head in self.heads])
        # Row by row: a sentence scores the same bits alone and among others, and a long text takes no more room.
        logits = np.array(
            [weights @ row + mark_weights @ bag([each], self.marks)[0] for row, each in zip(dense, marks, strict=True)]
        )
        return logistic(logits.reshape(len(marks), len(self.heads)) + np.array([head.bias for head in self.heads]))


@dataclass(frozen=True, slots=True)
class SentenceHeads:
    """What a file of heads says.

    Attributes:
        version: grows with every change of what the heads compute.
        encoder: fingerprint of the entailment model whose values the heads weigh.
        width: numbers of one token's state.
        states: values inside its graph; of each the mean over the tokens is weighed, in this order.
        kinds: heads for a sentence.
        relations: heads for a pair of sentences.
    """

    version: str
    encoder: str
    width: int
    states: tuple[str, ...]
    kinds: HeadGroup
    relations: HeadGroup


def logistic(logits: Values) -> Values:
    """Return probabilities."""
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(logits, -40.0, 40.0))))


def parse_heads(text: str) -> SentenceHeads:
    """Read a file of heads.

    Raises:
        SentenceHeadsError: it is none, or its parts do not fit together.
    """
    try:
        content = json.loads(text)
    except ValueError as error:
        raise SentenceHeadsError(f"the file is no JSON: {error}") from error
    _check_keys(content, _KEYS, "the file")
    if content["schema_version"] != SCHEMA_VERSION:
        raise SentenceHeadsError(f"schema_version: {content['schema_version']} is not {SCHEMA_VERSION}")
    return SentenceHeads(
        version=str(content["version"]),
        encoder=str(content["encoder"]),
        width=int(content["width"]),
        states=tuple(map(str, content["states"])),
        kinds=_group(content["kinds"], "kinds"),
        relations=_group(content["relations"], "relations"),
    )


def _group(content: Any, where: str) -> HeadGroup:
    _check_keys(content, _GROUP_KEYS, where)
    means, scales = (_numbers(content[name], f"{where}.{name}") for name in ("means", "scales"))
    if len(means) != len(scales) or not np.all(scales > 0):
        raise SentenceHeadsError(f"{where}.scales: as many as means, each above 0")
    marks = {str(mark): place for place, mark in enumerate(content["marks"])}
    heads = tuple(_head(name, each, f"{where}.heads.{name}") for name, each in content["heads"].items())
    for head in heads:
        if (len(head.weights), len(head.mark_weights)) != (len(means), len(marks)):
            raise SentenceHeadsError(f"{where}.heads.{head.name}: a weight for each number and each mark")
    return HeadGroup(means, scales, marks, heads)


def _head(name: str, content: Any, where: str) -> Head:
    _check_keys(content, _HEAD_KEYS, where)
    yes, no = content["yes_from"], content["no_below"]
    head = Head(
        name=name,
        weights=_numbers(content["weights"], f"{where}.weights"),
        mark_weights=_numbers(content["mark_weights"], f"{where}.mark_weights"),
        bias=float(content["bias"]),
        yes_from=2.0 if yes is None else float(yes),
        no_below=0.0 if no is None else float(no),
    )
    if head.no_below > head.yes_from:
        raise SentenceHeadsError(f"{where}: no_below must not be above yes_from")
    return head


def _numbers(content: Any, where: str) -> Values:
    try:
        found = np.array(content, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise SentenceHeadsError(f"{where}: numbers only") from error
    if found.ndim != 1 or not np.isfinite(found).all():
        raise SentenceHeadsError(f"{where}: a row of finite numbers")
    return found


def _check_keys(content: Any, wanted: frozenset[str], where: str) -> None:
    if not isinstance(content, dict):
        raise SentenceHeadsError(f"{where} is no object")
    for name in sorted(wanted ^ content.keys()):
        raise SentenceHeadsError(f"{where}: {name} is {'missing' if name in wanted else 'unknown'}")
