"""``ReportEndpoints`` over HTTP/1.1 (httpx): one signed POST a report, to a judged address (ADR 0149)."""

import asyncio
import base64
import os
import re
import stat
from collections import OrderedDict
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import httpx

from services.common.adapters.http.deliveries import deliver, judge
from services.common.adapters.http.guarded import GuardedHost, HostTraits, Resolve, resolve
from services.common.clock import Clock
from services.common.encoding import sha256_hex
from services.common.errors import ErrorReason, UnavailableError
from services.common.ports.event_endpoint import Delivery, Outcome
from services.common.ports.violation_reports import OutgoingReport
from services.common.settings.reports import ReportSettings
from services.common.signed_note import Note, NoteSigner

NOTE_HEADER: Final = "Groundtrail-Note"
"""Base64 of the signed note over a report."""
NOTE_KIND: Final = "groundtrail-violation-report/v1"
_SEED: Final = re.compile(r"[0-9a-f]{64}")
_SEED_BYTES: Final = 32
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_MAX_HOSTS: Final = 64
_AGAIN: Final = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY})


def note_text(report_id: str, moment: int, body: bytes) -> str:
    """Return what is signed of a report: kind, id, seconds since 1970 and SHA-256 of the body, a line each."""
    return f"{NOTE_KIND}\n{report_id}\n{moment}\n{sha256_hex(body)}\n"


class HttpReportEndpoints:
    """Every endpoint that reports are filed for.

    Args:
        settings: what may be talked to, and how.
        key_file: of the Ed25519 seed; made when it is first needed.
        clock: tells when a report was signed.
        resolver: tells a host's addresses.
    """

    def __init__(self, settings: ReportSettings, key_file: Path, clock: Clock, resolver: Resolve = resolve) -> None:
        self._settings = settings
        self._key_file = key_file
        self._clock = clock
        self._resolver = resolver
        self._private = {host.lower() for host in settings.private_hosts}
        self._hosts: OrderedDict[str, GuardedHost] = OrderedDict()
        self._signer: NoteSigner | None = None

    async def send(self, report: OutgoingReport) -> Delivery:
        """Post the report once. Raises nothing but cancellation."""
        return await deliver(lambda: self._send(report), report.host, self._settings.timeout_s)

    async def key(self) -> str:
        """Return the public key that reports are signed with."""
        return str((await self._held()).key)

    async def close(self) -> None:
        """Close the connections; idempotent."""
        while self._hosts:
            await self._hosts.popitem()[1].close()

    async def _send(self, report: OutgoingReport) -> Delivery:
        signer, moment = await self._held(), int(self._clock.now().timestamp())
        text = note_text(report.report_id, moment, report.body)
        note = str(Note(text, (signer.sign(text),)))

        async def headers() -> Mapping[str, str]:
            signed = base64.b64encode(note.encode()).decode()
            return {"Content-Type": "application/json", NOTE_HEADER: signed}

        parts = urlsplit(report.url)
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        host = await self._host(f"{parts.scheme}://{parts.netloc}", report.host)
        return self._judged((await host.post(path, headers, report.body)).response)

    def _judged(self, answer: httpx.Response) -> Delivery:
        return judge(answer, self._clock.now(), "name the url it leads to", _outcome)

    async def _host(self, origin: str, name: str) -> GuardedHost:
        found = self._hosts.get(origin)
        if found is None:
            settings = self._settings
            traits = HostTraits(name in self._private, settings.ca_file, settings.timeout_s)
            found = await asyncio.to_thread(GuardedHost, origin, traits, self._resolver)
            self._hosts[origin] = found
            if len(self._hosts) > _MAX_HOSTS:
                await self._hosts.popitem(last=False)[1].close()
        self._hosts.move_to_end(origin)
        return found

    async def _held(self) -> NoteSigner:
        if self._signer is None:
            seed = await asyncio.to_thread(_seed, self._key_file)
            self._signer = NoteSigner(self._settings.signer_name, seed)
        return self._signer


def _outcome(status: int) -> Outcome:
    again = status >= HTTPStatus.INTERNAL_SERVER_ERROR or status in _AGAIN
    return Outcome.UNREACHABLE if again else Outcome.REFUSED


def _seed(path: Path) -> bytes:
    """Read the key, or make it; of several processes at once one makes it.

    Raises:
        UnavailableError: SERVICE_UNAVAILABLE.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not path.exists():
            made = path.with_name(f".{path.name}.{os.getpid()}")
            handle = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(handle, "w") as file:
                file.write(os.urandom(_SEED_BYTES).hex() + "\n")
                file.flush()
                os.fsync(file.fileno())
            try:
                os.link(made, path)  # fails where another process was quicker
            except FileExistsError:
                pass
            finally:
                made.unlink()
        if path.stat().st_mode & _OTHERS:
            raise _unusable(path, "may be read by others than its owner; chmod 600")
        text = path.read_text("ascii").strip().lower()
    except (OSError, UnicodeError) as error:
        raise _unusable(path, getattr(error, "strerror", "") or "is no text") from None
    if not _SEED.fullmatch(text):
        raise _unusable(path, "must hold 64 hex digits")
    return bytes.fromhex(text)


def _unusable(path: Path, problem: str) -> UnavailableError:
    text = f"the key that violation reports are signed with cannot be used: {path.name} {problem}"
    return UnavailableError(ErrorReason.SERVICE_UNAVAILABLE, text)
