"""Which sentence pairs the entailment model reads, and what its answer means (ERCP 1.0 §7: NLI sentence pairs).

Sans-IO: ``plan`` names the pairs of a whole text, which go to the model in one batch, and ``contradictions`` reads the
rows that come back. Only sentences about one thing are read: the model calls two things that have nothing to do with
each other a contradiction (ADR 0080).
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from services.ercp.domain.faults import MAX_EXCERPT_CHARS, Suspicion
from services.ercp.domain.records import Evidence, Sentence
from services.ercp.domain.topics import Topic, aligned, same, share, turns
from services.ercp.domain.vocabulary import Detector, ErrorType

MIN_ONE_WAY: Final = 0.5
"""A contradiction holds both ways: neither way may be less likely than this."""
VALUES_FROM: Final = 0.5
"""From this mean of both ways on the model bears out a rule that sees other values."""
DENIAL_FROM: Final = 0.3
"""The same for one sentence that denies, forbids or turns round what the other says: of that the model sees less."""
CONFIRMED: Final = 0.78
"""How sure a contradiction is that rule and model see, each of which alone would be too weak."""
NEVER: Final = 2.0
"""No probability reaches it."""
_NEAREST: Final = 32
"""A sentence is compared with so many that speak of its subject, the nearest ones: pairs grow with the text."""


def plan(
    sentences: Sequence[Sentence],
    topics: Sequence[Topic],
    most: int,
    apart: Callable[[Sentence, Sentence], bool],
) -> list[tuple[int, int]]:
    """Return the pairs to read, as (earlier, later) numbers of sentences, those that share most words first kept.

    Args:
        sentences: of the text.
        topics: what each of them is about.
        most: pairs that are read at most.
        apart: says that two sentences give values to different things, which a rule knows and a model guesses.
    """
    told = [
        (len(topics[first].words & topics[second].words), first, second)
        for first, second in sorted(set(_candidates(sentences, topics)))
        if _is_comparable(topics[first], topics[second]) and not apart(sentences[first], sentences[second])
    ]
    kept = sorted(told, key=lambda each: (-each[0], each[1], each[2]))[:most]
    return sorted((first, second) for _, first, second in kept)


def _candidates(sentences: Sequence[Sentence], topics: Sequence[Topic]) -> Iterator[tuple[int, int]]:
    """Yield pairs of which one speaks of the other's subject, at most ``_NEAREST`` for each subject."""
    places = defaultdict[str, list[int]](list)
    for number, topic in enumerate(topics):
        if sentences[number].states:
            for word in topic.words:
                places[word].append(number)
    for number, topic in enumerate(topics):
        if not topic.subject or not sentences[number].states:
            continue
        rarest = min((places[word] for word in topic.subject), key=len)
        here = bisect_left(rarest, number)
        for other in rarest[max(0, here - _NEAREST // 2) : here + _NEAREST // 2 + 1]:
            if other != number:
                yield min(number, other), max(number, other)


def _is_comparable(first: Topic, second: Topic) -> bool:
    return aligned(first, second) and (bool(first.words & second.words - first.subject) or turns(first, second) > 0)


def both_ways(topics: Sequence[Topic], pairs: Sequence[tuple[int, int]]) -> list[tuple[str, str]]:
    """Return the batch: each pair forth and back, since a contradiction holds both ways; pronouns are spelt out."""
    texts = [each.resolved for each in topics]
    return [
        order for first, second in pairs for order in ((texts[first], texts[second]), (texts[second], texts[first]))
    ]


def contradictions(
    sentences: Sequence[Sentence],
    pairs: Sequence[tuple[int, int]],
    scores: Sequence[float],
    threshold: float,
    weigh: Callable[[int, int], float | None],
) -> list[Suspicion]:
    """Return the pairs that contradict each other (§3.3).

    Either the probability of contradiction, the mean of both ways, reaches the threshold; or a rule sees a difference
    and the model bears it out.

    Args:
        sentences: of the text.
        pairs: as planned.
        scores: P(contradiction) of each row of the batch.
        threshold: ``nli_threshold``.
        weigh: from which mean on the model bears out what a rule sees in two sentences; ``NEVER`` where the rule sees
            that they agree, ``None`` where it sees nothing.
    """
    found = []
    for number, (first, second) in enumerate(pairs):
        both = scores[2 * number : 2 * number + 2]
        score = round(sum(both) / 2, 6)
        least = weigh(first, second)
        if least == NEVER:
            continue
        earlier, later = sentences[first], sentences[second]
        evidence = Evidence(Detector.NLI.value, score, earlier.text[:MAX_EXCERPT_CHARS])
        span = (later.start, later.end)
        if score >= threshold and min(both) >= min(MIN_ONE_WAY, threshold):
            found.append(Suspicion(ErrorType.CONTRADICTION, Detector.NLI, score, (evidence,), span))
        elif least is not None and score >= least:
            found += [
                Suspicion(ErrorType.CONTRADICTION, each, CONFIRMED, (evidence,), span)
                for each in (Detector.RULE, Detector.NLI)
            ]
    return found


def least_for(first: Topic, second: Topic, values: bool | None) -> float | None:
    """Return from which mean on the model bears out what the rules see in two sentences; see ``contradictions``.

    ``values`` says whether their values of one kind differ.

    A sentence that denies contradicts another one only where both say the same of what they are about. Other values
    tell something only where the sentences share more than their subject.
    """
    turned = turns(first, second)
    if turned:
        return DENIAL_FROM if turned == 1 and same(first, second) else NEVER
    if values is False:
        return NEVER
    return VALUES_FROM if values and share(first, second) else None
