"""Answers that refuse: "the documents do not say", "I don't know", "no information about …" (ADR 0096).

A refusal says of the sources, or of the writer, that there is no answer. Whoever refuses and then asserts something all
the same does not refuse; whether anything else is asserted is the caller's to say.
"""

import re
from typing import Final

from services.common.reading.clauses import finite_verb_at
from services.common.reading.lexicon import AUXILIARIES, SUBORDINATORS
from services.common.reading.words import words

_READ_CHARS: Final = 2_000
_SOURCES: Final = (
    r"(?:(?:provided|given|supplied|available|retrieved|above|these|those|this|your|the|our) ){0,3}"
    r"(?:contexts?|documents?|documentation|sources?|facts?|texts?|passages?|materials?|excerpts?|handbook|manual|pages?"
    r"|knowledge base|records?|files?|information|data|guidelines?|article|report)"
)
_NEGATED: Final = (
    r"(?:do|does|did)(?: not|n['\u2019]t)|(?:is|are|was|were)(?: not|n['\u2019]t)|cannot|can(?: not|['\u2019]t)"
)
_SAYS: Final = (
    r"(?:say|state|mention|contain|specify|cover|address|answer|include|provide|give|tell|describe|indicate|reveal|explain"
    r"|hold|list|name|discuss|define|speak|offer|report|set out|go into|refer|note|show|supply|disclose|make clear)"
)
_NOTHING: Final = (
    r"(?:no|not any|not enough|insufficient|little or no|nothing|no (?:such|specific|further|relevant|direct|explicit))"
)
_MATTER: Final = r"(?:information|answer|mention|data|details?|statement|evidence|facts?|reference)"
_TOLD: Final = (
    r"(?:stated|mentioned|specified|given|found|answered|covered|known|available|provided|contained|clear|determined"
    r"|addressed|included|documented|recorded|described|defined|listed)"
)
_UNABLE: Final = (
    r"(?:do not|don['\u2019]t|cannot|can['\u2019]t|can not|could not|couldn['\u2019]t|am unable to|am not able to"
    r"|are unable to|am not sure|was unable to|were unable to|have no)"
)
_FIND: Final = (
    r"(?:know|find|say|tell|answer|determine|see|locate|idea|information|confirm|provide an answer|give an answer"
    r"|help with)"
)
_SUBJECT: Final = r"(?:this|that|it|the answer|the question|an answer|the (?:requested|required) \w+|such information)"
_NOT: Final = r"(?:(?:is|was|are)(?: not|n['\u2019]t)|(?:cannot|can['\u2019]t|could not|can not) be|does not)"
_PATTERNS: Final = (
    rf"^(?:{_SOURCES}) (?:{_NEGATED}) (?:\w+ )?{_SAYS}\b",
    rf"^(?:{_SOURCES}) (?:(?:say|contain|provide|give|include|hold|offer|mention)s? )(?:\w+ )?{_NOTHING}\b",
    rf"^(?:{_SOURCES}) (?:is|are) (?:silent|not sufficient|insufficient|not clear)\b",
    rf"^(?:{_SOURCES}) lacks?\b",
    (
        r"^(?:there (?:is|was|are|were|'s)|i (?:have|found|see|can find|could find)|we (?:have|found))"
        rf" {_NOTHING} (?:\w+ ){{0,2}}(?:{_MATTER}|indication|in the (?:context|documents?|handbook|sources?))\b"
    ),
    rf"^{_NOTHING} (?:\w+ ){{0,2}}{_MATTER}\b",
    r"^nothing (?:in|on|about) (?:\w+ ){1,6}(?:says?|states?|answers?|mentions?|covers?)\b",
    rf"^(?:i|we) (?:really |honestly |simply )?{_UNABLE}(?: \w+)? {_FIND}\b",
    r"^(?:i['\u2019]m|i am|we['\u2019]re|we are) (?:sorry|afraid|unable|not able|not sure)\b",
    (
        rf"^{_SUBJECT} {_NOT} (?:\w+ )?"
        r"(?:stated|mentioned|specified|found|answered|known|documented|clear|determined|appear)\b"
    ),
    rf"^{_SUBJECT} (?:is|was|are) (?:unknown|unclear)\b",
    rf"^[^.;:!?]{{1,90}} (?:is|are|was|were)(?: not|n['\u2019]t) (?:\w+ )?{_TOLD} (?:in|by|within|from) {_SOURCES}\b",
    r"^(?:unknown|not known|not stated|not specified|not mentioned|no answer|no information|n/a)\W*$",
)
_REFUSES: Final = re.compile("|".join(f"(?:{pattern})" for pattern in _PATTERNS), re.IGNORECASE)
_PREFIX: Final = re.compile(
    r"^(?:(?:unfortunately|sadly|sorry|regrettably|however|apologies|hm+|no|based on (?:the|this) [\w ]{1,40}"
    r"|(?:according to|from|in|with) (?:the|this|what) [\w ]{1,40}|as far as i (?:know|can see))[,:.]?\s+)",
    re.IGNORECASE,
)
_THAT: Final = re.compile(r"^(?:that|but)\s+", re.IGNORECASE)
_MOST_PREFIXES: Final = 3
_MARKUP: Final = "*_`>#\"'\u201c\u201d\u2018\u2019- \t"


def refuses(sentence: str) -> bool:
    """Say whether a sentence says that there is no answer."""
    return _refusal(sentence) is not None


def _refusal(sentence: str) -> str | None:
    """Return a sentence that says so, from where it begins to; ``None`` for any other."""
    text = " ".join(sentence[:_READ_CHARS].split()).strip(_MARKUP)
    for _ in range(_MOST_PREFIXES):
        if _REFUSES.match(text):
            return text
        shorter = _THAT.sub("", _PREFIX.sub("", text, count=1), count=1)
        if shorter == text:
            return None
        text = shorter
    return None


def only_refuses(sentence: str) -> bool:
    """Say whether a sentence says that there is no answer, and goes on with nothing but whom to ask.

    "The documents don't say, so please ask the desk" refuses; "the documents name no limit, so there is none" and "the
    documents say nothing against dogs" assert something.
    """
    text = _refusal(sentence)
    if text is None or _PERMITS.search(text):
        return False
    _, *rest = _GOES_ON.split(text)
    return all(_adds_nothing(part.strip()) for part in rest)


def _adds_nothing(part: str) -> bool:
    if refuses(part):
        return True
    asking = _ASKING.match(part)
    tail = words(part[asking.end() :] if asking else part)
    if asking and (len(tail) > _MOST_ASKED or any(word.text in _JOINING for word in tail)):
        return False
    return finite_verb_at(tail) is None and not any(word.text in AUXILIARIES for word in tail)


_PERMITS: Final = re.compile(r"\b(?:against|forbid\w*|prohibit\w*|bans?|banning|restrictions?)\b", re.IGNORECASE)
"""Where the sources are said to be silent of these, something is said to be allowed."""
_GOES_ON: Final = re.compile(
    r"[,;:()]\s?|\s[\u2013\u2014-]\s|[\u2013\u2014]"
    r"|\s(?:and|but|so|because|since|as|while|though|although|therefore|hence|yet)(?=\s)",
    re.IGNORECASE,
)
_ASKING: Final = re.compile(
    r"(?:(?:so|therefore|hence|that)\s)?(?:(?:please|(?:it|you|i)(?:['\u2019]d|['\u2019]s)?"
    r"(?:\s(?:may|might|would|could|should|is|be|want|wish|need|to|best|better|worth|well|suggest|recommend)){1,5})\s)?"
    r"(?:ask|check|contact|confirm|consult|clarify|enquire|inquire)(?:ing)?\b(?!\s(?:in|out)\b)",
    re.IGNORECASE,
)
_MOST_ASKED: Final = 6
"""So few words name whom to ask; more of them say something."""
_JOINING: Final = SUBORDINATORS | frozenset({"who", "whose", "whom", "which", "that", "and", "or", "but", "so"})
