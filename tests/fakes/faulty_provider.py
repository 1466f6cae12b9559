"""A provider of both forms that fails in one way: on loopback, plain and streamed."""

import asyncio
import contextlib
import json

TEXT = "A motor accident must be reported within 7 days. "
_CHUNK = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "scripted"}
_BIG = 50 * 1024 * 1024


def _response(status, kind, length=None):
    size = "" if length is None else f"content-length: {length}\r\n"
    return f"HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\n{size}connection: close\r\n\r\n".encode()


def _chunk(text):
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": None}
    return f"data: {json.dumps({**_CHUNK, 'choices': [choice]})}\n\n".encode()


def _named(kind, **value):
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **value})}\n\n".encode()


def _begun(path, text):
    if path.endswith("/messages"):
        message = {"id": "m", "type": "message", "role": "assistant", "model": "scripted", "content": [], "usage": {}}
        block = {"type": "text", "text": ""}
        return (
            _named("message_start", message=message)
            + _named("content_block_start", index=0, content_block=block)
            + _named("content_block_delta", index=0, delta={"type": "text_delta", "text": text})
        )
    return _chunk(text)


class FaultyProvider:
    """Answers every request with its fault; ``hangs`` is set when a response hangs, ``left`` when its client left."""

    def __init__(self, fault):
        self.fault = fault
        self.calls = 0
        self.hangs = asyncio.Event()
        self.left = asyncio.Event()

    @contextlib.asynccontextmanager
    async def running(self):
        if self.fault == "refused":
            server = await asyncio.start_server(self._served, "127.0.0.1", 0)
            port = server.sockets[0].getsockname()[1]
            server.close()
            await server.wait_closed()
            yield f"http://127.0.0.1:{port}/v1"
            return
        async with await asyncio.start_server(self._served, "127.0.0.1", 0) as server:
            yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"

    async def _served(self, reader, writer):
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            lines = head.lower().splitlines()
            length = next(int(line.split(":")[1]) for line in lines if line.startswith("content-length"))
            body = json.loads(await reader.readexactly(length))
            self.calls += 1
            path = head.split(" ")[1]
            await getattr(self, f"_{self.fault}")(path, bool(body.get("stream")), reader, writer)
            await writer.drain()
        writer.close()

    async def _hang(self, reader):
        self.hangs.set()
        await reader.read()  # until the client leaves
        self.left.set()

    async def _slow(self, path, streams, reader, writer):
        await self._hang(reader)

    async def _hanging(self, path, streams, reader, writer):
        writer.write(_response(200, "text/event-stream" if streams else "application/json"))
        writer.write(_begun(path, f"{TEXT}And") if streams else b'{"choices": [')
        await writer.drain()
        await self._hang(reader)

    async def _limited(self, path, streams, reader, writer):
        error = json.dumps({"error": {"message": "Slow down.", "type": "rate_limit_error", "code": "slow"}}).encode()
        writer.write(b"HTTP/1.1 429 X\r\nretry-after: 7\r\nconnection: close\r\n")
        writer.write(f"content-length: {len(error)}\r\n\r\n".encode() + error)

    async def _broken(self, path, streams, reader, writer):
        writer.write(_response(500, "text/html", 6) + b"secret")

    async def _truncated(self, path, streams, reader, writer):
        if streams:
            writer.write(_response(200, "text/event-stream") + _begun(path, TEXT) + b'data: {"choices": [{"ind\n\n')
        else:
            writer.write(_response(200, "application/json") + b'{"choices": [{"message": {"content": "Half')

    async def _cut(self, path, streams, reader, writer):
        kind = "text/event-stream" if streams else "application/json"
        writer.write(_response(200, kind) + (_begun(path, TEXT) if streams else b""))

    async def _html(self, path, streams, reader, writer):
        writer.write(_response(200, "text/html") + b"<html>Sign in</html>")

    async def _huge(self, path, streams, reader, writer):
        writer.write(_response(200, "text/event-stream" if streams else "application/json"))
        part = b"x" * (1 << 20)
        writer.write(b'{"choices": "' if not streams else b"data: ")
        for _ in range(_BIG >> 20):
            writer.write(part)
            await writer.drain()
