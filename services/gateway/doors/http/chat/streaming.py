"""The events of a streamed chat in OpenAI's form: read from a provider, or written for an answer of ours."""

import json
from collections.abc import Mapping
from typing import Any, Final

from services.common.errors import CrpError, ErrorReason, UnavailableError
from services.common.streaming.surrogates import Halves
from services.gateway.doors.http.chat.asks import FIELD, Written

DONE: Final = b"data: [DONE]\n\n"
_SHAPE: Final = ("id", "created", "model", "system_fingerprint")
_HELD_WHOLE: Final = ("tool_calls", "function_call", "audio", "reasoning", "reasoning_content", "refusal")
"""Parts of a delta that are not text of the answer: they wait until all of it has passed, and are said to be
unchecked."""


class ChunkStream:
    """One answer: the text as pieces, everything else kept for the end."""

    def __init__(self) -> None:
        self.unchecked: set[str] = set()
        self._shape: dict[str, Any] = {"object": "chat.completion.chunk"}
        self._finish: str | None = None
        self._later: list[dict[str, Any]] = []
        """Deltas that hold no text of the answer."""
        self._usage: Any = None
        self._halves = Halves()

    def read(self, data: bytes) -> str:
        """Return the text of an event in whole characters."""
        return self._halves.joined(self._content(data))

    def rest(self) -> str:
        """Return what stands for half a character at the end."""
        return self._halves.rest()

    def _content(self, data: bytes) -> str:
        try:
            chunk = json.loads(data)
            choices = chunk.get("choices") or []
            self._usage = chunk.get("usage") or self._usage
            self._shape |= {name: chunk[name] for name in _SHAPE if chunk.get(name)}
            if not choices:
                return ""
            delta = choices[0].get("delta") or {}
            self._finish = choices[0].get("finish_reason") or self._finish
            held = {name: delta[name] for name in _HELD_WHOLE if delta.get(name)}
            content = delta.get("content")
        except (ValueError, AttributeError, KeyError, TypeError, IndexError, RecursionError):
            raise malformed() from None
        if held:
            self.unchecked |= held.keys()
            self._later.append(held)
        if content is None:
            return ""
        if not isinstance(content, str):
            raise malformed()
        return content

    def writes(self, written: Written, *, with_usage: bool) -> None:
        """Take the shape of an answer of ours."""
        self._shape |= {
            "id": f"chatcmpl-{written.answer_id}",
            "created": written.created,
            "model": written.model,
        }
        self._finish = written.finish
        if with_usage:
            total = written.prompt_tokens + written.completion_tokens
            self._usage = {
                "prompt_tokens": written.prompt_tokens,
                "completion_tokens": written.completion_tokens,
                "total_tokens": total,
            }

    def opening(self) -> bytes:
        """Return what stands before the text."""
        return self._event({"role": "assistant", "content": ""}, None)

    def text(self, text: str) -> bytes:
        """Return a piece of the text."""
        return self._event({"content": text}, None)

    def held(self) -> bytes:
        """Return what was kept."""
        return b"".join(self._event(delta, None) for delta in self._later)

    def closing(self, told: Mapping[str, Any] | None, *, halted: bool) -> bytes:
        """Return the end."""
        finish = "content_filter" if halted else self._finish or "stop"
        ours = {} if told is None else {FIELD: told}
        last = self._event({}, finish, ours)
        usage = b"" if self._usage is None else data_event({**self._shape, "choices": [], "usage": self._usage})
        return last + usage + DONE

    def failed(self, error: CrpError, request_id: str) -> bytes:  # noqa: ARG002 - no place for it
        """Return the end of a stream that broke off."""
        body = {"message": error.message, "type": "api_error", "param": None, "code": error.reason.value}
        return data_event({"error": body}) + DONE

    def passed_on(self, data: bytes) -> bytes:
        """Return a provider's event as it is sent on untouched."""
        return b"data: " + data + b"\n\n"

    def unheld_end(self, told: Mapping[str, Any] | None) -> bytes:
        """Return our object in a chunk without choices, and the end."""
        ours = b"" if told is None else data_event({**self._shape, "choices": [], FIELD: told})
        return ours + DONE

    def _event(self, delta: dict[str, Any], finish: str | None, more: Mapping[str, Any] | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return data_event({**self._shape, "choices": [choice], **(more or {})})


def data_event(value: Any) -> bytes:
    """Return an event; in ASCII, for some readers of lines break them at U+0085 and U+2028 as well."""
    return b"data: " + json.dumps(value, separators=(",", ":"), allow_nan=False).encode() + b"\n\n"


def malformed() -> UnavailableError:
    """Return the refusal of a provider's event that is none of the dialect."""
    text = "The language model sent an event that is no chunk of a chat."
    return UnavailableError(ErrorReason.LLM_UNAVAILABLE, text, cause="malformed_reply")
