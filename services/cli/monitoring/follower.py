"""One look at a log: is its head signed, does it go on from what was seen, do its leaves give its root, do they belong.

The root is computed here, from the leaves, with the signed head of every page held against it: a long first read can
stop anywhere and go on later, and a leaf that does not fit is named.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from services.cli.monitoring.rules import Finding, FindingKind
from services.cli.monitoring.state import MonitorState
from services.common.clock import Clock
from services.common.counting import counted
from services.common.encoding import iso_micros
from services.common.errors import CrpError, ErrorReason
from services.common.merkle import CompactRange, leaf_hash
from services.common.signed_note import Checkpoint, Note, NoteKey

PAGE: Final = 1_000
_WHOLE: Final = -1
_LEAF_MISSING: Final = frozenset({ErrorReason.LOG_INCONSISTENT, ErrorReason.CHAIN_BROKEN})
"""How servers say so; earlier ones with the second."""


@dataclass(frozen=True, slots=True)
class Head:
    """A head as the server gave it; ``key`` is the one that it names as its current."""

    note: str
    key: NoteKey


class LogReader(Protocol):
    """The server's log."""

    async def head(self, size: int | None = None) -> Head:
        """Return the signed head of a size; ``None`` = of the whole log."""
        ...

    async def entries(self, first: int, most: int) -> Sequence[bytes]:
        """Return leaves from an index on, at least one where the log has one."""
        ...


@dataclass(frozen=True, slots=True)
class Look:
    """What a look found.

    Attributes:
        tree_size: up to where the log was read and fits.
        read: leaves that were new.
        findings: that are new.
    """

    tree_size: int
    read: int
    findings: tuple[Finding, ...]


class BadHeadError(Exception):
    """A head that cannot be believed."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.detail)
        self.finding = finding


class Follower:
    """Looks at one log.

    Args:
        reader: the server.
        state: what was seen; changed by every look.
        clock: tells when.
        keep: called when the state is worth keeping.
    """

    def __init__(
        self, reader: LogReader, state: MonitorState, clock: Clock, keep: Callable[[MonitorState], Awaitable[None]]
    ) -> None:
        self._reader = reader
        self._state = state
        self._clock = clock
        self._keep = keep
        self._fresh: list[Finding] = []

    async def look(self, began: Callable[[int], Callable[[], None]]) -> Look:
        """Look once.

        Args:
            began: told how many pages are to be read; gives what is called after each.

        Raises:
            CrpError: the server cannot be asked.
        """
        state = self._state
        before = state.tree.size
        self._fresh = []
        try:
            latest, note = await self._head(None)
            await self._compared(latest, note, began)
        except BadHeadError as bad:
            self._found(bad.finding)
        except CrpError as error:
            if error.reason is not ErrorReason.LOG_INCONSISTENT:
                raise
            text = f"the server signs no head: {error.metadata.get('detail', error.message)}"
            self._found(Finding(FindingKind.LOG_INCONSISTENT, _WHOLE, "", text))
        await self._keep(state)
        return Look(state.tree.size, state.tree.size - before, tuple(self._fresh))

    def _found(self, *findings: Finding) -> None:
        self._fresh += self._state.note(list(findings))

    async def _compared(self, latest: Checkpoint, note: str, began: Callable[[int], Callable[[], None]]) -> None:
        state = self._state
        if latest.size < state.tree.size:
            text = f"the log has {counted(latest.size, 'record')} and had {state.tree.size}"
            self._found(Finding(FindingKind.ROLLED_BACK, _WHOLE, "", text))
            return
        step = began(-(-(latest.size - state.tree.size) // PAGE))
        while state.tree.size < latest.size:
            ends = await self._page(latest)
            await self._keep(state)
            if ends is not None:
                self._found(ends)
                return
            step()
        if latest.root != state.tree.root():
            self._found(self._forked(latest.size))
            return
        state.seen(note, iso_micros(self._clock.now()))

    async def _page(self, latest: Checkpoint) -> Finding | None:
        """Read a page; take it when the root over it is the signed one, else return why not."""
        state = self._state
        first = state.tree.size
        try:
            leaves = await self._reader.entries(first, min(PAGE, latest.size - first))
        except CrpError as error:
            index = error.metadata.get("leaf_index", "")
            if error.reason not in _LEAF_MISSING or not index.isdecimal():
                raise
            return Finding(FindingKind.ENTRY_MISSING, int(index), "", error.metadata.get("detail", error.message))
        if not leaves:
            text = "the server gives no leaf that its head covers"
            return Finding(FindingKind.ENTRY_MISSING, first, "", text)
        hashes = [leaf_hash(leaf) for leaf in leaves]
        longer, _ = state.tree.extend(hashes)
        head = latest if longer.size == latest.size else (await self._head(longer.size))[0]
        if head.root != longer.root():
            return await self._differing(hashes)
        self._found(*(one for at, leaf in enumerate(leaves) for one in state.rules.take(first + at, leaf)))
        state.tree = longer
        return None

    async def _differing(self, hashes: list[bytes]) -> Finding:
        """Return the first leaf of a page that the signed roots are not over; a fork when it lies before the page."""
        state = self._state
        first = state.tree.size
        if first and (await self._head(first))[0].root != state.tree.root():
            return self._forked(first)
        low, high = 0, len(hashes)  # the root over the first `low` leaves fits, that over the first `high` does not
        while high - low > 1:
            middle = (low + high) // 2
            tree: CompactRange = state.tree.extend(hashes[:middle])[0]
            if (await self._head(tree.size))[0].root == tree.root():
                low = middle
            else:
                high = middle
        text = "the leaf that the server gives is not the one that its signed root is over"
        return Finding(FindingKind.ENTRY_DIFFERS, first + low, "", text)

    def _forked(self, size: int) -> Finding:
        text = f"the log does not go on from the head of size {size} that was seen: it was rewritten or forked"
        return Finding(FindingKind.FORKED, _WHOLE, "", text)

    async def _head(self, size: int | None) -> tuple[Checkpoint, str]:
        """Return a head that the log's key signed, and take over the key that comes after it.

        Raises:
            BadHeadError: it cannot be believed.
        """
        given = await self._reader.head(size)
        try:
            note = Note.parse(given.note)
            head = Checkpoint.parse(note.text)
        except ValueError:
            raise BadHeadError(_unsigned("the server's head is no checkpoint")) from None
        known = self._state.key or given.key
        known = NoteKey(known.name or head.origin, known.public_key)
        if head.origin != known.name or not note.holds(known, known.name):
            raise BadHeadError(_unsigned(f"the head of size {head.size} is not signed by the log's key {known}"))
        if size is not None and head.size != size:
            raise BadHeadError(_unsigned(f"the server gives a head of size {head.size} for one of size {size}"))
        after = NoteKey(known.name, given.key.public_key)
        # After a rotation the old key and the new one sign: the one that is known hands over.
        self._state.key = after if note.holds(after, known.name) else known
        return head, given.note


def _unsigned(text: str) -> Finding:
    return Finding(FindingKind.NOT_SIGNED, _WHOLE, "", text)
