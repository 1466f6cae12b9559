"""The words by which places of values are told apart: stems, identifiers and the other values, in comparable form.

"Paid", "payment" and "pays" are one term, and so are "engineer" and "engineering"; "KS-45" is two, of which "45" tells
it from "KS-30". Another value counts by what it is worth. Linear in the text.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

from services.common.keywords import Stemming, keywords
from services.common.ports.recognition import EntityKind
from services.common.reading.lexicon import NEGATORS, STOPWORDS
from services.common.reading.text_types import Value

_LENGTH: Final = 6
"""Letters of a stem that count: what follows is mostly how the word is derived."""
_FORMS: Final = {
    "begin": "began begun", "break": "broke broken", "bring": "brought", "build": "built", "buy": "bought",
    "catch": "caught", "choose": "chose chosen choice", "come": "came", "cost": "costs", "die": "death dying",
    "draw": "drew drawn", "drive": "drove driven", "eat": "ate eaten", "fall": "fell fallen", "feed": "fed",
    "find": "found", "fly": "flew flown flight", "get": "got gotten", "give": "gave given", "go": "went gone",
    "grow": "grew grown growth", "hold": "held", "keep": "kept", "know": "knew known", "lay": "laid",
    "lead": "led", "leave": "left", "lend": "lent", "lose": "lost loss losses", "make": "made", "meet": "met",
    "pay": "paid payment payments payable", "rise": "rose risen", "run": "ran", "say": "said", "see": "saw seen",
    "sell": "sold sale sales", "send": "sent", "shrink": "shrank shrunk", "sit": "sat", "sleep": "slept",
    "speak": "spoke spoken", "spend": "spent", "stand": "stood", "steal": "stole stolen theft", "take": "took taken",
    "teach": "taught", "tell": "told", "think": "thought", "throw": "threw thrown", "wear": "wore worn",
    "weigh": "weight weights heavy", "win": "won", "write": "wrote written", "long": "length", "wide": "width",
    "high": "height", "deep": "depth", "person": "people persons", "child": "children", "man": "men",
    "woman": "women", "foot": "feet", "year": "annual annually yearly", "month": "monthly", "week": "weekly",
    "day": "daily", "quarter": "quarterly",
}  # fmt: skip
_BASE: Final = {form: base for base, forms in _FORMS.items() for form in forms.split()}
"""Forms that no rule of endings brings together."""
_UNTELLING: Final = STOPWORDS | NEGATORS | frozenset({"per", "s", "t", "e", "g", "since", "till", "within"})


def terms(text: str) -> frozenset[str]:
    """Return the terms of a stretch of text."""
    return frozenset(_term(word) for word in keywords(text, Stemming.NONE) if word not in _UNTELLING)


@lru_cache(maxsize=16_384)
def _term(word: str) -> str:
    base = _BASE.get(word, word)
    if not base.isalpha():
        return base
    stemmed = keywords(base, Stemming.ENGLISH)
    return (stemmed[0] if stemmed else base).removesuffix("ment")[:_LENGTH]


def value_terms(values: Iterable[Value]) -> frozenset[str]:
    """Return the terms of values, by which "10 minutes" and "ten minutes" are one; the name of a month is a word."""
    found: set[str] = set()
    for value in values:
        found.add(f"={value.normal}")
        if value.kind is EntityKind.DATE:
            found |= {term for term in terms(value.text) if term.isalpha()}
    return frozenset(found)


def terms_without(text: str, start: int, end: int, values: Sequence[Value]) -> frozenset[str]:
    """Return the terms of ``text[start:end]`` with the text of ``values``, which lie in it in order, left out."""
    pieces: list[str] = []
    at = start
    for value in values:
        pieces.append(text[at : value.start])
        at = value.end
    return terms(" ".join([*pieces, text[at:end]]))
