"""Whether a recomputed report is the one that was exported, and if not, in which field (ADR 0043)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum, unique
from typing import Any, Final

from services.cli.export_file import ExportedAnalysis
from services.common.encoding import canonical_json, sha256_hex
from services.common.provenance import UNHASHED_REPORT_FIELDS, kept_report, report_hash

MARGIN: Final = 1e-5
"""Largest difference of a score between two machines or adapters (ADR 0032); on one machine there is none."""
MAX_FIELDS: Final = 12
"""Differences that are named per report."""
_OF_THE_RUN: Final = UNHASHED_REPORT_FIELDS | {"report_id", "timestamp", "build", "models"}
_DEADLINE: Final = "DEADLINE_TOO_SHORT"


@unique
class Replay(StrEnum):
    """What a replay found."""

    SAME = "SAME"
    """Every byte but report id, times and the hashes over them."""
    WITHIN_MARGIN = "WITHIN_MARGIN"
    """Everything but the last digits of scores: another processor, or another inference backend."""
    DIFFERS = "DIFFERS"
    """Another result, or an export that was altered; the fields are named."""
    OTHER_WEIGHTS = "OTHER_WEIGHTS"
    """Other models are installed here than those that made the report."""
    NOT_REPLAYABLE = "NOT_REPLAYABLE"
    """Something that the analysis read is not in the export; the reason says what."""


@unique
class Reason(StrEnum):
    """Why a report is not SAME; stable tokens."""

    NONE = ""
    CONTENT_NOT_EXPORTED = "CONTENT_NOT_EXPORTED"
    INPUTS_NOT_KEPT = "INPUTS_NOT_KEPT"
    FACT_ERASED = "FACT_ERASED"
    ANSWER_ERASED = "ANSWER_ERASED"
    DEADLINE_TOO_SHORT = "DEADLINE_TOO_SHORT"
    OTHER_POLICY = "OTHER_POLICY"
    EXPORT_ALTERED = "EXPORT_ALTERED"
    RESULT_DIFFERS = "RESULT_DIFFERS"
    SCORES_WITHIN_MARGIN = "SCORES_WITHIN_MARGIN"
    MODELS_DIFFER = "MODELS_DIFFER"


@dataclass(frozen=True, slots=True)
class Outcome:
    """One report's replay; ``fields`` are paths of the report that differ, ``note`` is for people."""

    window_id: str
    window_number: int
    report_id: str
    result: Replay
    reason: Reason = Reason.NONE
    fields: tuple[str, ...] = ()
    note: str = ""


def alterations(analysis: ExportedAnalysis, sealed: Mapping[str, Any] | None) -> tuple[str, ...]:
    """Return what of an exported analysis is not what was hashed and chained; empty when all of it is.

    Args:
        analysis: as exported.
        sealed: what the export's own DPE_COMPLETED event says; ``None`` = the export holds no such event.
    """
    found: list[str] = []
    report = analysis.report
    computed = report_hash(report)
    if computed != report.get("report_hash"):
        found.append("report (its report_hash is another)")
    if sealed is None:
        # Every report is committed with its event: without one nothing ties the line to the chain.
        found.append("report (no audit event of the export stands for it)")
    elif sealed.get("report_hash") != report.get("report_hash"):
        found.append("report_hash (the audit event has another)")
    if sha256_hex(analysis.answer) != report.get("response_content_hash"):
        found.append("response_text (its response_content_hash is another)")
    if sealed is not None:
        found += _altered_inputs(analysis.inputs, sealed.get("inputs_sha256"))
    return tuple(found)


def _altered_inputs(inputs: Mapping[str, Any] | None, kept: str | None) -> list[str]:
    if inputs is None:
        return [] if kept is None else ["inputs (they were taken out: the audit event has an inputs_sha256)"]
    if kept is None or sha256_hex(canonical_json(inputs)) != kept:
        return ["inputs (the audit event has another inputs_sha256, or none)"]
    return []


def unrepeatable(place: tuple[str, int, str], reason: Reason, altered: tuple[str, ...], note: str = "") -> Outcome:
    """Return the outcome of an analysis that cannot be repeated; an altered export is called that and nothing milder.

    Args:
        place: window id, window number, report id.
        reason: what stands in the way.
        altered: what ``alterations`` found.
        note: for people.
    """
    if altered:
        return Outcome(*place, Replay.DIFFERS, Reason.EXPORT_ALTERED, altered, note)
    return Outcome(*place, Replay.NOT_REPLAYABLE, reason, note=note)


def cut_short(report: Mapping[str, Any]) -> bool:
    """Say whether a deadline left a stage out: how far an analysis came cannot be repeated."""
    return any(stage.get("reason") == _DEADLINE for stage in report.get("stages", ()))


def compare(analysis: ExportedAnalysis, again: Mapping[str, Any], altered: tuple[str, ...]) -> Outcome:
    """Compare an exported report with the recomputed one, both in JSON form."""
    report = analysis.report
    place = (analysis.window_id, analysis.window_number, str(report.get("report_id", "")))
    weights = _model_differences(report, again)
    if weights:
        reason = Reason.EXPORT_ALTERED if altered else Reason.MODELS_DIFFER
        return Outcome(*place, Replay.OTHER_WEIGHTS, reason, weights, "; ".join(altered))
    differences = list(_differences(_comparable(report), _comparable(again), ""))
    fields = tuple(path for path, _ in differences[:MAX_FIELDS])
    if altered:
        return Outcome(*place, Replay.DIFFERS, Reason.EXPORT_ALTERED, (*altered, *fields)[:MAX_FIELDS])
    if report.get("policy_hash") != again.get("policy_hash"):
        note = "weights, amplifiers or thresholds are set otherwise here; replay with the settings of that time"
        return Outcome(*place, Replay.NOT_REPLAYABLE, Reason.OTHER_POLICY, ("policy_hash",), note)
    if not differences:
        return Outcome(*place, Replay.SAME, note=_build_note(report, again))
    if all(within for _, within in differences):
        return Outcome(*place, Replay.WITHIN_MARGIN, Reason.SCORES_WITHIN_MARGIN, fields, _build_note(report, again))
    return Outcome(*place, Replay.DIFFERS, Reason.RESULT_DIFFERS, fields, _build_note(report, again))


def _comparable(report: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in kept_report(report).items() if key not in _OF_THE_RUN}


def _model_differences(report: Mapping[str, Any], again: Mapping[str, Any]) -> tuple[str, ...]:
    then, now = ({m["role"]: m["fingerprint"] for m in side.get("models", ())} for side in (report, again))
    return tuple(
        f"models[{role}]: {then.get(role, 'none')}, here {now.get(role, 'none')}"
        for role in sorted(then.keys() | now.keys())
        if then.get(role) != now.get(role)
    )


def _build_note(report: Mapping[str, Any], again: Mapping[str, Any]) -> str:
    then, now = (side.get("build", {}).get("code_digest", "") for side in (report, again))
    return "" if then == now else f"made by code {then[:12] or 'unknown'}, replayed by {now[:12] or 'unknown'}"


def _differences(then: Any, now: Any, path: str) -> Iterator[tuple[str, bool]]:
    """Yield the path of every leaf that differs, and whether it is a score within the margin."""
    if isinstance(then, Mapping) and isinstance(now, Mapping):
        for key in sorted(then.keys() | now.keys()):
            yield from _differences(then.get(key), now.get(key), f"{path}.{key}" if path else str(key))
    elif isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        for index, (left, right) in enumerate(zip(then, now, strict=True)):
            yield from _differences(left, right, f"{path}[{index}]")
    elif then != now:
        scores = isinstance(then, float | int) and isinstance(now, float | int)
        numeric = scores and not isinstance(then, bool) and not isinstance(now, bool)
        yield path, numeric and abs(then - now) <= MARGIN
