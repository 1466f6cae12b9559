"""From the user's query to the queries that are searched for (SPEC-003 §5.2 step 1.1)."""


def decompose(query: str) -> tuple[str, ...]:
    """Return the sub-queries of a query; a plain query, with one information need, is its own only sub-query.

    White space is collapsed, so that layout alone never makes another decomposition (and so another ETag match).
    """
    return (" ".join(query.split()),)
