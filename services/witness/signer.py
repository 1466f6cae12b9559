"""The holder of the logs' keys: it signs heads of a log that only grew, and nothing else (ADR 0100).

A head that goes on from the last one that it signed, or an earlier one of the same log, is shown to it by a proof.
Each log has a key of its own, HKDF-SHA256 of the process's secret with the origin. The first head of a log is believed;
from then on a rewritten log cannot be signed, whoever holds the credential.
"""

import re
from http import HTTPStatus
from typing import Final

import structlog
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from services.common.merkle import EMPTY_ROOT
from services.common.signed_note import KEY_BYTES, Checkpoint, NoteSigner
from services.common.submission import SIZE_MEDIA_TYPE, Submission, grows
from services.witness.heads import HeadFolder
from services.witness.witness import Reply

INFO: Final = b"groundtrail-log-signer-v1"
_TITLE: Final = re.compile(r"groundtrail export v[1-9][0-9]?\n")
_NAME: Final = re.compile(r"[^\s+]{1,255}")


class LogSigner:
    """Signs.

    Args:
        seed: the secret, 32 bytes.
        heads: what was signed last.
    """

    def __init__(self, seed: bytes, heads: HeadFolder) -> None:
        self._seed = seed
        self._heads = heads
        self._log = structlog.get_logger("groundtrail")

    def key(self, origin: str) -> Reply:
        """Answer with a log's public key."""
        if not _NAME.fullmatch(origin):
            return Reply(HTTPStatus.BAD_REQUEST, "the origin must be a name without spaces and plus signs\n")
        return Reply(HTTPStatus.OK, f"{self._signer(origin).key}\n")

    async def sign(self, body: bytes) -> Reply:
        """Answer a submission: the text's signature, or why there is none."""
        try:
            submission = Submission.parse(body)
            head = signed_head(submission.text)
        except ValueError as error:
            return Reply(HTTPStatus.BAD_REQUEST, f"{error}\n")
        async with self._heads.turn(head.origin):
            known = await self._heads.known(head.origin)
            if submission.old_size != (known.size if known else 0):
                return Reply(HTTPStatus.CONFLICT, f"{known.size if known else 0}\n", SIZE_MEDIA_TYPE)
            if not _belongs(known, head, submission.path):
                self._log.error("a head that does not go on was not signed", origin=head.origin, tree_size=head.size)
                await self._heads.keep_evidence(head.origin, body)
                text = f"it does not go on from the head of size {known.size if known else 0}\n"
                return Reply(HTTPStatus.UNPROCESSABLE_ENTITY, text)
            if known is None or head.size > known.size:
                await self._heads.keep(head)
        return Reply(HTTPStatus.OK, self._signer(head.origin).sign(submission.text).line())

    def _signer(self, origin: str) -> NoteSigner:
        kdf = HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=origin.encode(), info=INFO)
        return NoteSigner(origin, kdf.derive(self._seed))


def signed_head(text: str) -> Checkpoint:
    """Return the head that a text states: it is a checkpoint, or a note over an export, which repeats one.

    Raises:
        ValueError: it is neither.
    """
    title = _TITLE.match(text)
    head = Checkpoint.parse(text[title.end() :] if title else text)
    if not _NAME.fullmatch(head.origin) or (title is None and text != str(head)):
        msg = "only checkpoints and notes over exports are signed"
        raise ValueError(msg)
    return head


def _belongs(known: Checkpoint | None, head: Checkpoint, path: tuple[bytes, ...]) -> bool:
    """Say whether both heads are of one log that only grew; the larger one may be either."""
    if known is None:
        return not path
    small, large = sorted((known, head), key=lambda one: one.size)
    if small.size == 0 and small.root != EMPTY_ROOT:
        return False
    return grows((small.size, small.root), (large.size, large.root), path)
