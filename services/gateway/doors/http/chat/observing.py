"""Mode observe: a provider's answer goes to the caller as it comes, and is analysed behind it (ADR 0142).

Nothing is enforced and nothing waits. What is analysed stands in a bounded backlog; what does not fit is shed, and
counted. What was found is in the metrics and, by ids and levels without a word of content, in the
log.
"""

from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass
from typing import Any, Final

from starlette.responses import Response

from services.common.computing import compute_unless_small
from services.common.errors import CrpError
from services.common.ports.chat_provider import ChatProvider
from services.common.settings.chat import ChatSettings
from services.gateway.domain.outcome import PolicyInForce, PolicyRelaxedError, relaxed
from services.gateway.domain.policy import Relaxation
from services.gateway.doors.http.chat.asks import FIELD, Call
from services.gateway.doors.http.chat.backlog import Backlog, Observed
from services.gateway.doors.http.chat.checking import (
    LATE_S,
    OK,
    Judge,
    ascii_json,
    labelled,
    opened_stream,
    read_completion,
    readable_grounds,
)
from services.gateway.doors.http.chat.dialect import Dialect, DialectStream
from services.gateway.doors.http.chat.providers import ChatProviders
from services.gateway.doors.http.chat.refusals import refusal_of
from services.gateway.doors.http.chat.sending import Streamed, told_error
from services.gateway.doors.http.protocol import policy_headers
from services.gateway.doors.http.requests import until_disconnected

OBSERVE: Final = "observe"
_MOST_CHARS: Final = 1_000_000
"""Of one streamed answer; a longer one is shed."""


@dataclass(frozen=True, slots=True)
class ObserveMode:
    """Answers in mode observe.

    Attributes:
        dialect: of the calls.
        judge: of the answers, behind them.
        backlog: where they wait.
        providers: write them.
        settings: whose calls are observed without asking for it.
    """

    dialect: Dialect
    judge: Judge
    backlog: Backlog
    providers: ChatProviders
    settings: ChatSettings

    async def answer(self, call: Call) -> Response:
        """Ask the provider, hand its answer on at once, and have it analysed behind."""
        provider, ask = await self.providers.of(call), call.ask
        force = await self._force(call)
        if ask.is_streamed:
            return await self._streamed(call, provider, force)
        headers = self.dialect.forwarded_headers(call.request.headers)
        reply = await until_disconnected(call.request, provider.ask(ask.forwarded, headers))
        if reply.status != OK:
            return labelled(refusal_of(self.dialect, reply, call.request_id), policy_headers(force))
        completion, texts, unchecked = await read_completion(self.dialect, reply.body)
        told = _told(await self._taken(call, force, texts), unchecked)
        body = ascii_json({**completion, FIELD: told}) if ask.options.labelled else reply.body
        headers = {"X-Request-Id": call.request_id, **policy_headers(force)}
        return Response(body, OK, headers, "application/json")

    async def _force(self, call: Call) -> PolicyInForce:
        """Return the policy; that nothing is enforced is the deployment's to say where the tenant has one.

        Raises:
            InvalidRequestError: as ``Judge.force``.
            PermissionDeniedError: POLICY_RELAXED.
        """
        force = await self.judge.force(call)
        if force.floor.canonical and self.settings.mode_for(call.caller.scope) != OBSERVE:
            raise relaxed(PolicyRelaxedError(Relaxation("mode", "enforced", OBSERVE)), "tenant")
        return force

    async def _taken(self, call: Call, force: PolicyInForce, texts: list[str]) -> bool:
        """Put texts into the backlog; say whether all of them fit."""
        messages, forwarded = call.ask.messages, call.ask.forwarded
        grounds = await compute_unless_small(len(forwarded), readable_grounds, messages)
        check = self.judge.check(call, force, grounds)
        waiting = [text for text in texts if text.strip()]
        size = sum(len(source.text) for source in grounds.sources)
        kept = [self.backlog.add(Observed(call.request_id, text, check, len(text) + size)) for text in waiting]
        return all(kept)

    async def _streamed(self, call: Call, provider: ChatProvider, force: PolicyInForce) -> Response:
        opened, source = await opened_stream(self.dialect, call, provider)
        if isinstance(source, Response):
            return labelled(source, policy_headers(force))
        events = self._passed_on(call, force, source.events)
        headers = {"X-Request-Id": call.request_id, **policy_headers(force)}
        return Streamed(events, opened, self.judge.settings.run_timeout_s + LATE_S, headers)

    async def _passed_on(
        self, call: Call, force: PolicyInForce, events: AsyncIterator[bytes]
    ) -> AsyncGenerator[bytes, None]:
        """Yield the provider's events as they come; what they say is gathered for the analysis."""
        stream: DialectStream = self.dialect.stream()
        said, size, is_readable = list[str](), 0, True
        try:
            async for data in events:
                yield stream.passed_on(data)
                try:
                    piece = stream.read(data)
                except CrpError:
                    is_readable = False  # the client sees for itself what came
                    continue
                size += len(piece)
                if size <= _MOST_CHARS:
                    said.append(piece)
            taken = is_readable and await self._gathered(call, force, [*said, stream.rest()], size)
            told = _told(taken, sorted(stream.unchecked)) if call.ask.options.labelled else None
            yield stream.unheld_end(told)
        except Exception as error:  # noqa: BLE001 - told to the client
            yield stream.failed(told_error(error), call.request_id)

    async def _gathered(self, call: Call, force: PolicyInForce, said: list[str], size: int) -> bool:
        if size > _MOST_CHARS:
            self.backlog.shed()
            return False
        return await self._taken(call, force, ["".join(said)])


def _told(taken: bool, unchecked: list[str]) -> dict[str, Any]:
    return {"mode": OBSERVE, "analysis": "queued" if taken else "shed", "unchecked": unchecked}
