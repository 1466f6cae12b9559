"""The ways of finding facts: the Director-AI page's VectorBackend family as modes of one search (ADR 0066)."""

from enum import StrEnum, unique
from typing import Final


@unique
class SearchMode(StrEnum):
    """How facts are searched; what each orders by is said in ``crp.ckf.v1.SearchHit.score``."""

    DENSE = "DENSE"
    TEXT = "TEXT"
    HYBRID = "HYBRID"
    RERANKED = "RERANKED"
    LATE_INTERACTION = "LATE_INTERACTION"


FUSED_MODES: Final = frozenset({SearchMode.HYBRID, SearchMode.RERANKED, SearchMode.LATE_INTERACTION})
"""Modes that order by more than one list."""
RESCORED_MODES: Final = frozenset({SearchMode.RERANKED, SearchMode.LATE_INTERACTION})
"""Modes that score the best of HYBRID anew with a model of their own."""
