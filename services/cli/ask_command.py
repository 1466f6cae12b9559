"""``groundtrail ask`` on the command line: its options; what it does is in ``commands/ask.py``."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from services.cli.forms import AsJson, Superseded, refuse_empty
from services.cli.later import Later, run
from services.common.taxonomy import DispatchStrategy

if TYPE_CHECKING:
    from services.cli.commands import ask as command
    from services.cli.commands import ask_batch
else:
    command, ask_batch = (Later(f"services.cli.commands.{name}") for name in ("ask", "ask_batch"))

_ELSEWHERE: Final = {DispatchStrategy.BATCH: "ask --batch FILE", DispatchStrategy.STREAMING: "ask --stream"}


Pointer = Annotated[
    list[str] | None,
    typer.Option(
        "--continue",
        metavar="CONTINUATION_ID",
        help="Continue this window of the session, not its latest; several are merged (fan-in).",
    ),
]
MergeAgent = Annotated[
    list[str] | None,
    typer.Option(metavar="SESSION", help="Merge the latest answer of this agent's session too; repeatable."),
]
PartialFanIn = Annotated[bool, typer.Option("--partial", help="Merge without windows and agents that have no answer.")]
Wanted = Annotated[
    DispatchStrategy | None,
    typer.Option(
        help="How it is answered; none = push, or fan-in where several are merged. Batch and streaming are --batch "
        "and --stream."
    ),
]
SafetyBudget = Annotated[float | None, typer.Option(min=0.0, max=1.0, help="Ceiling of the session's safety budget.")]
RetrievalMode = Annotated[
    str, typer.Option(help="dense, text, hybrid, reranked or late-interaction; none = the deployment's.")
]
ActiveFact = Annotated[
    list[str] | None, typer.Option(metavar="FACT_ID", help="A fact that the context holds already; repeatable.")
]
Streamed = Annotated[
    bool, typer.Option("--stream", help="Print each sentence when it has passed; with --json one line each.")
]
BatchFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        allow_dash=True,
        help="Ask every line of a file (- = standard input), a question as it stands, a JSON text or an object with "
        "fields of DispatchRequest, and print the results as JSON Lines.",
    ),
]


def ask_question(  # noqa: PLR0913, PLR0917 - one for each option
    context: typer.Context,
    question: Annotated[str, typer.Argument(help="The question; none with --batch.")] = "",
    session: Annotated[str, typer.Option(help="Continue this session.")] = "",
    pointer: Pointer = None,
    merge_agent: MergeAgent = None,
    partial_fan_in: PartialFanIn = False,
    agent_of: Annotated[str, typer.Option(metavar="SESSION", help="Begin an agent's session under this one.")] = "",
    strategy: Wanted = None,
    model: Annotated[str, typer.Option(help="Model that answers; none = that of your settings.")] = "",
    policy: Annotated[str, typer.Option(help="Safety policy, e.g. 'halt-on HIGH; oversight human-review'.")] = "",
    safety_budget: SafetyBudget = None,
    system: Annotated[str, typer.Option(help="Registered AI system that asks.")] = "",
    retrieval_mode: RetrievalMode = "",
    active_fact: ActiveFact = None,
    *,
    include_superseded: Superseded = False,
    headers: Annotated[bool, typer.Option("--headers", help="Also show the CRP headers.")] = False,
    stream: Streamed = False,
    batch: BatchFile = None,
    as_json: AsJson = False,
) -> None:
    """Ask a question; see how sure the answer is, what is wrong with it, and the words that each claim rests on."""
    refuse_empty(context)
    if batch is not None:
        sources = {name: context.get_parameter_source(name) for name in context.params}
        typed = {name for name, source in sources.items() if source is not None and source.name == "COMMANDLINE"}
        if typed - {"batch", "as_json"}:
            raise typer.BadParameter("takes --json alone: a line of the file says the rest", param_hint="--batch")
        run(partial(ask_batch.ask_batch, path=batch), as_json=as_json)
        return
    if not question:
        raise typer.BadParameter("say what is asked, or name a file with --batch", param_hint="QUESTION")
    if (pointer or merge_agent) and not session:
        raise typer.BadParameter("needs --session", param_hint="--continue" if pointer else "--merge-agent")
    if strategy in _ELSEWHERE:
        raise typer.BadParameter(f"{strategy} is {_ELSEWHERE[strategy]}", param_hint="--strategy")
    if strategy is DispatchStrategy.FAN_IN and not (pointer or merge_agent):
        raise typer.BadParameter("fan-in needs --session and what it merges: --continue or --merge-agent, repeated")
    asked = command.Asked(
        question,
        session,
        system,
        strategy,
        places=command.Places(tuple(pointer or ()), tuple(merge_agent or ()), agent_of, partial=partial_fan_in),
        terms=command.Terms(model, policy, safety_budget),
    )
    wishes = command.ContextWishes(retrieval_mode, tuple(active_fact or ()), include_superseded)
    run(partial(command.ask, asked=asked, context=wishes, headers=headers, stream=stream), as_json=as_json)
