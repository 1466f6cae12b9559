"""Writes tables into pages, between markers, from the results file: nothing in a page's tables is typed by hand.

A marker names a model and one of its tables or its reliability diagram, or ``peers`` and a benchmark:

    <!-- begin nli accuracy -->
    <!-- end nli accuracy -->
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from evaluation.data import EvaluationDataError
from evaluation.peers import read_peers
from evaluation.tables import peer_tables, tables_of

PEERS: Final = "peers"
PLOT: Final = "plot"
COMMAND: Final = "python -m tools.evaluate_models"
_SECTION: Final = re.compile(
    r"^<!-- begin (?P<owner>\S+) (?P<table>\S+) -->$.*?^<!-- end (?P=owner) (?P=table) -->$", re.MULTILINE | re.DOTALL
)
_BEGIN: Final = re.compile(r"^<!-- begin .*-->$", re.MULTILINE)


def sections(results: Mapping[str, Any]) -> dict[tuple[str, str], str]:
    """Return the Markdown of every table that the results hold, by model (or ``peers``) and table."""
    models = results["models"]
    found = {(name, table.name): table.markdown() for name, model in models.items() for table in tables_of(model)}
    return found | {(PEERS, table.name): table.markdown() for table in peer_tables(read_peers(), models)}


def rewritten(page: str, place: Path, results: Mapping[str, Any], plots: Path) -> str:
    """Return the page with what stands between its markers replaced.

    Args:
        page: the page's text.
        place: its folder, which links are relative to.
        results: the results file's content.
        plots: the folder with the reliability diagrams.

    Raises:
        EvaluationDataError: a marker is not closed, or names no table that a measured model has.
    """
    if len(_BEGIN.findall(page)) != len(list(_SECTION.finditer(page))):
        raise EvaluationDataError("a marker `<!-- begin … -->` has no `<!-- end … -->` of the same name")
    known = sections(results)

    def section(match: re.Match[str]) -> str:
        owner, table = match["owner"], match["table"]
        if table == PLOT:
            body = _plot(owner, place, plots)
        elif owner != PEERS and owner not in results["models"]:
            body = f"No results of `{owner}` yet: `{COMMAND} --save` measures it."
        elif (owner, table) not in known:
            tables = ", ".join(name for one, name in known if one == owner)
            raise EvaluationDataError(f"{owner} has no table {table}; it has: {tables}")
        else:
            body = known[owner, table]
        return f"<!-- begin {owner} {table} -->\n\n{body}\n\n<!-- end {owner} {table} -->"

    return _SECTION.sub(section, page)


def _plot(owner: str, place: Path, plots: Path) -> str:
    file = plots / f"{owner}-reliability.svg"
    if not file.is_file():
        return f"No diagram of `{owner}` yet: `{COMMAND} --out` draws it."
    return f"![Reliability diagram of {owner}]({Path(os.path.relpath(file, place)).as_posix()})"
