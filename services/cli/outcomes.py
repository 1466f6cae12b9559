"""What a dispatch came to, on the screen: an answer, or why there is none and what to do about it."""

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.gateway.v1 import dispatch_pb2

from services.cli.answer_screen import answer_lines
from services.cli.console import Output
from services.cli.envelope_quality import TREND, quality_line
from services.cli.told import told_answer
from services.cli.words import enum_text

if TYPE_CHECKING:
    from crp.gateway.v1 import dispatch_service_pb2 as dispatch

_SHORT_FINGERPRINT: Final = 60
_OF_A_PERSON: Final = "A person has to decide what becomes of such answers; this one is not delivered."
_LATER: Final = "Mend what is named above, in the documents or in the question, and ask again."
_SYSTEM: Final = "Its registration says that the AI system may not be used: `groundtrail systems list`."


def show_answer(response: "dispatch.DispatchResponse", output: Output, *, repeated: bool = True) -> None:
    """Show a delivered answer; not its text again where that was streamed, but what is wrong with it."""
    if output.as_json:
        return
    answer = response.answer
    told = told_answer(answer.report, answer.text, chain=enum_text(taxonomy.ChainIntegrity, answer.chain_integrity))
    told = told if repeated else replace(told, pieces=())
    tail = [f"answered by {answer.model_fingerprint[:_SHORT_FINGERPRINT]}"]
    tail += [f"report {answer.report.report_id or answer.window.report_id}"]
    said = warnings(response, quality_line(response, answer.report, told))
    output.show_lines(answer_lines(told, said, tail, output))


def show_halted(response: "dispatch.DispatchResponse", output: Output) -> None:
    """Show why an answer was withheld, claim by claim without its text, and what to do."""
    if output.as_json:
        return
    halted = response.halted
    output.say(f"halted: {halted.halt_reason} ({halted.retry_condition})", style="bold red")
    tail = [_advice(halted)]
    tail += [f"report {halted.report_id}"] if halted.report_id else []
    tail += [f"the record:  groundtrail dag {halted.session_id}"] if halted.session_id else []
    if not halted.HasField("report"):
        for text in (*warnings(response), *tail):
            output.say(text, style="yellow")
        return
    told = told_answer(halted.report, "")
    said = warnings(response, quality_line(response, halted.report, told))
    output.show_lines(answer_lines(told, said, tail, output))


def show_held(response: "dispatch.DispatchResponse", output: Output) -> None:
    """Show that an answer waits for a person, and how its caller gets it."""
    held = response.held_for_review
    output.say(f"held for review: {held.reason}", style="bold yellow")
    for text in (*warnings(response), f"what comes of it:  groundtrail reviews show {held.review_id}"):
        output.say(text, style="yellow")


def warnings(response: "dispatch.DispatchResponse", quality: str = "") -> list[str]:
    """Return the violations of the policy, the gravest first, then what else the caller should know.

    Args:
        response: the outcome.
        quality: what to know of the envelope, in place of the warnings about its trend; empty = nothing.
    """
    broken = sorted(response.violations, key=lambda item: item.enforcement)
    return [
        *(f"{enum_text(dispatch_pb2.Enforcement, each.enforcement).lower()}: {each.directive}: {each.description}"
          for each in broken),
        *(each.message for each in response.warnings if each.code not in TREND),
        *filter(None, (quality,)),
    ]  # fmt: skip


def _advice(halted: dispatch_pb2.Halted) -> str:
    if halted.halt_reason == "UNACCEPTABLE_EU_AI_ACT":
        return _SYSTEM
    return _OF_A_PERSON if halted.oversight_required else _LATER
