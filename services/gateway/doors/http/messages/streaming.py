"""The events of a streamed message in Anthropic's form: read from a provider or from an answer of ours.

The text of all blocks is one text, for it is judged as one; each block's text leaves in a block of its own. Blocks that
are no text (tools, thinking) wait until all of the text has passed, and follow it.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

from services.common.errors import CrpError
from services.common.streaming.surrogates import Halves
from services.gateway.doors.http.chat.asks import FIELD, Written
from services.gateway.doors.http.chat.streaming import malformed

_STOP: Final = "message_stop"
_STOP_REASONS: Final = {"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal"}
_HEADERS: Final = "headers"


def stop_reason(finish: str) -> str:
    """Return the dialect's word for why a model stopped."""
    return _STOP_REASONS.get(finish, finish)


class MessageStream:
    """One answer: the text as pieces, everything else kept for the end."""

    def __init__(self) -> None:
        self.unchecked: set[str] = set()
        self._message: dict[str, Any] = {"type": "message", "role": "assistant"}
        self._reason: str | None = None
        self._sequence: Any = None
        self._usage: dict[str, Any] = {}
        self._kinds: dict[Any, str] = {}
        """Of the provider's blocks, by their index."""
        self._later: list[tuple[Any, dict[str, Any]]] = []
        """Events of blocks that are no text, by the provider's index."""
        self._starts: list[int] = []
        """Where the provider's blocks of text begin, in characters of the whole text."""
        self._received = 0
        self._sent = 0
        self._index = -1
        self._is_open = False
        self._halves = Halves()

    def read(self, data: bytes) -> str:
        """Return the text of an event in whole characters."""
        text = self._halves.joined(self._text_of(data))
        self._received += len(text)
        return text

    def rest(self) -> str:
        """Return what stands for half a character at the end."""
        return self._halves.rest()

    def _text_of(self, data: bytes) -> str:
        try:
            event = json.loads(data)
            kind = event["type"]
            if kind == "message_start":
                self._message = {**event["message"], "content": []}
                self._usage |= event["message"].get("usage") or {}
            elif kind == "message_delta":
                self._reason = event["delta"].get("stop_reason") or self._reason
                self._sequence = event["delta"].get("stop_sequence")
                self._usage |= event.get("usage") or {}
            elif kind.startswith("content_block_"):
                return self._of_block(kind, event)
            elif kind == "error":
                raise malformed()
        except (ValueError, AttributeError, KeyError, TypeError, RecursionError):
            raise malformed() from None
        return ""

    def _of_block(self, kind: str, event: dict[str, Any]) -> str:
        index = event["index"]
        text = ""
        if kind == "content_block_start":
            block = event["content_block"]
            self._kinds[index] = block["type"]
            if block["type"] == "text":
                self._starts.append(self._received)
                text = block.get("text") or ""
        elif kind == "content_block_delta" and event["delta"]["type"] == "text_delta":
            text = event["delta"]["text"]
        if self._kinds[index] != "text":
            self.unchecked.add(self._kinds[index])
            self._later.append((index, event))
        elif kind == "content_block_delta" and event["delta"]["type"] != "text_delta":
            self.unchecked.add(event["delta"]["type"])
        if not isinstance(text, str):
            raise TypeError
        return text

    def writes(self, written: Written, *, with_usage: bool) -> None:  # noqa: ARG002 - this form always tells it
        """Take the shape of an answer of ours."""
        self._usage = {"input_tokens": written.prompt_tokens, "output_tokens": written.completion_tokens}
        self._message |= {
            "id": f"msg_{written.answer_id}",
            "model": written.model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {**self._usage, "output_tokens": 0},
        }
        self._reason = stop_reason(written.finish)

    def opening(self) -> bytes:
        """Return what stands before the text."""
        return _event("message_start", {"message": self._message})

    def text(self, text: str) -> bytes:
        """Return a piece of the text, in the blocks that the provider put it into."""
        events = []
        while text:
            bounds = [start - self._sent for start in self._starts if start > self._sent]
            at = min(bounds, default=len(text))
            if not self._is_open or self._sent in self._starts:
                events += [self._close(), self._open()]
            piece, text = text[:at], text[at:]
            delta = {"type": "text_delta", "text": piece}
            events.append(_event("content_block_delta", {"index": self._index, "delta": delta}))
            self._sent += len(piece)
        return b"".join(events)

    def _open(self) -> bytes:
        self._index += 1
        self._is_open = True
        return _event("content_block_start", {"index": self._index, "content_block": {"type": "text", "text": ""}})

    def _close(self) -> bytes:
        if not self._is_open:
            return b""
        self._is_open = False
        return _event("content_block_stop", {"index": self._index})

    def held(self) -> bytes:
        """Return what was kept, its blocks numbered behind those of the text."""
        events, numbers = [self._close()], dict[Any, int]()
        for index, event in self._later:
            if index not in numbers:
                self._index += 1
                numbers[index] = self._index
            events.append(_event(event["type"], {**event, "index": numbers[index]}))
        return b"".join(events)

    def closing(self, told: Mapping[str, Any] | None, *, halted: bool) -> bytes:
        """Return the end: our object, the protocol's headers as an event of their own, the stop."""
        reason = "refusal" if halted else self._reason or "end_turn"
        delta = {"stop_reason": reason, "stop_sequence": None if halted else self._sequence}
        usage = self._usage or {"output_tokens": 0}
        ours = {} if told is None else {FIELD: told}
        last = _event("message_delta", {"delta": delta, "usage": usage, **ours})
        headers = b"" if told is None or _HEADERS not in told else _event("crp-headers", {_HEADERS: told[_HEADERS]})
        return self._close() + last + headers + _event(_STOP, {})

    def failed(self, error: CrpError, request_id: str) -> bytes:
        """Return the end of a stream that broke off."""
        told = {"type": "api_error", "message": error.message, "code": error.reason.value, "param": None}
        return _event("error", {"error": told, "request_id": request_id})

    def passed_on(self, data: bytes) -> bytes:
        """Return a provider's event as it is sent on untouched; its last one waits for ``unheld_end``."""
        try:
            kind = str(json.loads(data)["type"])
        except (ValueError, KeyError, TypeError, RecursionError):
            kind = "message"
        if kind == _STOP:
            return b""
        named = kind if kind.replace("_", "").isalnum() and kind.isascii() else "message"
        return f"event: {named}\ndata: ".encode() + data + b"\n\n"

    def unheld_end(self, told: Mapping[str, Any] | None) -> bytes:
        """Return our object in an event that clients of this form pass over, and the stop."""
        ours = b"" if told is None else _event(FIELD, dict(told))
        return ours + _event(_STOP, {})


def _event(kind: str, value: Mapping[str, Any]) -> bytes:
    """Return an event; in ASCII, for some readers of lines break them at U+0085 and U+2028 as well."""
    data = json.dumps({"type": kind, **value}, separators=(",", ":"), allow_nan=False)
    return f"event: {kind}\ndata: {data}\n\n".encode()
