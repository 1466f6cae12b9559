"""Statements at odds: sure ones are errors, the others doubts that keep a run from converging (ADR 0179)."""

from services.ercp.domain.doubting.judging import doubted, judge, scores_of, texts_of
from services.ercp.domain.doubting.planning import Pair, Statements, plan

__all__ = ["Pair", "Statements", "doubted", "judge", "plan", "scores_of", "texts_of"]
