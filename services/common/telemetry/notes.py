"""What the running call is about, in the words of the app: shown in its access line.

The runtime opens a fresh, mutable set of notes for each RPC; tasks that the call starts share it.
"""

from contextvars import ContextVar
from typing import Final

NOTED: Final = ("session_id", "window_id")
"""What may be noted: ids only, never content."""

_notes: ContextVar[dict[str, str] | None] = ContextVar("groundtrail_notes", default=None)


def open_notes() -> dict[str, str]:
    """Start empty notes for the running task and what it starts; return them."""
    notes: dict[str, str] = {}
    _notes.set(notes)
    return notes


def current_notes() -> dict[str, str]:
    """Return the notes of the running call; empty outside of one."""
    return _notes.get() or {}


def note(*, session_id: str = "", window_id: str = "") -> None:
    """Say which session or window the running call is about; does nothing outside an RPC."""
    notes = _notes.get()
    if notes is None:
        return
    if session_id:
        notes["session_id"] = session_id
    if window_id:
        notes["window_id"] = window_id
