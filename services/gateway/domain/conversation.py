"""What of a session's earlier windows a follow-up leans on (ADR 0096)."""

from collections.abc import Sequence
from typing import Final

from services.common.questions.following import leaned_on
from services.gateway.domain.window import OpenedWindow, PriorWindow

_SPOKEN_CHARS: Final = 300
"""So much of an answer stands for a question that was not kept."""


def conversation(query: str, opened: OpenedWindow | None, told: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the earlier questions that a query leans on, nearest first; empty for one that stands by itself.

    Args:
        query: the question.
        opened: its window; ``None`` before there is one.
        told: questions that the caller tells, oldest first; they were asked before those of the session.

    Where a question was not kept (no-store, personal data), the beginning of its answer stands for it. A merge of
    several parents continues no line of questions.
    """
    if opened is not None and len(opened.parents) > 1:
        return ()
    spoken = [*told, *(() if opened is None else map(_said, opened.prior_windows))]
    earlier = [said for said in spoken if said and said.strip() != query.strip()]
    return leaned_on(query, earlier)


def _said(window: PriorWindow) -> str:
    return window.query or window.text[:_SPOKEN_CHARS]
