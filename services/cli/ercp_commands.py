"""``groundtrail ercp``: what it is called and takes; the commands are in ``commands/``."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from services.cli.forms import AsJson
from services.cli.later import run

ercp_app = typer.Typer(no_args_is_help=True, help="The constraint loop: ERCP 1.0.")

_CONSTRAINTS = (
    "Text file with a constraint in words on each line, or a JSON list of constraint objects (ERCP 1.0 §4.1)."
)


@ercp_app.command("run")
def ercp_run(  # noqa: PLR0913 - one for each option
    question: Annotated[str, typer.Argument(help="What to reason about.")],
    trace_id: Annotated[str, typer.Option(help="Go on with this trace, or name a new one: a UUID.")] = "",
    max_iterations: Annotated[int, typer.Option(min=0, max=200, help="Most rounds; 0 = 50.")] = 0,
    model: Annotated[str, typer.Option(help="Language model; none = the deployment's.")] = "",
    constraints: Annotated[Path | None, typer.Option(help=_CONSTRAINTS)] = None,
    *,
    allow_undecided: Annotated[
        bool | None,
        typer.Option(help="Converge although an immutable constraint is undecided; none = the deployment's."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Generate, verify, constrain, until the answer is stable; see each step, the constraints and the status."""
    from ercp.v1.ercp_service_pb2 import RunConfig

    from services.cli.commands.ercp import run as command

    config = RunConfig(model=model, max_iterations=max_iterations or None, allow_undecided=allow_undecided)
    given = partial(command, question=question, trace_id=trace_id, config=config, constraints=constraints)
    run(given, as_json=as_json)


@ercp_app.command("verify")
def ercp_verify(
    draft: Annotated[str, typer.Argument(help="File with the draft, or - for standard input.")],
    constraints: Annotated[Path | None, typer.Option(help=_CONSTRAINTS)] = None,
    *,
    fact_check: Annotated[bool, typer.Option(help="Hold the draft against the tenant's knowledge as well.")] = True,
    as_json: AsJson = False,
) -> None:
    """Find the faults of a draft, and say of each constraint whether it is kept, broken or undecided, and where."""
    from services.cli.commands.ercp_outcomes import verify as command

    run(partial(command, draft=draft, constraints=constraints, fact_check=fact_check), as_json=as_json)


@ercp_app.command("trace")
def ercp_trace(
    trace_id: Annotated[str, typer.Argument(help="The trace's UUID.")],
    out: Annotated[Path | None, typer.Option(help="Write the trace to this file as JSON.")] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Show a run's events in order, or export them."""
    from services.cli.commands.ercp import trace as command

    run(partial(command, trace_id=trace_id, target=out), as_json=as_json)


@ercp_app.command("verify-trace")
def ercp_verify_trace(
    file: Annotated[Path, typer.Argument(help="What `groundtrail ercp trace ID --out FILE` wrote.")],
    node_key: Annotated[
        Path | None, typer.Option(help="File with the node key; without it signatures stay unchecked.")
    ] = None,
    session: Annotated[str, typer.Option(help="Session id of the trace; none = that of --tenant.")] = "",
    tenant: Annotated[str, typer.Option(help="Tenant that the trace belongs to.")] = "default",
    *,
    as_json: AsJson = False,
) -> None:
    """Check an exported trace with no server."""
    from services.cli.commands.ercp import verify_trace as command

    run(partial(command, source=file, node_key=node_key, session=session or f"tenant:{tenant}"), as_json=as_json)


@ercp_app.command("constraint")
def ercp_constraint(
    words: Annotated[str, typer.Argument(help='The constraint as people write it, such as "at most 200 words".')],
    *,
    propose: Annotated[
        bool, typer.Option(help="Ask the configured language model for what the rules do not understand.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show what is understood of a constraint in words: in words, as a predicate and as JSON; no server is needed."""
    from services.cli.commands.ercp_constraint import constraint as command

    run(partial(command, words=words, propose=propose), as_json=as_json)
