"""From probabilities per token to the parts of a claim that nothing supports.

Tokens are joined to whole words, since half of a word tells a reader nothing, and flagged words that stand beside one
another to spans.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from services.common.grounding.words import words


@dataclass(frozen=True, slots=True)
class TokenDoubt:
    """A token of the claim: ``claim[start:end]``, and the probability that nothing read supports it."""

    start: int
    end: int
    unsupported: float


@dataclass(frozen=True, slots=True)
class WordDoubt:
    """A word of the claim, by its tokens.

    Attributes:
        start: where it begins, in Unicode code points.
        end: where it ends, exclusive.
        unsupported: the highest probability of its tokens, in [0, 1].
        total: sum of the probabilities of its tokens.
        tokens: how many it has, at least 1.
    """

    start: int
    end: int
    unsupported: float
    total: float
    tokens: int


@dataclass(frozen=True, slots=True)
class DoubtfulSpan:
    """A part of the claim; ``score`` is the mean over its tokens of the probability of being unsupported."""

    start: int
    end: int
    score: float


def word_doubts(claim: str, tokens: Sequence[TokenDoubt]) -> list[WordDoubt]:
    """Join tokens to the claim's words; a word without a token, and a token outside words, is left out.

    Args:
        claim: the whole claim.
        tokens: ordered by start; offsets into the claim.
    """
    found: list[WordDoubt] = []
    position = 0
    for word in words(claim):
        while position < len(tokens) and tokens[position].end <= word.start:
            position += 1
        own = []
        following = position
        while following < len(tokens) and tokens[following].start < word.end:
            own.append(tokens[following].unsupported)
            following += 1
        if own:
            found.append(WordDoubt(word.start, word.end, max(own), sum(own), len(own)))
    return found


def doubtful_spans(doubts: Sequence[WordDoubt], threshold: float) -> list[DoubtfulSpan]:
    """Return the spans of words whose ``unsupported`` is at or above the threshold, neighbours joined.

    Args:
        doubts: the claim's words, in order.
        threshold: in (0, 1].
    """
    spans: list[DoubtfulSpan] = []
    run: list[WordDoubt] = []
    for doubt in [*doubts, None]:
        if doubt is not None and doubt.unsupported >= threshold:
            run.append(doubt)
        elif run:
            score = sum(word.total for word in run) / sum(word.tokens for word in run)
            spans.append(DoubtfulSpan(run[0].start, run[-1].end, score))
            run = []
    return spans
