"""Names in comparable form, and the question whether a name is known (SPEC-005 §5.2, ADR 0016).

A name is known when its words stand together in a fact, in the query or in the gazetteer; when it is the acronym of
words that do, or they are its acronym; or, for everything but persons, when one fact holds all of its words.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from services.common.ports.recognition import Entity, EntityKind
from services.common.reading.lexicon import STOPWORDS
from services.common.reading.words import word_texts

_LEGAL_FORMS: Final = frozenset(
    [
        "ltd",
        "limited",
        "inc",
        "incorporated",
        "gmbh",
        "corp",
        "corporation",
        "plc",
        "pty",
        "llc",
        "llp",
        "ag",
        "sa",
        "bv",
        "nv",
        "se",
        "co",
        "oy",
        "ab",
    ]
)
_MIN_ACRONYM: Final = 2
_CAPITALISED_RUN: Final = re.compile(
    r"[A-Z][\w'-]{0,40}(?:\s(?:of|for|and|the|on|in|de|du)\s[A-Z][\w'-]{0,40}|\s[A-Z][\w'-]{0,40}){1,8}"
)


@dataclass(frozen=True, slots=True)
class Gazetteer:
    """Names that are common knowledge: countries, months, currencies, units, standards bodies; nothing else."""

    version: str
    names: frozenset[str]

    @classmethod
    def of(cls, version: str, names: Iterable[str]) -> "Gazetteer":
        """Build from names as people write them."""
        return cls(version, frozenset(name_key(name) for name in names))


def name_key(text: str) -> str:
    """Return the name's words in lower case, without article, possessive and legal form."""
    parts = [word.removesuffix("'s").removesuffix("'") for word in word_texts(text)]
    while parts and parts[0] in {"the", "a", "an"}:
        parts = parts[1:]
    while len(parts) > 1 and parts[-1] in _LEGAL_FORMS:
        parts = parts[:-1]
    return " ".join(parts)


_OF_ITS_PEOPLE: Final = frozenset({"n", "an", "ian", "ish", "ese", "s", "i", "y", "ns", "ians"})


def akin(one: str, other: str) -> bool:
    """Say whether two names may be forms of one: shorter and longer, a place and what is of it, an acronym ("UK")."""
    left, right = name_key(one).split(), name_key(other).split()
    if not left or not right:
        return False
    if set(left) < set(right) or set(right) < set(left) or _is_short_for(one, other) or _is_short_for(other, one):
        return True
    rest, others = set(left[1:]), set(right[1:])
    return _is_of(left[0], right[0]) and (rest <= others or others <= rest)


def _is_short_for(short: str, long: str) -> bool:
    key = name_key(short).replace(" ", "").replace(".", "")
    return key in acronyms(long) or any(key in names and name_key(long) in names for names in _ONE_COUNTRY)


_ONE_COUNTRY: Final = (
    frozenset({"us", "usa", "united states", "united states of america", "america"}),
    frozenset({"uk", "united kingdom", "great britain", "britain"}),
)
"""Names of one country of which neither is the acronym of the other."""


def _is_of(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return len(short) > _MIN_STEM and long.startswith(short) and long[len(short) :] in _OF_ITS_PEOPLE


_MIN_STEM: Final = 3


def acronyms(text: str) -> set[str]:
    """Return the acronyms of the capitalised runs in a text, lower case: ``nist`` for its long form."""
    found: set[str] = set()
    for match in _CAPITALISED_RUN.finditer(text):
        initials = [word[0] for word in word_texts(match.group()) if word not in STOPWORDS]
        if len(initials) >= _MIN_ACRONYM:
            found.add("".join(initials))
    return found


@dataclass(frozen=True, slots=True)
class NameIndex:
    """What names can be traced to: the texts' words in order, their word sets, their acronyms."""

    streams: tuple[str, ...]
    word_sets: tuple[frozenset[str], ...]
    known_acronyms: frozenset[str]
    gazetteer: Gazetteer
    _answers: dict[tuple[str, bool], bool] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def of(cls, texts: Iterable[str], gazetteer: Gazetteer) -> "NameIndex":
        """Index the texts of facts and query."""
        listed = list(texts)
        tokens = [[word.removesuffix("'s").removesuffix("'") for word in word_texts(text)] for text in listed]
        short: set[str] = set()
        for text in listed:
            short |= acronyms(text)
        return cls(
            tuple(f" {' '.join(parts)} " for parts in tokens),
            tuple(frozenset(parts) for parts in tokens),
            frozenset(short),
            gazetteer,
        )

    def knows(self, name: Entity) -> bool:
        """Say whether the name can be traced."""
        key, is_person = name_key(name.text), name.kind is EntityKind.PERSON
        if not key:
            return True
        remembered = self._answers.get((key, is_person))
        if remembered is None:
            remembered = self._answers[key, is_person] = self._trace(name.text, key, is_person=is_person)
        return remembered

    def _trace(self, text: str, key: str, *, is_person: bool) -> bool:
        if key in self.gazetteer.names:
            return True
        needle = f" {key} "
        if any(needle in stream for stream in self.streams):
            return True
        if is_person:
            return False
        if key.replace(" ", "") in self.known_acronyms:
            return True
        if any(f" {short} " in stream for short in acronyms(text) for stream in self.streams):
            return True
        parts = frozenset(key.split()) - STOPWORDS
        return bool(parts) and any(parts <= known for known in self.word_sets)
