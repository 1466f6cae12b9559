"""From the user's query to the queries that are searched for (SPEC-003 §5.2 step 1.1, ADR 0062).

Rules over the words, in a fixed order: a list, several questions, parts that share a frame, a comparison, a
conjunction. Then no part is left to a pronoun that dangles (ADR 0110). Deterministic and bounded: what is longer than a
query is left whole, and nothing in the rules grows faster than the text.
"""

from typing import Final

from services.common.questions.decomposition.comparisons import comparison
from services.common.questions.decomposition.dangling import resolved
from services.common.questions.decomposition.needs import conjunction, listed, questions
from services.common.questions.decomposition.shared import shared_frame

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
    needs = cut(query) if most > 1 else ()
    if len(needs) < 2:  # noqa: PLR2004 - one need is the query itself
        return (" ".join(query.split()),)
    distinct = tuple(dict.fromkeys(resolved(needs)))
    if len(distinct) <= most:
        return distinct
    return (*distinct[: most - 1], ", ".join(distinct[most - 1 :]))


def cut(query: str) -> tuple[str, ...]:
    """Return the needs of a query in its own words, pronouns as they stand; the query itself where it has one."""
    plain = " ".join(query.split())
    if len(plain) > LONGEST_CHARS:
        return (plain,)
    parts = listed(query) or questions(plain)
    if not parts and len(plain) <= LONGEST_SENTENCE_CHARS:
        parts = shared_frame(plain) or comparison(plain) or conjunction(plain)
    distinct = tuple(dict.fromkeys(part for part in parts if part))
    return distinct if len(distinct) > 1 else (plain,)
