"""How texts that stand together are put together: a label before an item, a context before a text."""

from typing import Final

CLOSED: Final = (".", "!", "?", ":", ";", "\u2026")
"""After one of these another text may follow."""
ENDED: Final = (".", "!", "?", "\u2026", '."', ".\u201d", ".)")
"""With one of these a sentence ends."""


def tells(text: str) -> bool:
    """Say whether a few words without an end say something of something: with a figure or after a colon."""
    return ":" in text or any(character.isdigit() for character in text)


def labelled(label: str, text: str, *, term: bool) -> str:
    """Return an item with what the list calls it, or a definition with its term."""
    if not label or not text:
        return label or text
    if not term:
        return f"{label} {text}"
    return f"{label} {text}" if label.endswith(CLOSED) else f"{label}: {text}"


def joined(context: str, text: str) -> str:
    """Return ``context: text``; the context's own final punctuation is kept."""
    if not context or text.startswith(context):
        return text
    if context.endswith(CLOSED):
        return f"{context} {text}"
    return f"{context}: {text}"
