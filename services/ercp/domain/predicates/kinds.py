"""What everybody would call a kind of something: beer is alcohol, ham is pork, an almond is a nut (ADR 0168).

Closed and short: only words that name nothing else, and hold wherever they stand. What is written as free of it, or as
made without, is told apart by the sentence.
"""

import re
from collections.abc import Iterator
from typing import Final

from services.common.reading.polarity import is_negated
from services.ercp.domain.predicates.facts import Span, TextFacts
from services.ercp.domain.predicates.naming import stem_of

_PORK: Final = "pork ham bacon prosciutto pancetta chorizo salami gammon"
_FISH: Final = "fish salmon tuna cod trout mackerel herring sardine anchovy haddock halibut"
_SHELLFISH: Final = "shellfish prawn shrimp crab lobster mussel oyster scallop"
_POULTRY: Final = "chicken turkey duck goose"
_NUTS: Final = "nut almond walnut hazelnut cashew pecan pistachio macadamia peanut"
_DAIRY: Final = "dairy cheese yoghurt yogurt buttermilk mozzarella parmesan feta ricotta halloumi cheddar"
_KINDS: Final = {
    "alcohol": "alcohol beer wine champagne whisky whiskey vodka gin cider prosecco brandy tequila liqueur cocktail",
    "pork": _PORK,
    "fish": _FISH,
    "shellfish": _SHELLFISH,
    "seafood": f"seafood {_FISH} {_SHELLFISH}",
    "poultry": f"poultry {_POULTRY}",
    "meat": f"meat beef lamb veal venison mutton steak sausage {_PORK} {_POULTRY}",
    "nut": _NUTS,
    "dairy": _DAIRY,
    "animal product": f"egg honey meat milk butter {_DAIRY} {_PORK} {_POULTRY} beef lamb",
    "animal material": "leather suede fur wool silk calfskin sheepskin",
    "sweetener": "sugar honey syrup molasses stevia saccharin aspartame agave",
    "citrus": "citrus lemon lime grapefruit",
    "plastic": "plastic polyester nylon polystyrene pvc acrylic polypropylene polyethylene",
}
KINDS: Final = {
    " ".join(stem_of(word) for word in kind.split()): frozenset(stem_of(word) for word in words.split())
    for kind, words in _KINDS.items()
}
"""For the stems of each kind those of what belongs to it."""
_WORD: Final = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*")
_WITHOUT: Final = re.compile(
    r"\b(?:free|without|instead\s+of|substitute|vegan|imitation|mock|alternative|replac\w+|unlike|oat|soya?|coconut|cocoa|shea|peanut\s+butter)\b|-free\b|\bnon-",
    re.IGNORECASE,
)


_SPENT_ON: Final = re.compile(r"(?:money|spending|budget|traces?|use)\s+(?:for|on|of)\s+", re.IGNORECASE)


def of_kind(topic: str) -> frozenset[str]:
    """Return the stems of what belongs to the kind that a topic names; empty when it is none of these."""
    stems = [stem_of(word.lower()) for word in _WORD.findall(topic)]
    behind = _SPENT_ON.match(topic)
    stems = [stem_of(word.lower()) for word in _WORD.findall(topic[behind.end() :])] if behind is not None else stems
    return KINDS.get(" ".join(stems), frozenset())


def named(facts: TextFacts, stems: frozenset[str]) -> Iterator[tuple[str, Span]]:
    """Yield the words of a kind that a text uses, with their places; none where a sentence says that it is without."""
    for sentence in facts.sentences:
        said = facts.text[sentence.start : sentence.end]
        if _WITHOUT.search(said) or is_negated(said) or said.rstrip().endswith("?"):
            continue
        for match in _WORD.finditer(said):
            if stem_of(match.group().lower()) in stems:
                yield match.group(), Span(sentence.start + match.start(), sentence.start + match.end())
