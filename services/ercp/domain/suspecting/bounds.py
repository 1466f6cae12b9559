"""From which answers of the models on a constraint is suspected; measured on development data (ADR 0117)."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Self


@dataclass(frozen=True, slots=True)
class SuspicionBounds:
    """Probabilities, and cosines of embeddings.

    Attributes:
        unsaid_entailed, unsaid_near: what has to be said is suspected to be missing where no part reaches either.
        forbidden: what must not be said is suspected where a part of the draft entails it so surely.
        contradicted: a statement is suspected where one part contradicts it so much more than any part entails it.
        denied: the same for words that no rule understands.
        absent: a value, or a choice, that stands nowhere in the draft is suspected where no part entails it so surely.
        unchosen_entailed, unchosen_near: as ``unsaid``, for every option of a choice.
        ordered: least sum of entailment and cosine by which a step is found; both must be.
        ordered_margin: so much nearer must a step be to its part than to the other step's.
    """

    unsaid_entailed: float
    unsaid_near: float
    forbidden: float
    contradicted: float
    denied: float
    absent: float
    unchosen_entailed: float
    unchosen_near: float
    ordered: float
    ordered_margin: float

    @classmethod
    def of(cls, values: Mapping[str, float]) -> Self:
        """Return the bounds of the data file.

        Raises:
            ValueError: one is missing, unknown or no number.
        """
        names = {each.name for each in fields(cls)}
        if names != values.keys() or not all(isinstance(value, (int, float)) for value in values.values()):
            raise ValueError(f"bounds of suspicion: {', '.join(sorted(names))} are needed, and no others")
        return cls(**values)
