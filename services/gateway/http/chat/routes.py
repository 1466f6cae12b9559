"""``POST /v1/chat/completions`` and ``GET /v1/models`` before a provider, in check mode (ADR 0132)."""

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any, Final

from crp.dpe.v1.provenance_service_pb2_grpc import ProvenanceServiceStub
from fastapi import APIRouter, Request
from pydantic import BaseModel
from starlette.requests import ClientDisconnect
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from services.common.computing import compute, compute_unless_small
from services.common.context import Role
from services.common.errors import CrpError, ErrorReason, UnavailableError
from services.common.ports.chat_provider import ChatProvider, ChatStream
from services.common.rpc.credential_gate import CredentialGate
from services.common.rpc.status import internal_error
from services.common.settings.gateway import GatewaySettings
from services.common.settings.http import HttpSettings
from services.gateway.check_policy import read_policy
from services.gateway.domain.grounds import Grounds
from services.gateway.domain.source_screening import SourceScreening
from services.gateway.http.callers import prove_caller
from services.gateway.http.chat.forms import (
    FIELD,
    ChatAsk,
    error_response,
    read_chat,
    refusal_of,
    texts_of,
    with_messages,
    withheld_response,
)
from services.gateway.http.chat.held_back import Check
from services.gateway.http.chat.streaming import streamed_answer
from services.gateway.http.check_messages import (
    blocked_reason,
    check_answer,
    guardrail_request,
    has_sources,
    screened_sources,
)
from services.gateway.http.problems import json_bytes
from services.gateway.http.requests import (
    ClientGoneError,
    call_metadata,
    read_body,
    request_id_of,
    until_disconnected,
)

CHAT: Final = "/v1/chat/completions"
MODELS: Final = "/v1/models"
_RPC: Final = "/crp.dpe.v1.ProvenanceService/Check"
_CLIENT_GONE: Final = 499
_OK: Final = 200
_NO_SOURCES: Final = {"mode": "check", "reason": "NO_SOURCES"}
_LATE_S: Final = 30.0
_CONTRADICTED: Final = "CONTRADICTED"
_INNER: Final = frozenset({"certain", "faulted_at"})
"""Of a check, for those who hold a stream back."""
_LOG: Final = logging.getLogger(__name__)

Handler = Callable[[Request, str], Awaitable[Response]]


class ChatRoutes:
    """The endpoints.

    Args:
        provider: writes the answers.
        stub: ProvenanceService, over a channel that raises the peer's own errors.
        gate: proves callers before anything of their bodies is read.
        settings: limits and deadlines.
        gateway: the safety policy where a request names none, and what becomes of injections.
    """

    forms: Sequence[type[BaseModel]] = ()
    """Schemas of the bodies: they are the provider's."""

    def __init__(
        self,
        provider: ChatProvider,
        stub: ProvenanceServiceStub,
        gate: CredentialGate,
        settings: HttpSettings,
        gateway: GatewaySettings,
    ) -> None:
        self._provider = provider
        self._stub = stub
        self._gate = gate
        self._settings = settings
        self._policy = gateway.default_safety_policy
        self._gateway = gateway

    def router(self) -> APIRouter:
        """Return the routes, for an app."""
        router = APIRouter(tags=["Chat"])
        says = "OpenAI's chat completions, each answer checked against what its messages hold."
        body = {"requestBody": {"required": True, "content": {"application/json": {"schema": {"type": "object"}}}}}
        router.add_api_route(
            CHAT, self._guarded(self._chat), methods=["POST"], openapi_extra=body, summary=says, operation_id="chat"
        )
        router.add_api_route(
            MODELS,
            self._guarded(self._models),
            methods=["GET"],
            summary="The provider's models.",
            operation_id="models",
        )
        return router

    def _guarded(self, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
        async def route(request: Request) -> Response:
            request_id = request_id_of(request)
            try:
                await prove_caller(request, self._gate, Role.READER, _RPC)
                return await handler(request, request_id)
            except (ClientGoneError, ClientDisconnect):
                return Response(status_code=_CLIENT_GONE)
            except CrpError as error:
                return error_response(error, request_id)
            except Exception as error:  # noqa: BLE001 - logged; the caller learns where to ask
                _LOG.error("an HTTP call failed unexpectedly", exc_info=error, extra={"request_id": request_id})
                return error_response(internal_error(), request_id)

        return route

    async def _models(self, request: Request, request_id: str) -> Response:
        reply = await until_disconnected(request, self._provider.models())
        if reply.status != _OK:
            return refusal_of(reply)
        return Response(reply.body, _OK, {"X-Request-Id": request_id}, "application/json")

    async def _chat(self, request: Request, request_id: str) -> Response:
        body = await read_body(request, self._settings)
        ask = await compute_unless_small(len(body), read_chat, body)
        read_policy(self._policy if ask.options.policy is None else ask.options.policy)  # refused before it costs
        screening = SourceScreening(self._gateway.suspected_sources)
        screened = await compute(screening.messages, ask.messages, self._gateway.suspected_queries)
        options = ask.options.model_copy(update=await compute(screened_sources, ask.options, screening))
        forwarded = await compute(with_messages, ask, screened.messages) if screened.is_changed else ask.forwarded
        ask = replace(ask, options=options, forwarded=forwarded)
        check = self._check(request, request_id, ask, screened.grounds)
        injections = [one.told() for one in screening.findings]
        if ask.is_streamed:
            return await self._streamed(request, request_id, ask, check, injections)
        reply = await until_disconnected(request, self._provider.ask(ask.forwarded))
        if reply.status != _OK:
            return refusal_of(reply)
        try:
            completion = await compute_unless_small(len(reply.body), json.loads, reply.body)
            texts, unchecked = texts_of(completion)
        except (ValueError, AttributeError, RecursionError):
            text = "The language model did not answer with a chat completion."
            raise UnavailableError(ErrorReason.LLM_UNAVAILABLE, text, cause="malformed_reply") from None
        found = await asyncio.gather(*(check(text, is_whole=True) for text in texts if text.strip()))
        told = _told(found, unchecked, injections)
        if withheld := [one for one in found if one["withheld"]]:
            return withheld_response(" ".join(one["blocked_reason"] for one in withheld), told, request_id)
        answer = await compute(json_bytes, {**completion, FIELD: told})
        return Response(answer, _OK, {"X-Request-Id": request_id}, "application/json")

    def _check(self, request: Request, request_id: str, ask: ChatAsk, grounds: Grounds) -> Check:
        """Return what judges a text of the answer; a beginning is not asked whether it is complete."""
        force = read_policy(self._policy if ask.options.policy is None else ask.options.policy)
        metadata = call_metadata(request, request_id)

        async def check(text: str, *, is_whole: bool) -> dict[str, Any]:
            message = await compute(guardrail_request, text, ask.options, grounds)
            if not is_whole:
                message.question = ""
            if not has_sources(message):
                blocked = ask.options.without_sources == "block"
                reason = "Withheld: there is nothing to check this answer against." if blocked else ""
                return {**_NO_SOURCES, "withheld": blocked, "blocked_reason": reason}
            found = await self._stub.Check(message, timeout=self._settings.call_timeout_s, metadata=metadata)
            answer = await compute(_judged, found, force, grounds)
            if not ask.options.evidence:
                answer.pop("claims")
            return answer

        return check

    async def _streamed(
        self, request: Request, request_id: str, ask: ChatAsk, check: Check, injections: list[dict[str, Any]]
    ) -> Response:
        """Open the provider's stream first, so that a refusal has its status."""
        opened = contextlib.AsyncExitStack()
        try:
            entering = opened.enter_async_context(self._provider.stream(ask.forwarded))
            stream: ChatStream = await until_disconnected(request, entering)
            if stream.refusal is not None:
                refusal = refusal_of(stream.refusal)
                await opened.aclose()
                return refusal
        except BaseException:
            await opened.aclose()
            raise

        def told_at_end(told: dict[str, Any] | None, unchecked: list[str]) -> dict[str, Any]:
            return _told([told] if told else [], unchecked, injections)

        events = streamed_answer(stream.events, check, told_at_end)
        headers = {"X-Request-Id": request_id, "X-Accel-Buffering": "no"}
        return _Streamed(events, opened, self._settings.run_timeout_s + _LATE_S, headers)


class _Streamed(StreamingResponse):
    """Sends the events and ends the provider's call, whether they were all sent or the client left."""

    def __init__(
        self,
        events: AsyncGenerator[bytes, None],
        opened: contextlib.AsyncExitStack,
        within_s: float,
        headers: dict[str, str],
    ) -> None:
        self._events = events
        self._opened = opened
        self._within_s = within_s
        super().__init__(events, headers=headers, media_type="text/event-stream")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send."""
        try:
            async with asyncio.timeout(self._within_s):
                await super().__call__(scope, receive, send)
        except TimeoutError:
            return
        finally:
            with contextlib.suppress(RuntimeError):
                await self._events.aclose()
            await self._opened.aclose()


def _judged(found: Any, force: Any, grounds: Grounds) -> dict[str, Any]:
    answer = check_answer(found, force, grounds, report=False)
    answer.pop("facts")
    answer.pop("report")
    answer.pop("injections")
    faults = [claim["start"] for claim in answer["claims"] if claim["verdict"] == _CONTRADICTED]
    answer["certain"], answer["faulted_at"] = bool(faults), min(faults, default=None)
    answer["blocked_reason"] = blocked_reason(answer) if answer["withheld"] else ""
    return answer


def _told(found: list[dict[str, Any]], unchecked: list[str], injections: list[dict[str, Any]]) -> dict[str, Any]:
    kept = [{name: value for name, value in one.items() if name not in _INNER} for one in found]
    told = {"mode": "check", "checks": kept, "unchecked": unchecked}
    return {**told, "injections": injections} if injections else told
