"""An audit export as a file: events, and with content also analyses and facts, one JSON object per line (ADR 0043)."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from crp.ckf.v1 import ckf_pb2
from crp.dpe.v1 import report_pb2
from google.protobuf.json_format import ParseDict, ParseError

from services.common.encoding import canonical_json
from services.common.errors import FieldViolation, InvalidRequestError
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
        erased: windows of which the report, like all content of the session, was erased.
    """

    sealed: dict[str, dict[str, Any]]
    analyses: tuple[ExportedAnalysis, ...]
    facts: dict[str, dict[str, Any]] = field(repr=False)
    erased: tuple[str, ...] = ()


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
    held = _Held()
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            _take(json.loads(line, parse_constant=_no_number), held)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError, ParseError):
            what = "is not a line of an audit export, or was changed; `groundtrail verify --offline` says which"
            raise InvalidRequestError.of(FieldViolation(f"line {number}", what)) from None
    analyses = sorted(held.analyses, key=lambda item: (item.window_number, item.window_id))
    return Export(held.sealed, tuple(analyses), held.facts, tuple(held.erased))


@dataclass(slots=True)
class _Held:
    """What was read so far."""

    sealed: dict[str, dict[str, Any]] = field(default_factory=dict)
    analyses: list[ExportedAnalysis] = field(default_factory=list)
    facts: dict[str, dict[str, Any]] = field(default_factory=dict)
    erased: list[str] = field(default_factory=list)


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


def _take(value: Any, held: _Held) -> None:
    record = value.get("record", "event")
    if record == ANALYSIS:
        held.analyses.append(
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
        held.facts[str(value["fact"]["fact_id"])] = dict(value["fact"])
    elif value["event_type"] in _COMPLETED:
        _take_completed(str(value["window_id"]), value["data"], held)


def _take_completed(window_id: str, data: Any, held: _Held) -> None:
    if window_id in held.sealed or window_id in held.erased:
        msg = "a window is completed once"
        raise ValueError(msg)
    if data is None:
        held.erased.append(window_id)
    else:
        held.sealed[window_id] = dict(data["report"])
