"""What each sentence of a text is about, so that only sentences about one thing are held against each other (ADR 0080).

Rules for English, no parser: the subject is what stands before the first verb, a pronoun at the start means the subject
of the sentence before. Where that is not plain the subject is unknown, and two sentences are taken to be about two
things.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from services.ercp.domain.predicates.naming import words_of
from services.ercp.domain.records import Sentence

_REACH: Final = 160
"""So many characters of a sentence may stand before its first verb."""
_DETERMINERS: Final = (
    r"an?|the|its?|their|his|her|our|your|this|these|those|each|every|all|no|one|two|three|four|five|six|seven|eight|nine|"
    r"ten|more|less|fewer|about|around|another|both|some|any"
)
_NO_VERB: Final = (
    rf"(?:{_DETERMINERS}|at|in|on|under|during|for|with|without|near|above|below|of|to|from|by|and|or|nor|but|than|as|per|"
    r"between|into|onto|over|after|before|until|since|because|if|when|that|which|who|not|so|then|within|beyond|through|"
    r"across|against|outside|inside|next|like)"
)
_AUXILIARY: Final = (
    r"(?:is|are|was|were|has|have|had|does|do|did|will|would|can|could|may|might|must|shall|should|cannot|need|needs|remains?|"
    r"becomes?|stays?|stands?|equals?)(?:n['\u2019]t)?"
)
_VERB: Final = re.compile(
    rf"\b(?:{_AUXILIARY}\b"
    rf"|(?!{_NO_VERB}\b)[a-z]+(?=\s(?:(?:{_DETERMINERS})\b|[-−$€£]?\d))"  # noqa: RUF001 - the minus sign of texts
    r"|[a-z]{2,}(?:s|ed)(?=\s(?:at|in|on|to|for|from|by|with|up|down|not|never|only|near|after|before|until|that|[a-z]+ly)\b"
    r"|[.,;:!]|\Z))"
)
_CONNECTIVE: Final = re.compile(
    r"\s*(?:[-*•]\s+)?(?:(?:and|but|so|yet|then|thus|hence|therefore|however|also|moreover|meanwhile|still|instead|overall|"
    r"certainly|clearly|obviously|finally|first|secondly?|indeed|note|since|because|although|though|while|whereas)\b[\s,:]*)*",
    re.IGNORECASE,
)
_LEAD: Final = re.compile(
    r"(?P<lead>(?:at|in|on|under|during|for|with|without|near|above|below|inside|outside|when|if|once|after|before|until|from|"
    r"by|among|of|unlike|like|despite)\s(?:(?:the|an?|its|this|that|these|those|their)\s)?[^\s,]+(?:\s[^\s,]+){0,11}?)"
    r"(?:,\s+|\s(?=(?:the|its?|they|their|this|these|an?|he|she|we|you|one|each|every|all|no)\s))",
    re.IGNORECASE,
)
_PRONOUN: Final = re.compile(
    r"(?P<word>it|they|its|their|he|she|his|her|this|these)\b(?P<more>\s[a-z]+)?", re.IGNORECASE
)
_OWNING: Final = frozenset({"its", "their", "his", "her"})
_RELATIVE: Final = re.compile(r"[,(]|\s(?:who|which|that|whose|where|when)\s")
_DENIES: Final = re.compile(
    r"\b(?:not|never|cannot|no\s+longer|nobody|none|neither|nor|nothing|no\s+one)\b|n['\u2019]t\b", re.IGNORECASE
)
_ALLOWED: Final = re.compile(
    r"\b(?:allow(?:s|ed)?|permit(?:s|ted)?|may(?!\s+(?:be|have)\b)|can\s+be\s+used|is\s+fine|are\s+fine|welcome|admitted)\b",
    re.IGNORECASE,
)
_FORBIDDEN: Final = re.compile(
    r"\b(?:forbid(?:s|den)?|forbade|prohibit(?:s|ed)?|ban(?:s|ned)?|barred|disallow(?:s|ed)?|not\s+(?:be\s+)?(?:allow|permit|admit)\w*|"
    r"(?:may|must|can|shall)\s*not|mustn['\u2019]t|may\s+never|must\s+never)\b",
    re.IGNORECASE,
)
_OTHER: Final = frozenset(words_of("older newer other another second third former previous next old new latter alone"))
"""Words by which a text sets one thing apart from another of the same name."""


@dataclass(frozen=True, slots=True)
class Topic:
    """What a sentence is about.

    Attributes:
        subject: the stems of what stands before its verb, with those of what a pronoun means; empty when not plain.
        words: the stems of all its words, those of what a pronoun means included.
        lead: the stems of the condition that it begins with, as in "In winter, …".
        resolved: the sentence with the words that its first pronoun stands for.
        denies: says that something is not so.
        allows: says that something is allowed (True) or forbidden (False); ``None`` neither.
    """

    subject: frozenset[str]
    words: frozenset[str]
    lead: frozenset[str]
    resolved: str
    denies: bool
    allows: bool | None


def topics_of(sentences: Sequence[Sentence]) -> tuple[Topic, ...]:
    """Return what each sentence is about, in their order; time grows linearly with the text."""
    found: list[Topic] = []
    meant = ""
    for sentence in sentences:
        topic, meant = _topic(sentence.text, meant)
        found.append(topic)
    return tuple(found)


def topic_of(text: str) -> Topic:
    """Return what a sentence is about that stands alone."""
    return _topic(text, "")[0]


def aligned(first: Topic, second: Topic) -> bool:
    """Say whether two sentences are about one thing under one condition: what one is about, the other speaks of."""
    if bool(first.subject & _OTHER) != bool(second.subject & _OTHER):
        return False
    about = bool(first.subject) and first.subject <= second.words
    about = about or (bool(second.subject) and second.subject <= first.words)
    return about and _fits(first.lead, second.words) and _fits(second.lead, first.words)


def share(first: Topic, second: Topic) -> bool:
    """Say whether two sentences have a word in common besides what they are about: an attribute, a verb."""
    common = first.words & second.words
    return bool({word for word in common - (first.subject & second.subject) if not word[0].isdigit()})


def opposed(first: Topic, second: Topic) -> bool:
    """Say whether one sentence denies, or forbids, and the other does not."""
    if first.allows is not None and second.allows is not None:
        return first.allows != second.allows
    return first.denies != second.denies


def denials(text: str) -> int:
    """Return how many words of a sentence deny; "without" limits a thing and denies nothing."""
    return len(_DENIES.findall(text))


def _fits(lead: frozenset[str], words: frozenset[str]) -> bool:
    return not lead or 2 * len(lead & words) >= len(lead)


def _topic(text: str, meant: str) -> tuple[Topic, str]:
    """Return a sentence's topic, and what a pronoun in the next sentence means."""
    start = _end(_CONNECTIVE.match(text))
    lead = _LEAD.match(text, start, min(len(text), start + _REACH))
    begin = lead.end() if lead else start
    verb = _VERB.search(text, begin, min(len(text), begin + _REACH))
    head = text[begin : verb.start()].strip() if verb else ""
    stop = _RELATIVE.search(head)
    head = head[: stop.start()] if stop else head
    pronoun = _PRONOUN.match(head)
    if pronoun is None:
        owner, resolved, antecedent = head, text, head
    else:
        is_owning = pronoun["word"].lower() in _OWNING
        said = head[pronoun.end("word") :]
        is_named = bool(said.strip()) and not is_owning  # "this limit"
        owner = said if is_named else f"{meant} {said}"
        stands = f"{meant}'s" if is_owning else meant
        resolved = text if is_named or not meant else f"{text[:begin]}{stands}{text[begin + pronoun.end('word') :]}"
        antecedent = said if is_named else meant
    topic = Topic(
        subject=_stems(owner),
        words=_stems(resolved),
        lead=_stems(lead["lead"]) if lead else frozenset(),
        resolved=resolved,
        denies=len(_DENIES.findall(text)) % 2 == 1,
        allows=False if _FORBIDDEN.search(text) else True if _ALLOWED.search(text) else None,
    )
    return topic, antecedent or meant


def _stems(text: str) -> frozenset[str]:
    return frozenset(words_of(text)) if text.strip() else frozenset()


def _end(match: re.Match[str] | None) -> int:
    return match.end() if match else 0
