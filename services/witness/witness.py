"""A witness: it cosigns a head exactly when the log goes on from the head that it cosigned last (C2SP tlog-witness).

Every check of ``add-checkpoint`` in the order of the specification, and the head on the disk before the answer.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

import structlog

from services.common.clock import Clock
from services.common.cosignature import Cosigner
from services.common.signed_note import Checkpoint, Note, NoteKey
from services.common.submission import SIZE_MEDIA_TYPE, Submission, grows
from services.witness.heads import HeadFolder

TEXT: Final = "text/plain; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer over HTTP."""

    status: HTTPStatus
    text: str
    media_type: str = TEXT


class Witness:
    """Cosigns heads of the logs that it knows.

    Args:
        logs: their keys, each named by its log's origin; a log may have several.
        cosigner: the witness's own key.
        heads: what it has seen.
        clock: tells when.
    """

    def __init__(self, logs: Iterable[NoteKey], cosigner: Cosigner, heads: HeadFolder, clock: Clock) -> None:
        self._logs: dict[str, list[NoteKey]] = {}
        for key in logs:
            self._logs.setdefault(key.name, []).append(key)
        self._cosigner = cosigner
        self._heads = heads
        self._clock = clock
        self._log = structlog.get_logger("groundtrail")

    async def add_checkpoint(self, body: bytes) -> Reply:
        """Answer a submission."""
        try:
            submission = Submission.parse(body)
            note = Note.parse(submission.text)
            head = Checkpoint.parse(note.text)
        except ValueError as error:
            return Reply(HTTPStatus.BAD_REQUEST, f"{error}\n")
        keys = self._logs.get(head.origin)
        if keys is None:
            return Reply(HTTPStatus.NOT_FOUND, "the log is not known here\n")
        if not any(note.holds(key, head.origin) for key in keys):
            return Reply(HTTPStatus.FORBIDDEN, "no signature of the log's key holds\n")
        if submission.old_size > head.size:
            return Reply(HTTPStatus.BAD_REQUEST, "the old size is above the checkpoint's\n")
        async with self._heads.turn(head.origin):
            return await self._judged(submission, note, head, body)

    async def _judged(self, submission: Submission, note: Note, head: Checkpoint, body: bytes) -> Reply:
        known = await self._heads.known(head.origin)
        size = known.size if known else 0
        if submission.old_size != size:
            return Reply(HTTPStatus.CONFLICT, f"{size}\n", SIZE_MEDIA_TYPE)
        if known is not None and known.size == head.size and known.root != head.root:
            await self._alarm(head, body, "two roots of one size")
            return Reply(HTTPStatus.CONFLICT, "another root of this size was cosigned\n")
        small = (known.size, known.root) if known else (0, b"")
        if not grows(small, (head.size, head.root), submission.path):
            await self._alarm(head, body, "the proof does not hold")
            return Reply(HTTPStatus.UNPROCESSABLE_ENTITY, "the consistency proof does not hold\n")
        if head != known:
            await self._heads.keep(head)
        line = self._cosigner.cosign(note.text, int(self._clock.now().timestamp()))
        return Reply(HTTPStatus.OK, line.line())

    async def _alarm(self, head: Checkpoint, body: bytes, what: str) -> None:
        self._log.error("a log does not go on", origin=head.origin, tree_size=head.size, what=what)
        await self._heads.keep_evidence(head.origin, body)
