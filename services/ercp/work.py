"""What ERCP calls cost, for the door: the size of what they bring, and of the candidates that a run will write.

They take no place to compute: they wait for language models and for other services, whose calls take theirs.
"""

from collections.abc import Mapping
from typing import Any, Final

from services.common.rpc.work import CALL_UNITS, Work

_CANDIDATE_UNITS: Final = 2_000
"""A candidate's text, written and verified."""


def _brought(request: Any) -> int:
    return CALL_UNITS + int(request.ByteSize())


def _written(request: Any) -> int:
    return _brought(request) + _CANDIDATE_UNITS


WORK: Final[Mapping[str, Work]] = {
    "Run": Work(_written, computes=False),
    "RunStream": Work(_written, computes=False),
    "Generate": Work(_written, computes=False),
    "Verify": Work(_brought, computes=False),
    "ExtractConstraints": Work(_brought, computes=False),
    "Stabilize": Work(_brought, computes=False),
    "Mutate": Work(_brought, computes=False),
}
