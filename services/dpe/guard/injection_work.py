"""What a search for injections costs, for the door: about the characters that the models read (ADR 0125)."""

from typing import Final

from crp.dpe.v1 import guard_service_pb2 as pb

from services.common.rpc.work import CALL_UNITS

_GLANCED: Final = 4
"""The classifier reads the whole input once, at about a quarter of what a character costs in a pair (ADR 0227)."""
_DIRECTIONS: Final = 2


def detect_units(request: pb.DetectInjectionRequest) -> int:
    """Return what DetectInjection costs: the classifier reads the input, models the answer in both directions."""
    compared = _DIRECTIONS * len(request.response) if request.intent and request.response else 0
    return CALL_UNITS + compared + (len(request.input) + len(request.intent)) // _GLANCED
