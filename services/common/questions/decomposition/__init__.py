"""From a question to the questions that it is made of: for what is searched for, and for what is answered by itself."""

from services.common.questions.decomposition.cutting import (
    LONGEST_CHARS,
    LONGEST_SENTENCE_CHARS,
    MOST_SUB_QUERIES,
    cut,
    decompose,
)

__all__ = ["LONGEST_CHARS", "LONGEST_SENTENCE_CHARS", "MOST_SUB_QUERIES", "cut", "decompose"]
