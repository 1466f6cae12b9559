"""Grounding rows made of contrasts: pairs of one supported and one unsupported row.

A sentence that stands in its passage gives pairs in both directions: the passage as it is with the sentence and with
its contrast, and the passage *changed in the same way* with the contrast (now supported) and with the sentence. A claim
that does not stand there word for word gives pairs by its contrast, and by giving a name it shares with the passage
another name in one of them or in both. Changes that keep the support are laid over either row alike.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

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
JOINED_WORDS: Final = (4, 25)
MIN_PASSAGE_WORDS: Final = 25
MAX_LEFT_COVERAGE: Final = 0.6
Spans = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class _Draft:
    """A row before a change that keeps its label is laid over it."""

    premise: str
    claim: str
    spans: Spans
    supported: bool


@dataclass(frozen=True, slots=True)
class Pair:
    """A passage, a text that it supports, and the set they are of."""

    premise: str
    claim: str
    origin: str


def pairs_of_claim(pair: Pair, scene: Scene, choice: Random) -> list[GroundingRow]:
    """Return a supported and an unsupported row of a claim that its premise supports, or nothing."""
    if choice.random() < RENAMED_SHARE:
        found = renamed(pair.premise, pair.claim, scene, choice)
        if found is not None:
            return _rows(_renamed(pair, found, choice), found[1].kind, pair, scene, choice)
    change = chosen(BREAKING, pair.claim, scene, choice)
    if change is None:
        return []
    claim, spans = applied(pair.claim, change)
    drafts = [_Draft(pair.premise, pair.claim, (), supported=True), _Draft(pair.premise, claim, spans, supported=False)]
    return _rows(drafts, change.kind, pair, scene, choice)


def pairs_of_sentence(pair: Pair, scene: Scene, choice: Random) -> list[GroundingRow]:
    """Return a supported and an unsupported row of a sentence that stands in its premise word for word.

    Raises:
        ValueError: the sentence does not stand in the premise.
    """
    if pair.claim not in pair.premise:
        raise ValueError(f"the sentence does not stand in its premise: {pair.claim!r}")
    draw = choice.random()
    if draw < WITHOUT_SHARE:
        rest = without(pair)
        if rest is not None:
            return _rows(_given_or_not(pair, rest), "premises.without", pair, scene, choice)
    elif draw < WITHOUT_SHARE + RENAMED_SHARE / 2:
        found = renamed(pair.premise, pair.claim, scene, choice)
        if found is not None:
            return _rows(_renamed(pair, found, choice), found[1].kind, pair, scene, choice)
    change = chosen(BREAKING, pair.claim, scene, choice)
    if change is None:
        return []
    return _rows(_both_ways(pair, change, choice), change.kind, pair, scene, choice)


def without(pair: Pair) -> str | None:
    """Return the passage without the sentence, or None where the rest is too short or says much of the same."""
    rest = " ".join(text for text in sentences(pair.premise) if text != pair.claim)
    if word_count(rest) < MIN_PASSAGE_WORDS or pair.claim in rest:
        return None
    return rest if coverage(content_words(pair.claim), content_words(rest)) <= MAX_LEFT_COVERAGE else None


def crossed(pair: Pair, change: Change) -> tuple[list[tuple[str, str]], list[tuple[str, str, Spans]]]:
    """Cross a sentence and its contrast with the passage and the passage changed alike.

    Returns:
        The supported ones as (premise, claim) and the unsupported ones as (premise, claim, spans).
    """
    contrast, spans = applied(pair.claim, change)
    changed = pair.premise.replace(pair.claim, contrast, 1)
    supported = [(pair.premise, pair.claim), (changed, contrast)]
    unsupported = [(pair.premise, contrast, spans)]
    if change.back is True:
        supported.append((changed, pair.claim))
    elif change.back is False:
        unsupported.append((changed, pair.claim, origin_spans(pair.claim, change)))
    return supported, unsupported


def _both_ways(pair: Pair, change: Change, choice: Random) -> list[_Draft]:
    supported, unsupported = crossed(pair, change)
    other = _other_sentence(pair, choice)
    good_premise, good = choice.choice(supported)
    bad_premise, bad, where = choice.choice(unsupported)
    return [
        _Draft(good_premise, *_joined(good, (), other), supported=True),
        _Draft(bad_premise, *_joined(bad, where, other), supported=False),
    ]


def _renamed(pair: Pair, found: tuple[str, Change], choice: Random) -> list[_Draft]:
    """The passage under another name supports the claim under that name, and no longer the claim as it was."""
    premise, change = found
    claim, spans = applied(pair.claim, change)
    unsupported = (
        _Draft(premise, pair.claim, origin_spans(pair.claim, change), supported=False),
        _Draft(pair.premise, claim, spans, supported=False),
    )
    return [_Draft(premise, claim, (), supported=True), choice.choice(unsupported)]


def _given_or_not(pair: Pair, rest: str) -> list[_Draft]:
    whole = ((0, len(pair.claim)),)
    return [_Draft(pair.premise, pair.claim, (), supported=True), _Draft(rest, pair.claim, whole, supported=False)]


def _rows(drafts: Sequence[_Draft], kind: str, pair: Pair, scene: Scene, choice: Random) -> list[GroundingRow]:
    origin = f"contrast/{kind}/{pair.origin}"
    rows = []
    for draft in drafts:
        claim, spans = draft.claim, draft.spans
        if choice.random() < KEPT_SHARE:
            found = kept(claim, spans, Scene(draft.premise, scene.names, scene.clauses), choice)
            if found is not None:
                claim, spans, _ = found
        rows.append(GroundingRow(draft.premise, claim, draft.supported, spans, origin, None))
    return rows


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
    if choice.random() >= JOINED_SHARE:
        return None
    others = [text for text in sentences(pair.premise) if text not in pair.claim and text.endswith(".")]
    others = [text for text in others if JOINED_WORDS[0] <= word_count(text) <= JOINED_WORDS[1]]
    return (choice.choice(others), choice.random() < 0.5) if others else None  # noqa: PLR2004 - before or after
