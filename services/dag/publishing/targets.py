"""Where a head goes that nobody answers to: a file that grows, an endpoint that takes signed notes."""

import asyncio
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from services.common.encoding import iso_micros
from services.common.ports.event_endpoint import EventBatch, EventEndpoint, Outcome
from services.dag.publishing.metrics import Result
from services.dag.transparency.log import SignedHead

NOTE_MEDIA_TYPE: Final = "text/plain; charset=utf-8"
_MODE: Final = 0o600


@dataclass(frozen=True, slots=True)
class Delivered:
    """What became of a head; ``problem`` is for operators, empty when it was delivered."""

    result: Result
    problem: str = ""


class Target(Protocol):
    """A place for heads."""

    @property
    def name(self) -> str:
        """Of the place, for metrics and messages."""
        ...

    async def deliver(self, tenant_id: str, head: SignedHead) -> Delivered:
        """Hand a head over once. Raises nothing but cancellation."""
        ...


class FileTarget:
    """Appends each head as one JSON line: origin, size, moment and the signed note.

    A line is written whole and forced to the disk; what a crash cut off before is ended by a line feed of its own.

    Args:
        path: of the file, made with mode 0600.
    """

    name = "file"

    def __init__(self, path: Path) -> None:
        self._path = path

    async def deliver(self, tenant_id: str, head: SignedHead) -> Delivered:  # noqa: ARG002 - the note names its log
        """Append a line."""
        line = {
            "origin": head.checkpoint.origin,
            "tree_size": head.checkpoint.size,
            "signed_at": iso_micros(head.signed_at),
            "checkpoint": str(head.note),
        }
        try:
            await asyncio.to_thread(self._append, json.dumps(line, ensure_ascii=False).encode() + b"\n")
        except OSError as error:
            return Delivered(Result.FAILED, f"{self._path}: {error.strerror or error}")
        return Delivered(Result.DELIVERED)

    def _append(self, line: bytes) -> None:
        handle = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, _MODE)
        try:
            size = os.fstat(handle).st_size
            torn = size > 0 and os.pread(handle, 1, size - 1) != b"\n"
            data = b"\n" + line if torn else line
            written = os.write(handle, data)
            if written != len(data):
                raise OSError(None, f"only {written} of {len(data)} bytes could be written")
            os.fsync(handle)
        finally:
            os.close(handle)


class EndpointTarget:
    """Posts each head as a signed note.

    Args:
        endpoint: talks to it.
    """

    name = "endpoint"

    def __init__(self, endpoint: EventEndpoint) -> None:
        self._endpoint = endpoint

    async def deliver(self, tenant_id: str, head: SignedHead) -> Delivered:
        """Post the note."""
        sent = await self._endpoint.send(EventBatch(tenant_id, str(head.note).encode(), NOTE_MEDIA_TYPE, 1))
        if sent.outcome is Outcome.ACCEPTED:
            return Delivered(Result.DELIVERED)
        return Delivered(Result.FAILED, f"{sent.outcome.value}: {sent.problem}")
