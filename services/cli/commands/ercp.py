"""``groundtrail ercp run | trace | verify-trace``: a question in the constraint loop, and the trace that it leaves."""

import json
import os
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ercp.v1 import ercp_pb2, ercp_service_pb2
from rich.text import Text

from services.cli import render
from services.cli.commands.ercp_outcomes import (
    read_constraints,
    show_doubts,
    show_duplicates,
    show_grounds,
    show_outcomes,
)
from services.cli.connection import Suite, connect
from services.cli.console import Output
from services.cli.exits import Exit
from services.cli.offline.traces import TraceVerdict, check_trace, read_trace
from services.common.counting import counted
from services.common.errors import FieldViolation, InvalidRequestError
from services.common.message_json import json_of, word_of
from services.common.settings import Settings, SettingsError
from services.ercp.node_key import NODE_KEY_FILE, read_key_file

RUN_TIMEOUT_S = 3_600.0
_NO_FACTS = (
    "the envelope holds no facts: nothing was there to hold the draft against; `groundtrail ingest` brings documents"
)
_EXITS = {"converged": Exit.OK, "partial": Exit.VERDICT, "infeasible": Exit.VERDICT, "failed": Exit.FAILURE}
_STYLES = {"converged": "bold green", "partial": "yellow", "infeasible": "bold red", "failed": "red"}


async def run(
    settings: Settings,
    output: Output,
    question: str,
    trace_id: str,
    config: ercp_service_pb2.RunConfig,
    constraints: Path | None = None,
) -> Exit:
    """Run the loop on a question and show each step as it ends.

    With ``--json`` the answer as it came; where no facts were found for it, with ``warnings`` beside what is signed.

    Exit code 0: converged; 3: partial or infeasible; 1: a step could not run.
    """
    request = ercp_service_pb2.RunStreamRequest(
        request_id=str(uuid.uuid4()),
        trace_id=trace_id,
        problem=ercp_pb2.Problem(id="command-line", description=question),
        config=config,
        constraints=[] if constraints is None else read_constraints(constraints),
    )
    result: ercp_service_pb2.RunResponse | None = None
    async with connect(settings) as suite:
        async for message in suite.stream(suite.ercp.RunStream, request):
            if message.WhichOneof("event") == "trace_event":
                _show_event(message.trace_event, output)
            else:
                result = message.result
    if result is None:
        output.error("the run ended without a result", reason="INTERNAL")
        return Exit.FAILURE
    told = _warnings(result, config)
    _show_result(result, output, told)
    output.result(json_of(result) | ({"warnings": told} if told else {}))
    return _EXITS[word_of(ercp_pb2.RunStatus.DESCRIPTOR, result.status)]


async def trace(settings: Settings, output: Output, trace_id: str, target: Path | None) -> Exit:
    """Read a trace and show its events; write it to a file for ``ercp verify-trace`` if one is named."""
    async with connect(settings) as suite:
        found = await _trace(suite, trace_id)
    document = json_of(found)
    for event in found.trace_events:
        _show_event(event, output)
    if target is not None:
        _keep(target, document)
        output.say(f"{counted(len(found.trace_events), 'event')} written to {target}", style="dim")
    output.result(document)
    return Exit.OK


async def verify_trace(_settings: Settings, output: Output, source: Path, node_key: Path | None, session: str) -> Exit:
    """Check an exported trace with no server: its order, its form, and with the node key its signatures.

    Exit code 0: everything holds; 3: something does not; 1: the signatures were not checked; 2: a file cannot be read.
    """
    document = _document(source)
    key = None if node_key is None else _node_key(node_key)
    checked = check_trace(document, key, session)
    style = {TraceVerdict.VALID: "green", TraceVerdict.UNSIGNED: "yellow"}.get(checked.verdict, "red")
    output.say(
        f"{checked.verdict.value}: {source.name}, {counted(checked.events, 'event')}, "
        f"{counted(checked.signatures, 'signature')}",
        style=style,
    )
    for fault in checked.faults:
        output.say(fault, style="red")
    output.result({"verdict": checked.verdict.value, "events": checked.events, "faults": list(checked.faults)})
    return {TraceVerdict.VALID: Exit.OK, TraceVerdict.UNSIGNED: Exit.FAILURE}.get(checked.verdict, Exit.VERDICT)


async def _trace(suite: Suite, trace_id: str) -> ercp_service_pb2.GetTraceResponse:
    request = ercp_service_pb2.GetTraceRequest(trace_id=trace_id)
    found: ercp_service_pb2.GetTraceResponse = await suite.call(suite.ercp.GetTrace, request)
    return found


def _keep(target: Path, document: Any) -> None:
    text = json.dumps(document, ensure_ascii=False, indent=2) + "\n"
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)


def _document(source: Path) -> Any:
    try:
        return read_trace(source)
    except OSError as error:
        text = f"{source}: {error.strerror}"
    except ValueError as error:
        text = f"{source} is no JSON in UTF-8 ({error}); give what `groundtrail ercp trace ID --out FILE` wrote"
    raise InvalidRequestError.of(FieldViolation("FILE", text))


def _node_key(path: Path) -> bytes:
    try:
        return read_key_file(path)
    except SettingsError as error:
        text = "; ".join(problem.rpartition(f"{NODE_KEY_FILE}: ")[2] for problem in error.problems)
        raise InvalidRequestError.of(FieldViolation("--node-key", text)) from None


def _show_event(event: ercp_pb2.TraceEvent, output: Output) -> None:
    operator = word_of(ercp_pb2.Operator.DESCRIPTOR, event.operator)
    output.say(f"{operator:<10} {_told(operator, json_of(event)['output_summary'])}", style="dim")


def _told(operator: str, found: dict[str, Any]) -> str:
    """Return what an operator found, in one line."""
    if "failed" in found:
        return f"could not run: {found['failed']}"
    match operator:
        case "generate":
            return f"{found['sentences']} sentences: {found['reasoning']['excerpt'][:100]}"
        case "verify":
            kinds = [item["type"] for item in found["errors"]["items"]]
            told = f"{found['errors']['count']} errors {', '.join(sorted(set(kinds)))}".rstrip()
            score = found.get("fidelity", {}).get("score")
            told += _standing(found.get("constraints", {}))
            return told if score is None else f"{told}, fidelity {score:.3f}"
        case "extract":
            added, waiting = found["added"]["count"], found["candidates"]["count"]
            return f"{added} constraints added, {waiting} candidates, together {found['consistency']}"
        case "stabilize":
            return f"{'stable' if found['stable'] else 'not stable'}, similarity {found['score']:.3f}"
        case _:
            return f"{found['changes']} changes, {found['constraints']} constraints left"


def _standing(counted: dict[str, Any]) -> str:
    """Return how many constraints a draft keeps, breaks and leaves undecided; nothing without constraints."""
    states = [f"{counted[state]} {state}" for state in ("kept", "broken", "undecided") if counted.get(state)]
    return f", constraints {', '.join(states)}" if states else ""


def _warnings(result: ercp_service_pb2.RunResponse, config: ercp_service_pb2.RunConfig) -> list[str]:
    """Return what the run cannot say of itself: why no draft came, or that the last one was held against nothing."""
    failed = [each for each in result.trace_events[-1:] if json_of(each)["output_summary"].get("failed")]
    if failed:
        why = json_of(failed[0])["output_summary"].get("why")
        return [str(why)] if why else []
    if config.HasField("run_fact_check") and not config.run_fact_check:
        return []
    drafts = [each for each in result.trace_events if each.operator == ercp_pb2.OPERATOR_GENERATE]
    totals = [json_of(each)["input_summary"].get("facts_total") for each in drafts[-1:]]
    return [_NO_FACTS] if totals == [0] else []


def _show_result(result: ercp_service_pb2.RunResponse, output: Output, warnings: Sequence[str]) -> None:
    status = word_of(ercp_pb2.RunStatus.DESCRIPTOR, result.status)
    if result.HasField("final_reasoning"):
        output.say("")
        output.say(result.final_reasoning.reasoning_text, style="bold")
        output.say("")
    conflicting = set(result.conflicting_constraint_ids)
    rows: list[tuple[str | Text, ...]] = [
        _row(each, "conflict" if each.constraint_id in conflicting else "in force") for each in result.constraints
    ]
    rows += [_row(each, "relaxed") for each in result.relaxed_constraints]
    rows += [_row(each, "candidate") for each in result.candidate_constraints]
    if rows:
        output.table("Constraints", ("state", "priority", "words", "predicate", "confidence"), rows)
    show_outcomes(result.constraints, result.constraint_outcomes, output)
    show_duplicates(result.duplicate_constraints, output)
    show_doubts(result.open_doubts, output)
    show_grounds(result.open_grounds, output)
    faithful = f", fidelity {result.fidelity_score:.3f}" if result.HasField("fidelity_score") else ""
    ended = f"{status} ({result.status_reason}) after {result.iterations} iterations{faithful}"
    output.say(ended, style=_STYLES[status])
    for text in warnings:
        output.say(f"! {text}", style="yellow")
    by = f", answered by {result.model_fingerprint[:23]}…" if result.HasField("final_reasoning") else ""
    output.say(f"trace {result.trace_id}{by}", style="dim")
    output.say(f"look at it:  groundtrail ercp trace {result.trace_id}", style="dim")


def _row(constraint: ercp_pb2.Constraint, state: str) -> tuple[str | Text, ...]:
    form = json_of(constraint)
    args = ", ".join(f"{name}={value}" for name, value in sorted(form["predicate"]["args"].items()))
    confidence = "caller" if form["confidence"] is None else f"{form['confidence']:.2f}"
    words = form["nl_text"][: render.MAX_CELL_CHARS]
    return state, form["priority"], words, f"{form['predicate']['predicate_name']}({args})", confidence
