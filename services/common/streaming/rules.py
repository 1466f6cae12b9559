"""What halts a stream, and how (Director-AI page, "Streaming Oversight"; D5)."""

import math
from dataclasses import dataclass
from enum import StrEnum, unique
from typing import Final

MOST_WINDOW_TOKENS: Final = 10_000
"""Tokens in a window at most: what a stream remembers of itself."""
MOST_SOFT_TOKENS: Final = 1_000
"""Tokens after a soft halt at most."""


@unique
class HaltMode(StrEnum):
    """What happens when a rule is broken: stop at once, or at the end of the sentence."""

    HARD = "HARD"
    SOFT = "SOFT"


@unique
class HaltReason(StrEnum):
    """Why a stream was halted, in the order in which the rules are asked."""

    HARD_LIMIT = "HARD_LIMIT"
    WINDOW_AVG = "WINDOW_AVG"
    DOWNWARD_TREND = "DOWNWARD_TREND"
    CALLBACK_TIMEOUT = "CALLBACK_TIMEOUT"


class HaltRuleError(ValueError):
    """A rule that cannot be: ``field`` names it, the text says what is allowed."""

    def __init__(self, field: str, allowed: str) -> None:
        super().__init__(f"{field}: {allowed}")
        self.field = field
        self.allowed = allowed


@dataclass(frozen=True, slots=True)
class HaltRules:
    """The limits of one stream; the defaults are the page's.

    Attributes:
        hard_limit: a coherence below it halts, 0.0-1.0.
        window_tokens: scores that the sliding mean is taken over, 1 to 10,000.
        window_threshold: a mean of a full window below it halts, 0.0-1.0.
        trend_window_tokens: scores that the line is fitted over, 2 to 10,000.
        trend_threshold: a fitted line that drops by more over its window halts, 0.0-1.0.
        soft_limit: a coherence below it is a warning, 0.0-1.0.
        soft_halt_cap_tokens: tokens that may follow a soft halt at most, 0 to 1,000.

    Raises:
        HaltRuleError: a limit is outside of its range.
    """

    mode: HaltMode = HaltMode.HARD
    hard_limit: float = 0.5
    window_tokens: int = 10
    window_threshold: float = 0.55
    trend_window_tokens: int = 5
    trend_threshold: float = 0.15
    soft_limit: float = 0.6
    soft_halt_cap_tokens: int = 50

    def __post_init__(self) -> None:
        """Refuse what is outside of its range."""
        for name in ("hard_limit", "window_threshold", "trend_threshold", "soft_limit"):
            value = getattr(self, name)
            if not (math.isfinite(value) and 0.0 <= value <= 1.0):
                raise HaltRuleError(name, "a number from 0.0 to 1.0")
        for name, least, most in (
            ("window_tokens", 1, MOST_WINDOW_TOKENS),
            ("trend_window_tokens", 2, MOST_WINDOW_TOKENS),
            ("soft_halt_cap_tokens", 0, MOST_SOFT_TOKENS),
        ):
            if not least <= getattr(self, name) <= most:
                raise HaltRuleError(name, f"a whole number from {least} to {most:,}")
