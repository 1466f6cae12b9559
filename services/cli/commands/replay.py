"""``groundtrail export | replay``: take a session's record out, and recompute every report of it."""

import json
import os
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import grpc
from crp.ckf.v1 import ckf_pb2
from crp.ckf.v1 import knowledge_service_pb2 as knowledge
from crp.dag.v1 import session_service_pb2 as sessions
from crp.dpe.v1 import inputs_pb2
from crp.dpe.v1 import provenance_service_pb2 as dpe
from crp.dpe.v1 import provenance_service_pb2_grpc as dpe_grpc
from google.protobuf.json_format import ParseDict, ParseError
from rich.text import Text

from services.allinone.parts import Part
from services.cli.commands.offline import checkpoint_size
from services.cli.connection import Suite, connect
from services.cli.console import Output
from services.cli.exits import Exit
from services.cli.export_file import Export, ExportedAnalysis, fact_line, read_export
from services.cli.render import coloured
from services.cli.replaying import Outcome, Reason, Replay, alterations, compare, cut_short, unrepeatable
from services.common.errors import FieldViolation, InvalidRequestError, NotFoundError
from services.common.rpc.canonical import message_json
from services.common.settings import ServerSettings, Settings
from services.gateway.clients.inputs import ContentMissingError, request_digest, restored_request

if TYPE_CHECKING:
    from services.dpe.domain.opinion_record import OpinionRecord
    from services.dpe.ports import OpinionReplay

_COLOURS: Final = {
    Replay.SAME: "VALID",
    Replay.WITHIN_MARGIN: "VALID",
    Replay.DIFFERS: "BROKEN",
    Replay.OTHER_WEIGHTS: "PARTIAL",
    Replay.NOT_REPLAYABLE: "PARTIAL",
}
_CALL_S: Final = 600.0


async def export(
    settings: Settings,
    output: Output,
    session_id: str,
    target: Path,
    *,
    with_content: bool,
    checkpoints: tuple[Path, ...] = (),
) -> Exit:
    """Write a session's audit export to a file that its owner alone may read."""
    counted: Counter[str] = Counter()
    request = sessions.ExportAuditRequest(
        session_id=session_id,
        format=sessions.AUDIT_EXPORT_FORMAT_NDJSON,
        with_content=with_content,
        consistency_from_sizes=[checkpoint_size(path) for path in checkpoints],
    )
    needed = (Part.SESSIONS, Part.STORED_KNOWLEDGE) if with_content else (Part.SESSIONS,)
    async with connect(settings, *needed) as suite:
        lines = [response.line async for response in suite.stream(suite.sessions.ExportAudit, request)]
        found = read_export(lines)
        for fact_id in sorted(_fact_ids(found)):
            line = await _fact_line(suite, fact_id)
            counted["facts" if line else "facts_erased"] += 1
            lines += [line] if line else []
    counted["analyses"] = len(found.analyses)
    counted["events"] = sum("record" not in json.loads(line) for line in lines)
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{line}\n" for line in lines)
    output.say(", ".join(f"{number} {name.replace('_', ' ')}" for name, number in sorted(counted.items()) if number))
    if not with_content:
        output.say("without answers, questions and facts: --with-content takes them in, for `groundtrail replay`")
    if with_content:
        output.say("the file holds answers, questions and facts: keep it as you keep those", style="yellow")
    output.result({"session_id": session_id, "with_content": with_content, **counted})
    return Exit.OK


async def replay(settings: Settings, output: Output, source: Path) -> Exit:
    """Recompute every report of an export with the weights and settings of this installation.

    Exit code 0: all are the same; 3: one differs or the export was altered; 1: one could not be recomputed here.
    """
    held = _held(source)
    outcomes: list[Outcome] = []
    async with _provenance(settings) as analyze:
        with output.progress("recomputing", total=len(held.analyses)) as bar:
            for analysis in held.analyses:
                outcomes.append(await _replayed(analysis, held, analyze))
                bar.step()
    outcomes += _without_content(held)
    _show(outcomes, output)
    counted = Counter(outcome.result for outcome in outcomes)
    output.result(
        {"reports": [asdict(one) for one in outcomes], "counts": {kind.value: counted[kind] for kind in Replay}}
    )
    if counted[Replay.DIFFERS] or any(one.reason is Reason.EXPORT_ALTERED for one in outcomes):
        return Exit.VERDICT
    return Exit.FAILURE if counted[Replay.OTHER_WEIGHTS] or counted[Replay.NOT_REPLAYABLE] else Exit.OK


def _held(source: Path) -> Export:
    try:
        with source.open(encoding="utf-8") as file:
            held = read_export(file)
            empty = file.tell() == 0
    except UnicodeDecodeError:
        raise InvalidRequestError.of(FieldViolation("EXPORT", f"{source} is no text in UTF-8")) from None
    if empty:
        raise InvalidRequestError.of(FieldViolation("EXPORT", f"{source} is empty"))
    return held


def _fact_ids(held: Export) -> set[str]:
    return {
        str(fact["fact_id"])
        for analysis in held.analyses
        if analysis.inputs is not None
        for fact in analysis.inputs["request"]["envelope"]["facts"]
        if not fact["carried_from_window_id"]
    }


async def _fact_line(suite: Suite, fact_id: str) -> str:
    """Return a fact as one line of the export; empty when it was erased."""
    try:
        found = await suite.call(suite.knowledge.GetFact, knowledge.GetFactRequest(fact_id=fact_id))
    except NotFoundError:
        return ""
    if not found.fact.content:
        return ""
    return fact_line(found.fact)


class _Analyze:
    """Calls the dpe service of this process."""

    def __init__(self, stub: dpe_grpc.ProvenanceServiceStub, opinions: "OpinionReplay") -> None:
        self._stub = stub
        self._opinions = opinions

    async def __call__(self, request: dpe.AnalyzeRequest, recorded: "OpinionRecord | None") -> dict[str, Any]:
        """Return the report of a request; the votes of the recorded second opinion are taken again (ADR 0119)."""
        self._opinions.record = recorded
        response = await self._stub.Analyze(request, timeout=_CALL_S)
        return message_json(response.report)


@asynccontextmanager
async def _provenance(settings: Settings) -> AsyncIterator[_Analyze]:
    """Serve the provenance stages to this process alone, with its own weights and settings."""
    from services.common.rpc.main import running_server
    from services.dpe.compose import build_for_replay
    from services.dpe.ports import OpinionReplay

    opinions = OpinionReplay()
    limit = settings.server.max_message_bytes
    own = settings.model_copy(
        update={
            "server": ServerSettings(port=0, insecure_local=True, max_message_bytes=limit),
            "telemetry": settings.telemetry.model_copy(update={"http_port": None}),
        }
    )
    options = (("grpc.max_receive_message_length", limit), ("grpc.max_send_message_length", -1))
    async with (
        running_server("replay", build_for_replay(opinions), own) as server,
        grpc.aio.insecure_channel(server.address, options=options) as channel,
    ):
        yield _Analyze(dpe_grpc.ProvenanceServiceStub(channel), opinions)  # type: ignore[no-untyped-call]


async def _replayed(analysis: ExportedAnalysis, held: Export, analyze: _Analyze) -> Outcome:
    report = analysis.report
    place = (analysis.window_id, analysis.window_number, str(report.get("report_id", "")))
    altered = alterations(analysis, held.sealed.get(analysis.window_id))
    if analysis.inputs is None:
        note = "the caller asked for no-store, or the report is of an earlier version"
        return unrepeatable(place, Reason.INPUTS_NOT_KEPT, altered, note)
    if cut_short(report):
        return unrepeatable(place, Reason.DEADLINE_TOO_SHORT, altered)
    answers = {item.window_id: item.answer for item in held.analyses}
    try:
        inputs = ParseDict(analysis.inputs, inputs_pb2.AnalysisInputs())
        facts = {key: ParseDict(fact, ckf_pb2.Fact()) for key, fact in held.facts.items()}
        request = restored_request(inputs, answers, facts)
        recorded = _recorded(report)
    except ContentMissingError as missing:
        reason = Reason.FACT_ERASED if missing.kind == "fact" else Reason.ANSWER_ERASED
        return unrepeatable(place, reason, altered, f"{missing.kind} {missing.name}")
    except ParseError:
        return Outcome(*place, Replay.DIFFERS, Reason.EXPORT_ALTERED, ("inputs (cannot be read)",))
    except ValueError:
        return Outcome(*place, Replay.DIFFERS, Reason.EXPORT_ALTERED, ("second_opinion (cannot be read)",))
    if request_digest(request) != inputs.request_sha256:
        altered = (*altered, "what was analysed (a fact, an earlier answer, the query or the answer is another)")
    return compare(analysis, await analyze(request, recorded), altered)


def _recorded(report: Mapping[str, Any]) -> "OpinionRecord | None":
    """Return the second opinion of a stored report.

    Raises:
        ValueError: it cannot be read.
    """
    from services.dpe.convert.opinions import recorded_opinion

    try:
        return recorded_opinion(report)
    except ParseError as error:
        raise ValueError(str(error)) from None


def _without_content(held: Export) -> list[Outcome]:
    known = {analysis.window_id for analysis in held.analyses}
    note = "export again with `groundtrail export SESSION FILE --with-content`"
    return [
        Outcome(window, 0, str(data["report_id"]), Replay.NOT_REPLAYABLE, Reason.CONTENT_NOT_EXPORTED, note=note)
        for window, data in held.sealed.items()
        if window not in known
    ]


def _show(outcomes: list[Outcome], output: Output) -> None:
    rows = [
        (
            f"{one.window_number or '-'}",
            one.report_id,
            Text(one.result.value, style=coloured(_COLOURS[one.result]).style),
            "\n".join(part for part in (one.reason.value, *one.fields, one.note) if part),
        )
        for one in outcomes
    ]
    output.table(f"Replay ({len(rows)})", ("window", "report", "result", "why"), rows, whole="report")
    if not rows:
        output.say("the export holds no report", style="dim")
