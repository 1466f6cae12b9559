"""``groundtrail demo``: documents in, two questions answered and checked, one chain verified."""

import json
import os
import sys
from pathlib import Path
from shutil import which
from time import perf_counter

from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.dag.v1 import session_service_pb2 as sessions

from services.cli import render
from services.cli.commands.ask import Asked, send, show_outcome
from services.cli.commands.ingest import Terms, documents, ingest_all
from services.cli.connection import connect
from services.cli.console import Output
from services.cli.exits import Exit
from services.cli.local_state import LocalState
from services.common.counting import counted
from services.common.resources import resource_path
from services.common.settings import Settings


def conversation() -> tuple[str, ...]:
    """Return the demo's questions, in order; the second continues the first's session."""
    document = json.loads(resource_path("examples/questions.json").read_text(encoding="utf-8"))
    chosen = sorted((item for item in document["questions"] if "demo" in item), key=lambda item: item["demo"])
    return tuple(item["question"] for item in chosen)


def _activation() -> tuple[str, ...]:
    """Return what makes ``groundtrail`` alone a command in this shell; nothing where it is one."""
    script = Path(sys.executable).with_name("activate")
    return (f"source {os.path.relpath(script)}",) if which("groundtrail") is None and script.is_file() else ()


async def demo(settings: Settings, output: Output) -> Exit:
    """Run the whole path in one process and verify what it recorded; anything but a valid chain is exit code 3."""
    state = LocalState(Path(settings.store.data_dir))
    started = perf_counter()
    async with connect(settings) as suite:
        output.say("1. The handbook of an insurer goes into the knowledge fabric", style="bold cyan")
        files = documents([resource_path("examples/handbook")])
        results = await ingest_all(suite, files, Terms("SOURCE_TYPE_INTERNAL"), output)
        made, kept = sum(r.facts_created for r in results), sum(r.unchanged for r in results)
        output.say(
            f"   {counted(len(files), 'document')}, {counted(made, 'new fact')}, {counted(kept, 'document')} unchanged"
        )
        session_id = ""
        answers = []
        for number, question in enumerate(conversation(), start=1):
            how = "opens a session" if number == 1 else "continues it with its token"
            output.say(f"\n{number + 1}. Window {number} {how}: {question}", style="bold cyan")
            response = await send(suite, state, Asked(question, session_id))
            output.say("")
            code = show_outcome(response, output)
            if code is not Exit.OK:
                output.result({"answers": [render.response_json(response)]})
                return code
            session_id = response.answer.session_id
            answers.append(response)
        output.say(f"\n{len(answers) + 2}. The chain is recomputed from the record", style="bold cyan")
        verdict = await suite.call(suite.sessions.VerifyChain, sessions.VerifyChainRequest(session_id=session_id))
    render.show_chain(session_id, verdict, output)
    elapsed = perf_counter() - started
    output.say(f"\ndone in {elapsed:.1f} s; next:", style="dim")
    for step in (*_activation(), f'groundtrail ask "…" --session {session_id}'):
        output.say(f"  {step}", style="dim")
    output.say(f"  groundtrail show {answers[-1].answer.report.report_id}", style="dim")
    output.result(
        {
            "documents": len(files),
            "facts_created": made,
            "answers": [render.response_json(response) for response in answers],
            "chain": render.response_json(verdict),
            "elapsed_s": round(elapsed, 3),
        }
    )
    return Exit.OK if verdict.integrity == taxonomy.CHAIN_INTEGRITY_VALID else Exit.VERDICT
