"""``groundtrail scan`` on the command line: its options; what it does is in ``commands/scan.py``."""

from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from services.cli.later import run
from services.common.document_kinds import ACCEPTED


class ScanLevel(StrEnum):
    """What ``--fail-on`` takes: from which weight a finding counts."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


def scan_files(
    paths: Annotated[
        list[str],
        typer.Argument(metavar="PATH", help=f"Files, folders, or - for a prompt on standard input: {ACCEPTED}."),
    ],
    *,
    fail_on: Annotated[
        ScanLevel,
        typer.Option(
            case_sensitive=False,
            help="Least level that is told and fails: high, a weight of 0.7; medium, 0.5; low, everything, also words "
            "that are only quoted.",
        ),
    ] = ScanLevel.HIGH,
    sarif: Annotated[
        Path | None, typer.Option(metavar="FILE", dir_okay=False, help="Also write the findings as SARIF 2.1.0.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document on stdout and nothing else.")
    ] = False,
) -> None:
    """Look for prompt injection in documents and prompts: no server, nothing stored.

    Exit code 0: nothing found; 3: something was found; 2: a file could not be read, or wrong input.
    """
    from services.cli.commands.scan import ScanWish
    from services.cli.commands.scan import scan as command

    wish = ScanWish(tuple(paths), fail_on.value, sarif)
    run(partial(command, wish=wish), as_json=as_json)
