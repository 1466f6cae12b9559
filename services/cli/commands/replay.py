"""``groundtrail replay``: recompute every report of an export."""

from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import grpc
from crp.ckf.v1 import ckf_pb2
from crp.dpe.v1 import inputs_pb2
from crp.dpe.v1 import provenance_service_pb2 as dpe
from crp.dpe.v1 import provenance_service_pb2_grpc as dpe_grpc
from google.protobuf.json_format import ParseDict, ParseError
from rich.text import Text

from services.cli.console import Output
from services.cli.exits import Exit
from services.cli.export_file import Export, ExportedAnalysis, read_export
from services.cli.given_export import export_lines
from services.cli.render import coloured
from services.cli.replaying import Outcome, Reason, Replay, alterations, compare, cut_short, unrepeatable
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
_COLUMNS: Final = ("window, report", "result", "why")
_CALL_S: Final = 600.0


async def replay(settings: Settings, output: Output, source: Path) -> Exit:
    """Recompute every report of an export with the weights and settings of this installation.

    Exit code 0: all are the same; 3: one differs or the export was altered; 1: one could not be recomputed here.
    """
    held = read_export(export_lines(source))
    outcomes: list[Outcome] = []
    if held.analyses:  # the weights take seconds to load
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
    """Return the outcomes of reports that the export tells of and does not hold."""
    known = {analysis.window_id for analysis in held.analyses}
    return [
        *(
            Outcome(window, 0, str(data["report_id"]), Replay.NOT_REPLAYABLE, Reason.CONTENT_NOT_EXPORTED)
            for window, data in held.sealed.items()
            if window not in known
        ),
        *(
            Outcome(window, 0, "", Replay.NOT_REPLAYABLE, Reason.ANSWER_ERASED)
            for window in held.erased
            if window not in known
        ),
    ]


def _show(outcomes: list[Outcome], output: Output) -> None:
    rows = [
        (
            f"window {one.window_number}\n" * bool(one.window_number) + (one.report_id or one.window_id),
            Text(one.result.value, style=coloured(_COLOURS[one.result]).style),
            "\n".join(part for part in (one.reason.value, *one.fields, one.note) if part),
        )
        for one in outcomes
    ]
    output.table(f"Replay ({len(rows)})", _COLUMNS, rows, whole=_COLUMNS[:2])
    if not rows:
        output.say("the export holds no report", style="dim")
    if any(one.reason is Reason.CONTENT_NOT_EXPORTED for one in outcomes):
        output.say("export again with the content, which a replay needs:", style="yellow")
        output.drawn([("groundtrail export SESSION FILE --with-content", "")])  # not folded: people copy it
