"""From the user's query to the queries that are searched for (SPEC-003 §5.2 step 1.1, ADR 0062).

Rules over the words, in a fixed order: a list, several questions, a comparison, a conjunction. Deterministic and
bounded: what is longer than a query is left whole, and nothing in the rules grows faster than the text.
"""

from typing import Final

from services.envelope.domain.decomposition_comparisons import comparison
from services.envelope.domain.decomposition_needs import conjunction, listed, questions

MOST_SUB_QUERIES: Final = 8
LONGEST_SENTENCE_CHARS: Final = 400
"""A longer sentence is left whole."""
LONGEST_CHARS: Final = 2_000
"""A longer text is no query that somebody asked but something to be read; it is searched for as it is."""


def decompose(query: str, most: int = MOST_SUB_QUERIES) -> tuple[str, ...]:
    """Return the sub-queries of a query; a plain query, with one information need, is its own only sub-query.

    White space is collapsed, so that layout alone never makes another decomposition (and so another ETag match); only
    the lines of a bulleted list count.

    Args:
        query: any text.
        most: sub-queries at most, at least 1; the needs beyond are asked for together, in the last one.
    """
    plain = " ".join(query.split())
    if len(plain) > LONGEST_CHARS or most < 2:  # noqa: PLR2004 - one need cannot be cut
        return (plain,)
    parts = listed(query) or questions(plain)
    if not parts and len(plain) <= LONGEST_SENTENCE_CHARS:
        parts = comparison(plain) or conjunction(plain)
    distinct = tuple(dict.fromkeys(part for part in parts if part))
    if len(distinct) < 2:  # noqa: PLR2004
        return (plain,)
    if len(distinct) <= most:
        return distinct
    return (*distinct[: most - 1], ", ".join(distinct[most - 1 :]))
