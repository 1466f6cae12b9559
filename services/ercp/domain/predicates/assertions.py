"""Values that a text gives to an attribute: "the boiling point of water is 100 °C at sea level" (ADR 0070).

A sentence is walked once, from left to right, over its verbs, boundaries and amounts. An amount is bound when a verb
that ties values stands before it with nothing unknown between, and when what stands before the verb names one thing.
Hypothetical, denied and hedged clauses and questions assert nothing.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from services.ercp.domain.predicates.facts import Condition, Interval, Span, Subject, ValueFact, Words
from services.ercp.domain.predicates.mentions import Mention, is_bare
from services.ercp.domain.predicates.naming import condition_of, words_of
from services.ercp.domain.predicates.phrases import (
    ADJECTIVE,
    BOUNDARY,
    CONDITION,
    COUNTED,
    DENIED,
    DIMENSIONS,
    FILLER,
    FLIPPED,
    HYPOTHETICAL,
    INHERITING,
    LEADING,
    LEXICAL,
    NAMED,
    NO_CONDITION,
    VERB,
    relation_of,
)
from services.ercp.domain.predicates.printing import plain
from services.ercp.domain.predicates.subjects import NounPhrase, read_noun_phrase
from services.ercp.domain.predicates.values import CALENDAR, about

_REACH: Final = 240
"""So many characters of a clause are read before and after a value."""
_HEDGES: Final = frozenset({"may", "might", "could", "would"})
_WHEN: Final = re.compile(
    r"\s*,?\s*\b(?P<phrase>(?:when|if|whenever|as\s+long\s+as|provided|where|given)\s[^,.;()]{1,120}(?:(?<=\d)[.,](?=\d)[^,.;()]{1,40})?)",
    re.IGNORECASE,
)
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
_ALSO: Final = re.compile(
    r"\s*,?\s*and\s+an?\s+(?P<attribute>(?:[\w-]+\s){0,3}?[\w-]+)\s+of\s+(?P<approximate>about|around|some)?\s*",
    re.IGNORECASE,
)
_OWNER: Final = re.compile(
    r"\s*,?\s*(?:and\s+)?(?:that|those)\s+of\s+(?P<owner>[^,;.]{2,80}?)(?:\s+(?:is|are|was|were))?\s*(?P<approximate>about|around)?\s*",
    re.IGNORECASE,
)
_WITH: Final = re.compile(
    r"(?P<before>.*?)\bwith\s+an?\s+(?P<attribute>(?:[\w-]+\s){0,3}?[\w-]+)\s+of\s+(?P<approximate>about|around|some)?\s*",
    re.IGNORECASE | re.DOTALL,
)
_IT: Final = re.compile(r"\s*,?\s*(?:it|they)\b", re.IGNORECASE)
_SIGNS: Final = {"<": "<", ">": ">", "<=": "<=", ">=": ">=", "≤": "<=", "≥": ">=", "=": "=", ":": "=", "≈": "="}
_HARD: Final = re.compile(r"[;—]|\b(?:but|while|whereas|although|though)\b", re.IGNORECASE)
_IF: Final = re.compile(r"\b(?:if|when|whenever|where|unless|as\s+long\s+as|provided|given)\b", re.IGNORECASE)
_NEGATIVE: Final = re.compile(r"n['\u2019]t\b|\bcannot\b|\bnot\b|\bnever\b", re.IGNORECASE)


@dataclass(slots=True)
class _Walk:
    """Where the walk through a sentence stands.

    Attributes:
        start: where the clause begins.
        verb: the clause's last verb, and
        subject_end: where its first verb begins.
        leads: conditions that stand before: "At sea level, …".
        is_asserted: False in a clause that only supposes or denies.
        last: the value that was bound last, and
        last_end: where what belongs to it ends.
    """

    text: str
    sentence: Span
    start: int
    known: Words
    verb: re.Match[str] | None = None
    subject_end: int = -1
    leads: list[str] = field(default_factory=list)
    is_asserted: bool = True
    last: ValueFact | None = None
    last_end: int = -1
    last_phrase: NounPhrase | None = None
    is_again: bool = False
    earlier: ValueFact | None = None
    facts: list[ValueFact] = field(default_factory=list)


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
        walk = _Walk(text, sentence, sentence.start, known, earlier=last[0] if last else None)
        again = _THAT_IS.match(text, sentence.start, sentence.end)
        if again is not None and last is not None:
            # "Sound travels at 340 m/s. That is 1,224 km/h."
            walk.last, walk.last_phrase = last
            walk.last_end, walk.is_again = again.end(), True
        _go(walk, own)
        yield from walk.facts
        known = _topic(walk)
        last = (walk.last, walk.last_phrase) if walk.facts and walk.last and walk.last_phrase else None


def _topic(walk: _Walk) -> Words:
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


def _go(walk: _Walk, mentions: Sequence[Mention]) -> None:
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


def _at_boundary(walk: _Walk, match: re.Match[str]) -> None:
    if match.start() < walk.start:
        return
    clause = walk.text[walk.start : match.start()]
    word = match.group().strip().lower()
    lead = LEADING.fullmatch(clause[:_REACH]) if walk.last is None or walk.last_end <= walk.start else None
    if word == "," and lead is not None and (walk.verb is None or _IF.match(lead["phrase"])):
        walk.leads.append(lead["phrase"])
    if _HARD.search(word):
        walk.leads = []
    walk.is_asserted = not _IF.fullmatch(word) and not (word == "that" and DENIED.fullmatch(clause[-_REACH:]))
    walk.start, walk.verb, walk.subject_end = match.end(), None, -1


def _at_verb(walk: _Walk, match: re.Match[str]) -> None:
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


def _at_mention(walk: _Walk, mention: Mention) -> None:
    bound = _again(walk, mention) or _bound(walk, mention) or _inherited(walk, mention) or _with(walk, mention)
    if bound is None:
        return
    fact, phrase, end = bound
    walk.facts.append(fact)
    walk.last, walk.last_phrase, walk.last_end = fact, phrase, end
    walk.start, walk.verb, walk.subject_end = max(walk.start, end), None, -1
    if phrase.subject.entity:
        walk.known = phrase.subject.entity


def _bound(walk: _Walk, mention: Mention) -> tuple[ValueFact, NounPhrase, int] | None:
    """Bind a value to the subject of the verb before it."""
    verb = walk.verb
    if verb is None or mention.span.start - walk.start > 2 * _REACH:
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
    link = _Link(_relation(verb, filler), bool(filler["approximate"]) or verb["sign"] == "≈")
    if (verb["lexical"] or "").lower().startswith(_CARRYING) and link.relation == "<=":
        # What carries at most 800 kg has a maximum load of 800 kg.
        phrase = replace(phrase, subject=Subject(subject.entity, words_of("maximum load")))
        link = replace(link, relation="=")
    return _fact(walk, mention, phrase, link, end)


def _subject(
    walk: _Walk, verb: re.Match[str], phrase: NounPhrase, attribute: str, mention: Mention
) -> tuple[Subject | None, int]:
    """Return what a verb gives its value to, and where what belongs to the value ends."""
    if verb["have"]:
        return _possessed(walk, phrase, attribute, mention)
    if verb["lexical"]:
        return _of_verb(phrase.subject, verb["lexical"], mention), mention.span.end
    subject, end = _measured(walk, phrase.subject, mention.span.end)
    return (subject if subject.attribute else _meant(walk, mention)), end


@dataclass(frozen=True, slots=True)
class _Link:
    """How a value is tied to its subject."""

    relation: str
    approximate: bool


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


def _meant(walk: _Walk, mention: Mention) -> Subject | None:
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
_ENDS: Final = re.compile(r"\s*(?:[.,;:!)]|\Z|and\b|or\b|of\b|per\b|in\b)", re.IGNORECASE)
_IRREGULAR: Final = {"took": "tak", "ran": "run", "froze": "freez"}


def _possessed(walk: _Walk, phrase: NounPhrase, attribute: str, mention: Mention) -> tuple[Subject | None, int]:
    """Return what an entity has: "a mass of 5 kg", "5 members"."""
    owner = (*phrase.subject.entity, *phrase.subject.attribute)
    if attribute:
        return Subject(owner, words_of(attribute)), mention.span.end
    counted = COUNTED.match(walk.text, mention.span.end, walk.sentence.end)
    if not is_bare(mention) or counted is None:
        return None, mention.span.end
    noun = counted["noun"].split()[0]
    return Subject(owner, words_of(noun)), counted.start("noun") + len(noun)


def _measured(walk: _Walk, subject: Subject, end: int) -> tuple[Subject, int]:
    """Read the adjective after a value: what is 50 m long has a length."""
    adjective = ADJECTIVE.match(walk.text, end, min(end + _REACH, walk.sentence.end))
    if adjective is None:
        return subject, end
    word = adjective["word"].lower()
    return Subject((*subject.entity, *subject.attribute), words_of(DIMENSIONS.get(word, word))), adjective.end()


def _again(walk: _Walk, mention: Mention) -> tuple[ValueFact, NounPhrase, int] | None:
    """Bind "that is 1,224 km/h" to what the sentence before gave a value of the same kind."""
    if not walk.is_again or walk.last is None or walk.last_phrase is None:
        return None
    walk.is_again = False
    gap = FILLER.fullmatch(walk.text, walk.last_end, mention.span.start)
    is_end = _ENDS.match(walk.text, mention.span.end, walk.sentence.end)
    if gap is None or gap["relation"] or not is_end or mention.dimension != walk.last.dimension or is_bare(mention):
        return None
    approximate = bool(gap["approximate"]) or walk.last.approximate
    return _fact(walk, mention, walk.last_phrase, _Link("=", approximate), mention.span.end, walk.last.condition)


def _with(walk: _Walk, mention: Mention) -> tuple[ValueFact, NounPhrase, int] | None:
    """Bind "with a maximum depth of 45 m it is …" to what "it" means."""
    start = max(walk.start, mention.span.start - _REACH)
    match = _WITH.fullmatch(walk.text, start, mention.span.start)
    if match is None or not walk.is_asserted or not walk.known:
        return None
    if not _IT.match(walk.text, mention.span.end, walk.sentence.end) or match["before"].strip(" ,"):
        return None
    phrase = NounPhrase(Subject(walk.known, words_of(match["attribute"])))
    return _fact(walk, mention, phrase, _Link("=", bool(match["approximate"])), mention.span.end)


def _of_owner(walk: _Walk, mention: Mention) -> tuple[ValueFact, NounPhrase, int] | None:
    """Bind "that of the east station 38 MW" to the attribute that was named before it."""
    assert walk.last_phrase is not None
    match = _OWNER.fullmatch(walk.text, walk.last_end, mention.span.start)
    if match is None:
        return None
    owner = read_noun_phrase(match["owner"], ())
    if owner is None:
        return None
    entity = (*owner.subject.entity, *owner.subject.attribute)
    phrase = NounPhrase(Subject(entity, walk.last_phrase.subject.attribute), owner.condition)
    return _fact(walk, mention, phrase, _Link("=", bool(match["approximate"])), mention.span.end)


def _also(walk: _Walk, mention: Mention) -> tuple[ValueFact, NounPhrase, int] | None:
    """Bind "and a boiling point of 56 °C" to what has the value before it."""
    assert walk.last_phrase is not None
    match = _ALSO.fullmatch(walk.text, walk.last_end, mention.span.start)
    if match is None or not walk.last_phrase.subject.entity:
        return None
    phrase = replace(walk.last_phrase, subject=Subject(walk.last_phrase.subject.entity, words_of(match["attribute"])))
    return _fact(walk, mention, phrase, _Link("=", bool(match["approximate"])), mention.span.end)


def _inherited(walk: _Walk, mention: Mention) -> tuple[ValueFact, NounPhrase, int] | None:
    """Bind one more value of the same attribute: "100 °C (212 °F) at sea level and 93 °C in Denver"."""
    if walk.last is None or walk.last_phrase is None or mention.span.start - walk.last_end > _REACH:
        return None
    owned = _of_owner(walk, mention) or _also(walk, mention)
    if owned is not None:
        return owned
    gap = INHERITING.fullmatch(walk.text, walk.last_end, mention.span.start)
    if gap is None or not gap["joined"]:
        return None
    is_same = gap["joined"] == "("
    condition = walk.last.condition if is_same else None
    if gap["lead"]:
        condition = condition_of([gap["lead"]])
    if mention.dimension != walk.last.dimension and not is_same:
        return None
    if is_same and mention.dimension != walk.last.dimension and is_bare(mention):
        return None
    subject, end = _again_measured(walk, mention)
    phrase = replace(walk.last_phrase, subject=subject)
    link = _Link(relation_of(gap["relation"]), bool(gap["approximate"]) or (is_same and walk.last.approximate))
    return _fact(walk, mention, phrase, link, end, condition)


def _again_measured(walk: _Walk, mention: Mention) -> tuple[Subject, int]:
    assert walk.last_phrase is not None
    subject, end = walk.last_phrase.subject, mention.span.end
    adjective = ADJECTIVE.match(walk.text, end, min(end + _REACH, walk.sentence.end))
    if adjective is None or not subject.entity:
        return subject, end
    word = adjective["word"].lower()
    return Subject(subject.entity, words_of(DIMENSIONS.get(word, word))), adjective.end()


def _fact(
    walk: _Walk, mention: Mention, phrase: NounPhrase, link: _Link, end: int, condition: Condition | None = None
) -> tuple[ValueFact, NounPhrase, int] | None:
    after, end = _conditions_after(walk, end)
    if condition is None:
        condition = condition_of([*walk.leads, phrase.condition, *after])
    interval = _interval(mention, link)
    amount = mention.amount if link.relation in {"=", "!="} else None
    fact = ValueFact(
        subject=phrase.subject,
        interval=interval,
        dimension=mention.dimension,
        text="",
        written=walk.text[mention.span.start : mention.span.end],
        number=plain(amount.number) if amount else "",
        unit=mention.amount.unit if mention.amount else "",
        condition=condition,
        negated=link.relation == "!=",
        approximate=link.approximate,
        span=Span(_trimmed(walk), max(end, mention.span.end)),
        value_span=mention.span,
        bound=plain(mention.amount.number) if mention.amount and amount is None else "",
    )
    return fact, phrase, end


def _trimmed(walk: _Walk) -> int:
    start = walk.start
    while start < walk.sentence.end and walk.text[start] in " ,(\n\t":
        start += 1
    return start


def _conditions_after(walk: _Walk, end: int) -> tuple[list[str], int]:
    """Return the phrases that limit a value, and where the last one ends; a converted value in brackets is skipped."""
    found: list[str] = []
    limit = min(end + _REACH, walk.sentence.end)
    place = end
    bracket = re.compile(r"\s*\([^()]{1,60}\)").match(walk.text, place, limit)
    if bracket is not None:
        place = bracket.end()
    for pattern in (CONDITION, CONDITION, _WHEN):
        match = pattern.match(walk.text, place, limit)
        if match is None:
            continue
        place = match.end()
        if not NO_CONDITION.fullmatch(match["phrase"]):
            found.append(match["phrase"])
    # What is in the brackets is read on its own.
    return found, end if bracket is not None else place


def _interval(mention: Mention, link: _Link) -> Interval:
    """Return the values that a value with its comparison leaves open."""
    value = mention.interval
    match link.relation:
        case "<":
            return Interval(high=value.low, high_closed=False)
        case "<=":
            return Interval(high=value.high, high_closed=value.high_closed)
        case ">":
            return Interval(low=value.high, low_closed=mention.dimension == CALENDAR)
        case ">=":
            return Interval(low=value.low)
        case _:
            return about(mention.amount) if link.approximate and mention.amount else value
