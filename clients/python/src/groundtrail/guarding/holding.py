"""A stream that is held back: which beginnings are to be checked, and which events may leave. Pure.

A beginning ends where a sentence surely does, by the services' own rules. Checks read from the beginning;
each covers an eighth more than has passed, so all of them together read a bounded multiple of the answer.
"""

from collections import deque
from typing import Any, Final

from groundtrail.guarding.forms import Form
from groundtrail.guarding.rules import Judged
from groundtrail.reading.growing import GrowingText

_GROWTH: Final = 8


class Holding:
    """The events of one stream.

    Args:
        form: of the events.
    """

    def __init__(self, form: Form) -> None:
        self.unchecked: list[str] = []
        self._form = form
        self._events: deque[tuple[Any, int]] = deque()
        self._pieces: dict[int, list[str]] = {}
        self._text = ""
        self._growing = GrowingText()
        self._ends = 0
        self._asked = 0
        self._passed = 0

    @property
    def texts(self) -> list[str]:
        """Return the texts of the answers so far, by their numbers."""
        return [self._text if not number else "".join(self._pieces[number]) for number in sorted(self._pieces)]

    def add(self, event: Any) -> None:
        """Take in an event."""
        piece = self._form.piece(event)
        self.unchecked += [name for name in piece.unchecked if name not in self.unchecked]
        for number, text in piece.texts.items():
            self._pieces.setdefault(number, []).append(text)
        text = piece.texts.get(0, "")
        self._text += text
        for one in self._growing.add(text):
            self._ends = one.clear_to
        self._events.append((event, len(self._text)))

    def due(self) -> str | None:
        """Return the beginning that is to be checked now, or ``None``; answers side by side wait for their ends."""
        if self._pieces.keys() - {0}:
            return None
        if self._ends - self._asked <= self._asked // _GROWTH:
            return None
        self._asked = self._ends
        return self._text[: self._asked]

    def judged(self, found: Judged) -> None:
        """Take in what was found in the beginning that was due."""
        if not found.withheld:
            self._passed = self._asked

    def released(self) -> list[Any]:
        """Return the events that may leave and have not: those whose text has passed."""
        left = []
        while self._events and self._events[0][1] <= self._passed and not self._pieces.keys() - {0}:
            left.append(self._events.popleft()[0])
        return left

    def rest(self) -> list[Any]:
        """Return the events that are left, once the whole has passed."""
        left = [event for event, _ in self._events]
        self._events.clear()
        return left
