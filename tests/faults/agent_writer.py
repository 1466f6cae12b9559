"""The process of ``killed_writers`` whose children let agents under one parent commit at once.

Store and app are those of ``commit_writer``. Usage: python -m tests.faults.agent_writer DIRECTORY. A child says
``begin REQUEST SESSION WINDOW NUMBER RISK`` and ``done WINDOW BUDGET PARENT``.
"""

import asyncio
import sys
import uuid
from functools import partial
from itertools import cycle
from pathlib import Path

from services.common.rpc.canonical import message_json
from services.dag.app import SessionApp
from services.dag.beginning import CreateCommand
from services.dag.domain.committing import CommitCommand
from services.dag.domain.opening import OpenCommand
from tests.fakes.dag_world import ALICE, report_for
from tests.faults.commit_writer import Results, open_app, open_store, text_of
from tests.faults.killed_writers import say, write_in_rounds

AGENTS = 6
RISKS = cycle(("MEDIUM", "LOW", "MEDIUM", "HIGH"))


def commit_ask(session_id: str, window_id: str, number: int, risk: str) -> CommitCommand:
    """Return the same request whenever it is made: a retry after a crash sends it again."""
    text = text_of(window_id)
    report_id = str(uuid.uuid5(uuid.NAMESPACE_OID, window_id))
    report = report_for(session_id, window_id, number, text, risk, report_id=report_id)
    return CommitCommand(session_id, window_id, text, message_json(report), risk, "A", response_tokens=40)


async def window(app: SessionApp, token: str, risk: str, above: str):
    answers = Results()
    ask = OpenCommand("push", str(uuid.uuid4()), available_budget_tokens=1000)
    await app.open_window(ALICE, token, ask, answers.key("OpenWindow", ask.request_id))
    opened = answers.last.window
    request_id = str(uuid.uuid4())
    say("begin", request_id, opened.session_id, opened.window_id, opened.window_number, risk)
    asked = commit_ask(opened.session_id, opened.window_id, opened.window_number, risk)
    await app.commit_window(ALICE, asked, answers.key("CommitWindow", request_id))
    say("done", opened.window_id, answers.last.window.safety_budget, above or "-")
    return answers.last


async def create(app: SessionApp, parent: str = ""):
    answers = Results()
    await app.create_session(
        ALICE, CreateCommand(parent_session_id=parent), answers.key("CreateSession", str(uuid.uuid4()))
    )
    return answers.last


async def one_family(app: SessionApp) -> None:
    """A parent, agents under it, and one under one of them; all of the agents at once until each is spent."""
    parent = (await create(app)).session.session_id
    agents = [(await create(app, parent), parent) for _ in range(AGENTS)]
    agents.append((await create(app, agents[0][0].session.session_id), agents[0][0].session.session_id))

    async def work(agent, above: str) -> None:
        token = agent.issued.session_token
        while True:
            committed = await window(app, token, next(RISKS), above)
            if not committed.window.continuation_id:
                return
            token = committed.issued.session_token

    await asyncio.gather(*(work(agent, above) for agent, above in agents))


async def write_for_ever(directory: Path) -> None:
    app = open_app(await open_store(directory))
    while True:
        await one_family(app)


if __name__ == "__main__":
    write_in_rounds(partial(write_for_ever, Path(sys.argv[1])))
