"""Text that is held back until it has passed: what may leave, and nothing beyond the halting point.

Text comes in pieces cut anywhere; positions are characters of the whole. What was judged is released up to a
position, which only grows; after ``halt`` nothing more leaves than was released or cleared before it, whatever comes.
"""

from collections import deque


class ReleaseBuffer:
    """Holds text back; memory is bounded by what waits.

    Args:
        most: characters that may wait; more are refused.
    """

    def __init__(self, most: int = 1_000_000) -> None:
        self._most = most
        self._pieces: deque[str] = deque()
        self._offset = 0
        """Of what the first piece has given already."""
        self._received = 0
        self._released = 0
        self._limit: int | None = None

    @property
    def received(self) -> int:
        """Characters that came in; after a halt those up to it."""
        return self._received

    @property
    def released(self) -> int:
        """Characters that left."""
        return self._released

    @property
    def waiting(self) -> int:
        """Characters that are held back."""
        return self._received - self._released

    @property
    def is_halted(self) -> bool:
        """Whether nothing more comes in."""
        return self._limit is not None

    def add(self, text: str) -> None:
        """Take in the next piece; after a halt it is dropped.

        Raises:
            OverflowError: more would wait than may; nothing was taken in.
        """
        if self._limit is not None or not text:
            return
        if self.waiting + len(text) > self._most:
            raise OverflowError(f"{self.waiting + len(text):,} characters would wait; at most {self._most:,} may")
        self._pieces.append(text)
        self._received += len(text)

    def release(self, up_to: int) -> str:
        """Return what has not left of the first ``up_to`` characters; behind a halt nothing is returned."""
        end = min(up_to, self._received if self._limit is None else self._limit)
        wanted = end - self._released
        found: list[str] = []
        while wanted > 0:
            piece = self._pieces[0]
            part = piece[self._offset : self._offset + wanted]
            found.append(part)
            wanted -= len(part)
            self._offset += len(part)
            self._released += len(part)
            if self._offset == len(piece):
                self._pieces.popleft()
                self._offset = 0
        return "".join(found)

    def halt(self, at: int) -> None:
        """Let nothing behind the first ``at`` characters leave, ever; a halt is never moved back up."""
        limit = max(self._released, min(at, self._received))
        self._limit = limit if self._limit is None else min(self._limit, limit)
        if self._limit <= self._released:
            self._pieces.clear()
            self._offset = 0
