"""What of a session's earlier windows a follow-up leans on (ADR 0096)."""

from typing import Final

from services.common.questions.following import leaned_on
from services.gateway.domain.window import OpenedWindow, PriorWindow

_SPOKEN_CHARS: Final = 300
"""So much of an answer stands for a question that was not kept."""


def conversation(query: str, opened: OpenedWindow) -> tuple[str, ...]:
    """Return the earlier questions that a query leans on, nearest first; empty for one that stands by itself.

    Where a question was not kept (no-store, personal data), the beginning of its answer stands for it. A merge of
    several parents continues no line of questions.
    """
    if len(opened.parents) > 1:
        return ()
    earlier = [said for window in opened.prior_windows if (said := _said(window)) and said.strip() != query.strip()]
    return leaned_on(query, earlier)


def _said(window: PriorWindow) -> str:
    return window.query or window.text[:_SPOKEN_CHARS]
