"""Stage 1: what in a text speaks to a model, by rules over the text as it can be read (Director-AI page; ADR 0125).

A text is read as it is, then with its disguises taken off one by one; what a code hides is read the same way, a
bounded number of layers deep and a bounded number of characters in all. A match keeps less of its weight where it is
mentioned, not meant. Pure and linear in the text.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from services.common.injection.classes import WEIGHTS, PatternClass
from services.common.injection.decoding import MAX_DECODED_CHARS, hidden_texts, unescaped
from services.common.injection.folding import folded
from services.common.injection.rule_set import Rule, rule_set
from services.common.injection.spelling import deciphered_views, respelt
from services.common.injection.stance import ALONE, MEANT, Surroundings, voice_share
from services.common.injection.unseen import CONTROLS, unseen
from services.common.injection.views import View
from services.common.injection.wrapping import unwrapped

MAX_LAYERS: Final = 3
MAX_MATCHES: Final = 256
"""So many places are told of; the score is that of all that were looked at."""
_MAX_PLACES: Final = 64
"""Places of one rule that are looked at in one reading."""
_AFTER_CHARS: Final = 80
_NEAR_CHARS: Final = 240
"""How far to either side what speaks of a model still stands beside a match."""
_LAST_CHARS: Final = 3
"""Of the match itself that are read with what follows: a colon or ``to`` opens an order."""
_ENCODED: Final = frozenset({"base64", "hexadecimal", "binary", "decimal", "morse"})
_MIN_HIDDEN_WEIGHT: Final = 0.5
HIDES: Final = "hides orders in a code"
_SURROGATES: Final = dict.fromkeys(range(55296, 57344), "?")


@dataclass(frozen=True, slots=True)
class Match:
    """One place where a rule matched.

    Attributes:
        rule_id: the rule.
        pattern_class: its class.
        weight: what was applied: the rule's, less where the words are mentioned.
        start: where in the text.
        end: one past its last character.
        tells: what it says of the text, for people.
        layers: which disguises were taken off before it matched.
    """

    rule_id: str
    pattern_class: PatternClass
    weight: float
    start: int
    end: int
    tells: str = field(compare=False)
    layers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """What stage 1 found: the largest weight, and the places in the order of the text."""

    score: float
    matches: tuple[Match, ...]

    @property
    def is_disguised(self) -> bool:
        """Whether a match that counts stands in what was decoded or restored, which a classifier cannot read."""
        return any(match.layers and match.weight >= _COUNTS for match in self.matches)


_COUNTS: Final = 0.5
NOTHING: Final = Found(0.0, ())


def find_injections(text: str) -> Found:
    """Return what speaks to a model in a text, of any length and any characters."""
    text = text if text.isascii() else text.translate(_SURROGATES) if _has_surrogates(text) else text
    best: dict[tuple[str, int, int], Match] = {}
    for match in _matches(text):
        key = (match.rule_id, match.start, match.end)
        if key not in best or best[key].weight < match.weight:
            best[key] = match
    if not best:
        return NOTHING
    score = max(match.weight for match in best.values())
    kept = sorted(best.values(), key=lambda match: -match.weight)[:MAX_MATCHES]
    return Found(score, tuple(sorted(kept, key=lambda match: (match.start, match.end, match.rule_id))))


def _has_surrogates(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _matches(text: str) -> Iterator[Match]:
    around = Surroundings(text)
    for found in unseen(text):
        weight = found.weight * around.share(found.start, found.end)
        yield Match(found.rule_id, found.pattern_class, weight, found.start, found.end, CONTROLS)
    for view in readings(text):
        yield from _matches_of(view, around)


def _matches_of(view: View, around: Surroundings) -> Iterator[Match]:
    for rule in rule_set().matching(view.text):
        for start, end in _places(rule, view.text):
            share = voice_share(view.text, start, rule.voice)
            at = view.span(start, end)
            share = min(share, around.share(*at) if share == MEANT else share)
            share = min(share, ALONE) if _is_alone(rule, view.text, start, end) else share
            weight = rule.weight * share
            yield Match(rule.rule_id, rule.pattern_class, weight, *at, rule.tells, view.layers)
            hidden = next((layer for layer in view.layers if layer in _ENCODED), None)
            if hidden and rule.weight >= _MIN_HIDDEN_WEIGHT and share == MEANT:
                weight = WEIGHTS[PatternClass.BASE64] * around.share(*at)
                yield Match(
                    f"encoded-{hidden}", PatternClass.BASE64, weight, *at, "hides orders in a code", view.layers
                )


def _is_alone(rule: Rule, text: str, start: int, end: int) -> bool:
    """Return whether a rule asks for something beside its words, and none of it is near."""
    if rule.beside is None:
        return False
    if rule.alone_after is not None and rule.alone_after.search(text[end : end + _AFTER_CHARS]) is None:
        return False
    before, after = text[max(0, start - _NEAR_CHARS) : start], text[max(start, end - _LAST_CHARS) : end + _NEAR_CHARS]
    return rule.beside.search(before) is None and rule.beside.search(after) is None


def _places(rule: Rule, text: str) -> Iterator[tuple[int, int]]:
    for number, found in enumerate(rule.pattern.finditer(text)):
        if number >= _MAX_PLACES:
            return
        start, end = found.span()
        if rule.unless_before is not None and rule.unless_before.search(text[max(0, start - 60) : start]):
            continue
        if rule.unless_after is not None and rule.unless_after.search(text[end : end + _AFTER_CHARS]):
            continue
        yield start, end


def readings(text: str) -> Iterator[View]:
    """Yield a text as it can be read: as it is, without its disguises, and what it hides, layer by layer."""
    waiting = deque([(View(text), 0)])
    budget = MAX_DECODED_CHARS
    seen: set[str] = set()
    while waiting:
        view, depth = waiting.popleft()
        yield from _unseen_before(_spellings(view), seen)
        if depth >= MAX_LAYERS:
            continue
        plain = unescaped(view)
        for deeper in ([plain] if plain is not view else []) + list(hidden_texts(view, budget)):
            budget -= len(deeper.text) if deeper.inside is not None else 0
            if budget > 0:
                waiting.append((deeper, depth + 1))


def _unseen_before(views: Iterable[View], seen: set[str]) -> Iterator[View]:
    for view in views:
        if view.text not in seen:
            seen.add(view.text)
            yield view


def _spellings(view: View) -> Iterator[View]:
    lower = folded(view)
    yield lower
    flowing = unwrapped(lower)
    if flowing is not lower:
        yield flowing
    meant = respelt(lower)
    if meant is not lower:
        yield meant
    yield from deciphered_views(lower)
