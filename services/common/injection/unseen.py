"""Characters that hide text or turn it around: a matter of which stand together, not of a pattern (ADR 0125).

A mark that nobody sees has its uses: it joins emoji, breaks long words, sets Arabic beside Latin. So what counts is a
mark between the letters of a Latin word, several of them, marks that are a message of their own, and characters that
turn the order of letters where no script is written from right to left.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

import regex

from services.common.injection.classes import WEIGHTS, PatternClass

CONTROLS: Final = "holds characters that hide or turn text"


@dataclass(frozen=True, slots=True)
class Unseen:
    """A stretch of such characters."""

    rule_id: str
    pattern_class: PatternClass
    weight: float
    start: int
    end: int


_ANY: Final = re.compile(
    "[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u115f-\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e01ef]"
)
_TURNED: Final = re.compile("[\u202d\u202e]+")
_EMBEDDED: Final = re.compile("[\u202a\u202b\u2066-\u2068]+")
_RIGHT_TO_LEFT: Final = regex.compile(r"[\p{Hebrew}\p{Arabic}\p{Syriac}\p{Thaana}\p{Nko}]")
_INSIDE_WORD: Final = re.compile("(?<=[A-Za-z])[\u00ad\u180e\u200b-\u200d\u2060-\u2064\ufeff]+(?=[A-Za-z])")
_SPACED: Final = re.compile("[\u200b\u2060]")
_SPACES: Final = re.compile("[\u200b\u2060]+")
_TAGS: Final = re.compile("[\U000e0000-\U000e007f]{3,}")
_FLAG: Final = "\U0001f3f4"
_SELECTED: Final = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{4,}")
_CONTROL: Final = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]+")
_FILLERS: Final = re.compile("[\u115f\u1160\u3164\uffa0]{2,}|[\u2061-\u2064\u206a-\u206f]{2,}")
MAX_PLACES: Final = 64
"""So many places of one kind are told of."""
_MIN_INSIDE: Final = 3
"""One mark inside a word is a hyphenation aid; several are a message, or hide one."""


def unseen(text: str) -> Iterator[Unseen]:
    """Yield the stretches of a text that hide or turn something, in no order; nothing for ordinary text."""
    if _ANY.search(text) is None:
        return
    yield from _turned(text)
    hidden = PatternClass.CONTROL_CHARACTER
    for rule_id, pattern in (("control-tags", _TAGS), ("control-selectors", _SELECTED), ("control-fillers", _FILLERS)):
        for found in _of(pattern, text):
            if text[found.start() - 1 : found.start()] != _FLAG:
                yield Unseen(rule_id, hidden, WEIGHTS[hidden], found.start(), found.end())
    for found in _of(_CONTROL, text):
        yield Unseen("control-code", hidden, WEIGHTS[hidden], found.start(), found.end())
    inside = list(islice(_INSIDE_WORD.finditer(text), MAX_PLACES))
    if len(inside) >= _MIN_INSIDE or len(_SPACED.findall(text)) >= _MIN_INSIDE:
        for found in inside or _of(_SPACES, text):
            yield Unseen("control-inside-word", hidden, WEIGHTS[hidden], found.start(), found.end())


def _of(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    return islice(pattern.finditer(text), MAX_PLACES)


def _turned(text: str) -> Iterator[Unseen]:
    turning = PatternClass.BIDIRECTIONAL_CONTROL
    for found in _of(_TURNED, text):
        yield Unseen("bidirectional-override", turning, WEIGHTS[turning], found.start(), found.end())
    if _EMBEDDED.search(text) and not _RIGHT_TO_LEFT.search(text):
        for found in _of(_EMBEDDED, text):
            yield Unseen("bidirectional-embedding", turning, WEIGHTS[turning], found.start(), found.end())
