"""What each sentence of a text is about, so that only sentences about one thing are held against each other (ADR 0080).

Rules for English, no parser: the subject is what stands before the first verb, a pronoun at the start means the subject
of the sentence before. Where that is not plain the subject is unknown, and two sentences are taken to be about two
things.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from services.common.grounding.words import NUMBER_WORDS
from services.ercp.domain.predicates import Span
from services.ercp.domain.predicates.mentions import read_mentions
from services.ercp.domain.predicates.naming import words_of
from services.ercp.domain.records import Sentence

_MOST_PLACES: Final = 8
_MOST_AMOUNTS: Final = 100
_REACH: Final = 160
"""So many characters of a sentence may stand before its first verb."""
_DETERMINERS: Final = (
    r"an?|the|its?|their|his|her|our|your|this|these|those|each|every|all|no|one|two|three|four|five|six|seven|eight|nine|"
    r"ten|more|less|fewer|about|around|another|both|some|any"
)
_NUMBERS: Final = "|".join(sorted(NUMBER_WORDS, key=len, reverse=True))
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
    rf"|(?!{_NO_VERB}\b)[a-z]+(?=\s(?:(?:{_DETERMINERS}|{_NUMBERS})\b|[-−$€£]?\d))"  # noqa: RUF001 - the minus sign of texts
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
_ADDITION: Final = re.compile(
    r"(?:because|since|as|so|which|who|while|whereas|although|though|but|and|or|not|where)\b", re.IGNORECASE
)
"""What follows a main clause: the words before it are no condition, as in "At night it falls, because …"."""
_PRONOUN: Final = re.compile(
    r"(?P<word>it|they|its|their|he|she|his|her|this|these)\b(?P<more>\s[a-z]+)?", re.IGNORECASE
)
_OWNING: Final = frozenset({"its", "their", "his", "her"})
_RELATIVE: Final = re.compile(r"[,(]|\s(?:who|which|that|whose|where|when)\s")
_DENIES: Final = re.compile(
    r"\b(?:not|never|cannot|no\s+longer|nobody|none|neither|nor|nothing|no\s+one|"
    r"no(?!\s+(?:more|less|later|earlier|fewer|greater|higher|lower|doubt|sooner)\b)(?=\s+[a-z]))\b|n['\u2019]t\b",
    re.IGNORECASE,
)
_ALLOWED: Final = re.compile(
    r"\b(?:allow(?:s|ed)?|permit(?:s|ted)?|(?-i:may)(?!\s+(?:be|have)\b)|can\s+be\s+used|is\s+fine|are\s+fine|welcome|admitted)\b",
    re.IGNORECASE,
)
_FORBIDDEN: Final = re.compile(
    r"\b(?:forbid(?:s|den)?|forbade|prohibit(?:s|ed)?|ban(?:s|ned)?|barred|disallow(?:s|ed)?|not\s+(?:be\s+)?(?:allow|permit|admit)\w*|"
    r"(?:may|must|can|shall)\s*not|mustn['\u2019]t|may\s+never|must\s+never)\b",
    re.IGNORECASE,
)
_PLACE: Final = re.compile(
    r"\b(?P<at>at|in|on|under|during|for|with|without|from|above|below|near|inside|outside)\s+"
    rf"(?:(?:an?|the|its?|their|his|her|our|your|this|these|that|those|each|every|all|any)\s+)?"
    rf"(?P<what>(?!\d)[^\s,.;:()]+(?:\s(?!{_NO_VERB}\b|{_AUXILIARY}\b)[^\s,.;:()]+){{0,2}})",
    re.IGNORECASE,
)
"""Where, when or for whom something holds."""
_CLAUSE_END: Final = re.compile(
    r"[;:]|,\s+(?:so|as|since|because|but|while|which|who)\b|\s(?:because|since|but|while|although)\s"
)
_DEONTIC: Final = frozenset(
    words_of("allow permit forbid forbidden forbade prohibit ban bar disallow fine welcome admit")
)
_PAIRS: Final = (
    "open close", "fix variable", "free paid", "full empty", "include exclude", "mandatory optional", "public private",
    "accept reject", "rise fall", "increase decrease", "legal illegal", "safe dangerous", "alive dead",
    "present absent", "succeed fail", "possible impossible", "same different", "hot cold", "wet dry", "valid invalid",
    "locked unlocked", "complete incomplete", "true false", "reversible irreversible", "permanent temporary",
)  # fmt: skip
_OPPOSITES: Final = {
    words_of(word)[0]: words_of(other)[0] for pair in _PAIRS for word, other in (pair.split(), pair.split()[::-1])
}
"""Words of which one denies the other."""
_NUMBER: Final = re.compile(r"\d[\d,.]*\d|\d")
_STEMS_OF_DENIAL: Final = frozenset(words_of("not never cannot no longer nobody none neither nor nothing"))
_OTHER: Final = frozenset(words_of("older newer other another second third former previous next old new latter alone"))
"""Words by which a text sets one thing apart from another of the same name."""


@dataclass(frozen=True, slots=True)
class Topic:
    """What a sentence is about.

    Attributes:
        subject: the stems of what stands before its verb, with those of what a pronoun means; empty when not plain.
        words: the stems of all its words, those of what a pronoun means included.
        telling: those without amounts and their units.
        lead: the stems of the condition that it begins with, as in "In winter, …".
        resolved: the sentence with the words that its first pronoun stands for.
        denies: says that something is not so.
        allows: says that something is allowed (True) or forbidden (False); ``None`` neither.
        core: the stems of its main clause, without measures, and words that only allow, forbid or deny.
        numbers: of its main clause.
        limits: what narrows its subject down, as in "an employee under eighteen".
        places: where, when or for whom it holds: a preposition and the stems behind it.
    """

    subject: frozenset[str]
    words: frozenset[str]
    telling: frozenset[str]
    lead: frozenset[str]
    resolved: str
    denies: bool
    allows: bool | None
    core: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()
    limits: tuple[frozenset[str], ...] = ()
    places: tuple[tuple[str, frozenset[str]], ...] = ()


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
    if is_set_apart(first, second):
        return False
    about = bool(first.subject) and first.subject <= second.words
    about = about or (bool(second.subject) and second.subject <= first.words)
    return about and _fits(first, second) and _fits(second, first)


def is_set_apart(first: Topic, second: Topic) -> bool:
    """Say whether two sentences speak of two places, times or persons, or one of "the other", "the former"."""
    return _elsewhere(first, second) or bool(first.subject & _OTHER) != bool(second.subject & _OTHER)


def share(first: Topic, second: Topic) -> bool:
    """Say whether two sentences have a word in common besides what they are about: an attribute, a verb, no unit."""
    return bool(first.telling & second.telling - (first.subject & second.subject))


def same(first: Topic, second: Topic) -> bool:
    """Say whether two sentences say the same of what they are about, denials apart: one has all words of the other."""
    if first.numbers and second.numbers and first.numbers.isdisjoint(second.numbers):
        return False  # "port 22" and "port 23"
    about = first.subject | second.subject
    mine, theirs = (
        frozenset(word for word in one.core - about if _OPPOSITES.get(word) not in other.core)
        for one, other in ((first, second), (second, first))
    )
    if not mine or not theirs:
        return mine == theirs or (first.allows is not None and second.allows is not None)
    return mine <= theirs or theirs <= mine


def turns(first: Topic, second: Topic) -> int:
    """Return how often the second sentence turns round what the first says: by a denial or a ban, by an opposite; 0-2.

    Twice is not at all: "open to guests" and "not closed to guests".
    """
    opposite = any(
        _OPPOSITES[word] in second.words and word not in second.words and _OPPOSITES[word] not in first.words
        for word in first.words & _OPPOSITES.keys()
    )
    if first.allows is not None and second.allows is not None:
        return opposite + (first.allows != second.allows)
    return opposite + (first.denies != second.denies)


def denials(text: str) -> int:
    """Return how many words of a sentence deny; "without" limits a thing and denies nothing."""
    return len(_DENIES.findall(text))


def _elsewhere(first: Topic, second: Topic) -> bool:
    """Say whether two sentences speak of two places, times or persons: "on Mondays" and "on Sundays"."""
    return any(
        at == other and not what <= where and not where <= what
        for at, what in first.places
        for other, where in second.places
    )


def _fits(topic: Topic, other: Topic) -> bool:
    """Say whether another sentence speaks of the circumstances of a sentence too: of half their words at least."""
    circumstances = (topic.lead, *topic.limits)
    return all(2 * len(each & other.words) >= len(each) for each in circumstances)


def _topic(text: str, meant: str) -> tuple[Topic, str]:
    """Return a sentence's topic, and what a pronoun in the next sentence means."""
    start = _end(_CONNECTIVE.match(text))
    lead = _LEAD.match(text, start, min(len(text), start + _REACH))
    lead = None if lead and _ADDITION.match(text, lead.end()) else lead
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
    clause = _CLAUSE_END.search(text, begin)
    main = text[: clause.start()] if clause else text
    telling = _telling(resolved)
    topic = Topic(
        subject=_stems(owner),
        words=_stems(resolved),
        telling=telling,
        lead=_stems(lead["lead"]) if lead else frozenset(),
        resolved=resolved,
        denies=len(_DENIES.findall(main)) % 2 == 1,
        allows=False if _FORBIDDEN.search(main) else True if _ALLOWED.search(main) else None,
        core=(telling if main == resolved else _telling(main)) - _DEONTIC - _STEMS_OF_DENIAL,
        numbers=frozenset(_NUMBER.findall(main)),
        limits=tuple(_stems(match["what"]) for match in islice(_PLACE.finditer(head), _MOST_PLACES)),
        places=tuple(_places(text)),
    )
    return topic, antecedent or meant


def _places(text: str) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield the prepositions of a sentence with the words behind them; amounts are no places."""
    for match in islice(_PLACE.finditer(text), _MOST_PLACES):
        words = _telling(match["what"])
        if words:
            yield match["at"].lower(), words


def _telling(text: str) -> frozenset[str]:
    """Return the stems of a text without amounts and their units."""
    kept, start = "", 0
    for mention in read_mentions(text, Span(0, len(text)), _MOST_AMOUNTS):
        kept += f"{text[start : mention.span.start]} "
        start = mention.span.end
    return frozenset(word for word in _stems(kept + text[start:]) if not word[0].isdigit())


def _stems(text: str) -> frozenset[str]:
    return frozenset(words_of(text)) if text.strip() else frozenset()


def _end(match: re.Match[str] | None) -> int:
    return match.end() if match else 0
