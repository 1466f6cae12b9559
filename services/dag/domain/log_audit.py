"""A tenant's whole log computed anew from its leaves: every hash that is stored, peaks and kept head (ADR 0099)."""

from collections.abc import Sequence

from services.common.counting import counted
from services.common.errors import LogInconsistentError
from services.common.merkle import CompactRange
from services.common.ports.transparency_log import KeptHead, LogRow, LogState
from services.dag.domain.leaf_checks import fits_its_hash


class LogAudit:
    """One pass over a log; pages are taken in order.

    Args:
        state: what is stored besides the leaves, read before the first page.
    """

    def __init__(self, state: LogState) -> None:
        self._state = state
        self._tree = CompactRange()
        self._check_head()

    @property
    def read(self) -> int:
        """How many leaves were taken."""
        return self._tree.size

    @property
    def done(self) -> bool:
        """Whether every leaf of the tree was taken; those that were appended meanwhile are not asked for."""
        return self._tree.size >= self._state.size

    def take(self, rows: Sequence[LogRow]) -> None:
        """Take the next leaves.

        Raises:
            LogInconsistentError: LOG_INCONSISTENT: a leaf is missing or was changed, or the kept head is not the log's.
        """
        rows = rows[: self._state.size - self._tree.size]
        head = self._state.head
        cut = head.size - self._tree.size if head else 0
        for part in (rows[:cut], rows[cut:]) if 0 < cut < len(rows) else (rows,):
            self._grow(part)
        if not rows and not self.done:
            raise LogInconsistentError.of(f"leaf {self._tree.size} is missing")

    def finish(self) -> bytes:
        """Compare the peaks and return the root.

        Raises:
            LogInconsistentError: LOG_INCONSISTENT.
        """
        if self._tree.size != self._state.size or self._tree.to_bytes() != self._state.peaks:
            raise LogInconsistentError.of("its peaks are not those that its leaves make")
        return self._tree.root()

    def _grow(self, rows: Sequence[LogRow]) -> None:
        for place, row in enumerate(rows, start=self._tree.size):
            if row.leaf.leaf_index != place:
                raise LogInconsistentError.of(f"leaf {place} is missing")
            if not fits_its_hash(row.leaf):
                raise LogInconsistentError.of(f"leaf {place} was changed: its hash is not that of its content")
        first = self._tree.size
        self._tree, subtrees = self._tree.extend(row.leaf.leaf_hash for row in rows)
        for place, (row, ending) in enumerate(zip(rows, subtrees, strict=True), start=first):
            if row.subtrees != b"".join(ending):
                raise LogInconsistentError.of(f"leaf {place} was changed: the subtrees that it ends are others")
        self._check_head()

    def _check_head(self) -> None:
        head = self._state.head
        if head is not None and head.size == self._tree.size and head.root != self._tree.root():
            raise LogInconsistentError.of(f"the head that was kept of size {head.size} is not its head of that size")


def check_floor(state: LogState) -> KeptHead | None:
    """Return the kept head of a log that is at least as large as it.

    Raises:
        LogInconsistentError: LOG_INCONSISTENT: the log is smaller.
    """
    head = state.head
    if head is not None and state.size < head.size:
        raise LogInconsistentError.of(
            f"it has {counted(state.size, 'leaf', 'leaves')}, and a head of {head.size} was signed"
        )
    return head
