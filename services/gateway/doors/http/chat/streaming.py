"""The events of a streamed chat: read from the provider, sent to the client in the same dialect, held back between."""

import json
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from typing import Any, Final

from services.common.errors import CrpError, ErrorReason, UnavailableError
from services.common.rpc.status import internal_error
from services.gateway.doors.http.chat.forms import FIELD, error_body
from services.gateway.doors.http.chat.held_back import Check, Ended, held_back
from services.gateway.doors.http.problems import json_bytes

_LOG: Final = logging.getLogger(__name__)
_DONE: Final = b"data: [DONE]\n\n"
_SHAPE: Final = ("id", "created", "model", "system_fingerprint")
_MALFORMED: Final = "The language model sent an event that is no chunk of a chat."
_HELD_WHOLE: Final = ("tool_calls", "function_call", "audio", "reasoning", "reasoning_content", "refusal")
"""Parts of a delta that are not text of the answer: they wait until all of it has passed, and are said to be
unchecked."""


class _Chunks:
    """What a provider streams: the text as pieces, everything else kept for the end."""

    def __init__(self, events: AsyncIterator[bytes]) -> None:
        self._events = events
        self.shape: dict[str, Any] = {"object": "chat.completion.chunk"}
        self.finish: str | None = None
        self.later: list[dict[str, Any]] = []
        """Deltas that hold no text of the answer."""
        self.usage: Any = None
        self.unchecked: set[str] = set()

    async def pieces(self) -> AsyncIterator[str]:
        """Yield the text.

        Raises:
            UnavailableError: LLM_UNAVAILABLE: it is no stream of a chat, or broke off.
        """
        async for data in self._events:
            text = self._read(data)
            if text:
                yield text

    def _read(self, data: bytes) -> str:
        try:
            chunk = json.loads(data)
            choices = chunk.get("choices") or []
            self.usage = chunk.get("usage") or self.usage
            self.shape |= {name: chunk[name] for name in _SHAPE if chunk.get(name)}
            if not choices:
                return ""
            delta = choices[0].get("delta") or {}
            self.finish = choices[0].get("finish_reason") or self.finish
            held = {name: delta[name] for name in _HELD_WHOLE if delta.get(name)}
            content = delta.get("content")
        except (ValueError, AttributeError, KeyError, TypeError, IndexError, RecursionError):
            raise UnavailableError(ErrorReason.LLM_UNAVAILABLE, _MALFORMED, cause="malformed_reply") from None
        if held:
            self.unchecked |= held.keys()
            self.later.append(held)
        if content is None:
            return ""
        if not isinstance(content, str):
            raise UnavailableError(ErrorReason.LLM_UNAVAILABLE, _MALFORMED, cause="malformed_reply")
        return content


async def streamed_answer(
    events: AsyncIterator[bytes], check: Check, told_of: Callable[[dict[str, Any], list[str]], dict[str, Any]]
) -> AsyncGenerator[bytes, None]:
    """Yield the events for the client.

    Args:
        events: data of the provider's events.
        check: judges the text so far.
        told_of: makes our object of the last event, of what the last check found and what was not checked.
    """
    chunks = _Chunks(events)
    try:
        yield _event(chunks.shape, {"role": "assistant", "content": ""}, None)
        async for one in held_back(chunks.pieces(), check):
            if not isinstance(one, Ended):
                yield _event(chunks.shape, {"content": one.text}, None)
                continue
            if not one.halted:
                for delta in chunks.later:
                    yield _event(chunks.shape, delta, None)
            finish = "content_filter" if one.halted else chunks.finish or "stop"
            last = {**chunks.shape, FIELD: told_of(one.told, sorted(chunks.unchecked))}
            yield _event(last, {}, finish)
            if chunks.usage is not None:
                yield b"data: " + json_bytes({**chunks.shape, "choices": [], "usage": chunks.usage}) + b"\n\n"
    except CrpError as error:
        yield b"data: " + json_bytes(error_body(error.message, "api_error", error.reason.value)) + b"\n\n"
    except Exception as error:  # noqa: BLE001 - logged; the client learns that it broke off
        _LOG.error("a streamed answer failed unexpectedly", exc_info=error)
        told = internal_error()
        yield b"data: " + json_bytes(error_body(told.message, "api_error", told.reason.value)) + b"\n\n"
    yield _DONE


def _event(shape: dict[str, Any], delta: dict[str, Any], finish: str | None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return b"data: " + json_bytes({**shape, "choices": [choice]}) + b"\n\n"
