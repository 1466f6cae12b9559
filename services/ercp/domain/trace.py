"""Trace events as JSON documents: what is signed, kept, sent and exported (ERCP 1.0 §4.3, §5; ADR 0073)."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any, Final

from services.common.encoding import iso_micros, parse_iso_micros, sha256_hex
from services.ercp.domain.records import Constraint, Decoding, Fault, ModelIdentity
from services.ercp.domain.vocabulary import Operator

MAX_TEXT_CHARS: Final = 400
"""Of a text that stands in a summary; its length and digest stand beside it."""
MAX_LISTED: Final = 40
"""Of the members of a list that stand in a summary; their number stands beside it."""


@dataclass(frozen=True, slots=True)
class Told:
    """A text in a summary that may hold personal data; the journal redacts it before it goes anywhere (§11)."""

    text: str


@dataclass(frozen=True, slots=True)
class TraceEvent:
    """One operator that ran (§4.3).

    Attributes:
        decoding: ``None`` when it decoded no text.
        window_id: the DAG window that it is about; empty for none.
    """

    event_id: str
    trace_id: str
    timestamp: datetime
    operator: Operator
    input_summary: Mapping[str, Any]
    output_summary: Mapping[str, Any]
    identity: ModelIdentity
    decoding: Decoding | None = None
    node_signature: str = ""
    window_id: str = field(default="", compare=False)


def document(event: TraceEvent) -> dict[str, Any]:
    """Return the event as the JSON of the document."""
    identity = event.identity
    return {
        "event_id": event.event_id,
        "trace_id": event.trace_id,
        "timestamp": iso_micros(event.timestamp),
        "operator": event.operator.value,
        "input_summary": dict(event.input_summary),
        "output_summary": dict(event.output_summary),
        "model_fingerprint": identity.fingerprint,
        "node_signature": event.node_signature,
        "decoding_parameters": None if event.decoding is None else asdict(event.decoding),
        "model_identity": {
            "model_name": identity.model_name,
            "version": identity.version,
            "weights_sha256": identity.weights_sha256,
            "provider_metadata": dict(identity.provider_metadata),
            "response_sha256": identity.response_sha256,
        },
    }


def from_document(value: Mapping[str, Any], window_id: str = "") -> TraceEvent:
    """Read what ``document`` wrote.

    Raises:
        ValueError, KeyError, TypeError: it is none.
    """
    decoding = value["decoding_parameters"]
    return TraceEvent(
        event_id=str(value["event_id"]),
        trace_id=str(value["trace_id"]),
        timestamp=parse_iso_micros(value["timestamp"]),
        operator=Operator(value["operator"]),
        input_summary=dict(value["input_summary"]),
        output_summary=dict(value["output_summary"]),
        identity=ModelIdentity(**value["model_identity"]),
        decoding=None if decoding is None else Decoding(**decoding),
        node_signature=str(value["node_signature"]),
        window_id=window_id,
    )


def text_summary(text: str) -> dict[str, Any]:
    """Return length, digest and beginning of a text."""
    return {
        "chars": len(text),
        "sha256": sha256_hex(text.encode("utf-8", "surrogatepass")),
        "excerpt": Told(text[:MAX_TEXT_CHARS]),
    }


def constraint_summary(constraints: Sequence[Constraint]) -> dict[str, Any]:
    """Return how many constraints there are, and the first of them."""
    return {
        "count": len(constraints),
        "items": [
            {
                "constraint_id": each.constraint_id,
                "type": each.type.value,
                "priority": each.priority.value,
                "nl_text": Told(each.nl_text[:MAX_TEXT_CHARS]),
                "predicate_name": each.predicate.name,
                "args": {name: _told(value) for name, value in each.predicate.args.items()},
                "detected_by": each.source.detected_by.value,
                "confidence": each.confidence,
                "immutable": each.immutable,
            }
            for each in constraints[:MAX_LISTED]
        ],
    }


def fault_summary(faults: Sequence[Fault]) -> dict[str, Any]:
    """Return how many errors there are, and the first of them."""
    return {
        "count": len(faults),
        "items": [
            {
                "error_id": each.error_id,
                "type": each.type.value,
                "span": list(each.span or ()),
                "excerpt": Told(each.excerpt[:MAX_TEXT_CHARS]),
                "confidence": each.confidence,
                "detected_by": [detector.value for detector in each.detected_by],
            }
            for each in faults[:MAX_LISTED]
        ],
    }


def _told(value: Any) -> Any:
    return Told(value[:MAX_TEXT_CHARS]) if isinstance(value, str) else value


def told_texts(summary: Any) -> list[str]:
    """Return every text of a summary that has to be redacted, in order."""
    if isinstance(summary, Told):
        return [summary.text]
    if isinstance(summary, Mapping):
        return [text for value in summary.values() for text in told_texts(value)]
    if isinstance(summary, list | tuple):
        return [text for value in summary for text in told_texts(value)]
    return []


def with_texts(summary: Any, texts: list[str]) -> Any:
    """Return the summary with its texts replaced, in order; ``texts`` is used up."""
    if isinstance(summary, Told):
        return texts.pop(0)
    if isinstance(summary, Mapping):
        return {name: with_texts(value, texts) for name, value in summary.items()}
    if isinstance(summary, list | tuple):
        return [with_texts(value, texts) for value in summary]
    return summary


def signed(event: TraceEvent, signature: str) -> TraceEvent:
    """Return the event with its signature."""
    return replace(event, node_signature=signature)
