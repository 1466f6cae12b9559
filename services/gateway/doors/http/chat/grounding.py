"""Mode ground: the last question of a chat is dispatched, and the answer put into the caller's form (ADR 0141).

Retrieval, packing, writing, analysis, chain and policy are those of ``Dispatch``, called as any caller would.
"""

import contextlib
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass, replace
from typing import Any, Final

from crp.common.v1 import taxonomy_pb2
from crp.dpe.v1 import report_pb2
from crp.gateway.v1 import dispatch_pb2
from crp.gateway.v1 import dispatch_service_pb2 as pb
from crp.gateway.v1.dispatch_service_pb2_grpc import DispatchServiceStub
from starlette.responses import Response

from services.common.computing import compute
from services.common.errors import CrpError, ErrorReason, internal_error
from services.common.settings.http import HttpSettings
from services.gateway.doors.http.chat.asks import FIELD, OWN_MODEL, Call, ChatOptions, ChatQuery, Written, wrong
from services.gateway.doors.http.chat.checking import LATE_S, OK
from services.gateway.doors.http.chat.conversations import Conversations, Head, Turn
from services.gateway.doors.http.chat.dialect import Dialect, DialectStream
from services.gateway.doors.http.chat.refusals import withheld_response
from services.gateway.doors.http.chat.sending import Streamed, told_error
from services.gateway.doors.http.check_messages import judged_claims
from services.gateway.doors.http.problems import json_bytes
from services.gateway.doors.http.protocol import HEADER_OF_FIELD, dispatched_headers
from services.gateway.doors.http.requests import call_metadata, idempotency_key, until_disconnected
from services.gateway.doors.http.streamed_dispatch import COMMENT, Awaited, DispatchCall

_NOT_MODIFIED: Final = 304
_OVER: Final = frozenset(
    {
        *(ErrorReason.TOKEN_EXPIRED, ErrorReason.TOKEN_INVALID, ErrorReason.TOKEN_SPENT, ErrorReason.SESSION_CLOSED),
        *(ErrorReason.SESSION_NOT_FOUND, ErrorReason.CONTINUATION_NOT_FOUND, ErrorReason.WINDOW_LIMIT),
    }
)
"""What ends a conversation's session: the call is refused, and the next one begins anew."""
_OF_FIELD: Final = ("session_token", "continuation_ids", "ai_system_id")


@dataclass(frozen=True, slots=True)
class GroundMode:
    """Answers in mode ground.

    Attributes:
        dialect: of the calls.
        stub: DispatchService of this process, over a channel that raises its own errors.
        settings: deadlines.
        conversations: by an id of the caller's.
    """

    dialect: Dialect
    stub: DispatchServiceStub
    settings: HttpSettings
    conversations: Conversations

    async def answer(self, call: Call) -> Response:
        """Dispatch, and answer in the caller's form."""
        query = self.dialect.query(call.ask)
        try:
            message = _message(call, query)
        except UnicodeEncodeError:
            raise wrong("body", "must be Unicode text; it holds half of a surrogate pair") from None
        if call.ask.is_streamed:
            return await self._streamed(call, query, message)
        response = await until_disconnected(call.request, self._dispatched(call, message))
        return await compute(self._whole, call, query, response)

    async def _dispatched(self, call: Call, message: pb.DispatchRequest) -> pb.DispatchResponse:
        async with self._turn(call, message) as turn:
            metadata = call_metadata(call.request, call.request_id)
            response: pb.DispatchResponse = await self.stub.Dispatch(
                message, timeout=self.settings.call_timeout_s, metadata=metadata
            )
            _go_on(turn, response)
            return response

    @contextlib.asynccontextmanager
    async def _turn(self, call: Call, message: pb.DispatchRequest) -> AsyncIterator[Turn]:
        """Hold the call's conversation, if it names one, and fill in where it goes on."""
        name = call.ask.options.conversation
        if not name:
            yield Turn(Head())
            return
        key = (call.caller.tenant_id, call.caller.scope, name)
        async with self.conversations.turn(key, message.request_id) as turn:
            message.session_token = turn.head.session_token
            if turn.head.continuation_id:
                message.continuation_ids.append(turn.head.continuation_id)
            if turn.head.session_token:
                del message.earlier_questions[:]  # the session knows them
            try:
                yield turn
            except CrpError as error:
                if error.reason in _OVER:
                    turn.became = Head()
                raise

    def _whole(self, call: Call, query: ChatQuery, response: pb.DispatchResponse) -> Response:
        headers = {"X-Request-Id": call.request_id, **dispatched_headers(response)}
        kind = response.WhichOneof("outcome")
        if kind == "answer":
            body = self.dialect.answer(_written(response.answer, query))
            if call.ask.options.labelled:
                body |= {FIELD: _told(call, query, response)}
            return Response(json_bytes(body), OK, headers, "application/json")
        if kind == "not_modified":
            return Response(status_code=_NOT_MODIFIED, headers=headers)
        if kind in {"halted", "held_for_review"}:
            told = _halted(response, evidence=call.ask.options.evidence)
            reason = f"Withheld: {told['crp_halt_reason']}."
            return withheld_response(self.dialect, reason, told, call.request_id, headers)
        raise internal_error()

    async def _streamed(self, call: Call, query: ChatQuery, message: pb.DispatchRequest) -> Response:
        """Wait a moment for what comes first, so that a refusal has its status; then begin the stream."""
        metadata = call_metadata(call.request, call.request_id)
        dispatch = DispatchCall(self.stub, message, self.settings.run_timeout_s, metadata)
        awaited, opened = Awaited(self._events(call, dispatch)), contextlib.AsyncExitStack()
        opened.push_async_callback(awaited.close)
        try:
            with contextlib.suppress(TimeoutError):
                first = await until_disconnected(call.request, awaited.pending, self.settings.event_interval_s)
                if first is not None and first.outcome.WhichOneof("outcome") not in {None, "answer"}:
                    response = self._whole(call, query, first.outcome)
                    await opened.aclose()
                    return response
        except BaseException:
            await opened.aclose()
            raise
        headers = {"X-Request-Id": call.request_id, **dispatch.begun}
        written = GroundedStream(call, query, message.request_id, self.dialect.stream())
        events = written.events(awaited, self.settings.event_interval_s)
        return Streamed(events, opened, self.settings.run_timeout_s + LATE_S, headers)

    async def _events(self, call: Call, dispatch: DispatchCall) -> AsyncGenerator[pb.DispatchStreamResponse, None]:
        """Yield what a chat shows of a streamed dispatch."""
        async with self._turn(call, dispatch.message) as turn, contextlib.aclosing(dispatch.events()) as events:
            async for event in events:
                if event.HasField("outcome"):
                    _go_on(turn, event.outcome)
                if not event.HasField("stage"):
                    yield event


@dataclass(frozen=True, slots=True)
class GroundedStream:
    """A streamed dispatch in the caller's form.

    Attributes:
        call: the chat.
        query: what is asked.
        answer_id: of the answer's events; the window is named in the last.
        stream: of the dialect.
    """

    call: Call
    query: ChatQuery
    answer_id: str
    stream: DialectStream

    async def events(
        self, awaited: Awaited[pb.DispatchStreamResponse], interval_s: float
    ) -> AsyncGenerator[bytes, None]:
        """Yield the events for the client."""
        stream, model = self.stream, self.query.model or OWN_MODEL
        begun, opened = Written(self.answer_id, model, "", "stop", 0, 0), False
        try:
            async for event in awaited.all(interval_s):
                if event is None:
                    yield COMMENT
                    continue
                if not opened:
                    stream.writes(begun, with_usage=False)
                    yield stream.opening()
                    opened = True
                yield stream.text(event.token) if event.HasField("token") else self._ended(begun, event.outcome)
        except Exception as error:  # noqa: BLE001 - told to the client, and logged unless it is one of ours
            yield stream.failed(told_error(error), self.call.request_id)

    def _ended(self, begun: Written, response: pb.DispatchResponse) -> bytes:
        options = self.call.ask.options
        headers = {"headers": dispatched_headers(response)}
        if response.WhichOneof("outcome") != "answer":
            told = _halted(response, evidence=options.evidence) | headers
            return self.stream.closing(told, halted=True)
        told = _told(self.call, self.query, response) | headers
        answer, given = response.answer, self.call.ask.value.get("stream_options")
        finish = answer.finish_reason or "stop"
        written = replace(
            begun, finish=finish, prompt_tokens=answer.prompt_tokens, completion_tokens=answer.completion_tokens
        )
        self.stream.writes(written, with_usage=isinstance(given, dict) and given.get("include_usage") is True)
        return self.stream.closing(told if options.labelled else None, halted=False)


def _go_on(turn: Turn, response: pb.DispatchResponse) -> None:
    """Note where a conversation goes on; a session that is complete (SPEC-004 §11.4) goes on with a new one."""
    if response.WhichOneof("outcome") == "answer":
        answer = response.answer
        turn.became = Head(answer.session_token, answer.continuation_id) if answer.continuation_id else Head()


def _message(call: Call, query: ChatQuery) -> pb.DispatchRequest:
    """Return the dispatch of a chat: what its headers ask for, its field, its body.

    Raises:
        InvalidRequestError: INVALID_FIELD: field and header say the same thing twice.
    """
    options, message = call.ask.options, pb.DispatchRequest()
    message.CopyFrom(call.wishes)
    _add_field(message, options)
    message.request_id = idempotency_key(call.request)
    message.query = query.query
    message.system_prompt = query.instruction
    message.model = query.model
    message.approximate_tokens = True  # a chat has no field to ask for it, and its provider knows its models
    if not message.session_token:
        message.earlier_questions.extend(query.earlier_questions)
    for name in ("max_tokens", "temperature", "seed"):
        if (given := getattr(query, name)) is not None:
            _number(message, name, given)
    message.report_view = report_pb2.REPORT_VIEW_FULL
    return message


def _add_field(message: pb.DispatchRequest, options: ChatOptions) -> None:
    given = {name: getattr(options, name) for name in _OF_FIELD if getattr(options, name)}
    if options.policy is not None:
        given["safety_policy"] = options.policy
    for name, value in given.items():
        if getattr(message, name):
            text = f"stands in the header {HEADER_OF_FIELD[name]} too; give it once"
            raise wrong(f"{FIELD}.{'policy' if name == 'safety_policy' else name}", text)
        if name == "continuation_ids":
            message.continuation_ids.extend(value)
        else:
            setattr(message, name, value)
    message.include_superseded = options.include_superseded
    if options.retrieval_mode is not None:
        message.MergeFrom(pb.DispatchRequest(retrieval_mode=f"SEARCH_MODE_{options.retrieval_mode.upper()}"))
    if options.conversation and (message.session_token or message.continuation_ids):
        raise wrong(f"{FIELD}.conversation", "must be left out where a session token or a continuation id is given")


def _number(message: pb.DispatchRequest, name: str, given: float) -> None:
    try:
        setattr(message, name, given)
    except (ValueError, TypeError, OverflowError):
        raise wrong(name, "is out of range") from None


def _written(answer: dispatch_pb2.Answer, query: ChatQuery) -> Written:
    return Written(
        answer_id=answer.window.window_id,
        model=query.model or answer.model_fingerprint.partition("@")[0],
        text=answer.text,
        finish=answer.finish_reason or "stop",
        prompt_tokens=answer.prompt_tokens,
        completion_tokens=answer.completion_tokens,
    )


def _told(call: Call, query: ChatQuery, response: pb.DispatchResponse) -> dict[str, Any]:
    """Return our object of an answer."""
    answer = response.answer
    parts = [(part.report, part.span.start) for part in answer.parts] or [(answer.report, 0)]
    claims = [claim for report, start in parts for claim in judged_claims(report, start)]
    levels = [report.risk_level for report, _ in parts]
    told: dict[str, Any] = {
        "mode": "ground",
        "risk_level": _level(max(levels)),
        "supported": sum(claim["verdict"] == "SUPPORTED" for claim in claims),
        "judged": len(claims),
        "claims": claims,
        "violations": _violations(response),
        "warnings": [{"code": one.code, "message": one.message} for one in response.warnings],
        "session": {
            "session_id": answer.session_id,
            "window_id": answer.window.window_id,
            "window_number": answer.window.window_number,
            "session_token": answer.session_token,
            "continuation_id": answer.continuation_id,
            "conversation": call.ask.options.conversation,
        },
        "report_id": answer.report.report_id,
        "model_fingerprint": answer.model_fingerprint,
        "unused": list(query.unused),
    }
    if not call.ask.options.evidence:
        told.pop("claims")
    return told


def _halted(response: pb.DispatchResponse, *, evidence: bool) -> dict[str, Any]:
    """Return our object of a halt (CRP-SPEC-002, bodies); not a word of the answer is in it."""
    if response.HasField("held_for_review"):
        return _held(response)
    halted = response.halted
    told: dict[str, Any] = {
        "mode": "ground",
        "crp_halt_reason": halted.halt_reason,
        "session_id": halted.session_id,
        "window_id": halted.window_id,
        "audit_trail_uri": halted.audit_trail_uri,
        "oversight_required": halted.oversight_required,
        "retry_condition": halted.retry_condition,
        "violations": _violations(response),
    }
    if halted.risk_level:
        told["risk_level"] = _level(halted.risk_level)
    if evidence and halted.HasField("report"):
        claims = judged_claims(halted.report)
        told["claims"] = [{"start": one["start"], "end": one["end"], "verdict": one["verdict"]} for one in claims]
    return told


def _held(response: pb.DispatchResponse) -> dict[str, Any]:
    """Return our object of an answer that waits for a person, and where its caller learns what comes of it."""
    held = response.held_for_review
    return {
        "mode": "ground",
        "crp_halt_reason": held.reason,
        "session_id": held.session_id,
        "window_id": held.window_id,
        "oversight_required": True,
        "retry_condition": "oversight-required",
        "review_id": held.review_id,
        "review_uri": f"/v1/reviews/{held.review_id}",
        "violations": _violations(response),
    }


def _violations(response: pb.DispatchResponse) -> list[dict[str, str]]:
    return [
        {
            "directive": one.directive,
            "violation_type": one.violation_type,
            "description": one.description,
            "enforcement": dispatch_pb2.Enforcement.Name(one.enforcement).removeprefix("ENFORCEMENT_"),
        }
        for one in response.violations
    ]


def _level(value: int) -> str:
    return taxonomy_pb2.RiskLevel.Name(value).removeprefix("RISK_LEVEL_")
