"""``groundtrail check`` on the command line: its options; what it does is in ``commands/check.py``."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from services.cli.later import run
from services.cli.paths import named_path
from services.common.document_kinds import ACCEPTED
from services.common.taxonomy import RiskLevel


def check_answer(  # noqa: PLR0913 - an argument for each option
    answer: Annotated[str, typer.Option(metavar="FILE", help="The answer: a text file, or - for standard input.")],
    more: Annotated[
        list[Path] | None, typer.Argument(metavar="[FILE]...", help="Further documents.", parser=named_path)
    ] = None,
    *,
    facts: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE", help=f"A document, or a folder of them: {ACCEPTED}; repeatable.", parser=named_path
        ),
    ] = None,
    fact: Annotated[list[str] | None, typer.Option(metavar="TEXT", help="A single fact; repeatable.")] = None,
    question: Annotated[str, typer.Option(help="The question that it answers; none = not known.")] = "",
    policy: Annotated[str, typer.Option(help="Hold it against this safety policy, e.g. 'halt-on HIGH'.")] = "",
    earlier: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="An earlier answer of the conversation; repeatable.", parser=named_path),
    ] = None,
    fail_on: Annotated[
        RiskLevel, typer.Option(case_sensitive=False, help="Levels below this one end with exit code 0.")
    ] = RiskLevel.MEDIUM,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document on stdout and nothing else.")
    ] = False,
) -> None:
    """Check an answer against documents: no session, nothing stored.

    Exit code 0 for LOW, 10 for MEDIUM, 11 for HIGH, 12 for CRITICAL, 3 where --policy withholds the answer.
    """
    from services.cli.commands.check import CheckWish
    from services.cli.commands.check import check as command

    paths = (*(facts or ()), *(more or ()))
    wish = CheckWish(answer, paths, tuple(fact or ()), question, policy, tuple(earlier or ()), fail_on.value)
    run(partial(command, wish=wish), as_json=as_json)
