"""A provider of OpenAI's form that says what it is told, at the pace that it is told, in the bench's own event loop.

What to say stands in the request itself, which mode check passes on unchanged:
``{"metadata": {"say": TEXT, "tokens_per_s": 50}}``; without a pace it is said at once. Tokens are words with the space
behind them. When the last token of a stream was sent is kept by the text that was asked for.
"""

import asyncio
import contextlib
import json
import re
import time
from collections.abc import AsyncIterator
from typing import Any, Final

_CHUNK: Final = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "scripted"}
_TOKEN: Final = re.compile(r"\S+\s*")
_LENGTH: Final = b"content-length:"


def tokens_of(text: str) -> list[str]:
    """Return the pieces that a text is sent in."""
    return _TOKEN.findall(text)


class PacedProvider:
    """What it did.

    Attributes:
        first_at, last_at: when the first and the last token of a stream were sent, by its text; seconds of
            ``time.perf_counter``.
        left: streams whose reader left before their end.
    """

    def __init__(self) -> None:
        self.first_at: dict[str, float] = {}
        self.last_at: dict[str, float] = {}
        self.left = 0

    @contextlib.asynccontextmanager
    async def serving(self) -> AsyncIterator[str]:
        """Serve on loopback; yields the root of the API."""
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0, backlog=1024)
        port = server.sockets[0].getsockname()[1]
        try:
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            server.close()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).lower().split(b"\r\n")
                length = next((int(line[len(_LENGTH) :]) for line in head if line.startswith(_LENGTH)), 0)
                body = await reader.readexactly(length)
                asked = json.loads(body) if body else {}
                if asked.get("stream"):
                    await self._stream(writer, asked["metadata"])
                    return
                writer.write(_response(_whole(asked.get("metadata", {}).get("say", ""))))
        except (asyncio.IncompleteReadError, ConnectionError):
            return
        finally:
            writer.close()

    async def _stream(self, writer: asyncio.StreamWriter, told: dict[str, Any]) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
        text, pace = told["say"], told.get("tokens_per_s", 0.0)
        due = time.perf_counter()
        self.first_at[text] = due
        try:
            for token in tokens_of(text):
                await asyncio.sleep(max(0.0, due - time.perf_counter()))
                writer.write(_event({"delta": {"content": token}, "finish_reason": None}))
                await writer.drain()
                self.last_at[text] = time.perf_counter()
                due += 1.0 / pace if pace else 0.0
            writer.write(_event({"delta": {}, "finish_reason": "stop"}) + b"data: [DONE]\n\n")
            await writer.drain()
        except ConnectionError:
            self.left += 1
            raise


def _event(choice: dict[str, Any]) -> bytes:
    return f"data: {json.dumps({**_CHUNK, 'choices': [{'index': 0, **choice}]})}\n\n".encode()


def _whole(text: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {**_CHUNK, "object": "chat.completion", "choices": [choice], "usage": usage}


def _response(value: dict[str, Any]) -> bytes:
    body = json.dumps(value).encode()
    head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    return head.encode() + body
