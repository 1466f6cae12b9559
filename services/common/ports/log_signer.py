"""The process that holds the log's key, when the service that writes does not hold it itself (ADR 0100).

It signs a head only when it is shown that the head goes on from the last one that it signed, or comes before it: who
writes into the store cannot have a rewritten log signed.
"""

from dataclasses import dataclass
from typing import Protocol

from services.common.signed_note import NoteKey, NoteSignature
from services.common.submission import Submission


@dataclass(frozen=True, slots=True)
class SignerAnswer:
    """What became of a submission.

    Attributes:
        signatures: by the log's key; empty when it was not signed.
        known_size: of the head that the process signed last, where the proof did not start from that.
        refusal: why it was not signed otherwise; for operators.
    """

    signatures: tuple[NoteSignature, ...] = ()
    known_size: int | None = None
    refusal: str = ""


class LogSigner(Protocol):
    """Signs texts of logs: a checkpoint, or a note over an export that repeats one."""

    async def key(self, origin: str) -> NoteKey:
        """Return the public key of a log.

        Raises:
            UnavailableError: SERVICE_UNAVAILABLE.
        """
        ...

    async def sign(self, submission: Submission) -> SignerAnswer:
        """Have the text signed.

        Args:
            submission: its proof leads from the smaller to the larger of two heads: the one that the process signed
                last, which is of the old size, and the one that the text names.

        Raises:
            UnavailableError: SERVICE_UNAVAILABLE.
        """
        ...

    async def close(self) -> None:
        """Release everything; idempotent."""
        ...
