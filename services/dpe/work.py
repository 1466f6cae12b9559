"""What provenance calls cost, for the door: about the characters that the models read.

Claims grow with the answer, and so do the pairs that are compared, which is nearly all of the work (docs/benchmarks.md,
"Provenance engine"); facts with vectors add little, earlier windows and prompts are looked through once.
"""

from collections.abc import Mapping
from typing import Final

from crp.dpe.v1 import provenance_service_pb2 as pb

from services.common.rpc.work import CALL_UNITS, Work

_GLANCED: Final = 8
"""Characters that are searched, or told apart, for the price of one that is compared with everything."""
_FACT_UNITS: Final = 2


def analysis_units(request: pb.AnalyzeRequest) -> int:
    """Return what an analysis costs."""
    glanced = len(request.prompt) + sum(len(window.text) for window in request.prior_windows)
    facts = request.envelope.facts
    unread = sum(len(fact.content) for fact in facts if not fact.embedding)
    compared = len(request.query) + len(request.response_text)
    return CALL_UNITS + compared + _FACT_UNITS * len(facts) + (glanced + unread) // _GLANCED


def check_units(request: pb.CheckRequest) -> int:
    """Return what a check costs: its facts are embedded, and documents read before."""
    facts = sum(len(fact.content) for fact in request.facts)
    documents = sum(len(document.content) for document in request.documents)
    glanced = facts + documents + sum(map(len, request.earlier_answers))
    compared = len(request.question) + len(request.answer)
    return CALL_UNITS + compared + _FACT_UNITS * len(request.facts) + glanced // _GLANCED


WORK: Final[Mapping[str, Work]] = {
    "Analyze": Work(analysis_units),
    "AnalyzeStream": Work(lambda request: analysis_units(request.analysis)),
    "SegmentClaims": Work(lambda request: (CALL_UNITS + len(request.text)) // _GLANCED),
    "VerifySummary": Work(lambda request: CALL_UNITS + len(request.summary) + len(request.original) // _GLANCED),
    "Check": Work(check_units),
}
