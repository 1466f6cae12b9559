"""The HTTP faces of a witness (``POST /add-checkpoint``) and of a signer (``POST /sign``, ``GET /key``)."""

import asyncio
import hmac
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Final

from fastapi import FastAPI, Request
from starlette.responses import Response

from services.common.submission import MAX_BODY_BYTES
from services.witness.signer import LogSigner
from services.witness.witness import Reply, Witness

_BODY_TIMEOUT_S: Final = 10.0
_BEARER: Final = "Bearer "


def witness_app(witness: Witness) -> FastAPI:
    """Return the app of a witness: no credential, since what counts is the log's signature (C2SP tlog-witness)."""
    app = _app("Groundtrail witness")

    async def add_checkpoint(request: Request) -> Response:
        return await _answered(request, witness.add_checkpoint)

    app.add_api_route("/add-checkpoint", add_checkpoint, methods=["POST"], response_class=Response)
    return app


def signer_app(signer: LogSigner, credential: Callable[[], str]) -> FastAPI:
    """Return the app of a signer.

    Args:
        signer: holds the keys.
        credential: gives what a caller must show.
    """
    app = _app("Groundtrail log signer")

    async def refused(request: Request) -> Response | None:
        shown = request.headers.get("authorization", "").encode()
        expected = f"{_BEARER}{await asyncio.to_thread(credential)}".encode()
        if hmac.compare_digest(shown, expected):
            return None
        return _response(Reply(HTTPStatus.UNAUTHORIZED, "the credential is not the one that is expected\n"))

    async def sign(request: Request) -> Response:
        return await refused(request) or await _answered(request, signer.sign)

    async def key(request: Request) -> Response:
        return await refused(request) or _response(signer.key(request.query_params.get("origin", "")))

    app.add_api_route("/sign", sign, methods=["POST"], response_class=Response)
    app.add_api_route("/key", key, methods=["GET"], response_class=Response)
    return app


def _app(title: str) -> FastAPI:
    app = FastAPI(title=title, docs_url=None, redoc_url=None, openapi_url=None, redirect_slashes=False)

    async def alive() -> Response:
        return _response(Reply(HTTPStatus.OK, "alive\n"))

    app.add_api_route("/healthz", alive, methods=["GET"], response_class=Response)
    return app


async def _answered(request: Request, answer: Callable[[bytes], Awaitable[Reply]]) -> Response:
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(_BODY_TIMEOUT_S):
            async for part in request.stream():
                size += len(part)
                if size > MAX_BODY_BYTES:
                    return _response(Reply(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"at most {MAX_BODY_BYTES} bytes\n"))
                parts.append(part)
    except TimeoutError:
        return _response(Reply(HTTPStatus.REQUEST_TIMEOUT, "the body did not arrive in time\n"))
    try:
        return _response(await answer(b"".join(parts)))
    except (OSError, ValueError) as error:  # what it remembers cannot be read or written: nothing is signed
        text = f"what was signed before cannot be read or kept: {getattr(error, 'strerror', None) or error}\n"
        return _response(Reply(HTTPStatus.SERVICE_UNAVAILABLE, text))


def _response(reply: Reply) -> Response:
    return Response(reply.text, reply.status.value, headers={"Content-Type": reply.media_type})
