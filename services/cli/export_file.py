"""An audit export as a file: events, and with content also analyses and facts, one JSON object per line (ADR 0043)."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from crp.ckf.v1 import ckf_pb2
from crp.dpe.v1 import report_pb2
from google.protobuf.json_format import ParseDict, ParseError

from services.common.encoding import canonical_json
from services.common.errors import ErrorReason, FieldViolation, InvalidRequestError
from services.common.rpc.canonical import message_json

ANALYSIS: Final = "analysis"
FACT: Final = "fact"
PROOFS: Final = ("leaf", "log")
_COMPLETED: Final = ("AUDIT_EVENT_TYPE_DPE_COMPLETED", "DPE_COMPLETED")


@dataclass(frozen=True, slots=True)
class ExportedAnalysis:
    """One committed window of an export; ``inputs`` is ``None`` when they were not kept."""

    window_id: str
    window_number: int
    answer: str = field(repr=False)
    report: dict[str, Any] = field(repr=False)
    inputs: dict[str, Any] | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class Export:
    """A whole export.

    Attributes:
        sealed: what the chained DPE_COMPLETED event says of each window's report, its hash and that of its inputs.
        analyses: by window number; empty when the export was made without content.
        facts: by id, as ``crp.ckf.v1.Fact`` in JSON; facts that were erased are not among them.
    """

    sealed: dict[str, dict[str, Any]]
    analyses: tuple[ExportedAnalysis, ...]
    facts: dict[str, dict[str, Any]] = field(repr=False)


def fact_line(fact: ckf_pb2.Fact) -> str:
    """Return a fact's line: what an analysis read of it, and nothing that no hash in the export covers (ADR 0102)."""
    told = ckf_pb2.Fact(
        fact_id=fact.fact_id, content=fact.content, content_hash=fact.content_hash, entities=fact.entities
    )
    line = message_json(told)
    line.pop("stale_reason")  # of the moment of reading, and not of the form that exports have (wire formats, 9.6)
    return canonical_json({"record": FACT, "fact": line}).decode()


def read_export(lines: Iterable[str]) -> Export:
    """Read an export.

    Raises:
        InvalidRequestError: INVALID_FIELD: a line is no JSON object or lacks a field; the message names the line.
    """
    sealed: dict[str, dict[str, Any]] = {}
    analyses: list[ExportedAnalysis] = []
    facts: dict[str, dict[str, Any]] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            _take(json.loads(line, parse_constant=_no_number), sealed, analyses, facts)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError, ParseError) as error:
            what = f"is not a line of an audit export ({type(error).__name__})"
            raise InvalidRequestError(
                ErrorReason.INVALID_FIELD,
                f"line {number} {what}",
                violations=(FieldViolation(f"line {number}", what),),
            ) from None
    analyses.sort(key=lambda item: (item.window_number, item.window_id))
    return Export(sealed, tuple(analyses), facts)


def _no_number(name: str) -> float:
    """Refuse NaN and infinities, which Python would read and JSON does not have."""
    msg = f"{name} is no number of JSON"
    raise ValueError(msg)


def _report(value: Any) -> dict[str, Any]:
    """Return a report that has the form of one; what a later version adds to it stays."""
    ParseDict(value, report_pb2.DpeReport(), ignore_unknown_fields=True)
    # With unknown fields allowed, a text passes for a message.
    if not all(isinstance(each, dict) for name in ("stages", "models") for each in value.get(name, ())):
        msg = "stages and models are lists of objects"
        raise TypeError(msg)
    return dict(value)


def _take(
    value: Any,
    sealed: dict[str, dict[str, Any]],
    analyses: list[ExportedAnalysis],
    facts: dict[str, dict[str, Any]],
) -> None:
    record = value.get("record", "event")
    if record == ANALYSIS:
        analyses.append(
            ExportedAnalysis(
                str(value["window_id"]),
                int(value["window_number"]),
                str(value["response_text"]),
                _report(value["report"]),
                None if value["inputs"] is None else dict(value["inputs"]),
            )
        )
    elif record in PROOFS:
        return  # for `verify --offline`
    elif record == FACT:
        facts[str(value["fact"]["fact_id"])] = dict(value["fact"])
    elif value["event_type"] in _COMPLETED and value["data"] is not None:  # erased otherwise
        window_id = str(value["window_id"])
        if window_id in sealed:
            msg = "a window is completed once"
            raise ValueError(msg)
        sealed[window_id] = dict(value["data"]["report"])
