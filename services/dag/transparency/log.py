"""Heads and proofs of tenants' logs (RFC 9162 §2.1): which hashes are needed, where they lie, what they fold to."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from services.common.clock import Clock
from services.common.errors import ErrorReason, FieldViolation, InvalidRequestError, NotFoundError
from services.common.merkle import Span, consistency_spans, inclusion_spans
from services.common.ports.transparency_log import LeafKind, LogLeaf, TransparencyLog
from services.common.signed_note import Checkpoint, Note, NoteKey
from services.dag.log_keeper import LogKeeper, span_hashes
from services.dag.ports import HeadSigning


@dataclass(frozen=True, slots=True)
class SignedHead:
    """A signed statement of the log's size and root; ``key`` made the note's first signature."""

    checkpoint: Checkpoint
    note: Note
    key: NoteKey
    signed_at: datetime


@dataclass(frozen=True, slots=True)
class Inclusion:
    """A leaf and the hashes that lead from it to the root of the tree of that size."""

    leaf: LogLeaf
    size: int
    path: tuple[bytes, ...]


class TransparencyApp:
    """Reads of one tenant's log at a time.

    Args:
        log: the trees.
        signers: sign heads.
        clock: tells when.
        keeper: lets no head be signed that does not extend the one before.
    """

    def __init__(self, log: TransparencyLog, signers: HeadSigning, clock: Clock, keeper: LogKeeper) -> None:
        self._log = log
        self._keeper = keeper
        self.signers = signers
        self._clock = clock

    async def head(self, tenant_id: str, size: int | None = None) -> SignedHead:
        """Return a signed head; ``None`` = of the whole log.

        Raises:
            InvalidRequestError: INVALID_FIELD: the log is smaller than that.
            UnavailableError: SERVICE_UNAVAILABLE: the signing key cannot be had.
            LogInconsistentError: LOG_INCONSISTENT: the log does not go on from the head that was signed last.
        """
        whole = await self.checked_size(tenant_id, size)
        root = await self._keeper.extend(tenant_id, whole)
        checkpoint = Checkpoint(self.signers.origin(tenant_id), whole, root)
        note = await self.signers.sign(tenant_id, str(checkpoint))
        return SignedHead(checkpoint, note, (await self.signers.current(tenant_id)).key, self._clock.now())

    async def inclusion(
        self, tenant_id: str, session_id: str, record: tuple[LeafKind, str], size: int | None = None
    ) -> Inclusion:
        """Return the proof that a record is in the log.

        Args:
            tenant_id: whose log.
            session_id: the record's session.
            record: kind and id.
            size: of the tree to prove in; ``None`` = the latest.

        Raises:
            NotFoundError: WINDOW_NOT_FOUND, EVENT_NOT_FOUND: the record has no leaf.
            InvalidRequestError: INVALID_FIELD: the tree of that size does not hold the leaf, or is larger than the log.
        """
        (leaf,) = await self._log.find_leaves(tenant_id, session_id, [record])
        if leaf is None:
            raise _not_logged(record)
        whole = await self.checked_size(tenant_id, size)
        if leaf.leaf_index >= whole:
            text = f"must be above the leaf's index, {leaf.leaf_index}"
            raise InvalidRequestError.of(FieldViolation("tree_size", text))
        path = await self.hashes(tenant_id, inclusion_spans(leaf.leaf_index, whole))
        return Inclusion(leaf, whole, tuple(path))

    async def consistency(self, tenant_id: str, first: int, second: int | None = None) -> tuple[int, tuple[bytes, ...]]:
        """Return the larger tree's size and the proof that the smaller one begins it.

        Raises:
            InvalidRequestError: INVALID_FIELD: not ``first <= second <= the log's size``.
        """
        whole = await self.checked_size(tenant_id, second, "second_tree_size")
        if first > whole:
            text = f"must be at most the larger tree's size, {whole}"
            raise InvalidRequestError.of(FieldViolation("first_tree_size", text))
        return whole, tuple(await self.hashes(tenant_id, consistency_spans(first, whole)))

    async def checked_size(self, tenant_id: str, size: int | None, field: str = "tree_size") -> int:
        """Return the size that was asked for, or the log's.

        Raises:
            InvalidRequestError: INVALID_FIELD: the log is smaller than that.
        """
        held = await self._log.tree_size(tenant_id)
        if size is not None and size > held:
            raise InvalidRequestError.of(FieldViolation(field, f"must be at most the log's size, {held}"))
        return held if size is None else size

    async def hashes(self, tenant_id: str, spans: Sequence[Span]) -> list[bytes]:
        """Return the hash of each range; what several need is read once."""
        return await span_hashes(self._log, tenant_id, spans)


def _not_logged(record: tuple[LeafKind, str]) -> NotFoundError:
    kind, name = record
    if kind is LeafKind.WINDOW:
        text = f"window {name} is not in the log: it is not committed, or it is older than the log"
        return NotFoundError(ErrorReason.WINDOW_NOT_FOUND, text, window_id=name)
    text = f"event {name} is not in the log: there is none in the session, or it is older than the log"
    return NotFoundError(ErrorReason.EVENT_NOT_FOUND, text, event_id=name)
