"""The ways of finding facts: the Director-AI page's VectorBackend family as modes of one search (ADR 0066)."""

from typing import Final

from services.common.taxonomy import RetrievalMode

FUSED_MODES: Final = frozenset({RetrievalMode.HYBRID, RetrievalMode.RERANKED, RetrievalMode.LATE_INTERACTION})
"""Modes that order by more than one list."""
RESCORED_MODES: Final = frozenset({RetrievalMode.RERANKED, RetrievalMode.LATE_INTERACTION})
"""Modes that score the best of HYBRID anew with a model of their own."""
