"""The gateway's own words: how answers are overseen, which remedies are carried out, what a fan-in does about failures.

What other services say, too, is in ``services.common.taxonomy``.
"""

from enum import StrEnum, unique

from services.common.taxonomy import OrderedWord


@unique
class OversightMode(OrderedWord):
    """What happens to answers under a policy, weakest first (CRP-SPEC-002, CRP-Safety-Oversight-Mode)."""

    LOG_ONLY = "log-only"
    AUTO = "auto"
    HUMAN_REVIEW = "human-review"
    HALT = "halt"


@unique
class SafetyMode(StrEnum):
    """Ready-made policies (CRP-SPEC-002, CRP-Safety-Mode)."""

    STRICT = "strict"
    WARN = "warn"
    PERMISSIVE = "permissive"


@unique
class RemedyMode(OrderedWord):
    """Which remedies are carried out, fewest first (SPEC-005 §19; ADR 0059)."""

    OFF = "off"
    POLICY = "policy"
    REQUIRED = "required"
    RECOMMENDED = "recommended"


@unique
class FanInPolicy(StrEnum):
    """What a fan-in does about failed children (SPEC-004 §16.3)."""

    REQUIRE_ALL = "require-all"
    PARTIAL = "partial"
