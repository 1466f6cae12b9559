"""What the stored answer to an ingestion quotes of other sources: it goes when these are erased (ADR 0112)."""

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Final

from crp.ckf.v1 import ingestion_pb2, knowledge_service_pb2
from google.protobuf.message import DecodeError

from services.common.ports.receipts import Receipt

QUOTING_RPC: Final = "IngestSource"
"""Its answers tell which facts of other sources say the same, or disagree."""


def quoted_sources(receipt: Receipt) -> frozenset[str]:
    """Return the sources whose words the answer holds beside those of its own."""
    answer = _answer(receipt.response) if receipt.rpc == QUOTING_RPC else None
    return frozenset(one.other_source_id for one in _like(answer) if one.other_content) if answer else frozenset()


def without_words_of(response: bytes, source_ids: Collection[str]) -> bytes:
    """Return the answer to an ingestion without what it quotes of these sources; the facts' ids stay."""
    answer = _answer(response)
    if answer is None:
        return response
    told = [one for one in _like(answer) if one.other_source_id in source_ids]
    for one in told:
        one.ClearField("other_content")
        if isinstance(one, ingestion_pb2.DisagreeingFact):
            one.ClearField("other_value")
    return answer.SerializeToString(deterministic=True) if told else response


def unquoted(receipt: Receipt, source_ids: Collection[str]) -> Receipt:
    """Return a receipt whose answer quotes none of these sources."""
    return replace(receipt, response=without_words_of(receipt.response, source_ids)) if source_ids else receipt


def _answer(response: bytes) -> knowledge_service_pb2.IngestSourceResponse | None:
    """Read an answer; ``None`` for one that does not parse, which nobody is given either."""
    try:
        return knowledge_service_pb2.IngestSourceResponse.FromString(response)
    except DecodeError:
        return None


def _like(
    answer: knowledge_service_pb2.IngestSourceResponse,
) -> Iterator[ingestion_pb2.DuplicateFact | ingestion_pb2.DisagreeingFact]:
    yield from answer.report.duplicates
    yield from answer.report.disagreements
