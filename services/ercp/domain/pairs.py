"""Which sentence pairs the entailment model reads, and what its answer means (ERCP 1.0 §7: NLI sentence pairs).

Sans-IO: ``plan`` names the pairs of a whole text, which go to the model in one batch, and ``contradictions`` reads the
rows that come back.
"""

import re
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Final

from services.ercp.domain.faults import MAX_EXCERPT_CHARS, Suspicion
from services.ercp.domain.records import Evidence, Sentence
from services.ercp.domain.vocabulary import Detector, ErrorType

MIN_SHARED: Final = 2
"""Sentences with fewer content words in common speak of different things: they are taken as neutral (decision 11)."""
SHORT: Final = 4
"""Of a sentence with so few content words one in common is enough."""
MIN_ONE_WAY: Final = 0.5
"""A contradiction holds both ways: neither way may be less likely than this."""
_WORD: Final = re.compile(r"[^\W_]{3,}")
_STOP: Final = frozenset(
    """the and that this with for are was were from its has have had not but can will would which when than then also
    into only more most such these those they their there what who how why all any each other some out may must over
    under about between because since therefore thus hence""".split()  # noqa: SIM905 - one word a line would be a page
)


def plan(
    sentences: Sequence[Sentence], most: int, apart: Callable[[Sentence, Sentence], bool]
) -> list[tuple[int, int]]:
    """Return the pairs to read, as (earlier, later) numbers of sentences, those that share most words first kept.

    Args:
        sentences: of the text.
        most: pairs that are read at most.
        apart: says that two sentences give values to different things, which a rule knows and a model guesses.
    """
    words = [_content(each.text) for each in sentences]
    shared = [
        (len(words[first] & words[second]), first, second)
        for first, second in combinations((n for n, each in enumerate(sentences) if each.states), 2)
        if len(words[first] & words[second]) >= _needed(words[first], words[second])
    ]
    told = [each for each in shared if not apart(sentences[each[1]], sentences[each[2]])]
    kept = sorted(told, key=lambda each: (-each[0], each[1], each[2]))[:most]
    return sorted((first, second) for _, first, second in kept)


def both_ways(sentences: Sequence[Sentence], pairs: Sequence[tuple[int, int]]) -> list[tuple[str, str]]:
    """Return the batch: each pair forth and back, since a contradiction holds both ways."""
    texts = [each.text for each in sentences]
    return [
        order for first, second in pairs for order in ((texts[first], texts[second]), (texts[second], texts[first]))
    ]


def contradictions(
    sentences: Sequence[Sentence], pairs: Sequence[tuple[int, int]], scores: Sequence[float], threshold: float
) -> list[Suspicion]:
    """Return the pairs whose probability of contradiction, the mean of both ways, reaches the threshold (§3.3).

    Args:
        sentences: of the text.
        pairs: as planned.
        scores: P(contradiction) of each row of the batch.
        threshold: ``nli_threshold``.
    """
    found = []
    for number, (first, second) in enumerate(pairs):
        both = scores[2 * number : 2 * number + 2]
        score = round(sum(both) / 2, 6)
        if score >= threshold and min(both) >= min(MIN_ONE_WAY, threshold):
            earlier, later = sentences[first], sentences[second]
            evidence = Evidence(Detector.NLI.value, score, earlier.text[:MAX_EXCERPT_CHARS])
            span = (later.start, later.end)
            found.append(Suspicion(ErrorType.CONTRADICTION, Detector.NLI, score, (evidence,), span))
    return found


def _needed(first: frozenset[str], second: frozenset[str]) -> int:
    return 1 if min(len(first), len(second)) <= SHORT else MIN_SHARED


def _content(text: str) -> frozenset[str]:
    return frozenset(word for word in _WORD.findall(text.lower()) if word not in _STOP)
