"""Whether a stream may go on, token by token, at constant cost for each (Director-AI page, D5).

A score is the coherence of what stands so far when a token is in. Three rules are asked in this order: a score below
the hard limit; a full window with a mean below its threshold; a fitted line that drops too far. In soft mode the
sentence in which a rule was broken may end, by so many tokens at most. A halt is for good: nothing comes in after it.
"""

from dataclasses import dataclass

from services.common.streaming.rules import HaltMode, HaltReason, HaltRules
from services.common.streaming.sliding import SlidingMean, SlidingTrend


@dataclass(frozen=True, slots=True)
class TokenVerdict:
    """The state after a token.

    Attributes:
        index: of the token, from 0.
        coherence: its score; ``None`` where there was nothing to score.
        window_mean: of a full window.
        trend_drop: of a full one; negative when coherence rises.
        warning: the score is below the soft limit.
    """

    index: int
    coherence: float | None = None
    window_mean: float | None = None
    trend_drop: float | None = None
    warning: bool = False


@dataclass(frozen=True, slots=True)
class Halt:
    """The decision to stop.

    Attributes:
        last_index: of the last token that may be delivered; -1 = none.
        broken_at: index of the token at which the rule was broken.
    """

    reason: HaltReason
    last_index: int
    broken_at: int


@dataclass(frozen=True, slots=True)
class Summary:
    """A stream at its end; means over the tokens that were scored, ``None`` where none was."""

    halt: Halt | None
    tokens: int
    mean_coherence: float | None
    minimum_coherence: float | None
    warnings: int


class StreamHaltedError(RuntimeError):
    """A token after the halt, or one out of order: the caller's mistake."""


class HaltingKernel:
    """Takes the scores of a stream in and says when it must stop."""

    def __init__(self, rules: HaltRules) -> None:
        self._rules = rules
        self._window = SlidingMean(rules.window_tokens)
        self._trend = SlidingTrend(rules.trend_window_tokens)
        self._broken: tuple[HaltReason, int] | None = None
        self._halt: Halt | None = None
        self._tokens = 0
        self._scored = 0
        self._sum = 0.0
        self._least: float | None = None
        self._warnings = 0

    @property
    def halt(self) -> Halt | None:
        """The decision to stop; ``None`` while the stream may go on."""
        return self._halt

    @property
    def is_ending(self) -> bool:
        """Whether a rule was broken in soft mode and the sentence is let end."""
        return self._broken is not None and self._halt is None

    def observe(self, coherence: float | None, *, ends_sentence: bool = False) -> TokenVerdict:
        """Take in the next token.

        Args:
            coherence: of the text with it, 0.0-1.0; ``None`` where nothing was scored: no rule is asked then.
            ends_sentence: the token is the last one of its sentence.

        Raises:
            StreamHaltedError: the stream was halted before.
        """
        if self._halt is not None:
            raise StreamHaltedError(f"the stream was halted at token {self._halt.broken_at}")
        index = self._tokens
        self._tokens += 1
        verdict = TokenVerdict(index) if coherence is None else self._scored_verdict(index, coherence)
        if self._broken is None and coherence is not None:
            reason = self._reason(verdict)
            if reason is not None:
                self._broken = reason, index
                if self._rules.mode is HaltMode.HARD:
                    # The token that broke the rule is the first one that is not delivered.
                    self._halt = Halt(reason, index - 1, index)
        if self._broken is not None and self._halt is None:
            self._end_softly(index, ends_sentence=ends_sentence)
        return verdict

    def time_out(self) -> Halt:
        """Halt because no score came in time: what was not judged is not delivered; one halt before stands."""
        if self._halt is None:
            self._halt = Halt(HaltReason.CALLBACK_TIMEOUT, self._tokens - 1, self._tokens)
        return self._halt

    def end(self) -> Summary:
        """Return what came of the stream: a soft halt whose sentence never ended stops at its last token."""
        if self._broken is not None and self._halt is None:
            reason, at = self._broken
            self._halt = Halt(reason, self._tokens - 1, at)
        mean = self._sum / self._scored if self._scored else None
        return Summary(self._halt, self._tokens, mean, self._least, self._warnings)

    def _scored_verdict(self, index: int, coherence: float) -> TokenVerdict:
        warning = coherence < self._rules.soft_limit
        self._scored += 1
        self._sum += coherence
        self._least = coherence if self._least is None else min(self._least, coherence)
        self._warnings += warning
        return TokenVerdict(index, coherence, self._window.add(coherence), self._trend.add(coherence), warning)

    def _reason(self, verdict: TokenVerdict) -> HaltReason | None:
        rules = self._rules
        if verdict.coherence is not None and verdict.coherence < rules.hard_limit:
            return HaltReason.HARD_LIMIT
        if verdict.window_mean is not None and verdict.window_mean < rules.window_threshold:
            return HaltReason.WINDOW_AVG
        if verdict.trend_drop is not None and verdict.trend_drop > rules.trend_threshold:
            return HaltReason.DOWNWARD_TREND
        return None

    def _end_softly(self, index: int, *, ends_sentence: bool) -> None:
        assert self._broken is not None
        reason, at = self._broken
        if ends_sentence or index - at >= self._rules.soft_halt_cap_tokens:
            self._halt = Halt(reason, index, at)
