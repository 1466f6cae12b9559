"""One stream under oversight: tokens in, a verdict for each, and one halt at most (Director-AI page, D5; ADR 0123).

Whole sentences are judged, each with what stands before it. A token inside an unfinished sentence carries the state of
the last whole one: so a faithful answer is not halted on its first word, and a false one is halted in the sentence that
is false. What may be delivered is what was judged: the end of the last whole sentence that broke no rule. A halt never
takes that back, and nothing behind it is ever released.

Pure: who uses it has the units judged that ``take`` hands out and gives the scores to ``conclude``, in the order of the
tokens. Tokens may be taken ahead of their scores; what is concluded depends on tokens and scores alone.
"""

from collections.abc import Sequence
from enum import StrEnum, unique
from typing import NamedTuple

from services.common.streaming.halting import Halt, HaltingKernel, Summary, TokenVerdict
from services.common.streaming.intake import Taken, TokenIntake
from services.common.streaming.rules import HaltReason, HaltRules


@unique
class TokenState(StrEnum):
    """Why the verdict on a token is what it is.

    UNSCORED: no sentence that asserts anything is whole yet. CARRIED: the state of the last whole sentence, for this
    one is unfinished. SCORED: with this token a sentence was whole, and was scored. UNASSERTING: one was whole that
    asserts nothing. BETWEEN: no rule is asked with this token, for scores count every so many tokens. ENDING: a rule
    was broken before, and the sentence is let end. The rest: this token broke the rule.
    """

    UNSCORED = "UNSCORED"
    CARRIED = "CARRIED"
    SCORED = "SCORED"
    UNASSERTING = "UNASSERTING"
    BETWEEN = "BETWEEN"
    ENDING = "ENDING"
    HARD_LIMIT = "HARD_LIMIT"
    WINDOW_AVG = "WINDOW_AVG"
    DOWNWARD_TREND = "DOWNWARD_TREND"


_BROKEN = {
    HaltReason.HARD_LIMIT: TokenState.HARD_LIMIT,
    HaltReason.WINDOW_AVG: TokenState.WINDOW_AVG,
    HaltReason.DOWNWARD_TREND: TokenState.DOWNWARD_TREND,
}


_UNSCORED, _CARRIED = TokenState.UNSCORED, TokenState.CARRIED


class Step(NamedTuple):
    """What came of a token.

    Attributes:
        verdict: on it.
        state: why.
        released: index of the last token that may be delivered; -1 = none.
        halt: the decision to stop, where it fell with this token.
    """

    verdict: TokenVerdict
    state: TokenState
    released: int
    halt: Halt | None = None


class Oversight:
    """Oversees one stream.

    Args:
        rules: what halts it.
        score_every_tokens: rules are asked with every so many tokens.
    """

    def __init__(self, rules: HaltRules, score_every_tokens: int = 1) -> None:
        self._kernel = HaltingKernel(rules)
        self._intake = TokenIntake(score_every_tokens)
        self._every = score_every_tokens
        self._carried: float | None = None

    @property
    def tokens(self) -> int:
        """Tokens that were taken in."""
        return self._intake.tokens

    @property
    def halt(self) -> Halt | None:
        """The decision to stop; ``None`` while the stream may go on."""
        return self._kernel.halt

    @property
    def released(self) -> int:
        """Index of the last token that may be delivered; -1 = none."""
        return self._kernel.released

    def take(self, text: str) -> Taken:
        """Take in the next token."""
        return self._intake.take(text)

    def end(self) -> Taken:
        """Take in that no token follows; ``finish`` concludes it."""
        return self._intake.end()

    def conclude(self, taken: Taken, coherences: Sequence[float | None] = ()) -> Step:
        """Give the scores of a token's units; tokens in order, each once.

        Args:
            taken: the token.
            coherences: of its units, 0.0-1.0; ``None`` for one that asserts nothing.

        Raises:
            StreamHaltedError: the stream was halted before.
        """
        kernel = self._kernel
        was_broken = kernel.broken
        if not taken.units and self._every == 1 and was_broken is None:
            # Nearly every token: one inside a sentence.
            verdict = kernel.observe(self._carried, whole_to=taken.whole_to)
            if (broken := kernel.broken) is None:
                return Step(verdict, _UNSCORED if self._carried is None else _CARRIED, taken.whole_to)
            return Step(verdict, _BROKEN[broken], kernel.released, kernel.halt)
        state = self._heard(coherences) if taken.units else TokenState.CARRIED
        carried = self._carried
        if carried is None:
            state = TokenState.UNASSERTING if taken.units else TokenState.UNSCORED
        elif self._every > 1 and (taken.index + 1) % self._every:
            carried, state = None, TokenState.BETWEEN
        verdict = kernel.observe(carried, ends_sentence=bool(taken.units), whole_to=taken.whole_to)
        if (broken := kernel.broken) is not None:
            state = TokenState.ENDING if was_broken is not None else _BROKEN[broken]
        return Step(verdict, state, kernel.released, kernel.halt)

    def finish(self, taken: Taken, coherences: Sequence[float | None] = ()) -> tuple[Step | None, Summary]:
        """Give the scores of what the end made whole.

        Returns:
            the last token's verdict with that score, where there is one, and the summary.
        """
        kernel = self._kernel
        if kernel.halt is not None:
            return None, kernel.end()
        was_broken = kernel.broken
        asserts = bool(taken.units) and self._heard(coherences) is TokenState.SCORED
        summary = kernel.end(self._carried if asserts else None)
        if not asserts or taken.index < 0:
            return None, summary
        state = TokenState.SCORED
        if kernel.broken is not None:
            state = TokenState.ENDING if was_broken is not None else _BROKEN[kernel.broken]
        return Step(kernel.last, state, kernel.released, kernel.halt), summary

    def summary(self) -> Summary:
        """Return what came of a stream that was halted."""
        return self._kernel.end()

    def time_out(self) -> Halt:
        """Halt because no score came in time."""
        return self._kernel.time_out()

    def _heard(self, coherences: Sequence[float | None]) -> TokenState:
        """Keep the least score of a token's units; return what the token is for it."""
        scores = [score for score in coherences if score is not None]
        if not scores:
            return TokenState.UNASSERTING
        self._carried = min(scores)
        return TokenState.SCORED
