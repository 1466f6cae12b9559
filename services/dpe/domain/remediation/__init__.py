"""What could be done about the findings (SPEC-005 §8.3, §9.3, §10.3, §11.5, §18.5, §19; ADR 0042).

The caller's policy decides whether it is. Instructions name what was found by kind and number, never by the answer's
own words: an answer must not be able to write into the next prompt.
"""

from services.dpe.domain.remediation.plan import (
    MAX_REDISPATCHES,
    REDISPATCH_TEMPERATURE,
    Accounting,
    Excerpt,
    Plan,
    Step,
)
from services.dpe.domain.remediation.triggers import plan_of

__all__ = [
    "MAX_REDISPATCHES",
    "REDISPATCH_TEMPERATURE",
    "Accounting",
    "Excerpt",
    "Plan",
    "Step",
    "plan_of",
]
