"""What verifying claims costs, for the door: about the characters that the models read (ADR 0127)."""

from collections.abc import Sequence
from typing import Final

from crp.dpe.v1 import guard_pb2
from crp.dpe.v1 import guard_service_pb2 as pb

from services.common.rpc.work import CALL_UNITS

_EMBEDDED: Final = 2
"""A source is embedded whole and sentence by sentence; claims are compared with everything."""


def verify_units(request: pb.VerifyClaimsRequest) -> int:
    """Return what VerifyClaims costs."""
    return CALL_UNITS + len(request.response) + len(request.question) + _sources(request.sources)


def batch_units(request: pb.VerifyClaimsBatchRequest) -> int:
    """Return what VerifyClaimsBatch costs."""
    texts = sum(CALL_UNITS + len(text.content) + len(text.question) for text in request.texts)
    return CALL_UNITS + texts + _sources(request.sources)


def _sources(sources: Sequence[guard_pb2.GroundingText]) -> int:
    return sum(len(source.content) for source in sources) // _EMBEDDED
