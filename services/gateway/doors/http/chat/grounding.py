"""Mode ground: the last question of a chat is dispatched, and the answer put into the caller's form (ADR 0141).

Retrieval, packing, writing, analysis, chain and policy are those of ``Dispatch``, called as any caller would.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any, Final

from crp.common.v1 import taxonomy_pb2
from crp.dpe.v1 import report_pb2
from crp.gateway.v1 import dispatch_pb2
from crp.gateway.v1 import dispatch_service_pb2 as pb
from crp.gateway.v1.dispatch_service_pb2_grpc import DispatchServiceStub
from starlette.responses import Response

from services.common.computing import compute
from services.common.errors import CrpError, ErrorReason
from services.common.rpc.status import internal_error
from services.common.settings.http import HttpSettings
from services.gateway.doors.http.chat.asks import FIELD, Call, ChatOptions, ChatQuery, Written, wrong
from services.gateway.doors.http.chat.checking import LATE_S, OK
from services.gateway.doors.http.chat.conversations import Conversations, Head
from services.gateway.doors.http.chat.dialect import Dialect, DialectStream
from services.gateway.doors.http.chat.refusals import withheld_response
from services.gateway.doors.http.chat.sending import Streamed, passed_answer
from services.gateway.doors.http.check_messages import judged_claims
from services.gateway.doors.http.problems import json_bytes
from services.gateway.doors.http.protocol import HEADER_OF_FIELD, dispatched_headers
from services.gateway.doors.http.requests import call_metadata, idempotency_key, until_disconnected

_NOT_MODIFIED: Final = 304
_COMMENT: Final = b": the answer is being written\n\n"
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
        dispatching = asyncio.ensure_future(self._dispatched(call, message))
        dispatching.add_done_callback(_looked_at)
        if not call.ask.is_streamed:
            response = await until_disconnected(call.request, dispatching)
            return await compute(self._whole, call, query, response)
        try:
            # So long a refusal has its status, and an answer its headers.
            response = await until_disconnected(call.request, dispatching, self.settings.event_interval_s)
        except TimeoutError:
            return self._later(call, query, dispatching)
        if response.WhichOneof("outcome") != "answer":
            return self._whole(call, query, response)
        events = self._passed(call, query, response, self.dialect.stream())
        return self._streamed(call, events, contextlib.AsyncExitStack(), dispatched_headers(response))

    async def _dispatched(self, call: Call, message: pb.DispatchRequest) -> pb.DispatchResponse:
        metadata = call_metadata(call.request, call.request_id)
        within_s = self.settings.call_timeout_s
        name = call.ask.options.conversation
        if not name:
            found: pb.DispatchResponse = await self.stub.Dispatch(message, timeout=within_s, metadata=metadata)
            return found
        key = (call.caller.tenant_id, call.caller.scope, name)
        async with self.conversations.turn(key, message.request_id) as turn:
            message.session_token = turn.head.session_token
            if turn.head.continuation_id:
                message.continuation_ids.append(turn.head.continuation_id)
            if turn.head.session_token:
                del message.earlier_questions[:]  # the session knows them
            try:
                response: pb.DispatchResponse = await self.stub.Dispatch(message, timeout=within_s, metadata=metadata)
            except CrpError as error:
                if error.reason in _OVER:
                    turn.became = Head()
                raise
            if response.WhichOneof("outcome") == "answer":
                answer = response.answer
                # A session that is complete (SPEC-004 §11.4) goes on with a new one.
                done = not answer.continuation_id
                turn.became = Head() if done else Head(answer.session_token, answer.continuation_id)
            return response

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

    def _passed(
        self, call: Call, query: ChatQuery, response: pb.DispatchResponse, stream: DialectStream
    ) -> AsyncGenerator[bytes, None]:
        told = _told(call, query, response) | {"headers": dispatched_headers(response)}
        given = call.ask.value.get("stream_options")
        with_usage = isinstance(given, dict) and given.get("include_usage") is True
        labelled = told if call.ask.options.labelled else None
        return passed_answer(stream, _written(response.answer, query), labelled, with_usage=with_usage)

    def _later(self, call: Call, query: ChatQuery, dispatching: "asyncio.Future[pb.DispatchResponse]") -> Response:
        """Begin the stream before there is an answer; what comes of it is told in its events."""
        opened = contextlib.AsyncExitStack()
        opened.callback(dispatching.cancel)
        return self._streamed(call, self._awaited(call, query, dispatching), opened, {})

    async def _awaited(
        self, call: Call, query: ChatQuery, dispatching: "asyncio.Future[pb.DispatchResponse]"
    ) -> AsyncGenerator[bytes, None]:
        stream = self.dialect.stream()
        try:
            while not (await asyncio.wait({dispatching}, timeout=self.settings.event_interval_s))[0]:
                yield _COMMENT
            response = dispatching.result()
            if response.WhichOneof("outcome") == "answer":
                async for event in self._passed(call, query, response, stream):
                    yield event
                return
            told = _halted(response, evidence=call.ask.options.evidence) | {"headers": dispatched_headers(response)}
            yield stream.opening() + stream.closing(told, halted=True)
        except CrpError as error:
            yield stream.failed(error, call.request_id)

    def _streamed(
        self,
        call: Call,
        events: AsyncGenerator[bytes, None],
        opened: contextlib.AsyncExitStack,
        headers: dict[str, str],
    ) -> Response:
        named = {"X-Request-Id": call.request_id, HEADER_OF_FIELD["stream_safety_mode"]: "buffer", **headers}
        return Streamed(events, opened, self.settings.run_timeout_s + LATE_S, named)


def _looked_at(dispatching: "asyncio.Future[Any]") -> None:
    """Look at the error of a dispatch that nobody waits for any more."""
    if not dispatching.cancelled():
        dispatching.exception()


def _message(call: Call, query: ChatQuery) -> pb.DispatchRequest:
    """Return the dispatch of a chat: what its headers ask for, its field, its body.

    Raises:
        InvalidRequestError: INVALID_FIELD: field and header say the same thing twice, or pass-through is asked for.
    """
    options, message = call.ask.options, pb.DispatchRequest()
    message.CopyFrom(call.wishes)
    if message.stream_safety_mode == dispatch_pb2.STREAM_SAFETY_MODE_PASS_THROUGH:
        header = HEADER_OF_FIELD["stream_safety_mode"]
        raise wrong(header, "must be buffer, or left out: in mode ground nothing leaves before it is analysed")
    _add_field(message, options)
    message.request_id = idempotency_key(call.request)
    message.query = query.query
    message.system_prompt = query.instruction
    message.model = query.model
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
