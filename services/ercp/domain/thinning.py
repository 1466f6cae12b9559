"""What kinds of sentences take back of what rules suspect: a reason is given, nothing is asserted (ADR 0118)."""

from collections.abc import Sequence

from services.ercp.domain.faults import Suspicion
from services.ercp.domain.unit_vocabulary import Relation, UnitKind
from services.ercp.domain.units import Units
from services.ercp.domain.vocabulary import Detector, ErrorType


def justified(suspicions: Sequence[Suspicion], units: Units) -> list[Suspicion]:
    """Return the suspicions without conclusions that a rule finds bare and that a neighbour gives the reason for."""
    claims = {first for first, _ in units.related(Relation.JUSTIFIES)}
    starts = {units.units[at].start for at in claims}
    return [each for each in suspicions if not _is_answered(each, starts)]


def _is_answered(suspicion: Suspicion, starts: set[int]) -> bool:
    is_bare = suspicion.type is ErrorType.MISSING_JUSTIFICATION and suspicion.detector is Detector.RULE
    return is_bare and suspicion.span is not None and suspicion.span[0] in starts


def asserting(pairs: Sequence[tuple[int, int]], units: Units) -> list[tuple[int, int]]:
    """Return the pairs whose sentences both assert something: what is assumed contradicts nothing."""
    assumed = {at for at, unit in enumerate(units.units) if UnitKind.ASSUMPTION in unit.kinds}
    return [pair for pair in pairs if assumed.isdisjoint(pair)]
