"""One more value beside one that was bound: converted, of another owner, under another condition (ADR 0070).

"100 °C (212 °F) at sea level and 93 °C in Denver", "that of the east station 38 MW", "and a boiling point of 56 °C",
"That is 1,224 km/h.", "With a maximum depth of 45 m it is …".
"""

import re
from dataclasses import replace
from typing import Final

from services.ercp.domain.predicates.binding import REACH, Bound, Link, Walk, made_fact
from services.ercp.domain.predicates.facts import Subject
from services.ercp.domain.predicates.mentions import Mention, is_bare
from services.ercp.domain.predicates.naming import condition_of, words_of
from services.ercp.domain.predicates.phrases import ADJECTIVE, DIMENSIONS, FILLER, INHERITING, relation_of
from services.ercp.domain.predicates.subjects import NounPhrase, read_noun_phrase

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
_ENDS: Final = re.compile(r"\s*(?:[.,;:!)]|\Z|and\b|or\b|of\b|per\b|in\b)", re.IGNORECASE)


def further_value(walk: Walk, mention: Mention) -> Bound | None:
    """Bind a value that no verb of its own ties to a subject."""
    return _inherited(walk, mention) or _with(walk, mention)


def restated(walk: Walk, mention: Mention) -> Bound | None:
    """Bind "that is 1,224 km/h" to what the sentence before gave a value of the same kind."""
    if not walk.is_again or walk.last is None or walk.last_phrase is None:
        return None
    walk.is_again = False
    if mention.span.start - walk.last_end > 2 * REACH:
        return None
    gap = FILLER.fullmatch(walk.text, walk.last_end, mention.span.start)
    is_end = _ENDS.match(walk.text, mention.span.end, walk.sentence.end)
    if gap is None or gap["relation"] or not is_end or mention.dimension != walk.last.dimension or is_bare(mention):
        return None
    approximate = bool(gap["approximate"]) or walk.last.approximate
    return made_fact(walk, mention, walk.last_phrase, Link("=", approximate), mention.span.end, walk.last.condition)


def _with(walk: Walk, mention: Mention) -> Bound | None:
    """Bind "with a maximum depth of 45 m it is …" to what "it" means."""
    start = max(walk.start, mention.span.start - REACH)
    match = _WITH.fullmatch(walk.text, start, mention.span.start)
    if match is None or not walk.is_asserted or not walk.known:
        return None
    if not _IT.match(walk.text, mention.span.end, walk.sentence.end) or match["before"].strip(" ,"):
        return None
    phrase = NounPhrase(Subject(walk.known, words_of(match["attribute"])))
    return made_fact(walk, mention, phrase, Link("=", bool(match["approximate"])), mention.span.end)


def _of_owner(walk: Walk, mention: Mention) -> Bound | None:
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
    return made_fact(walk, mention, phrase, Link("=", bool(match["approximate"])), mention.span.end)


def _also(walk: Walk, mention: Mention) -> Bound | None:
    """Bind "and a boiling point of 56 °C" to what has the value before it."""
    assert walk.last_phrase is not None
    match = _ALSO.fullmatch(walk.text, walk.last_end, mention.span.start)
    if match is None or not walk.last_phrase.subject.entity:
        return None
    phrase = replace(walk.last_phrase, subject=Subject(walk.last_phrase.subject.entity, words_of(match["attribute"])))
    return made_fact(walk, mention, phrase, Link("=", bool(match["approximate"])), mention.span.end)


def _inherited(walk: Walk, mention: Mention) -> Bound | None:
    """Bind one more value of the same attribute: "100 °C (212 °F) at sea level and 93 °C in Denver"."""
    if walk.last is None or walk.last_phrase is None or mention.span.start - walk.last_end > REACH:
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
    link = Link(relation_of(gap["relation"]), bool(gap["approximate"]) or (is_same and walk.last.approximate))
    return made_fact(walk, mention, phrase, link, end, condition)


def _again_measured(walk: Walk, mention: Mention) -> tuple[Subject, int]:
    assert walk.last_phrase is not None
    subject, end = walk.last_phrase.subject, mention.span.end
    adjective = ADJECTIVE.match(walk.text, end, min(end + REACH, walk.sentence.end))
    if adjective is None or not subject.entity:
        return subject, end
    word = adjective["word"].lower()
    return Subject(subject.entity, words_of(DIMENSIONS.get(word, word))), adjective.end()
