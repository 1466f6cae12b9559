"""Constraints in everyday words become predicates, by rules, or a reason why not (ERCP 1.0 §2, ADR 0116)."""

from services.ercp.domain.wording.model import Understanding
from services.ercp.domain.wording.understanding import understand_constraint

__all__ = ["Understanding", "understand_constraint"]
