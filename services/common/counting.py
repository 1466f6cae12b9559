"""Counts as people read them."""


def counted(count: int, one: str, many: str = "") -> str:
    """Return ``1 window``, ``2 windows``; ``many`` for a noun that does not take an s."""
    return f"{count} {one}" if count == 1 else f"{count} {many or one + 's'}"
