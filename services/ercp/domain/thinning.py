"""What kinds of sentences take from the pairs that the entailment model reads (ADR 0118)."""

from collections.abc import Sequence

from services.ercp.domain.unit_vocabulary import UnitKind
from services.ercp.domain.units import Units


def asserting(pairs: Sequence[tuple[int, int]], units: Units) -> list[tuple[int, int]]:
    """Return the pairs whose sentences both assert something: what is assumed contradicts nothing."""
    assumed = {at for at, unit in enumerate(units.units) if UnitKind.ASSUMPTION in unit.kinds}
    return [pair for pair in pairs if assumed.isdisjoint(pair)]
