"""What a process knows of the ends of the logs that it writes, so that most writes need not look at the leaves."""

from services.common.counting import counted
from services.common.errors import LogInconsistentError
from services.common.merkle import CompactRange
from services.common.ports.transparency_log import LogState


class LogTips:
    """Ends of the tenants' logs, as this process wrote them."""

    def __init__(self) -> None:
        self._written: dict[str, tuple[int, bytes]] = {}
        self._durable: dict[str, int] = {}

    def tree(self, tenant_id: str, state: LogState) -> CompactRange:
        """Return the tree of a stored state that is no smaller than what is known of the log.

        Raises:
            LogInconsistentError: LOG_INCONSISTENT: it lost leaves, or its peaks do not fit its size.
        """
        floor = max(self._durable.get(tenant_id, 0), state.head.size if state.head else 0)
        if state.size < floor:
            raise LogInconsistentError.of(f"it has {counted(state.size, 'leaf', 'leaves')} and had {floor}")
        try:
            return CompactRange.of_bytes(state.size, state.peaks)
        except ValueError as error:
            raise LogInconsistentError.of(str(error)) from None

    def knows(self, tenant_id: str, state: LogState) -> bool:
        """Say whether the state is the one that this process wrote last, so that its leaves need no second look."""
        return self._written.get(tenant_id) == (state.size, state.peaks)

    def wrote(self, tenant_id: str, size: int, peaks: bytes) -> None:
        """Note an end that was written; it may be rolled back yet, and is then met no more."""
        self._written[tenant_id] = (size, peaks)

    def settle(self, tenant_id: str, size: int) -> None:
        """Note a size that is durable: the log is never smaller than that again."""
        self._durable[tenant_id] = max(size, self._durable.get(tenant_id, 0))
