"""The order of steps: "A before B", "A only once B", "first A, then B", "not A until B"."""

import re
from typing import Final

from services.ercp.domain.predicates import Predicate, PredicateName, Steps, Text
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
    r"|(?P<earlier2>[^,;]+?)\s+(?:come[s]?\s+|goes\s+|go\s+|is\s+|are\s+)?first,?\s+(?:and\s+)?(?:then|followed\s+by)\s+(?P<later2>[^,;]+)"
    r"|(?P<earlier3>[^,;]+?)\s+(?:come[s]?\s+|goes\s+|go\s+)?first[,;]\s+(?:and\s+)?(?P<later3>[^,;]+?)\s+(?:below|after(?:wards)?|second|later|last|at\s+the\s+end)",
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
_ALTERNATIVE: Final = re.compile(r",\s*(?:or|not)\s", re.IGNORECASE)
_TELLING: Final = re.compile(r"(?:mention|tell|say|state|explain|warn|remind|include|add|describe)\b", re.IGNORECASE)
_SAYING: Final = re.compile(
    r"\b(?:before|after)\s+(?:saying|explaining|giving|offering|mentioning|listing|describing|telling|naming|stating|asking|apologi[sz]ing|the)\b",
    re.IGNORECASE,
)
_NEXT: Final = re.compile(
    r"\s+before\s+|[,;]?\s+(?:and\s+)?(?:then|next|afterwards|after\s+that|finally|lastly|at\s+last|and\s+last)[,]?\s+|[,;]\s+(?:and\s+)?",
    re.IGNORECASE,
)
_OPENED: Final = re.compile(
    r"(?:(?:it\s+is|the\s+order\s+is|in\s+this\s+order):?\s+)?(?:first(?:ly)?|start\s+with|begin\s+with)[,]?\s+",
    re.IGNORECASE,
)
_HOLDER: Final = re.compile(
    rf"\A(?:the\s+)?[a-z]+(?:\s[a-z]+)?\s+{_MODAL}\s+(?:list|show|name|give|have|contain|be|cover|go)(?::?\s+|:)(?=\S)",
    re.IGNORECASE,
)
"""What has the steps: "the changelog must list"."""
_FIRST: Final = re.compile(r"\s+(?:come[s]?\s+|goes\s+|go\s+|is\s+|are\s+)?first\Z", re.IGNORECASE)
_LAST: Final = re.compile(
    r"\A(?:finally|lastly|last)[,]?\s+|\s+(?:come[s]?\s+|goes\s+|go\s+|is\s+|are\s+)?last\Z", re.IGNORECASE
)
_CHAIN: Final = re.compile(r"\bthen\b.*\b(?:then|finally|lastly|last)\b|\bbefore\b.*\bbefore\b", re.IGNORECASE)
_BETWEEN: Final = re.compile(
    r"(?P<step>.+?)\s+(?:comes?|goes|go|is|are|must\s+(?:be|come)|has\s+to\s+(?:be|come)|should\s+(?:be|come))\s+(?P<way>after|before)\s+(?P<one>.+?)"
    r"\s+(?:and|but)\s+(?P<way2>after|before)\s+(?P<other>.+)",
    re.IGNORECASE,
)
_MOST_WORDS: Final = 10
_ONLY_THEN: Final = re.compile(r"\b(?:only\s+then|then\s+only|then\s+and\s+only\s+then)\b", re.IGNORECASE)


def read_order(sentence: str) -> tuple[Predicate, str] | None:
    """Read the order of two steps, or ``None``.

    Raises:
        NotUnderstoodError: it orders more than two.
    """
    if _NO_ORDER.search(sentence) or read(sentence):
        return None
    if _TELLING.match(sentence) and not _SAYING.search(sentence):
        return None  # what is to be told may itself have an order
    sentence = _ONLY_THEN.sub("then", sentence)
    several = _several(sentence)
    if several is not None:
        return _sequence(several)
    pair = _pair(sentence)
    if pair is None:
        return None
    earlier, later = (_event(event) for event in pair)
    if any(_ALTERNATIVE.search(event) for event in (earlier, later)):
        raise NotUnderstoodError("it leaves an alternative to its order")
    if any(_MORE.search(event) for event in (earlier, later)):
        raise NotUnderstoodError("it orders more than two steps, and TemporalOrder holds two")
    words = [frozenset(event_words(event)) for event in (earlier, later)]
    if not all(words) or words[0] == words[1] or any(len(each) > _MOST_WORDS for each in words):
        raise NotUnderstoodError("which two steps it orders is not plain")
    return Predicate(PredicateName.TEMPORAL_ORDER, Text(earlier), Text(later)), "order"


def _several(sentence: str) -> list[str] | None:
    """Return three steps and more: "first A, then B, finally C", "A before B before C", "after A and before B comes C"."""
    between = _BETWEEN.fullmatch(sentence)
    if between is not None:
        step, ends = (
            between["step"],
            {between["way"].lower(): between["one"], between["way2"].lower(): between["other"]},
        )
        return [ends["after"], step, ends["before"]] if len(ends) > 1 else None
    parts = _NEXT.split(sentence)
    opened = _OPENED.match(parts[0])
    first = _HOLDER.sub("", _FIRST.sub("", parts[0][opened.end() :] if opened is not None else parts[0]))
    last = _LAST.sub("", parts[-1])
    is_told = opened is not None or _FIRST.search(parts[0]) or last != parts[-1] or _CHAIN.search(sentence)
    return [first, *parts[1:-1], last] if len(parts) > 2 and is_told else None  # noqa: PLR2004 - two are a pair


def _sequence(steps: list[str]) -> tuple[Predicate, str]:
    events = tuple(_event(step) for step in steps)
    words = [frozenset(event_words(event)) for event in events]
    if not all(0 < len(each) <= _MOST_WORDS for each in words) or len(set(words)) < len(words):
        raise NotUnderstoodError("which steps it orders is not plain")
    if any(_MORE.search(event) or _NEGATED.search(event) for event in events):
        raise NotUnderstoodError("which steps it orders is not plain")
    return Predicate(PredicateName.SEQUENCE, Steps(events)), "order"


def _pair(sentence: str) -> tuple[str, str] | None:
    only = _ONLY_AFTER.fullmatch(sentence) or _ONLY_FIRST.fullmatch(sentence)
    if only is not None:
        return only["earlier"], _DENIAL.sub("", only["later"]) if _NEGATED.search(only["later"]) else only["later"]
    listed = _FIRST_THEN.fullmatch(sentence)
    if listed is not None:
        part = listed.groupdict()
        earlier, later = (
            next(part[name] for name in (side, f"{side}2", f"{side}3") if part[name]) for side in ("earlier", "later")
        )
        return earlier, later
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
