"""Grounding rows made of contrasts: pairs of one supported and one unsupported row.

A sentence that stands in its passage gives pairs in both directions: the passage as it is with the sentence and with
its contrast, and the passage *changed in the same way* with the contrast (now supported) and with the sentence. A claim
that does not stand there word for word gives pairs by its contrast, and by giving a name it shares with the passage
another name in one of them or in both. Changes that keep the support are laid over either row alike.
"""

from dataclasses import dataclass
from random import Random
from typing import Final, Literal

from training.contrasts import BREAKING, Change, Scene, applied, chosen, kept, origin_spans
from training.contrasts.names import renamed
from training.rows import GroundingRow
from training.words import content_words, coverage, sentences, word_count

KEPT_SHARE: Final = 0.5
"""Share of rows with a change on top that keeps their label."""
RENAMED_SHARE: Final = 0.2
WITHOUT_SHARE: Final = 0.08
"""Share of sentences whose pair is the passage with and without the sentence."""
JOINED_SHARE: Final = 0.2
"""Share of pairs whose text has another sentence of the passage beside the one in question."""
MIN_PASSAGE_WORDS: Final = 25
MAX_LEFT_COVERAGE: Final = 0.6
Spans = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """A passage, a text that it supports, and the set they are of."""

    premise: str
    claim: str
    origin: str


def pairs_of_claim(pair: Pair, scene: Scene, choice: Random) -> list[GroundingRow]:
    """Return a supported and an unsupported row of a claim that its premise supports; nothing where none can be made."""
    if choice.random() < RENAMED_SHARE:
        found = renamed(pair.premise, pair.claim, scene, choice)
        if found is not None:
            return _renamed(pair, found, scene, choice)
    change = chosen(BREAKING, pair.claim, scene, choice)
    if change is None:
        return []
    claim, spans = applied(pair.claim, change)
    return [
        _row(pair, pair.premise, (pair.claim, ()), change.kind, scene, choice, supported=True),
        _row(pair, pair.premise, (claim, spans), change.kind, scene, choice, supported=False),
    ]


def pairs_of_sentence(pair: Pair, scene: Scene, choice: Random) -> list[GroundingRow]:
    """Return a supported and an unsupported row of a sentence that stands in its premise word for word.

    Raises:
        ValueError: the sentence does not stand in the premise.
    """
    if pair.claim not in pair.premise:
        raise ValueError(f"the sentence does not stand in its premise: {pair.claim!r}")
    draw = choice.random()
    if draw < WITHOUT_SHARE:
        rest = _without(pair)
        if rest is not None:
            return _given_or_not(pair, rest, scene, choice)
    elif draw < WITHOUT_SHARE + RENAMED_SHARE / 2:
        found = renamed(pair.premise, pair.claim, scene, choice)
        if found is not None:
            return _renamed(pair, found, scene, choice)
    change = chosen(BREAKING, pair.claim, scene, choice)
    return [] if change is None else _both_ways(pair, change, scene, choice)


def _both_ways(pair: Pair, change: Change, scene: Scene, choice: Random) -> list[GroundingRow]:
    """Cross the sentence and its contrast with the passage and the passage changed alike, and draw a pair."""
    contrast, spans = applied(pair.claim, change)
    changed = pair.premise.replace(pair.claim, contrast, 1)
    supported = [(pair.premise, pair.claim), (changed, contrast)]
    unsupported = [(pair.premise, contrast, spans)]
    if change.back is True:
        supported.append((changed, pair.claim))
    elif change.back is False:
        unsupported.append((changed, pair.claim, origin_spans(pair.claim, change)))
    other = _other_sentence(pair, choice)
    good_premise, good = choice.choice(supported)
    bad_premise, bad, where = choice.choice(unsupported)
    return [
        _row(pair, good_premise, _joined(good, (), other), change.kind, scene, choice, supported=True),
        _row(pair, bad_premise, _joined(bad, where, other), change.kind, scene, choice, supported=False),
    ]


def _renamed(pair: Pair, found: tuple[str, Change], scene: Scene, choice: Random) -> list[GroundingRow]:
    """The passage under another name supports the claim under that name, and no longer the claim as it was."""
    premise, change = found
    claim, spans = applied(pair.claim, change)
    bad: tuple[str, str, Spans] = choice.choice(
        [(premise, pair.claim, origin_spans(pair.claim, change)), (pair.premise, claim, spans)]
    )
    return [
        _row(pair, premise, (claim, ()), change.kind, scene, choice, supported=True),
        _row(pair, bad[0], bad[1:], change.kind, scene, choice, supported=False),
    ]


def _given_or_not(pair: Pair, rest: str, scene: Scene, choice: Random) -> list[GroundingRow]:
    kind: Literal["premises.without"] = "premises.without"
    whole: Spans = ((0, len(pair.claim)),)
    return [
        _row(pair, pair.premise, (pair.claim, ()), kind, scene, choice, supported=True),
        _row(pair, rest, (pair.claim, whole), kind, scene, choice, supported=False),
    ]


def _row(
    pair: Pair, premise: str, text: tuple[str, Spans], kind: str, scene: Scene, choice: Random, *, supported: bool
) -> GroundingRow:
    claim, spans = text
    if choice.random() < KEPT_SHARE:
        found = kept(claim, spans, Scene(premise, scene.names, scene.clauses), choice)
        if found is not None:
            claim, spans, _ = found
    return GroundingRow(premise, claim, supported, spans, f"contrast/{kind}/{pair.origin}", None)


def _joined(text: str, spans: Spans, other: tuple[str, bool] | None) -> tuple[str, Spans]:
    """Put another sentence before or after a text; the spans move along."""
    if other is None:
        return text, spans
    sentence, before = other
    if not before:
        return f"{text} {sentence}", spans
    shift = len(sentence) + 1
    return f"{sentence} {text}", tuple((start + shift, end + shift) for start, end in spans)


def _other_sentence(pair: Pair, choice: Random) -> tuple[str, bool] | None:
    """Draw another sentence of the passage, and whether it goes before; mostly none."""
    others = [text for text in sentences(pair.premise) if text not in pair.claim and 4 <= word_count(text) <= 25]  # noqa: PLR2004
    others = [text for text in others if text.endswith(".")]
    if not others or choice.random() >= JOINED_SHARE:
        return None
    return choice.choice(others), choice.random() < 0.5  # noqa: PLR2004


def _without(pair: Pair) -> str | None:
    """Return the passage without the sentence, or None where the rest is too short or says the same."""
    rest = " ".join(text for text in sentences(pair.premise) if text != pair.claim)
    if word_count(rest) < MIN_PASSAGE_WORDS or pair.claim in rest:
        return None
    return rest if coverage(content_words(pair.claim), content_words(rest)) <= MAX_LEFT_COVERAGE else None
