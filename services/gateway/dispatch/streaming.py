"""A dispatch whose answer is streamed: what has passed leaves as it passes, the outcome at last (ADR 0146)."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from itertools import pairwise
from typing import TypeAlias

from services.common.computing import compute_unless_small
from services.common.errors import ConflictError, ErrorReason
from services.common.reading.sentences import sentences
from services.gateway.dispatch.outlet import Begun, Outlet
from services.gateway.dispatch.several import Dispatches
from services.gateway.domain.command import Answered, DispatchCommand, DispatchResult
from services.gateway.domain.headers import STREAM_MODE, Header
from services.gateway.domain.holding import Hold

StreamEvent: TypeAlias = Begun | str | DispatchResult


async def streamed(app: Dispatches, command: DispatchCommand, wish: Hold | None) -> AsyncGenerator[StreamEvent, None]:
    """Yield what was begun, the pieces of the answer, and the result; closing it ends the dispatch.

    The pieces are the answer's text once it is delivered; of a withheld one they are what had passed before.

    Args:
        app: dispatches.
        command: the query.
        wish: what shall wait; ``None`` = what has not passed.

    Raises:
        CrpError: as ``DispatchApp.dispatch``; ConflictError COMMIT_RACE: another try of the request answered first.
    """
    outlet = Outlet(wish)
    running = asyncio.ensure_future(app.dispatch(command, outlet))
    try:
        has_begun = False
        async with aclosing(outlet.taken(running)) as leaving:
            async for one in leaving:
                yield one
                has_begun = True
        found = running.result()
        result = replace(found, headers=(*found.headers, Header(STREAM_MODE, outlet.hold)))
        if not has_begun:
            yield Begun(result.headers)
        if isinstance(result.outcome, Answered):
            for piece in await _rest(result.outcome.text, outlet.said):
                yield piece
        yield result
    finally:
        if not running.done():
            running.cancel()
            await asyncio.wait({running})  # its window is given up before the call ends
        if not running.cancelled():
            running.exception()


async def _rest(text: str, said: str) -> list[str]:
    """Return what of an answer has not left, sentence by sentence."""
    if not text.startswith(said):
        reason = "another try of this request_id answered first, and otherwise; repeat it for the answer that stands"
        raise ConflictError(ErrorReason.COMMIT_RACE, reason, retry_after_s=0.0)
    rest = text[len(said) :]
    starts = [one.start for one in await compute_unless_small(len(rest), sentences, rest)]
    edges = sorted({0, *starts, len(rest)})
    return [rest[left:right] for left, right in pairwise(edges)]
