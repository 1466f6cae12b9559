"""``LogSigner`` over HTTP/1.1 on a Unix socket, with a credential from a file that is read at every call."""

import asyncio
from http import HTTPStatus
from pathlib import Path
from typing import Final

import httpx

from services.common.adapters.http.event_endpoint import MIN_KEY_CHARS, read_secret
from services.common.adapters.http.guarded import named
from services.common.adapters.http.trust import trusted
from services.common.errors import ErrorReason, UnavailableError
from services.common.ports.log_signer import SignerAnswer
from services.common.settings import SettingsError
from services.common.settings.log_signer import LogSignerSettings
from services.common.signed_note import NoteKey, signature_lines
from services.common.submission import SIZE_MEDIA_TYPE, Submission, read_size

_SHOWN: Final = 200
_REFUSALS: Final = (HTTPStatus.CONFLICT, HTTPStatus.UNPROCESSABLE_ENTITY, HTTPStatus.FORBIDDEN)


class HttpLogSigner:
    """The process behind a socket.

    Args:
        socket: where it listens.
        credential_file: what proves this process to it.
        timeout_s: of a call.
    """

    def __init__(self, socket: Path, credential_file: Path, timeout_s: float) -> None:
        self._socket = socket
        self._credential_file = credential_file
        self._client = httpx.AsyncClient(
            transport=httpx.AsyncHTTPTransport(verify=trusted(), uds=str(socket)),
            base_url="http://log-signer",
            timeout=timeout_s,
        )

    async def key(self, origin: str) -> NoteKey:
        """Return the public key of a log."""
        answer = await self._call("GET", "/key", params={"origin": origin})
        try:
            return NoteKey.parse(answer.raise_for_status().text)
        except (ValueError, httpx.HTTPStatusError):
            raise self._unusable(answer) from None

    async def sign(self, submission: Submission) -> SignerAnswer:
        """Have the text signed."""
        answer = await self._call("POST", "/sign", content=bytes(submission))
        if answer.status_code == HTTPStatus.OK:
            try:
                return SignerAnswer(signature_lines(answer.text))
            except ValueError:
                raise self._unusable(answer) from None
        if answer.status_code == HTTPStatus.CONFLICT and answer.headers.get("content-type") == SIZE_MEDIA_TYPE:
            return SignerAnswer(known_size=read_size(answer.content))
        if answer.status_code in _REFUSALS:
            return SignerAnswer(refusal=answer.text[:_SHOWN].strip())
        raise self._unusable(answer)

    async def close(self) -> None:
        """Close the connection; idempotent."""
        await self._client.aclose()

    async def _call(self, method: str, path: str, **request: object) -> httpx.Response:
        try:
            credential = await asyncio.to_thread(read_secret, self._credential_file, MIN_KEY_CHARS)
            headers = {"Authorization": f"Bearer {credential}"}
            return await self._client.request(method, path, headers=headers, **request)  # type: ignore[arg-type]
        except httpx.HTTPError as error:
            raise _unavailable(f"the log signer at {self._socket} does not answer: {named(error)}") from None
        except SettingsError as error:
            raise _unavailable("; ".join(error.problems)) from None

    def _unusable(self, answer: httpx.Response) -> UnavailableError:
        told = answer.text[:_SHOWN].strip()
        return _unavailable(f"the log signer at {self._socket} answered HTTP {answer.status_code}: {told}")


async def open_log_signer(settings: LogSignerSettings) -> HttpLogSigner:
    """Return the configured signer after its credential was read once.

    Raises:
        SettingsError: the credential cannot be read, is readable by others, or is none.
    """
    socket, credential_file = settings.socket, settings.credential_file
    if socket is None or credential_file is None:
        raise SettingsError(["GROUNDTRAIL_LOG_SIGNER__SOCKET is not set"])
    await asyncio.to_thread(read_secret, credential_file, MIN_KEY_CHARS)
    return HttpLogSigner(socket, credential_file, settings.timeout_s)


def _unavailable(text: str) -> UnavailableError:
    return UnavailableError(ErrorReason.SERVICE_UNAVAILABLE, text)
