"""What a search for injections costs, for the door: about the characters that the models read (ADR 0125)."""

from typing import Final

from crp.dpe.v1 import guard_service_pb2 as pb

from services.common.rpc.work import CALL_UNITS

_GLANCED: Final = 8
_DIRECTIONS: Final = 2


def detect_units(request: pb.DetectInjectionRequest) -> int:
    """Return what DetectInjection costs: rules look through the input, models read the answer in both directions."""
    compared = _DIRECTIONS * len(request.response) if request.intent and request.response else 0
    return CALL_UNITS + compared + (len(request.input) + len(request.intent)) // _GLANCED
