"""Who does what to whom, of parties of all kinds (SPEC-005 §5.3, ENTITY_SUBSTITUTED, ADR 0095).

The agent and the patient of every verb that claim and source share, the passive and "whom" turned round, buyers set
against sellers. Two that changed places, or another party of the facts as the agent of the same act upon the same
thing.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from services.common.reading.clauses import finite_verb_at
from services.common.reading.lexicon import AUXILIARIES, FINITE_VERBS, PREPOSITIONS
from services.common.reading.words import Word
from services.dpe.domain.findings import DistortionType, Rule
from services.dpe.domain.rules.finding import Departure
from services.dpe.domain.rules.frequency import ADVERBS
from services.dpe.domain.rules.reading import Reading, nearest_to, root, roots, share
from services.dpe.domain.rules.rows import values_of

SAME: Final = 0.5
_CONVERSE: Final = {
    "buy": "sell", "sell": "buy", "purchas": "sell", "lend": "borrow", "borrow": "lend", "acquir": "sell",
    "leas": "rent", "employ": "work",
}  # fmt: skip
_DETERMINERS: Final = frozenset(
    {"the", "a", "an", "its", "their", "his", "her", "our", "your", "this", "that", "these", "those", "any", "each"}
    | {"every", "all", "no", "whom", "it", "them", "him"}
)
_BE: Final = frozenset({"is", "are", "was", "were", "be", "been", "being"})
_ADVERB: Final = re.compile(r".{3,}ly$|^(?:then|also|now|still|first|always|never|only|not)$")
_OFTEN: Final = ADVERBS.keys() | {"once", "twice"}
_RELATIVE: Final = frozenset({"who", "which", "that"})
_MIN_VERB: Final = 3
_JOINING: Final = frozenset({"and", "or", "but", "whom"})
_TOGETHER: Final = frozenset({"and", "or"})
_MOST_TOGETHER: Final = 8
"""Parties that are read beside one, on either side: bounded work."""
_ENDS_LEFT: Final = PREPOSITIONS | _DETERMINERS | AUXILIARIES | _RELATIVE | _JOINING
_ENDS_RIGHT: Final = _ENDS_LEFT | {"when", "if"}
"""What no noun phrase before a verb, or behind one, holds."""
_SKIPPED: Final = _DETERMINERS | {"about", "to"}
_AUXILIARY: Final = AUXILIARIES | _BE
_NO_VERB: Final = AUXILIARIES | _BE | _DETERMINERS | PREPOSITIONS
_BEHIND_NO_VERB: Final = ((PREPOSITIONS | _AUXILIARY) - _DETERMINERS) | _TOGETHER
_BEFORE_NO_VERB: Final = _BEHIND_NO_VERB | _DETERMINERS
_BREAK: Final = re.compile(r"[,;:.()]")
_LIKE_VERBS: Final = frozenset(
    {"towards", "besides", "versus", "perhaps", "thus", "always", "less", "across", "unless"}
)
"""Words in -s that stand before a noun phrase as a verb does."""
_UNNAMED: Final = frozenset(
    {"i", "you", "he", "she", "it", "we", "they", "him", "her", "them", "who", "this", "that", "these", "those", "one"}
    | {"both", "others", "another", "someone", "everyone", "anyone", "nobody"}
)
"""Words that stand for a party that is named elsewhere: whether it is the same party cannot be told."""


@dataclass(frozen=True, slots=True)
class _Act:
    """A verb with the words that stand where its agent and its patient stand."""

    verb: str
    at: Word
    agent: tuple[Word, ...]
    patient: tuple[Word, ...]


def changed_parties(claim: Reading, sources: list[Reading]) -> Departure | None:
    """Return where the parties of an act are others than in the source, or ``None``."""
    near = [source for _, source in nearest_to(claim, sources)[:_READ]]
    # "The engineer calibrates pumps" shows its verb to whoever knows it from "calibrated by the engineer".
    verbs = frozenset(act.verb for one in (claim, *near) for act in one.once(_acts))
    own = _acts(claim, verbs)
    if not own:
        return None
    parties = frozenset[str]().union(*(_heads(act.agent) for one in sources for act in _acts(one, verbs)))
    for source in near:
        listed = _acts(source, verbs)
        for theirs in listed:
            for act in own:
                if (
                    _crossed(act, theirs, own, listed)
                    or _exchanged(act, theirs)
                    or _converted(act, theirs)
                    or _replaced(act, theirs, parties, claim, source)
                ):
                    return Departure(
                        DistortionType.ENTITY_SUBSTITUTED,
                        Rule.PARTIES,
                        claim.span(act.agent[0].start, act.agent[-1].end),
                        source,
                        source.span(theirs.agent[0].start, theirs.agent[-1].end),
                    )
    return None


_READ: Final = 3


def _crossed(ours: _Act, theirs: _Act, own: list[_Act], known: list[_Act]) -> bool:
    """Say whether two acts of a claim have each other's agents: requested by who approves, approved by who requests."""
    if ours.verb != theirs.verb:
        return False
    return any(
        one.verb == other.verb != ours.verb
        and _heads(ours.agent) == _heads(other.agent) != _heads(theirs.agent)
        and _heads(one.agent) == _heads(theirs.agent)
        for one in own
        for other in known
    )


def _exchanged(ours: _Act, theirs: _Act) -> bool:
    if ours.verb != theirs.verb or not ours.patient or not theirs.patient:
        return False
    one, two = _heads(ours.agent), _heads(ours.patient)
    return bool(one & _heads(theirs.patient)) and bool(two & _heads(theirs.agent)) and not one & _heads(theirs.agent)


def _converted(ours: _Act, theirs: _Act) -> bool:
    """Say whether the seller of the one is the buyer of the other."""
    return _CONVERSE.get(ours.verb) == theirs.verb and bool(_heads(ours.agent) & _heads(theirs.agent))


def _replaced(ours: _Act, theirs: _Act, parties: frozenset[str], claim: Reading, source: Reading) -> bool:
    if ours.verb != theirs.verb or not ours.patient or not theirs.patient:
        return False
    agent, known = _heads(ours.agent), _heads(theirs.agent)
    if not _is_party(claim, ours) or not _is_party(source, theirs):
        return False
    same_patient = bool(_heads(ours.patient) & _heads(theirs.patient))
    named = roots(" ".join(word.text for word in theirs.agent))
    return (
        same_patient
        and bool(agent and known)
        and not agent & (known | named)
        and agent <= parties
        and not known & claim.content
        and share(claim.content - agent, source.known) >= SAME
        and not agent & _beside(source, theirs.agent)
    )


def _beside(reading: Reading, agent: tuple[Word, ...]) -> frozenset[str]:
    """Return the roots of who does it together with an agent: "the inspector, the clerk and the engineer sign"."""
    tokens, found, listed = reading.tokens, frozenset[str](), frozenset[str]()
    first, behind = tokens.index(agent[0]), tokens.index(agent[-1]) + 1
    for _ in range(_MOST_TOGETHER):
        place = _joined_before(reading, first, is_list=bool(found))
        phrase = _phrase(reading, place - 1) if place else []
        if not phrase:
            break
        found, first = found | _heads(phrase), tokens.index(phrase[0])
    for _ in range(_MOST_TOGETHER):
        if behind >= len(tokens):
            break
        is_last = tokens[behind].text in _TOGETHER
        phrase = _right(reading, behind + is_last)
        if not phrase or not (is_last or "," in reading.text[tokens[behind - 1].end : tokens[behind].start]):
            break
        listed, behind = listed | _heads(phrase), tokens.index(phrase[-1]) + 1
        found = found | listed if is_last else found  # what stands behind commas alone is no list
    return found


def _joined_before(reading: Reading, first: int, *, is_list: bool) -> int:
    """Return the place behind a phrase that is joined to the one that begins at ``first``; 0 where there is none."""
    tokens = reading.tokens
    while first > 0 and tokens[first - 1].text in _DETERMINERS:
        first -= 1
    if first > 0 and tokens[first - 1].text in _TOGETHER:
        return first - 1
    return first if is_list and first > 0 and "," in reading.text[tokens[first - 1].end : tokens[first].start] else 0


def _is_party(reading: Reading, act: _Act) -> bool:
    """Say whether the agent names a party: no pronoun, no piece of a clause ("dubbed PV14"), no words before a mark."""
    agent = act.agent
    if not agent or _UNNAMED.intersection(word.text for word in agent):
        return False
    if any(value.start < agent[-1].end and agent[0].start < value.end for value in reading.once(values_of)):
        return False  # "first 12 months", "three members": values do nothing
    before = reading.tokens.index(agent[0]) - 1
    if before >= 0 and agent[-1].end <= act.at.start and reading.tokens[before].text in PREPOSITIONS:
        return False  # "each colleague carried on business adds": who adds stands further left
    between = reading.text[agent[-1].end : act.at.start]
    if _BREAK.search(between) and not _RELATIVE.intersection(between.lower().split()):
        return False
    return not any(word.text.endswith("ed") and reading.text[word.start].islower() for word in agent)


def _heads(words_of: Iterable[Word]) -> frozenset[str]:
    """Return the root of the head, the last word, and of what is written as a name."""
    listed = list(words_of)
    return frozenset({root(listed[-1].text)}) if listed else frozenset()


def _acts(reading: Reading, verbs: frozenset[str] = frozenset()) -> list[_Act]:
    """Return the acts of a sentence; ``verbs`` holds roots that are verbs elsewhere."""
    tokens = reading.tokens
    found: list[_Act] = []
    for at, word in enumerate(tokens):
        if not (_is_verb(reading, at) or _is_known_verb(tokens, at, verbs)):
            continue
        passive = (
            at > 0 and _before(tokens, at) in _BE and word.text.endswith(("ed", "en", "wn", "ht", "ld", "ne", "de"))
        )
        left, right = _left(reading, at), _right(reading, at + 1)
        if passive or (at + 1 < len(tokens) and tokens[at + 1].text == "by" and word.text.endswith("ed")):
            by = next((place for place in range(at + 1, min(at + 12, len(tokens))) if tokens[place].text == "by"), None)
            agent, patient = (_right(reading, by + 1), left) if by is not None else ((), left)
        else:
            agent, patient = left, right
            first = left[0] if left else word
            whom = max((place for place in range(at) if tokens[place].text == "whom"), default=None)
            if whom is not None and tokens[whom].start < first.start:
                patient = _phrase(reading, whom - 1)
        if agent:
            found.append(_Act(root(word.text), word, tuple(agent), tuple(patient)))
    return found


def _is_verb(reading: Reading, at: int) -> bool:
    tokens = reading.tokens
    word = tokens[at].text
    if word.endswith("'s") or word in _LIKE_VERBS or word in _NO_VERB or len(word) < _MIN_VERB:
        return False
    following = tokens[at + 1].text if at + 1 < len(tokens) else ""
    if word.endswith(("ed", "s")) or word in FINITE_VERBS:
        participle = word.endswith("ed") and (following == "by" or _is_name(reading, at + 1))
        return (
            participle
            or following in _DETERMINERS
            or following[:1].isdigit()
            or _whom(tokens, at)
            or finite_verb_at(tokens[at : at + 1]) == 0
        )
    return following in {"the", "a", "an"} and at > 0 and tokens[at - 1].text.endswith("s")


def _is_known_verb(tokens: tuple[Word, ...], at: int, verbs: frozenset[str]) -> bool:
    """Say whether a form in -s stands between a noun phrase and what the act is done to."""
    word = tokens[at].text
    if not word.endswith("s") or word.endswith("ss") or root(word) not in verbs or not 0 < at < len(tokens) - 1:
        return False
    before, following = tokens[at - 1].text, tokens[at + 1].text
    return before not in _BEFORE_NO_VERB and following not in _BEHIND_NO_VERB


def _whom(tokens: tuple[Word, ...], at: int) -> bool:
    return any(word.text == "whom" for word in tokens[max(0, at - 5) : at])


def _is_name(reading: Reading, at: int) -> bool:
    return at < len(reading.tokens) and reading.text[reading.tokens[at].start].isupper()


def _before(tokens: tuple[Word, ...], at: int) -> str:
    while at > 0 and _ADVERB.match(tokens[at - 1].text):
        at -= 1
    return tokens[at - 1].text if at else ""


def _left(reading: Reading, at: int) -> list[Word]:
    """Return the noun phrase before a verb; behind "who" or "which" the one before it."""
    tokens = reading.tokens
    place = at - 1
    while place >= 0 and (_ADVERB.match(tokens[place].text) or tokens[place].text in _AUXILIARY):
        place -= 1
    if place >= 0 and tokens[place].text in _RELATIVE:
        place -= 1
    return _phrase(reading, place)


def _phrase(reading: Reading, place: int) -> list[Word]:
    tokens, found = reading.tokens, list[Word]()
    while place >= 0 and len(found) < 5:  # noqa: PLR2004 - a phrase is no longer
        word = tokens[place]
        if word.text in _ENDS_LEFT:
            break
        if found and _BREAK.search(reading.text, word.end, found[0].start) and not _is_initial(reading.text, word):
            break
        found.insert(0, word)
        place -= 1
    return found


def _is_initial(text: str, word: Word) -> bool:
    return text[word.start].isupper() and text[word.end : word.end + 1] == "." and len(word.text) <= 4  # noqa: PLR2004


def _right(reading: Reading, at: int) -> list[Word]:
    """Return the noun phrase behind a place: up to a verb, a preposition or a mark."""
    tokens, found = reading.tokens, list[Word]()
    place = at
    while place < len(tokens) and (tokens[place].text in _SKIPPED or _ADVERB.match(tokens[place].text)):
        place += 1
    while place < len(tokens) and len(found) < 5:  # noqa: PLR2004 - as above
        word = tokens[place]
        if (
            found
            and _BREAK.search(reading.text, found[-1].end, word.start)
            and not _is_initial(reading.text, found[-1])
        ):
            break
        if word.text in _ENDS_RIGHT:
            break
        if found and (word.text in FINITE_VERBS or word.text in _OFTEN or word.text.endswith("ing")):
            break
        found.append(word)
        place += 1
    return found
