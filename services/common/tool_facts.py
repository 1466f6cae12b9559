"""Facts that tools told, beside those of documents: a document goes before a tool (ADR 0161)."""

from collections.abc import Collection, Iterable, Sequence


def disputed(
    conflicts: Iterable[Sequence[tuple[str, str]]], tools: Collection[str], stored: Collection[str]
) -> frozenset[str]:
    """Return the facts of tools that give another value than a document for the same thing.

    Args:
        conflicts: for each thing the facts that speak of it, by id, and the values as they write them.
        tools: ids of what tools told.
        stored: ids of facts of documents.
    """
    return frozenset(
        fact_id
        for values in conflicts
        for fact_id, value in values
        if fact_id in tools and any(other in stored and text != value for other, text in values)
    )
