"""Tokens of a stream as they come, and the sentences that they make whole (Director-AI page, D5; ADR 0123).

A token is delivered whole or not at all, so it belongs to the last sentence that it holds a part of. A line that ends
with a colon says nothing alone: it is judged with the sentence behind it.
"""

from collections import deque
from dataclasses import dataclass
from typing import Final, NamedTuple

from groundtrail.reading.growing import FinishedSentence, GrowingText

_MOST_HEADS: Final = 5
"""Lines with a colon that are judged with the sentence behind them, at most."""


@dataclass(frozen=True, slots=True)
class Unit:
    """What is judged: a sentence, with the lines that lead to it.

    Attributes:
        start: in characters of the stream.
        text: of it.
        context: what stands before it.
        last_index: of the last token that holds nothing behind it; -1 = there is none.
    """

    start: int
    text: str
    context: str
    last_index: int


class Taken(NamedTuple):
    """A token that was taken in.

    Attributes:
        index: of it, from 0; of the last one where the stream ended.
        units: what is to be judged now, in order.
        whole_to: index of the last token of what was judged before or is now; -1 = none.
    """

    index: int  # type: ignore[assignment]  # a tuple's method of that name is not missed
    units: tuple[Unit, ...]
    whole_to: int


class TokenIntake:
    """Reads the tokens of one stream.

    Args:
        score_every_tokens: what is whole is handed out with every so many tokens.
    """

    def __init__(self, score_every_tokens: int = 1) -> None:
        self._every = score_every_tokens
        self._text = GrowingText()
        self._index = -1
        self._ends: deque[int] = deque()
        """Where each token ends that is not whole, in characters."""
        self._whole = -1
        self._told = -1
        self._heads: list[FinishedSentence] = []
        self._units: list[Unit] = []

    @property
    def tokens(self) -> int:
        """Tokens that came in."""
        return self._index + 1

    def take(self, text: str) -> Taken:
        """Take in the next token."""
        self._index = index = self._index + 1
        found = self._text.add(text)
        self._ends.append(self._text.received)
        if found:
            self._read(found)
        if not self._units or (index + 1) % self._every:
            return Taken(index, (), self._told)
        return self._handed_out()

    def end(self) -> Taken:
        """Take in that no token follows."""
        self._read(self._text.end())
        if self._heads:
            self._judge(self._heads.pop())
        self._whole = self._index
        self._ends.clear()
        return self._handed_out()

    def _handed_out(self) -> Taken:
        units = tuple(self._units)
        self._units.clear()
        self._told = self._whole
        return Taken(self._index, units, self._told)

    def _read(self, found: tuple[FinishedSentence, ...]) -> None:
        for sentence in found:
            if sentence.text.rstrip("*_ ").endswith(":") and len(self._heads) < _MOST_HEADS:
                self._heads.append(sentence)
            else:
                self._judge(sentence)

    def _judge(self, sentence: FinishedSentence) -> None:
        while self._ends and self._ends[0] <= sentence.clear_to:
            self._ends.popleft()
            self._whole += 1
        start, text, context = sentence.start, sentence.text, sentence.context
        # The lines that lead to it stand at the end of what stands before it.
        lead = start - self._heads[0].start if self._heads else 0
        if 0 < lead <= len(context):
            start, text, context = start - lead, context[-lead:] + text, context[:-lead]
        self._heads.clear()
        self._units.append(Unit(start, text, context, self._whole))
