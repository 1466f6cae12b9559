"""Values that a text gives to an attribute: "the boiling point of water is 100 °C at sea level" (ADR 0070).

A sentence is walked once, from left to right, over its verbs, boundaries and amounts. An amount is bound when a verb
that ties values stands before it with nothing unknown between, and when what stands before the verb names one thing.
Hypothetical, denied and hedged clauses and questions assert nothing.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from services.ercp.domain.predicates.binding import REACH, Bound, Link, Walk, made_fact
from services.ercp.domain.predicates.facts import Span, Subject, ValueFact, Words
from services.ercp.domain.predicates.further_values import further_value, restated
from services.ercp.domain.predicates.mentions import Mention, is_bare
from services.ercp.domain.predicates.naming import words_of
from services.ercp.domain.predicates.phrases import (
    ADJECTIVE,
    BOUNDARY,
    COUNTED,
    DENIED,
    DIMENSIONS,
    FILLER,
    FLIPPED,
    HYPOTHETICAL,
    LEADING,
    LEXICAL,
    NAMED,
    VERB,
    relation_of,
)
from services.ercp.domain.predicates.subjects import NounPhrase, read_noun_phrase

_HEDGES: Final = frozenset({"may", "might", "could", "would"})
_THAT_IS: Final = re.compile(r"\s*(?:that|this)\s+(?:is|equals|corresponds\s+to|amounts\s+to)\s+(?=\S)", re.IGNORECASE)
_TOPIC: Final = re.compile(
    r"\s*(?:(?P<pronoun>it|its|they|their)\b|(?P<topic>(?:(?:the|an?|this|our|each|every)\s+)?(?:[\w-]+\s+){0,3}?[\w-]+)"
    r"\s+(?:is|are|was|were|has|have|had|will|must|can|may|shall|should|lies|stands|goes|works|runs|weighs|carries|serves|"
    r"belongs|leads|opens|closes|starts|ends|begins|began|comes|came|went|[a-z]{3,}ed)\b)",
    re.IGNORECASE,
)
"""What a sentence is about: what stands before its first verb, where that is plain."""
_SHORT_TOPIC: Final = re.compile(
    r"\s*(?P<topic>[A-Z][\w-]+|(?:The|An?|This|Our)\s[\w-]+)\s+[a-z]{3,}s\s+"
    r"(?!(?:is|are|was|were|have|had|must|can|may|will|shall|should|of|and|or|that|which)\b)[a-z]"
)
"""The same before a verb that no list knows: "Acetone evaporates quickly"."""
_SIGNS: Final = {"<": "<", ">": ">", "<=": "<=", ">=": ">=", "≤": "<=", "≥": ">=", "=": "=", ":": "=", "≈": "="}
_HARD: Final = re.compile(r"[;—]|\b(?:but|while|whereas|although|though)\b", re.IGNORECASE)
_IF: Final = re.compile(r"\b(?:if|when|whenever|where|unless|as\s+long\s+as|provided|given)\b", re.IGNORECASE)
_NEGATIVE: Final = re.compile(r"n['\u2019]t\b|\bcannot\b|\bnot\b|\bnever\b", re.IGNORECASE)


def read_values(text: str, sentences: Sequence[Span], mentions: Sequence[Sequence[Mention]]) -> Iterator[ValueFact]:
    """Yield the values that a text gives to attributes, in text order.

    Args:
        text: the whole text.
        sentences: its sentences.
        mentions: the amounts and dates of each sentence.
    """
    known: Words = ()
    last: tuple[ValueFact, NounPhrase] | None = None
    for sentence, own in zip(sentences, mentions, strict=True):
        if text[sentence.start : sentence.end].rstrip("\"')* ").endswith("?"):
            last = None
            continue
        walk = Walk(text, sentence, sentence.start, known, earlier=last[0] if last else None)
        again = _THAT_IS.match(text, sentence.start, sentence.end)
        if again is not None and last is not None:
            # "Sound travels at 340 m/s. That is 1,224 km/h."
            walk.last, walk.last_phrase = last
            walk.last_end, walk.is_again = again.end(), True
        _go(walk, own)
        yield from walk.facts
        known = _topic(walk)
        last = (walk.last, walk.last_phrase) if walk.facts and walk.last and walk.last_phrase else None


def _topic(walk: Walk) -> Words:
    """Return what "it" in the next sentence means: the one entity of this sentence's values, or what it begins with."""
    entities = {fact.subject.entity for fact in walk.facts if fact.subject.entity}
    if entities:
        return entities.pop() if len(entities) == 1 else ()
    start = _TOPIC.match(walk.text, walk.sentence.start, walk.sentence.end)
    if start is not None and start["pronoun"]:
        return walk.known
    start = start or _SHORT_TOPIC.match(walk.text, walk.sentence.start, walk.sentence.end)
    if start is None or start["topic"].lower().endswith("ing"):
        return ()  # what is done is no thing that "it" could be
    phrase = read_noun_phrase(start["topic"], ())
    if phrase is None or phrase.subject.entity:
        return ()
    return phrase.subject.attribute


def _go(walk: Walk, mentions: Sequence[Mention]) -> None:
    taken = [(mention.span.start, mention.span.end) for mention in mentions]
    verbs = _outside(VERB.finditer(walk.text, walk.sentence.start, walk.sentence.end), taken)
    boundaries = _outside(BOUNDARY.finditer(walk.text, walk.sentence.start, walk.sentence.end), taken)
    steps: list[tuple[int, int, re.Match[str] | Mention]] = [
        *((match.start(), 0, match) for match in boundaries),
        *((match.start(), 1, match) for match in verbs),
        *((mention.span.start, 2, mention) for mention in mentions),
    ]
    for _, _, step in sorted(steps, key=lambda step: step[:2]):
        if isinstance(step, Mention):
            _at_mention(walk, step)
        elif step.re is BOUNDARY:
            _at_boundary(walk, step)
        elif step.start() >= walk.start:
            _at_verb(walk, step)


def _outside(matches: Iterator[re.Match[str]], taken: Sequence[tuple[int, int]]) -> Iterator[re.Match[str]]:
    """Leave out what stands inside an amount, such as the comma of 1,000."""
    place = 0
    for match in matches:
        while place < len(taken) and taken[place][1] <= match.start():
            place += 1
        if place == len(taken) or match.start() < taken[place][0]:
            yield match


def _at_boundary(walk: Walk, match: re.Match[str]) -> None:
    if match.start() < walk.start:
        return
    clause = walk.text[walk.start : match.start()]
    word = match.group().strip().lower()
    lead = LEADING.fullmatch(clause[:REACH]) if walk.last is None or walk.last_end <= walk.start else None
    if word == "," and lead is not None and (walk.verb is None or _IF.match(lead["phrase"])):
        walk.leads.append(lead["phrase"])
    if _HARD.search(word):
        walk.leads = []
    walk.is_asserted = not _IF.fullmatch(word) and not (word == "that" and DENIED.fullmatch(clause[-REACH:]))
    walk.start, walk.verb, walk.subject_end = match.end(), None, -1


def _at_verb(walk: Walk, match: re.Match[str]) -> None:
    if match["sign"] == ":" and walk.verb is not None:
        walk.start, walk.verb, walk.subject_end = match.end(), None, -1
        return
    earlier = walk.verb
    if earlier is not None and earlier["sign"] == ":":
        walk.start, earlier = earlier.end(), None  # "Note: the limit is …"
    is_noun = earlier is not None and bool(earlier["lexical"]) and not match["sign"]  # "the cost of the bridge is"
    if earlier is None or is_noun:
        walk.subject_end = match.start()
    walk.verb = match


def _at_mention(walk: Walk, mention: Mention) -> None:
    bound = restated(walk, mention) or _bound(walk, mention) or further_value(walk, mention)
    if bound is None:
        return
    fact, phrase, end = bound
    walk.facts.append(fact)
    walk.last, walk.last_phrase, walk.last_end = fact, phrase, end
    walk.start, walk.verb, walk.subject_end = max(walk.start, end), None, -1
    if phrase.subject.entity:
        walk.known = phrase.subject.entity


def _bound(walk: Walk, mention: Mention) -> Bound | None:
    """Bind a value to the subject of the verb before it."""
    verb = walk.verb
    if verb is None or mention.span.start - walk.start > 2 * REACH:
        return None
    clause = walk.text[walk.start : walk.subject_end]
    if not walk.is_asserted or HYPOTHETICAL.match(clause) or (verb["modal"] or "").lower() in _HEDGES:
        return None
    gap = walk.text[verb.end() : mention.span.start]
    attribute = ""
    if verb["have"]:
        named = NAMED.fullmatch(gap)
        if named is not None:
            attribute, gap = named["attribute"], named["rest"] or ""
    filler = FILLER.fullmatch(gap)
    phrase = read_noun_phrase(clause, walk.known)
    if filler is None or phrase is None:
        return None
    subject, end = _subject(walk, verb, phrase, attribute, mention)
    if subject is None:
        return None
    phrase = replace(phrase, subject=subject)
    link = Link(_relation(verb, filler), bool(filler["approximate"]) or verb["sign"] == "≈")
    if (verb["lexical"] or "").lower().startswith(_CARRYING) and link.relation == "<=":
        # What carries at most 800 kg has a maximum load of 800 kg.
        phrase = replace(phrase, subject=Subject(subject.entity, words_of("maximum load")))
        link = replace(link, relation="=")
    return made_fact(walk, mention, phrase, link, end)


def _subject(
    walk: Walk, verb: re.Match[str], phrase: NounPhrase, attribute: str, mention: Mention
) -> tuple[Subject | None, int]:
    """Return what a verb gives its value to, and where what belongs to the value ends."""
    if verb["have"]:
        return _possessed(walk, verb, phrase, attribute, mention)
    if verb["lexical"]:
        return _of_verb(phrase.subject, verb["lexical"], mention), mention.span.end
    subject, end = _measured(walk, phrase.subject, mention.span.end)
    return (subject if subject.attribute else _meant(walk, mention)), end


def _relation(verb: re.Match[str], filler: re.Match[str]) -> str:
    """Return ``=``, ``!=`` or the comparison between the subject and the value."""
    relation = relation_of(filler["relation"])
    if verb["sign"]:
        relation = _SIGNS[verb["sign"]]
    if (verb["lexical"] or "").lower().startswith(("exceed", "surpass")):
        relation = ">"
    is_negative = bool(_NEGATIVE.search(verb.group())) != bool(filler["neg"])
    if not is_negative:
        return relation
    return FLIPPED.get(relation, "!=")


def _meant(walk: Walk, mention: Mention) -> Subject | None:
    """Return what "it" is when it has a value: the attribute that the last value of this kind was given to."""
    last = walk.last or walk.earlier
    return last.subject if last is not None and last.dimension == mention.dimension else None


def _of_verb(subject: Subject, verb: str, mention: Mention) -> Subject:
    """Return the attribute that a verb names: what boils has a boiling point."""
    stem = next(stem for stem in LEXICAL if verb.lower().startswith(stem) or _IRREGULAR.get(verb.lower()) == stem)
    name = LEXICAL[stem]
    if not name:
        return subject
    if name == "speed" and mention.dimension == _TIME:
        name = "duration"  # what runs for two hours
    return Subject((*subject.entity, *subject.attribute), words_of(name))


_CARRYING: Final = ("carr", "support", "bear")
_TIME: Final = "[time]^1"
_VOLUME: Final = "[length]^3"
_HOLDING: Final = frozenset({"hold", "holds", "held"})
_IRREGULAR: Final = {"took": "tak", "ran": "run", "froze": "freez"}


def _possessed(
    walk: Walk, verb: re.Match[str], phrase: NounPhrase, attribute: str, mention: Mention
) -> tuple[Subject | None, int]:
    """Return what an entity has: "a mass of 5 kg", "5 members"."""
    owner = (*phrase.subject.entity, *phrase.subject.attribute)
    if attribute:
        return Subject(owner, words_of(attribute)), mention.span.end
    if mention.dimension == _VOLUME and verb["have"].lower() in _HOLDING:
        return Subject(owner, words_of("volume")), mention.span.end  # "the tank holds 3 litres"
    counted = COUNTED.match(walk.text, mention.span.end, walk.sentence.end)
    if not is_bare(mention) or counted is None:
        return None, mention.span.end
    noun = counted["noun"].split()[0]
    return Subject(owner, words_of(noun)), counted.start("noun") + len(noun)


def _measured(walk: Walk, subject: Subject, end: int) -> tuple[Subject, int]:
    """Read the adjective after a value: what is 50 m long has a length."""
    adjective = ADJECTIVE.match(walk.text, end, min(end + REACH, walk.sentence.end))
    if adjective is None:
        return subject, end
    word = adjective["word"].lower()
    return Subject((*subject.entity, *subject.attribute), words_of(DIMENSIONS.get(word, word))), adjective.end()
