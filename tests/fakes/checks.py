"""``Checker`` over the provenance servicer with models in memory."""

from services.allinone.check import Checker
from services.common.settings.dpe import DpeSettings
from services.dpe.compose import provenance_servicer
from tests.fakes.documents import ThreadReader
from tests.fakes.dpe_world import FixedIds, StandingClock, TableEntailment, TableGrounding, models

FEE = "The fee for late reports is 5 euros."


def memory_models():
    """Return models that support what stands in a passage and find any two different sentences contradictory."""
    support = TableGrounding(lambda request: float(any(request.claim in passage for passage in request.passages)))
    opposite = TableEntailment(lambda premise, text: (0.9, 0.1, 0.0) if premise == text else (0.0, 0.02, 0.98))
    return models(entailment=opposite, grounding=support)


def checker():
    """Return a ``Checker`` over ``memory_models``."""
    servicer, _ = provenance_servicer(memory_models(), DpeSettings(), StandingClock(), FixedIds(), ThreadReader())
    return Checker(lambda request: servicer.Check(request, None))
