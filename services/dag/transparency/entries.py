"""The log's leaves by index, for whoever recomputes its root: ids, positions and salted hashes (ADR 0100)."""

from typing import Final

from services.common.computing import compute
from services.common.errors import FieldViolation, InvalidRequestError, LogInconsistentError
from services.common.ports.transparency_log import LogLeaf, TransparencyLog
from services.dag.domain.leaves import leaf_bytes
from services.dag.log_keeper import LogKeeper

MAX_ENTRIES: Final = 1_000


class LogEntries:
    """Reads leaves in pages.

    Args:
        log: the trees.
        keeper: is told of a leaf that is missing, so that nothing more is written to that log.
    """

    def __init__(self, log: TransparencyLog, keeper: LogKeeper) -> None:
        self._log = log
        self._keeper = keeper

    async def page(self, tenant_id: str, first: int, most: int) -> tuple[list[bytes], int]:
        """Return leaves that follow one another, as bytes, and the log's size.

        Args:
            tenant_id: whose log.
            first: index of the first leaf; the log's size gives none.
            most: how many; 0 = as many as may come.

        Raises:
            InvalidRequestError: INVALID_FIELD: the log is smaller than ``first``.
            LogInconsistentError: LOG_INCONSISTENT: a leaf is missing, or what is stored is none.
        """
        size = await self._log.tree_size(tenant_id)
        if first > size:
            raise InvalidRequestError.of(FieldViolation("first_leaf_index", f"must be at most the log's size, {size}"))
        wanted = min(most or MAX_ENTRIES, MAX_ENTRIES, size - first)
        found = await self._log.read_leaves(tenant_id, first=first, limit=wanted)
        held = {leaf.leaf_index for leaf in found}
        missing = next((index for index in range(first, first + wanted) if index not in held), None)
        if missing is not None:
            text = f"leaf {missing} is missing, or what is stored in its place is no leaf"
            error = LogInconsistentError.of(text, leaf_index=str(missing))
            self._keeper.found(tenant_id, error)
            raise error
        return await compute(_bytes_of, found), size


def _bytes_of(leaves: list[LogLeaf]) -> list[bytes]:
    return [leaf_bytes(leaf) for leaf in leaves]
