"""``groundtrail ercp verify``, and what it and ``run`` show of constraints: kept, broken or undecided, and where."""

import asyncio
import json
import sys
import uuid
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from ercp.v1 import ercp_pb2, ercp_service_pb2
from rich.text import Text

from services.cli import render
from services.cli.connection import connect
from services.cli.console import Output
from services.cli.exits import Exit
from services.common.errors import FieldViolation, InvalidRequestError
from services.common.message_json import json_of, word_of
from services.common.settings import Settings
from services.ercp.domain.predicates.model import PredicateName
from services.ercp.domain.wording import understand_constraint
from services.gateway.doors.http.ercp_schemas import VerifyRequest
from services.gateway.doors.http.json_bodies import message_of, read_form

STANDARD_INPUT: Final = "-"
_STYLES: Final = {"kept": "green", "broken": "bold red", "suspected": "red", "undecided": "yellow"}
_SUSPECTED: Final = "SUSPECTED"
_COLUMNS: Final = ("state", "constraint", "why", "in the draft")


async def verify(settings: Settings, output: Output, draft: str, constraints: Path | None, *, fact_check: bool) -> Exit:
    """Verify a draft and show its faults and how it stands to each constraint.

    Exit code 0: no faults, no open doubts, no constraint broken or suspected, no immutable one undecided; 3: otherwise.
    """
    request = ercp_service_pb2.VerifyRequest(
        request_id=str(uuid.uuid4()),
        reasoning_text=await asyncio.to_thread(_read, draft),
        constraints=[] if constraints is None else read_constraints(constraints),
        verify_config=ercp_service_pb2.VerifyConfig(run_fact_check=fact_check),
    )
    given = [*request.constraints]
    async with connect(settings) as suite:
        answer: ercp_service_pb2.VerifyResponse = await suite.call(suite.ercp.Verify, request)
    rows = [_fault_row(each) for each in answer.errors]
    if rows:
        output.table("Faults", ("type", "confidence", "found by", "in the draft"), rows)
    show_outcomes(given, answer.constraint_outcomes, output)
    show_duplicates(answer.duplicate_constraints, output)
    show_doubts(answer.open_doubts, output)
    if answer.open_grounds:
        output.say(f"{len(answer.open_grounds)} of its statements are borne out by nothing given", style="dim")
    is_clean = (
        not answer.errors and not answer.open_doubts and all(_is_settled(each) for each in answer.constraint_outcomes)
    )
    for skipped in answer.skipped_detectors:
        output.say(f"not looked for: {skipped}", style="yellow")
    output.say("nothing is wrong" if is_clean else "the draft does not hold", style="green" if is_clean else "red")
    output.result(json_of(answer))
    return Exit.OK if is_clean else Exit.VERDICT


def show_outcomes(
    constraints: Sequence[ercp_pb2.Constraint], outcomes: Sequence[ercp_pb2.ConstraintOutcome], output: Output
) -> None:
    """Show how a draft stands to each constraint; both lists are in one order."""
    if outcomes:
        rows = [_row(*pair) for pair in zip(constraints, outcomes, strict=True)]
        output.table("What the draft makes of them", _COLUMNS, rows)


def show_duplicates(found: Iterable[ercp_pb2.DuplicateConstraints], output: Output) -> None:
    """Tell which constraints demand the same."""
    for each in found:
        output.say(f"given {len(each.constraint_ids)} times: {each.demand}", style="yellow")
        for constraint_id in each.constraint_ids:
            output.say(f"  {constraint_id}", style="dim")


def show_doubts(found: Iterable[ercp_pb2.Doubt], output: Output) -> None:
    """Tell which statements may be at odds."""
    for each in found:
        says = each.places[0].sentence if each.places else ""
        output.say(f"in doubt: {says}", style="yellow")
        output.say(f"  against {each.source or 'the draft'}: {each.against}", style="dim")
        output.say(f"  {each.why}", style="dim")


def show_grounds(found: Iterable[ercp_pb2.OpenGround], output: Output) -> None:
    """Tell which statements nothing bears out, those that the answerer confirmed in one line."""
    listed = list(found)
    word_alone = [each for each in listed if each.is_confirmed]
    for each in listed:
        if not each.is_confirmed:
            output.say(f"without a ground: {each.places[0].sentence if each.places else ''}", style="yellow")
    if word_alone:
        output.say(f"on the answerer's word alone: {len(word_alone)} of its statements", style="dim")


def read_constraints(path: Path) -> list[ercp_pb2.Constraint]:
    """Read a list of constraints as the document writes them (§4.1), or text: one in words on each line, immutable.

    In text a list's mark before a line and lines that begin with ``#`` are passed over, and what no rule understands
    is held by its words alone, which may make it suspected and never kept.

    Raises:
        InvalidRequestError: INVALID_FIELD: it cannot be read, or names the field that has the wrong form.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InvalidRequestError.of(FieldViolation("--constraints", f"{path}: {error.strerror}")) from None
    if not content.lstrip().startswith(b"["):
        return _in_words(path, content)
    form = read_form(b'{"reasoning_text": "", "constraints": ' + content + b"}", VerifyRequest)
    return [*message_of(form, ercp_service_pb2.VerifyRequest).constraints]


def _in_words(path: Path, content: bytes) -> list[ercp_pb2.Constraint]:
    try:
        lines = [
            line.strip().removeprefix("- ").removeprefix("* ") for line in content.decode("utf-8-sig").splitlines()
        ]
    except UnicodeDecodeError:
        fault = f"{path} is neither a JSON list of constraints nor text in UTF-8 with one on each line"
        raise InvalidRequestError.of(FieldViolation("--constraints", fault)) from None
    listed = [_as_object(line) for line in lines if line and not line.startswith("#")]
    form = read_form(json.dumps({"reasoning_text": "", "constraints": listed}).encode(), VerifyRequest)
    return [*message_of(form, ercp_service_pb2.VerifyRequest).constraints]


def _as_object(line: str) -> dict[str, Any]:
    """Return words as the document's constraint object; what no rule understands is held as InWords (ADR 0117)."""
    found: dict[str, Any] = {"type": "predicate", "nl_text": line, "immutable": True}
    if understand_constraint(line).predicate is None:
        found["predicate"] = {"predicate_name": PredicateName.IN_WORDS.value, "args": {"words": line}}
    return found


def _read(draft: str) -> str:
    try:
        return sys.stdin.read() if draft == STANDARD_INPUT else Path(draft).read_text(encoding="utf-8")
    except OSError as error:
        fault = f"{draft}: {error.strerror}"
    except UnicodeDecodeError:
        fault = f"{draft} is no text in UTF-8"
    raise InvalidRequestError.of(FieldViolation("DRAFT", fault))


def _is_settled(outcome: ercp_pb2.ConstraintOutcome) -> bool:
    state = outcome.state
    if state == ercp_pb2.CONSTRAINT_STATE_UNDECIDED:
        return not outcome.immutable and outcome.undecided_reason != _SUSPECTED
    return state == ercp_pb2.CONSTRAINT_STATE_KEPT


def _row(constraint: ercp_pb2.Constraint, outcome: ercp_pb2.ConstraintOutcome) -> tuple[str | Text, ...]:
    state = word_of(ercp_pb2.ConstraintState.DESCRIPTOR, outcome.state)
    told = f"{state}: {outcome.undecided_reason}" if outcome.undecided_reason else state
    words = constraint.nl_text[: render.MAX_CELL_CHARS]
    first = outcome.places[0] if outcome.places else None
    where = "" if first is None else f"{first.start}-{first.end}: {first.sentence[: render.MAX_CELL_CHARS]}"
    style = _STYLES.get("suspected" if outcome.undecided_reason == _SUSPECTED else state, "")
    return Text(told, style=style), words, outcome.why[: 2 * render.MAX_CELL_CHARS], where


def _fault_row(fault: ercp_pb2.Error) -> tuple[str | Text, ...]:
    form = json_of(fault)
    where = f"{fault.span[0]}-{fault.span[1]}: " if fault.span else ""
    excerpt = f"{where}{fault.excerpt[: render.MAX_CELL_CHARS]}"
    return Text(form["type"], style="red"), f"{fault.confidence:.2f}", ", ".join(fault.detected_by), excerpt
