"""What really flowed along the edges that were opened as SUMMARY (SPEC-004 §12.3, §12.4)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from services.common.encoding import sha256_hex
from services.common.errors import FieldViolation, InvalidRequestError
from services.common.ports.sessions import EdgeRecord, TransferType
from services.dag.domain.events import OwnEvent, PendingEvent

FAITHFUL_FROM: Final = 0.80
"""§12.3: under it RESULT_ONLY flows."""


@dataclass(frozen=True, slots=True)
class FlowedTransfer:
    """What the caller says of one edge.

    Attributes:
        transfer_type: SUMMARY or RESULT_ONLY.
        tokens: that flowed.
        summary_text: with SUMMARY; empty otherwise.
        fidelity_score: of VerifySummary; ``None`` when it did not run.
        model_fingerprint: who wrote the summary; empty when nobody did.
        reason: why RESULT_ONLY flowed; empty with SUMMARY.
    """

    source_id: str
    transfer_type: TransferType
    tokens: int
    summary_text: str = ""
    fidelity_score: float | None = None
    model_fingerprint: str = ""
    reason: str = ""


def settle(
    edges: Sequence[EdgeRecord], flowed: Sequence[FlowedTransfer], asked_tokens: Mapping[str, int]
) -> tuple[tuple[EdgeRecord, ...], tuple[PendingEvent, ...]]:
    """Return the edges that were opened as SUMMARY as they shall be, and a SUMMARISATION event for each.

    Args:
        edges: into the window.
        flowed: what the caller says.
        asked_tokens: N for each source (``OpeningNote``).

    Raises:
        InvalidRequestError: INVALID_FIELD: an edge that was opened as SUMMARY is not named, or another one is.
    """
    open_edges = {edge.source_id: edge for edge in edges if edge.transfer_type is TransferType.SUMMARY}
    wrong = [
        FieldViolation(f"transfers[{index}].source_window_id", "must be a parent that was opened with SUMMARY")
        for index, transfer in enumerate(flowed)
        if transfer.source_id not in open_edges
    ]
    unsaid = sorted(set(open_edges) - {transfer.source_id for transfer in flowed})
    if unsaid:
        text = f"must say what flowed from every parent that was opened with SUMMARY; missing: {', '.join(unsaid)}"
        wrong.append(FieldViolation("transfers", text))
    if wrong:
        raise InvalidRequestError.of(*wrong)
    ordered = sorted(flowed, key=lambda transfer: transfer.source_id)
    settled = tuple(_edge(open_edges[transfer.source_id], transfer) for transfer in ordered)
    drafts = tuple(
        _draft(edge, transfer, asked_tokens.get(edge.source_id, 0))
        for edge, transfer in zip(settled, ordered, strict=True)
    )
    return settled, drafts


def _edge(edge: EdgeRecord, transfer: FlowedTransfer) -> EdgeRecord:
    is_summary = transfer.transfer_type is TransferType.SUMMARY
    return replace(
        edge,
        transfer_type=transfer.transfer_type,
        transferred_tokens=transfer.tokens,
        summary_hash=sha256_hex(transfer.summary_text) if is_summary else "",
    )


def _draft(edge: EdgeRecord, transfer: FlowedTransfer, asked_tokens: int) -> PendingEvent:
    data: dict[str, object] = {
        "source_id": edge.source_id,
        "summary_tokens": asked_tokens,
        "transferred_tokens": edge.transferred_tokens,
        "summary_hash": edge.summary_hash,
        "model_fingerprint": transfer.model_fingerprint,
        "outcome": edge.transfer_type.value,
        "reason": transfer.reason,
    }
    if transfer.fidelity_score is not None:
        data["fidelity_score"] = transfer.fidelity_score
    return PendingEvent(OwnEvent.SUMMARISATION, edge.target_id, data)
