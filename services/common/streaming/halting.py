"""Whether a stream may go on, token by token, at constant cost for each (Director-AI page, D5).

A score is the coherence of what stands so far when a token is in. Three rules are asked in this order: a score below
the hard limit; a full window with a mean below its threshold; a fitted line that drops too far. In soft mode the
sentence in which a rule was broken may end, by so many tokens at most. A halt is for good: nothing comes in after it.

Who judges whole sentences says with each token up to which one they were judged (``whole_to``): no other token is
delivered, and a hard halt is before the sentence in which the rule was broken. Without that each token stands for
itself.
"""

from dataclasses import dataclass
from typing import NamedTuple

from services.common.streaming.rules import HaltMode, HaltReason, HaltRules
from services.common.streaming.sliding import SlidingMean, SlidingTrend


class TokenVerdict(NamedTuple):
    """The state after a token.

    Attributes:
        index: of the token, from 0.
        coherence: its score; ``None`` where there was nothing to score.
        window_mean: of a full window.
        trend_drop: of a full one; negative when coherence rises.
        warning: the score is below the soft limit.
    """

    index: int  # type: ignore[assignment]  # a tuple's method of that name is not missed
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
        self._settled = max(rules.window_tokens, rules.trend_window_tokens)
        """After so many equal scores a further one changes nothing."""
        self._equal = 0
        self._last = TokenVerdict(-1)
        self.broken: HaltReason | None = None
        """The rule that was broken; ``None`` while none was."""
        self._broken_at = -1
        self._halt: Halt | None = None
        self._passed = -1
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
        return self.broken is not None and self._halt is None

    @property
    def last(self) -> TokenVerdict:
        """The verdict on the token that was scored last."""
        return self._last

    @property
    def released(self) -> int:
        """Index of the last token that may be delivered; -1 = none."""
        return self._passed if self._halt is None else self._halt.last_index

    def observe(
        self, coherence: float | None, *, ends_sentence: bool = False, whole_to: int | None = None
    ) -> TokenVerdict:
        """Take in the next token.

        Args:
            coherence: of the text with it, 0.0-1.0; ``None`` where nothing was scored: no rule is asked then.
            ends_sentence: with the token a sentence is whole.
            whole_to: index of the last token of what was judged so far; ``None`` = the token itself.

        Raises:
            StreamHaltedError: the stream was halted before.
        """
        if self._halt is not None:
            raise StreamHaltedError(f"the stream was halted at token {self._halt.broken_at}")
        index = self._tokens
        self._tokens += 1
        whole = index if whole_to is None else whole_to
        if coherence is None:
            verdict = TokenVerdict(index)
        elif coherence == self._last.coherence and self._equal >= self._settled:
            return self._unchanged(index, coherence, whole, ends_sentence=ends_sentence)
        else:
            verdict = self._scored_verdict(index, coherence)
            if self.broken is None:
                self._ask(verdict)
        self._move_on(index, whole, ends_sentence=ends_sentence)
        return verdict

    def time_out(self) -> Halt:
        """Halt because no score came in time: what was not judged is not delivered; one halt before stands."""
        if self._halt is None:
            self._halt = Halt(HaltReason.CALLBACK_TIMEOUT, self._passed, self._tokens)
        return self._halt

    def end(self, coherence: float | None = None) -> Summary:
        """Return what came of the stream: a soft halt whose sentence never ended stops at its last token.

        Args:
            coherence: of what the end made whole; it counts as one more score of the last token.
        """
        last = self._tokens - 1
        if coherence is not None and self._halt is None:
            verdict = self._scored_verdict(last, coherence)
            if self.broken is None:
                self._ask(verdict)
        if self._halt is None:
            if self.broken is not None:
                self._halt = Halt(self.broken, last, self._broken_at)
            else:
                self._passed = last
        mean = self._sum / self._scored if self._scored else None
        return Summary(self._halt, self._tokens, mean, self._least, self._warnings)

    def _unchanged(self, index: int, coherence: float, whole: int, *, ends_sentence: bool) -> TokenVerdict:
        """Take in one score more of which the windows are full: no rule is broken now that was not before."""
        _, _, mean, drop, warning = self._last
        self._scored += 1
        self._sum += coherence
        self._warnings += warning
        if self.broken is None:
            self._passed = whole
        else:
            self._move_on(index, whole, ends_sentence=ends_sentence)
        return TokenVerdict(index, coherence, mean, drop, warning)

    def _scored_verdict(self, index: int, coherence: float) -> TokenVerdict:
        warning = coherence < self._rules.soft_limit
        self._scored += 1
        self._sum += coherence
        self._least = coherence if self._least is None else min(self._least, coherence)
        self._warnings += warning
        self._equal = self._equal + 1 if coherence == self._last.coherence else 1
        self._last = TokenVerdict(index, coherence, self._window.add(coherence), self._trend.add(coherence), warning)
        return self._last

    def _ask(self, verdict: TokenVerdict) -> None:
        """Ask the rules; in hard mode the token that breaks one is the first that is not delivered."""
        reason = self._reason(verdict)
        if reason is not None:
            self.broken, self._broken_at = reason, verdict.index
            if self._rules.mode is HaltMode.HARD:
                self._halt = Halt(reason, self._passed, verdict.index)

    def _reason(self, verdict: TokenVerdict) -> HaltReason | None:
        rules = self._rules
        if verdict.coherence is not None and verdict.coherence < rules.hard_limit:
            return HaltReason.HARD_LIMIT
        if verdict.window_mean is not None and verdict.window_mean < rules.window_threshold:
            return HaltReason.WINDOW_AVG
        if verdict.trend_drop is not None and verdict.trend_drop > rules.trend_threshold:
            return HaltReason.DOWNWARD_TREND
        return None

    def _move_on(self, index: int, whole: int, *, ends_sentence: bool) -> None:
        """Release what was judged, or end softly."""
        if self.broken is None:
            self._passed = whole
        elif self._halt is None:
            if ends_sentence:
                self._halt = Halt(self.broken, max(self._passed, whole), self._broken_at)
            elif index - self._broken_at >= self._rules.soft_halt_cap_tokens:
                self._halt = Halt(self.broken, index, self._broken_at)
