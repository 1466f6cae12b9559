"""Where notes are referred to in a text: a private sign while it is put together, an offset after."""

from collections.abc import Sequence

from services.common.documents.marks import NOTE


def settle(text: str, marks: Sequence[str]) -> tuple[str, tuple[tuple[int, str], ...]]:
    """Return a text without the signs, and for each of them its offset and mark.

    Args:
        text: with a sign for each mark, white space collapsed.
        marks: in the order of the text.
    """
    parts = text.split(NOTE)
    if len(parts) == 1:
        return text, ()
    kept = [part.rstrip() if index < len(parts) - 1 else part for index, part in enumerate(parts)]
    notes = []
    size = 0
    for part, mark in zip(kept, marks, strict=False):
        size += len(part)
        notes.append((size, mark))
    return "".join(kept).strip(), tuple(notes)
