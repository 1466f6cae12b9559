"""``crp.dpe.v1.GuardService``: validate, convert, ask the app, convert."""

# ruff: noqa: N802 - the generated base names the methods

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

from crp.dpe.v1 import guard_service_pb2 as pb
from crp.dpe.v1 import guard_service_pb2_grpc as pb_grpc

from services.common.settings import Settings
from services.dpe.convert.guard.oversight import message_of, response_of
from services.dpe.domain.guard.stream_messages import Message
from services.dpe.guard.oversight import OversightApp
from services.dpe.guard.oversight_validate import validate_message


class GuardServicer(pb_grpc.GuardServiceServicer):
    """Translates between the wire and the apps."""

    def __init__(self, oversight: OversightApp, settings: Settings) -> None:
        self._oversight = oversight
        self._settings = settings

    async def OverseeStream(
        self, requests: AsyncIterator[pb.OverseeStreamRequest], _: Any
    ) -> AsyncIterator[pb.OverseeStreamResponse]:
        """Oversee one token stream."""
        # Closed at once when the caller goes away: nothing is scored for nobody.
        async with aclosing(self._oversight.oversee(self._messages(requests))) as events:
            async for event in events:
                yield response_of(event)

    async def _messages(self, requests: AsyncIterator[pb.OverseeStreamRequest]) -> AsyncIterator[Message]:
        settings = self._settings.guard.oversight
        async for request in requests:
            validate_message(request, settings)
            yield message_of(request, settings)
