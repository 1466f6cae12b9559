"""What knowledge and envelope calls cost, for the door, in characters of an analysed answer.

Ingestion reads a character about twenty times as fast as an analysis does (docs/benchmarks.md). Searches and envelopes
embed a question: their work is bounded with the rest, and they are too short to wait behind analyses.
"""

from collections.abc import Mapping
from typing import Final

from crp.ckf.v1 import knowledge_service_pb2 as pb

from services.common.rpc.work import CALL_UNITS, Work

_READ: Final = 20
"""Characters that are ingested for the price of one that is analysed."""
_FACT_UNITS: Final = 4
_QUESTION_UNITS: Final = 40
_RESCORED_UNITS: Final = 400
_COUNTED: Final = 500
_COMMUNITIES_UNITS: Final = 5_000
_RESCORED: Final = frozenset({pb.SEARCH_MODE_RERANKED, pb.SEARCH_MODE_LATE_INTERACTION})


def _facts_units(request: pb.IngestFactsRequest) -> int:
    characters = sum(len(fact.content) for fact in request.facts)
    return CALL_UNITS + _FACT_UNITS * len(request.facts) + characters // _READ


def _diff_units(request: pb.DiffSourcesRequest) -> int:
    sides = (request.before, request.after)
    return CALL_UNITS + sum(len(side.document.content) for side in sides) // _COUNTED


def _question_units(query: str, mode: int) -> int:
    return _QUESTION_UNITS + len(query) // _READ + (_RESCORED_UNITS if mode in _RESCORED else 0)


KNOWLEDGE_WORK: Final[Mapping[str, Work]] = {
    "IngestSource": Work(lambda request: CALL_UNITS + len(request.content) // _READ),
    "IngestSourceStream": Work(lambda request: CALL_UNITS + len(request.source.content) // _READ),
    "PreviewIngestion": Work(lambda request: CALL_UNITS + len(request.content) // _READ),
    "DiffSources": Work(_diff_units, computes=False),
    "IngestFacts": Work(_facts_units),
    "SearchFacts": Work(lambda request: _question_units(request.query, request.mode), computes=False),
    "RebuildCommunities": Work(lambda _: _COMMUNITIES_UNITS, computes=False),
}
ENVELOPE_WORK: Final[Mapping[str, Work]] = {
    "BuildEnvelope": Work(lambda request: _question_units(request.query, request.retrieval_mode), computes=False),
    "PreviewEnvelope": Work(lambda request: _question_units(request.query, request.retrieval_mode), computes=False),
    "CountTokens": Work(lambda request: sum(len(text) for text in request.texts) // _COUNTED, computes=False),
}
