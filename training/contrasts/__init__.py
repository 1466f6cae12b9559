"""Synthetic contrasts: changes of a supported text that cost it the support, and changes of the same look that do not.

``BREAKING`` holds the generators of the first sort, ``KEEPING`` those of the second; ``chosen`` draws one change. Which
rows are made of them, and why in both directions, is said in ``training.grounding_rows`` and ADR 0035.
"""

import random
from collections.abc import Sequence
from typing import Final

from training.contrasts import clauses, conditions, dates, names, negation, numbers, opposites, quantifiers
from training.contrasts.change import Change, Edit, Generator, Scene, applied, moved, origin_spans
from training.words import folded

__all__ = [
    "BREAKING",
    "KEEPING",
    "Change",
    "Edit",
    "Generator",
    "Scene",
    "applied",
    "chosen",
    "kept",
    "moved",
    "origin_spans",
]

BREAKING: Final = (
    Generator("numbers.value", 2.0, numbers.other_values),
    Generator("numbers.magnitude", 4.0, numbers.other_magnitudes),
    Generator("numbers.unit", 5.0, numbers.other_units),
    Generator("numbers.bound", 1.5, numbers.wrong_bounds),
    Generator("dates", 1.2, dates.other_dates),
    Generator("names.swap", 1.5, names.other_names),
    Generator("roles.swap", 1.5, names.swapped_roles),
    Generator("negation.inserted", 0.6, negation.inserted),
    Generator("negation.removed", 4.0, negation.removed),
    Generator("negation.prefix", 2.0, negation.prefixed),
    Generator("quantifiers.stronger", 1.2, quantifiers.stronger),
    Generator("conditions.limit", 5.0, conditions.turned_limits),
    Generator("conditions.stripped", 6.0, conditions.stripped),
    Generator("conditions.widened", 6.0, conditions.widened),
    Generator("opposites.opposite", 1.2, opposites.opposite_words),
    Generator("clauses.added", 0.5, clauses.added),
)
KEEPING: Final = (
    Generator("numbers.rewritten", 1.5, numbers.rewritten),
    Generator("numbers.bound kept", 0.6, numbers.right_bounds),
    Generator("dates.rewritten", 1.0, dates.rewritten),
    Generator("dates.less exact", 1.0, dates.less_exact),
    Generator("names.shortened", 0.7, names.shortened),
    Generator("negation.contracted", 1.0, negation.contracted),
    Generator("quantifiers.weaker", 1.2, quantifiers.weaker),
    Generator("opposites.same", 1.5, opposites.same_words),
    Generator("clauses.dropped", 1.2, clauses.dropped),
    Generator("clauses.connective", 0.4, clauses.connectives),
    Generator("clauses.reordered", 1.0, clauses.reordered),
    Generator("clauses.voice", 2.0, clauses.voice),
)


def chosen(generators: Sequence[Generator], text: str, scene: Scene, choice: random.Random) -> Change | None:
    """Draw a generator by weight among those that find something, then one of its changes; None when none does."""
    order = sorted(generators, key=lambda generator: choice.random() ** (1 / generator.weight), reverse=True)
    for generator in order:
        found = [change for change in generator.find(text, scene, choice) if _changes(text, change)]
        if found:
            return choice.choice(found)
    return None


def kept(
    text: str, spans: tuple[tuple[int, int], ...], scene: Scene, choice: random.Random
) -> tuple[str, tuple[tuple[int, int], ...], str] | None:
    """Change a text without changing what supports it, and leave its unsupported spans alone.

    Returns:
        The new text, where the spans stand in it and the kind of change, or None where nothing fits.
    """
    change = chosen(KEEPING, text, scene, choice)
    if change is None:
        return None
    there = moved(spans, change)
    return None if there is None else (applied(text, change)[0], there, change.kind)


def _changes(text: str, change: Change) -> bool:
    """Whether a change is seen by an encoder whose vocabulary is lower-case."""
    new = applied(text, change)[0]
    return folded(new) != folded(text) or (change.kind in {"numbers.unit", "numbers.rewritten"} and new != text)
