"""A second detector: what rules leave undecided is held against a draft by entailment (ERCP 1.0 §7, ADR 0117).

Sans-IO: ``plan`` says what the models are asked, ``judge`` what their answers mean. It makes a constraint suspected and
never kept.
"""

from services.ercp.domain.suspecting.asking import Plan, Way, plan
from services.ercp.domain.suspecting.bounds import SuspicionBounds
from services.ercp.domain.suspecting.judging import judge
from services.ercp.domain.suspecting.limits import doubt_limits

__all__ = ["Plan", "SuspicionBounds", "Way", "doubt_limits", "judge", "plan"]
