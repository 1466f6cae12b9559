"""What contrasts and questions are made of: passages, and the names and clauses that stand in them."""

from collections.abc import Iterable
from dataclasses import dataclass
from random import Random
from typing import Final

from training.cleaning import tidy
from training.contrasts.change import Scene
from training.contrasts.clauses import harvest
from training.contrasts.names import by_kind
from training.premises import joined, window
from training.rows import CheckedText, NliRow
from training.words import word_count

PASSAGE_SETS: Final = ("fever", "fool_me_twice")
"""Inference sets whose premises are passages of an encyclopaedia."""
PASSAGE_WORDS: Final = (12, 400)
"""Shortest and longest passage that is taken."""


@dataclass(frozen=True, slots=True)
class Material:
    """What the generators draw on: passages, the names and clauses in them."""

    passages: list[tuple[str, str]]
    """Set and text of each passage, each text once."""
    names: dict[str, list[str]]
    clauses: list[str]

    @classmethod
    def of(cls, nli: Iterable[NliRow], fit: Iterable[CheckedText], premise_words: int) -> "Material":
        """Gather the passages of the sets that have some; a long one comes in its windows nearest to its claims."""
        found: dict[str, str] = {}
        for row in nli:
            if row.origin in PASSAGE_SETS:
                found.setdefault(row.premise, row.origin)
        for checked in fit:
            text = window([tidy(joined(part)) for part in checked.context], checked.claim, None, premise_words)
            found.setdefault(text, checked.dataset)
        passages = [
            (origin, text) for text, origin in found.items() if PASSAGE_WORDS[0] <= word_count(text) <= PASSAGE_WORDS[1]
        ]
        texts = [text for _, text in passages]
        return cls(passages, by_kind(texts), harvest(texts))

    def scene(self, premise: str) -> Scene:
        """Return what generators may use for a text with this premise."""
        return Scene(premise, self.names, self.clauses)

    def others(self, premise: str, choice: Random, count: int = 3) -> list[str]:
        """Draw passages other than the premise."""
        drawn = (choice.choice(self.passages)[1] for _ in range(count))
        return [text for text in drawn if text != premise]
