"""``groundtrail ask "…"``: one question, its checked answer, and the session to go on with.

Streamed, each sentence is printed when it has passed; with ``--json`` every piece is one line, the response the last.
"""

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from crp.dag.v1 import dag_pb2
from crp.gateway.v1 import dispatch_pb2
from crp.gateway.v1 import dispatch_service_pb2 as dispatch

from services.cli import outcomes, render
from services.cli.commands.nearest import found_nothing, show_nearest
from services.cli.connection import Suite, connect
from services.cli.console import Output
from services.cli.envelope_quality import is_refused_next
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
class Places:
    """What a question continues beside the session's latest window.

    Attributes:
        pointers: of windows of the session, instead of its latest; several are merged.
        agents: sessions under the session whose latest answers are merged.
        parent: of the agent's session that begins; empty = none.
        partial: what has no answer is left out of a merge.
    """

    pointers: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    parent: str = ""
    partial: bool = False


@dataclass(frozen=True, slots=True)
class Terms:
    """What the answer is held to; empty and ``None`` = the deployment's.

    Attributes:
        safety_budget: ceiling of the session's, 0.0 to 1.0.
    """

    model: str = ""
    policy: str = ""
    safety_budget: float | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of the command line; empty session = a new one, empty system and no strategy = none."""

    question: str
    session_id: str = ""
    ai_system_id: str = ""
    strategy: DispatchStrategy | None = None
    places: Places = Places()
    terms: Terms = Terms()


async def send(
    suite: Suite,
    state: LocalState,
    asked: Asked,
    context: ContextWishes = ContextWishes(),
    *,
    told: Callable[[str], None] | None = None,
) -> dispatch.DispatchResponse:
    """Send a question, continuing the session when one is named, and keep the token that comes back.

    Args:
        suite: of the services.
        state: tokens of sessions.
        asked: the question, and what it continues.
        context: how the envelope is built.
        told: gets the pieces of a streamed answer; ``None`` = it is not streamed.

    Raises:
        InvalidRequestError: there is no such mode of retrieval.
        NotFoundError: this machine holds no token of the session, or none of the window that is continued.
        PreconditionError: the session is complete.
    """
    terms, places = asked.terms, asked.places
    request = dispatch.DispatchRequest(
        request_id=str(uuid.uuid4()),
        query=asked.question,
        strategies=[] if asked.strategy is None else [enums.STRATEGIES.number(asked.strategy)],
        ai_system_id=asked.ai_system_id,
        model=terms.model,
        approximate_tokens=True,  # for a model without a tokenizer there; a warning says so
        safety_policy=terms.policy,
        safety_budget=terms.safety_budget,
        agent_session_parent=places.parent,
        agent_sessions=places.agents,
        fan_in_policy=dispatch_pb2.FAN_IN_POLICY_PARTIAL if places.partial else None,
        retrieval_mode=search_mode("--retrieval-mode", context.retrieval_mode) if context.retrieval_mode else None,
        active_fact_ids=context.active_fact_ids,
        include_superseded=context.include_superseded,
    )
    if asked.session_id:
        _continue(request, state, asked.session_id, places.pointers)
    response = await _answered(suite, request, told)
    if response.HasField("answer"):
        answer = response.answer
        state.keep_session(HeldSession(answer.session_id, answer.session_token, answer.continuation_id))
    return response


def _continue(request: dispatch.DispatchRequest, state: LocalState, session_id: str, pointers: Sequence[str]) -> None:
    """Put the token in that continues the session's latest window, or those that are named."""
    held = state.session(session_id)
    if held is None:
        raise NotFoundError(
            ErrorReason.SESSION_NOT_FOUND,
            f"no token of session {session_id} is held here, so it cannot be continued from this machine",
            session_id=session_id,
        )
    if not pointers and not held.continuation_id:
        raise PreconditionError(
            ErrorReason.SESSION_CLOSED,
            f"session {session_id} is complete; ask without --session",
            session_id=session_id,
        )
    token = held.tokens.get(pointers[0], "") if pointers else held.session_token
    if not token:
        text = f"no token of window {pointers[0]} is held here: name one that an answer to this machine had"
        raise NotFoundError(ErrorReason.CONTINUATION_NOT_FOUND, text, continuation_id=pointers[0])
    request.session_token = token
    request.continuation_ids.extend(pointers or [held.continuation_id])


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
        response = await send(suite, state, asked, context, told=told if stream else None)
        if stream:
            output.flow("\n\n")
            output.line(render.response_json(response))
        else:
            output.result(render.response_json(response))
        code = show_outcome(response, output, headers=headers, repeated=not stream)
        if found_nothing(response):
            await show_nearest(suite, output, asked.question)
    if is_refused_next(response):
        output.say('go on:  groundtrail ask "…"', style="dim")
    elif response.HasField("answer") and response.answer.continuation_id:
        answer = response.answer
        # A child of a fan-out is one of several: it is named by its pointer.
        parallel = answer.window.pattern == dag_pb2.WINDOW_PATTERN_FAN_OUT
        one_of = f" --continue {answer.continuation_id}" if parallel else ""
        output.say(f'go on:  groundtrail ask "…" --session {answer.session_id}{one_of}', style="dim")
    return code
