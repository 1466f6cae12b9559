"""Records what a provider of language models answers, and answers the same again without it, for tests.

    python -m tools.recorded_provider record FILE --base-url https://api.openai.com/v1 [--port 8100]
    python -m tools.recorded_provider replay FILE [--port 8100]

``GROUNDTRAIL_LLM__BASE_URL=http://127.0.0.1:8100`` (or ``…ANTHROPIC__BASE_URL``) then leads through it, for chats and
dispatches, plain and streamed. The caller's key goes on to the provider and is not written down; of a request nothing
is but the SHA-256 of its method, path and body. A line of the file is one answer: status, content type and the pieces
in which it came. Replayed, a request gets the answers to the same request in their order, the last one again and again;
an unknown one is 404 with its digest.
"""

import argparse
import asyncio
import base64
import hashlib
import json
from collections import defaultdict, deque
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path
from typing import Any, Final, TextIO

import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

_KEPT: Final = ("authorization", "x-api-key", "anthropic-version", "anthropic-beta", "content-type")
"""Headers of a request that go to the provider."""
_TIMEOUT_S: Final = 600.0


def digest(method: str, path: str, body: bytes) -> str:
    """Return what names a request."""
    return hashlib.sha256(b"\0".join((method.encode(), path.encode(), body))).hexdigest()


class Recorder:
    """Passes requests on and writes the answers down.

    Args:
        base_url: root of the provider's API.
        file: open for appending text.
        client: calls the provider.
    """

    def __init__(self, base_url: str, file: TextIO, client: httpx.AsyncClient) -> None:
        self._root = base_url.rstrip("/")
        self._file = file
        self._client = client

    async def answer(self, request: Request) -> Response:
        """Return the provider's answer, piece by piece as it comes."""
        path, body = request.url.path, await request.body()
        headers = {name: request.headers[name] for name in _KEPT if name in request.headers}
        asked = self._client.build_request(request.method, f"{self._root}{path}", headers=headers, content=body)
        found = await self._client.send(asked, stream=True)
        kind = found.headers.get("content-type", "application/octet-stream")
        line = {"request": digest(request.method, path, body), "status": found.status_code, "content_type": kind}
        return StreamingResponse(self._pieces(found, line), found.status_code, media_type=kind)

    async def _pieces(self, found: httpx.Response, line: dict[str, Any]) -> AsyncIterator[bytes]:
        pieces = list[str]()
        try:
            async with aclosing(found.aiter_bytes()) as read:  # type: ignore[type-var]  # an async generator
                async for piece in read:
                    pieces.append(base64.b64encode(piece).decode())
                    yield piece
        finally:
            await found.aclose()
            self._file.write(json.dumps({**line, "pieces": pieces}) + "\n")
            self._file.flush()


class Replayer:
    """Answers what was recorded.

    Args:
        file: the lines.
    """

    def __init__(self, file: Path) -> None:
        self._answers: defaultdict[str, deque[dict[str, Any]]] = defaultdict(deque)
        for line in file.read_text(encoding="utf-8").splitlines():
            one = json.loads(line)
            self._answers[one["request"]].append(one)

    async def answer(self, request: Request) -> Response:
        """Return the next answer to this request."""
        asked = digest(request.method, request.url.path, await request.body())
        answers = self._answers.get(asked)
        if not answers:
            error = {"error": {"message": f"nothing was recorded for {asked}", "type": "not_recorded", "code": None}}
            return Response(json.dumps(error), 404, media_type="application/json")
        one = answers.popleft() if len(answers) > 1 else answers[0]
        return StreamingResponse(_again(one["pieces"]), one["status"], media_type=one["content_type"])


async def _again(pieces: list[str]) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield base64.b64decode(piece)
        await asyncio.sleep(0)  # each piece by itself, as it came


def app(answering: Recorder | Replayer) -> Starlette:
    """Return what serves every path."""
    return Starlette(routes=[Route("/{path:path}", answering.answer, methods=["GET", "POST"])])


async def _record(asked: argparse.Namespace) -> None:
    with asked.file.open("a", encoding="utf-8") as file:
        async with httpx.AsyncClient(timeout=_TIMEOUT_S, trust_env=False) as client:
            await _serve(Recorder(asked.base_url, file, client), asked.port)


async def _serve(answering: Recorder | Replayer, port: int) -> None:
    config = uvicorn.Config(app(answering), host="127.0.0.1", port=port, log_level="warning")
    await uvicorn.Server(config).serve()


def main(argv: list[str] | None = None) -> None:
    """Serve on loopback until it is ended."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("what", choices=["record", "replay"])
    parser.add_argument("file", type=Path, help="one answer a line; recording adds to it")
    parser.add_argument("--base-url", default="", help="root of the provider's API, to record")
    parser.add_argument("--port", type=int, default=8100)
    asked = parser.parse_args(argv)
    if asked.what == "record" and not asked.base_url:
        parser.error("record needs --base-url")
    if asked.what == "replay" and not asked.file.is_file():
        parser.error(f"{asked.file} is no file; record it first")
    asyncio.run(_record(asked) if asked.what == "record" else _serve(Replayer(asked.file), asked.port))


if __name__ == "__main__":
    main()
