"""The latest head of each log that witnesses cosigned: kept, and shown beside the head of the moment (ADR 0100)."""

from dataclasses import replace

import structlog

from services.common.errors import InvalidRequestError
from services.common.ports.transparency_log import TransparencyLog
from services.common.signed_note import Checkpoint, Note
from services.dag.transparency.log import SignedHead, TransparencyApp


class CosignedHeads:
    """Keeps cosigned heads.

    Args:
        log: where they are kept.
        app: makes and signs heads.
    """

    def __init__(self, log: TransparencyLog, app: TransparencyApp) -> None:
        self._log = log
        self._app = app

    async def keep(self, tenant_id: str, head: SignedHead) -> None:
        """Keep a head with its cosignatures; a smaller one than the kept one is forgotten."""
        await self._log.keep_cosigned(tenant_id, head.checkpoint.size, str(head.note))

    async def latest(self, tenant_id: str) -> SignedHead | None:
        """Return the kept head, signed by the log's present keys too; ``None`` without one.

        One that is not of this log, or that no key of it signed, is not shown.

        Raises:
            UnavailableError: SERVICE_UNAVAILABLE: the signing key cannot be had.
            LogInconsistentError: LOG_INCONSISTENT: the log does not go on from it.
        """
        kept = await self._log.cosigned(tenant_id)
        if not kept:
            return None
        try:
            note = Note.parse(kept)
            head = await self._app.head(tenant_id, Checkpoint.parse(note.text).size)
        except (ValueError, InvalidRequestError):
            head = None
        if head is None or str(head.checkpoint) != note.text:
            structlog.get_logger("groundtrail").error("the cosigned head is not of this log", kept=kept[:200])
            return None
        return replace(head, note=head.note.with_signatures(note.signatures))

    async def with_cosignatures(self, tenant_id: str, head: SignedHead) -> tuple[SignedHead, SignedHead | None]:
        """Return the head, with its cosignatures when it is the kept one, and the kept one."""
        kept = await self.latest(tenant_id)
        return (kept if kept is not None and kept.checkpoint == head.checkpoint else head), kept
