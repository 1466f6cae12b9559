"""Whether what a constraint demands stands nowhere in a draft: its name, its options, its amount (ADR 0117)."""

from services.common.reading.terms import terms
from services.ercp.domain.predicates import Amount, Options, Predicate, PredicateName, Text, TextFacts
from services.ercp.domain.predicates.aligning import Measure, demanded_measure, measure_of, on_scale, places_of


def is_absent(predicate: Predicate, facts: TextFacts) -> bool:
    """Say whether the text nowhere names the value of Equal or an option of OneOf, or gives only other amounts."""
    if predicate.name not in {PredicateName.EQUAL, PredicateName.ONE_OF} or predicate.tolerance is not None:
        return False
    match predicate.right:
        case Text(text=text):
            return not _named(facts, (text,))
        case Options(texts=options):
            return not _named(facts, options)
        case Amount():
            wanted = demanded_measure(predicate.right)
            return wanted is not None and _only_others(facts, wanted)
        case _:
            return False


def _named(facts: TextFacts, names: tuple[str, ...]) -> bool:
    """Say whether all words of one of the names stand in the text; a name without words might stand anywhere."""
    said = facts.selected.get(_named)
    if not isinstance(said, frozenset):
        said = facts.selected[_named] = terms(facts.text)
    folded = facts.text.casefold()
    return any(name.casefold() in folded or not terms(name) or terms(name) <= said for name in names)


def _only_others(facts: TextFacts, wanted: Measure) -> bool:
    """Say whether the text gives amounts of the kind and none is the one; what is for a period may add up to it."""
    found = []
    for place in places_of(facts):
        measure = measure_of(place.value)
        scaled = None if measure is None else on_scale(measure, wanted)
        if scaled is not None and not place.label:
            found.append((scaled, place))
    if any(place.value.per or place.each or place.side is not None for _, place in found):
        return False
    return bool(found) and all(scaled.amount != wanted.amount for scaled, _ in found)
