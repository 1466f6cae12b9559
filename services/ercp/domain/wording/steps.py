"""The order of two steps: "A before B", "A only once B", "first A, then B", "not A until B"."""

import re
from typing import Final

from services.ercp.domain.predicates import Predicate, PredicateName, Text
from services.ercp.domain.predicates.naming import event_words
from services.ercp.domain.wording.amounts import read
from services.ercp.domain.wording.model import NotUnderstoodError

_MODAL: Final = (
    r"(?:must|shall|should|has\s+to|have\s+to|needs?\s+to|may|can|will|is\s+to|are\s+to|is|are|be|ought\s+to)"
)
_ONLY_AFTER: Final = re.compile(
    r"(?P<later>.+?),?\s+(?:only\s+(?:once|after|when)|(?:not|never)\s+before|no\s+sooner\s+than|not\s+until)\s+(?P<earlier>.+)",
    re.IGNORECASE,
)
_UNTIL: Final = re.compile(
    r"(?P<later>.*(?:\bnot\b|n't\b|\bnever\b|\bno\b).*?)\s+(?:until|till|before)\s+(?P<earlier>.+)", re.IGNORECASE
)
_ONLY_FIRST: Final = re.compile(
    r"only\s+(?:once|after)\s+(?P<earlier>[^,]+),?\s+(?:may|can|should|must|do|does|is|are)\s+(?P<later>.+)",
    re.IGNORECASE,
)
_FIRST_THEN: Final = re.compile(
    r"(?:first|start\s+with|begin\s+with)\s+(?P<earlier>[^,;]+?)[,;]?\s+(?:and\s+)?(?:then|afterwards|after\s+that|next)\s+(?P<later>[^,;]+)"
    r"|(?P<earlier2>[^,;]+?)\s+(?:come[s]?\s+|goes\s+|go\s+|is\s+|are\s+)?first,?\s+(?:and\s+)?(?:then|followed\s+by)\s+(?P<later2>[^,;]+)",
    re.IGNORECASE,
)
_BEFORE: Final = re.compile(
    rf"(?P<earlier>.+?)\s+(?:{_MODAL}\s+)?(?:(?:comes?|goes|go|stands?|happens?|follows?|placed|put|done|finished|named|listed|given)\s+)?"
    r"(?P<word>before|ahead\s+of|prior\s+to|after)\s+(?P<later>.+)",
    re.IGNORECASE,
)
_NO_ORDER: Final = re.compile(
    r"\b(?:day|week|month|year|night|than|as|same|long|shortly|just|immediately|right|hours?|minutes?)\s+(?:before|after)\b|\bafter\s+(?:all|that)\b",
    re.IGNORECASE,
)
_NEGATED: Final = re.compile(r"\b(?:not|never|no|nobody|nothing|none)\b|n't\b", re.IGNORECASE)
_LEAD: Final = re.compile(
    rf"\A(?:(?:the|an?|all|any|you|we|they|it|he|she|it's|they're|always|first|to|put|place|list|show|{_MODAL})\s+)*",
    re.IGNORECASE,
)
_INNER: Final = re.compile(rf"\s+{_MODAL}\s+(?=\w)", re.IGNORECASE)
_DENIAL: Final = re.compile(
    r"\b(?:not|never|do|does|don't|doesn't|must|may|can|can't|cannot|should|shouldn't|mustn't|be|no)\b\s*",
    re.IGNORECASE,
)
_MORE: Final = re.compile(r"\b(?:then|last|finally|before|after|and\s+only)\b", re.IGNORECASE)
_TELLING: Final = re.compile(r"(?:mention|tell|say|state|explain|warn|remind|include|add|describe)\b", re.IGNORECASE)
_SAYING: Final = re.compile(
    r"\b(?:before|after)\s+(?:saying|explaining|giving|offering|mentioning|listing|describing|telling|naming|stating|asking|apologi[sz]ing|the)\b",
    re.IGNORECASE,
)
_MOST_WORDS: Final = 10


def read_order(sentence: str) -> tuple[Predicate, str] | None:
    """Read the order of two steps, or ``None``.

    Raises:
        NotUnderstoodError: it orders more than two.
    """
    if _NO_ORDER.search(sentence) or read(sentence):
        return None
    if _TELLING.match(sentence) and not _SAYING.search(sentence):
        return None  # what is to be told may itself have an order
    pair = _pair(sentence)
    if pair is None:
        return None
    earlier, later = (_event(event) for event in pair)
    if any(_MORE.search(event) for event in (earlier, later)):
        raise NotUnderstoodError("it orders more than two steps, and TemporalOrder holds two")
    words = [frozenset(event_words(event)) for event in (earlier, later)]
    if not all(words) or words[0] == words[1] or any(len(each) > _MOST_WORDS for each in words):
        raise NotUnderstoodError("which two steps it orders is not plain")
    return Predicate(PredicateName.TEMPORAL_ORDER, Text(earlier), Text(later)), "order"


def _pair(sentence: str) -> tuple[str, str] | None:
    only = _ONLY_AFTER.fullmatch(sentence) or _ONLY_FIRST.fullmatch(sentence)
    if only is not None:
        return only["earlier"], _DENIAL.sub("", only["later"]) if _NEGATED.search(only["later"]) else only["later"]
    listed = _FIRST_THEN.fullmatch(sentence)
    if listed is not None:
        return listed["earlier"] or listed["earlier2"], listed["later"] or listed["later2"]
    until = _UNTIL.fullmatch(sentence)
    if until is not None:
        return until["earlier"], _DENIAL.sub("", until["later"])
    match = _BEFORE.fullmatch(sentence)
    if match is None or _NEGATED.search(sentence):
        return None
    sides = (match["earlier"], match["later"])
    return (sides[1], sides[0]) if match["word"].lower() == "after" else sides


def _event(text: str) -> str:
    """Return a step without its article, pronoun and modal verb."""
    bare = _INNER.sub(" ", f" {_LEAD.sub('', text.strip(' ,;.'))}").strip()
    return bare.strip(" ,;.")[:200]
