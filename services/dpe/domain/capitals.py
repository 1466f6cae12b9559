"""Names that only their capitals show, compared where the recogniser saw none (SPEC-005 §5.3, ENTITY_SUBSTITUTED).

"Launched from Kourou" and "launched from Baikonur": two texts that say the same but for one run of capitalised words on
each side, in one place. The first word of a sentence is written large whatever it is; it counts only where the
recogniser took it, or what stands in its place, for a name, and not where it bids: "Call the desk".
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from services.common.ports.recognition import Entity, EntityKind
from services.common.reading.lexicon import STOPWORDS
from services.common.reading.text_types import Claim, Value
from services.common.reading.words import containment, content_stems, words
from services.dpe.domain.facts import FactClause
from services.dpe.domain.names import acronyms, akin, name_key
from services.dpe.domain.rules.name_places import in_one_place, is_bidding, is_its_label, is_over_it

MIN_SAME: Final = 0.75
"""Share of the claim's other content words that the clause must hold."""
_RUN: Final = re.compile(r"(?<![\w'’-])[A-Z][\w'’&-]*(?:\s(?:[A-Z][\w'’&-]*|of(?:\sthe)?(?=\s[A-Z])))*")  # noqa: RUF001
_ROLES: Final = frozenset({"mr", "mrs", "ms", "dr", "prof", "judge", "justice", "lord", "lady", "sir", "president"})
_LINKS: Final = frozenset(
    """
    however moreover meanwhile therefore furthermore nevertheless nonetheless instead otherwise similarly likewise
    additionally finally accordingly consequently overall
    """.split()  # noqa: SIM905 - a list would be three times as long
)
_NO_NAMES: Final = _ROLES | STOPWORDS | _LINKS
"""Words that stand at the beginning of a sentence, written large, and name nothing."""


def replaced(claim: Claim, clause: FactClause) -> tuple[Entity, Entity] | None:
    """Return the one name of the claim that stands where the clause has one other, or ``None``."""
    ours = _runs(claim.text, claim.start, claim.values)
    theirs = _runs(clause.text, clause.span.start, clause.values)
    named = [*claim.entities, *clause.names]
    only_ours = [run for run in ours if not _shared(run, clause.text)]
    only_theirs = [run for run in theirs if not _shared(run, claim.text)]
    if len(only_ours) != 1 or len(only_theirs) != 1:
        return None
    one, other = only_ours[0], only_theirs[0]
    initial = (one.start == claim.start, other.start == clause.span.start)
    if initial[0] != initial[1] or (
        initial[0] and not any(_covers(name, run) for name in named for run in (one, other))
    ):
        return None
    if not _name_alike(one.text, other.text) or akin(one.text, other.text):
        return None
    if _ends_in_no_name(one.text) or _ends_in_no_name(other.text) or not _are_exchanged(claim, one, clause, other):
        return None
    said = content_stems(claim.text) - content_stems(one.text)
    return (one, other) if containment(said, content_stems(clause.text)) >= MIN_SAME else None


def _are_exchanged(claim: Claim, one: Entity, clause: FactClause, other: Entity) -> bool:
    """Say whether both runs name somebody of whom the same is said."""
    own, there = _within(one, claim.start), _within(other, clause.span.start)
    if is_bidding(claim.text, *own) or is_bidding(clause.text, *there):
        return False
    if is_its_label(claim.text, *own) and is_its_label(clause.text, *there):
        return True  # the same is told under one name and under another
    if is_over_it(clause.text, *there):
        return False
    return in_one_place(claim.text, own, clause.text, there)


def _within(run: Entity, offset: int) -> tuple[int, int]:
    return run.start - offset, run.end - offset


def _ends_in_no_name(text: str) -> bool:
    """Say whether a run goes over from a heading to a sentence: "Internal Heat Sources Because"."""
    *rest, last = text.split()
    return bool(rest) and last.lower() in STOPWORDS


_IDENTIFIER: Final = re.compile(r"\d")
_DEFINED: Final = re.compile(r"the\s", re.IGNORECASE)


def _name_alike(one: str, other: str) -> bool:
    """Say whether two runs can name things of one sort.

    A model ("PT-04") does not stand in the place of a class ("IP67"), and "the Employee" is what a text calls somebody
    whom it names elsewhere.
    """
    if bool(_IDENTIFIER.search(one)) != bool(_IDENTIFIER.search(other)):
        return False
    if _IDENTIFIER.search(one):
        return _letters(one) == _letters(other)
    return bool(_DEFINED.match(one)) == bool(_DEFINED.match(other))


def _letters(text: str) -> str:
    return "".join(sign for sign in text.casefold() if sign.isalpha())


def _runs(text: str, offset: int, values: Sequence[Value]) -> list[Entity]:
    found = [
        Entity(EntityKind.OTHER, match.group(), match.start() + offset, match.end() + offset)
        for match in _RUN.finditer(text)
    ]
    return [run for run in found if not any(value.start < run.end and run.start < value.end for value in values)]


def _shared(run: Entity, text: str) -> bool:
    """Say whether the text holds a word of the run, or one is the acronym of the other."""
    theirs = {word.text.removesuffix("'s") for word in words(text)}
    parts = set(_key_words(run))
    return not parts or bool(parts & theirs) or bool(parts & acronyms(text)) or bool(acronyms(run.text) & theirs)


def _key_words(run: Entity) -> Iterable[str]:
    return (part for part in name_key(run.text).split() if part not in _NO_NAMES)


def _covers(name: Entity, run: Entity) -> bool:
    return name.start < run.end and run.start < name.end
