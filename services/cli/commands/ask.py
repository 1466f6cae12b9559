"""``groundtrail ask "…"``: one question, its checked answer, and the session to go on with.

Streamed, each sentence is printed when it has passed; with ``--json`` every piece is one line, the response the last.
"""

import uuid
from collections.abc import Callable
from dataclasses import dataclass

from crp.gateway.v1 import dispatch_service_pb2 as dispatch

from services.cli import outcomes, render
from services.cli.connection import Suite, connect
from services.cli.console import Output
from services.cli.exits import Exit
from services.cli.local_state import HeldSession, LocalState
from services.cli.modes import search_mode
from services.common.errors import ErrorReason, NotFoundError, PreconditionError, UnavailableError
from services.common.rpc import enums
from services.common.settings import Settings
from services.common.taxonomy import DispatchStrategy


@dataclass(frozen=True, slots=True)
class ContextWishes:
    """How the question's envelope is built (SPEC-003 §5.2).

    Attributes:
        retrieval_mode: a word of the command line, such as ``hybrid``; empty = the deployment's.
        active_fact_ids: of facts that the window's context holds already.
        include_superseded: facts that do not hold now are found too.
    """

    retrieval_mode: str = ""
    active_fact_ids: tuple[str, ...] = ()
    include_superseded: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of the command line; empty session = a new one, empty system = none."""

    question: str
    session_id: str = ""
    ai_system_id: str = ""
    strategy: DispatchStrategy = DispatchStrategy.PUSH


async def send(  # noqa: PLR0913 - one for each option
    suite: Suite,
    state: LocalState,
    question: str,
    session_id: str = "",
    ai_system_id: str = "",
    context: ContextWishes = ContextWishes(),
    *,
    told: Callable[[str], None] | None = None,
    strategy: DispatchStrategy = DispatchStrategy.PUSH,
) -> dispatch.DispatchResponse:
    """Send a question, continuing the session when one is named, and keep the token that comes back.

    Args:
        suite: of the services.
        state: tokens of sessions.
        question: what is asked.
        session_id: continued; empty = a new one.
        ai_system_id: that asks; empty = none.
        context: how the envelope is built.
        told: gets the pieces of a streamed answer; ``None`` = it is not streamed.
        strategy: how it is answered.

    Raises:
        InvalidRequestError: there is no such mode of retrieval.
        NotFoundError: this machine holds no token of the session.
        PreconditionError: the session is complete.
    """
    request = dispatch.DispatchRequest(
        request_id=str(uuid.uuid4()),
        query=question,
        strategies=[enums.STRATEGIES.number(strategy)],
        ai_system_id=ai_system_id,
        retrieval_mode=search_mode("--retrieval-mode", context.retrieval_mode) if context.retrieval_mode else None,
        active_fact_ids=context.active_fact_ids,
        include_superseded=context.include_superseded,
    )
    if session_id:
        held = state.session(session_id)
        if held is None:
            raise NotFoundError(
                ErrorReason.SESSION_NOT_FOUND,
                f"no token of session {session_id} is held here, so it cannot be continued from this machine",
                session_id=session_id,
            )
        if not held.continuation_id:
            raise PreconditionError(
                ErrorReason.SESSION_CLOSED,
                f"session {session_id} is complete; ask without --session",
                session_id=session_id,
            )
        request.session_token = held.session_token
        request.continuation_ids.append(held.continuation_id)
    response = await _answered(suite, request, told)
    if response.HasField("answer"):
        answer = response.answer
        state.keep_session(HeldSession(answer.session_id, answer.session_token, answer.continuation_id))
    return response


async def _answered(
    suite: Suite, request: dispatch.DispatchRequest, told: Callable[[str], None] | None
) -> dispatch.DispatchResponse:
    if told is None:
        response: dispatch.DispatchResponse = await suite.call(suite.dispatch.Dispatch, request)
        return response
    asked = dispatch.DispatchStreamRequest(dispatch=request)
    async for event in suite.stream(suite.dispatch.DispatchStream, asked):
        if event.HasField("token"):
            told(event.token)
        elif event.HasField("outcome"):
            outcome: dispatch.DispatchResponse = event.outcome
            return outcome
    raise UnavailableError(ErrorReason.SERVICE_UNAVAILABLE, "the server ended the answer without its outcome")


def show_outcome(
    response: dispatch.DispatchResponse, output: Output, *, headers: bool = False, repeated: bool = True
) -> Exit:
    """Show whichever outcome there was and return what it means for a script.

    Args:
        response: the outcome.
        output: where it is shown.
        headers: the CRP headers too.
        repeated: the answer's text too; ``False`` where it was streamed.
    """
    outcome = response.WhichOneof("outcome")
    if outcome == "answer":
        outcomes.show_answer(response, output, repeated=repeated)
    elif outcome == "halted":
        outcomes.show_halted(response, output)
    elif outcome == "held_for_review":
        outcomes.show_held(response, output)
    else:
        output.say("not modified: the knowledge behind the presented ETag is unchanged", style="cyan")
    if headers:
        render.show_headers(response, output)
    return Exit.OK if outcome in {"answer", "not_modified"} else Exit.VERDICT


async def ask(
    settings: Settings,
    output: Output,
    asked: Asked,
    context: ContextWishes = ContextWishes(),
    *,
    headers: bool = False,
    stream: bool = False,
) -> Exit:
    """Ask, show the checked answer, and say how to go on."""
    from pathlib import Path

    def told(piece: str) -> None:
        output.flow(piece)
        output.line({"token": piece})

    state = LocalState(Path(settings.store.data_dir))
    async with connect(settings) as suite:
        response = await send(
            suite,
            state,
            asked.question,
            asked.session_id,
            asked.ai_system_id,
            context,
            told=told if stream else None,
            strategy=asked.strategy,
        )
    if stream:
        output.flow("\n\n")
        output.line(render.response_json(response))
    else:
        output.result(render.response_json(response))
    code = show_outcome(response, output, headers=headers, repeated=not stream)
    if response.HasField("answer") and response.answer.continuation_id:
        output.say(f'go on:  groundtrail ask "…" --session {response.answer.session_id}', style="dim")
    return code
