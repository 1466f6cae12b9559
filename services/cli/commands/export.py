"""``groundtrail export``: take a session's record out, as it is: also one that was tampered with, which is evidence."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crp.ckf.v1 import knowledge_service_pb2 as knowledge
from crp.dag.v1 import session_service_pb2 as sessions

from services.allinone.parts import Part
from services.cli.connection import Suite, connect
from services.cli.console import Output
from services.cli.exits import Exit
from services.cli.export_file import ANALYSIS, fact_line
from services.cli.kept_heads import read_checkpoint
from services.cli.target_files import check_lines_target, teller, write_lines
from services.common.errors import InvalidRequestError, NotFoundError
from services.common.settings import Settings


@dataclass(frozen=True, slots=True)
class ExportWish:
    """What is exported, and where to.

    Attributes:
        target: a file, or ``-`` for standard output.
        force: what the file holds may be lost.
        checkpoints: kept heads of which the export proves that the log goes on from them.
    """

    session_id: str
    target: Path
    with_content: bool = False
    force: bool = False
    checkpoints: tuple[Path, ...] = ()


async def export(settings: Settings, output: Output, wish: ExportWish) -> Exit:
    """Write a session's audit export to a file that its owner alone may read, or to standard output."""
    target, with_content = wish.target, wish.with_content
    check_lines_target(target, "FILE", force=wish.force, as_json=output.as_json)
    counted: Counter[str] = Counter()
    request = sessions.ExportAuditRequest(
        session_id=wish.session_id,
        format=sessions.AUDIT_EXPORT_FORMAT_NDJSON,
        with_content=with_content,
        consistency_from_sizes=[read_checkpoint(path, "--checkpoint")[1].size for path in wish.checkpoints],
    )
    needed = (Part.SESSIONS, Part.STORED_KNOWLEDGE) if with_content else (Part.SESSIONS,)
    async with connect(settings, *needed) as suite:
        lines = [response.line async for response in suite.stream(suite.sessions.ExportAudit, request)]
        records = list(map(_record, lines))
        for fact_id in sorted(set(_fact_ids(records))):
            line = await _fact_line(suite, fact_id)
            counted["facts" if line else "facts_erased"] += 1
            lines += [line] if line else []
    counted["analyses"] = sum(record.get("record") == ANALYSIS for record in records)
    counted["events"] = sum("record" not in record for record in records)
    write_lines(target, "FILE", lines, output)
    tell = teller(target, output)
    tell(", ".join(f"{number} {name.replace('_', ' ')}" for name, number in sorted(counted.items()) if number))
    if not with_content:
        tell("without answers, questions and facts: --with-content takes them in, for `groundtrail replay`")
    elif counted["analyses"]:
        tell("the file holds answers, questions and facts: keep it as you keep those")
    else:
        tell("the file holds no answers, questions and facts: the session has none, or they were erased")
    output.result({"session_id": wish.session_id, "with_content": with_content, **counted})
    return Exit.OK


def _record(line: str) -> dict[str, Any]:
    """Return a line's members; none for one that is no object: it is written all the same."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _fact_ids(records: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Yield the facts that analyses read, as far as their lines can be read."""
    for record in records:
        if record.get("record") != ANALYSIS or not record.get("inputs"):
            continue
        try:
            facts = record["inputs"]["request"]["envelope"]["facts"]
            yield from [str(fact["fact_id"]) for fact in facts if not fact["carried_from_window_id"]]
        except (KeyError, TypeError):
            continue


async def _fact_line(suite: Suite, fact_id: str) -> str:
    """Return a fact as one line of the export; empty when it was erased."""
    try:
        found = await suite.call(suite.knowledge.GetFact, knowledge.GetFactRequest(fact_id=fact_id))
    except (NotFoundError, InvalidRequestError):  # the second: what stands there is no id
        return ""
    if not found.fact.content:
        return ""
    return fact_line(found.fact)
