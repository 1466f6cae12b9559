"""What the guard's calls cost, for the door: about the characters that the models read, as in ``services.dpe.work``."""

from typing import Final

from crp.dpe.v1 import guard_service_pb2 as pb

from services.common.rpc.work import CALL_UNITS

_GLANCED: Final = 8
"""Characters that are searched for the price of one that is compared with everything."""
_FACT_UNITS: Final = 2


def coherence_units(request: pb.ScoreCoherenceRequest) -> int:
    """Return what a coherence score costs."""
    facts = sum(len(fact.content) for fact in request.facts)
    compared = len(request.response) + _FACT_UNITS * len(request.facts)
    return CALL_UNITS + compared + (len(request.prompt) + facts) // _GLANCED
