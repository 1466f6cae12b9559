"""Trace events as JSON documents: what is signed, kept, sent and exported (ERCP 1.0 §4.3, §5; ADR 0073)."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any, Final

from services.common.encoding import iso_micros, parse_iso_micros, sha256_hex
from services.ercp.domain.records import (
    Constraint,
    ConstraintOutcome,
    Decoding,
    Doubt,
    Fault,
    ModelIdentity,
    OpenGround,
)
from services.ercp.domain.vocabulary import Operator, Standing

MAX_TEXT_CHARS: Final = 400
"""Of a text that stands in a summary; its length and digest stand beside it."""
MAX_LISTED: Final = 40
"""Of the members of a list that stand in a summary; their number stands beside it."""
MAX_BYTES: Final = 48 * 1024
"""Of both summaries of an event as JSON: dag keeps 64 KiB for one, and redacting may lengthen a text."""
_CUTS: Final = ((MAX_TEXT_CHARS, MAX_LISTED), (200, 40), (100, 40), (50, 40), (50, 20), (50, 10), (20, 5))
"""Characters of each text and members of each list, tried in this order."""
_ITEMS: Final = "items"
MAX_TOLD_PLACES: Final = 4
"""Of the places that decided about one constraint."""
_URGENT: Final = (Standing.BROKEN, Standing.UNDECIDED, Standing.KEPT)
_WORD: Final = re.compile(r"[a-z][a-z0-9_]{0,31}")
_UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class SensitiveText:
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
        "excerpt": SensitiveText(text[:MAX_TEXT_CHARS]),
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
                "nl_text": SensitiveText(each.nl_text[:MAX_TEXT_CHARS]),
                "predicate_name": each.predicate.name,
                "args": {_name(name): _told(value) for name, value in each.predicate.args.items()},
                "detected_by": each.source.detected_by.value,
                "confidence": each.confidence,
                "immutable": each.immutable,
                **({"understood_by": each.predicate.understood_by} if each.predicate.understood_by else {}),
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
                "error_id": each.error_id if _UUID.fullmatch(each.error_id) else _told(each.error_id),
                "type": each.type.value,
                "span": list(each.span or ()),
                "excerpt": SensitiveText(each.excerpt[:MAX_TEXT_CHARS]),
                "confidence": each.confidence,
                "detected_by": [detector.value for detector in each.detected_by],
            }
            for each in faults[:MAX_LISTED]
        ],
    }


def doubt_summary(doubts: Sequence[Doubt]) -> dict[str, Any]:
    """Return how many doubts there are, and the first of them; nothing where there is none (ADR 0179)."""
    if not doubts:
        return {}
    return {
        "doubts": {
            "count": len(doubts),
            "items": [
                {
                    "type": each.type.value,
                    "span": list(each.span or ()),
                    "excerpt": SensitiveText(each.excerpt[:MAX_TEXT_CHARS]),
                    "source": _told(each.source),
                    "against": SensitiveText(each.against[:MAX_TEXT_CHARS]),
                    "confidence": each.confidence,
                    "why": each.why,
                }
                for each in doubts[:MAX_LISTED]
            ],
        }
    }


def ground_summary(grounds: Sequence[OpenGround]) -> dict[str, Any]:
    """Return how many statements nothing given bears out, and where the first stand; nothing where none (ADR 0185)."""
    if not grounds:
        return {}
    return {"open_grounds": {"count": len(grounds), "spans": [list(each.span) for each in grounds[:MAX_LISTED]]}}


def outcome_summary(outcomes: Sequence[ConstraintOutcome]) -> dict[str, Any]:
    """Return how many constraints a draft keeps, breaks and leaves undecided, the state of each, and what decided.

    ``states`` names every constraint; of the first of them, those that are not kept before the others, ``items`` says
    why and where.
    """
    told = sorted(outcomes, key=lambda each: _URGENT.index(each.standing))
    return {
        "count": len(outcomes),
        **{standing.value: sum(each.standing is standing for each in outcomes) for standing in Standing},
        "states": {each.constraint_id: each.standing.value for each in outcomes},
        "items": [
            {
                "constraint_id": each.constraint_id,
                "state": each.standing.value,
                "undecided_reason": "" if each.reason is None else each.reason.value,
                "why": SensitiveText(each.why[:MAX_TEXT_CHARS]),
                "places": [
                    {"span": [place.start, place.end], "sentence": SensitiveText(place.sentence[:MAX_TEXT_CHARS])}
                    for place in each.places[:MAX_TOLD_PLACES]
                ],
            }
            for each in told[:MAX_LISTED]
        ],
    }


def _name(name: str) -> str | SensitiveText:
    """Return an argument's name: one that is no word of a predicate language may be anything, a person's included."""
    return name if _WORD.fullmatch(name) else SensitiveText(name[:MAX_TEXT_CHARS])


def _told(value: Any) -> Any:
    if isinstance(value, Mapping | list | tuple):
        value = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return SensitiveText(value[:MAX_TEXT_CHARS]) if isinstance(value, str) else value


def bounded(summary: Any) -> Any:
    """Return the summary in at most ``MAX_BYTES`` as JSON: texts cut shorter and lists too, as far as is needed."""
    for chars, listed in _CUTS:
        short = _shortened(summary, listed)
        texts = [text[:chars] for text in told_texts(short)]
        size = len(json.dumps(with_texts(short, list(texts)), ensure_ascii=False).encode())
        if size <= MAX_BYTES:
            break
    return with_texts(short, [SensitiveText(text) for text in texts])


def _shortened(summary: Any, listed: int) -> Any:
    """Return the summary with at most so many items of each list that has its number beside it."""
    if isinstance(summary, Mapping):
        return {
            name: _shortened(value[:listed] if name == _ITEMS else value, listed) for name, value in summary.items()
        }
    return [_shortened(value, listed) for value in summary] if isinstance(summary, list | tuple) else summary


def told_texts(summary: Any) -> list[str]:
    """Return every text of a summary that has to be redacted, in order."""
    if isinstance(summary, SensitiveText):
        return [summary.text]
    if isinstance(summary, Mapping):
        return [text for pair in summary.items() for part in pair for text in told_texts(part)]
    if isinstance(summary, list | tuple):
        return [text for value in summary for text in told_texts(value)]
    return []


def with_texts(summary: Any, texts: list[Any]) -> Any:
    """Return the summary with its texts replaced, in order; ``texts`` is used up."""
    if isinstance(summary, SensitiveText):
        return texts.pop(0)
    if isinstance(summary, Mapping):
        return {with_texts(name, texts): with_texts(value, texts) for name, value in summary.items()}
    if isinstance(summary, list | tuple):
        return [with_texts(value, texts) for value in summary]
    return summary


def signed(event: TraceEvent, signature: str) -> TraceEvent:
    """Return the event with its signature."""
    return replace(event, node_signature=signature)
