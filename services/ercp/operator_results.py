"""What an operator hands back besides its result: what the trace says of it (ERCP 1.0 §4.3, §5)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from services.ercp.domain.records import Decoding, ModelIdentity
from services.ercp.domain.trace import MAX_LISTED
from services.ercp.ports import Fidelity

ResultT = TypeVar("ResultT")


@dataclass(frozen=True, slots=True)
class OperatorResult(Generic[ResultT]):
    """An operator that ran.

    Attributes:
        inputs, outputs: summaries for the trace; texts in them are ``Told``.
        decoding: ``None`` when it decoded no text.
        window_id: the DAG window that it wrote; empty for none.
    """

    result: ResultT
    inputs: Mapping[str, Any]
    outputs: Mapping[str, Any]
    identity: ModelIdentity
    decoding: Decoding | None = None
    window_id: str = ""


def fidelity_summary(fidelity: Fidelity) -> dict[str, Any]:
    """Return a report's fidelity for the trace, and which constraints it was lowered by (ADR 0078)."""
    return {
        "score": fidelity.score,
        "score_without_violations": fidelity.score_without,
        "constraints": fidelity.constraints,
        "violated": _listed(fidelity.violated),
        "not_computed": _listed(fidelity.unknown),
    }


def _listed(ids: Sequence[str]) -> dict[str, Any]:
    return {"count": len(ids), "items": list(ids[:MAX_LISTED])}
