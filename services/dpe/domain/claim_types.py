"""What kind of assertion a claim is (SPEC-005 §3.3), and how specific (§3.2).

Rules, in this order, with one principle above them: whatever names a number, a date, an amount or an address is checked
as FACTUAL unless it is a plain instruction. An answer must not escape its analysis by "arguably" or "as mentioned".

Specificity is published: ``1 - 0.6**values * 0.7**names * (1/0.8)**-hedges`` in words: every value leaves 60 % of what
is unspecific, every name 70 %, and every hedge (three at most) takes 20 % off the result; rounded to four digits. One
name alone gives 0.30, the bound between PARAMETRIC and UNVERIFIABLE (§4.3).
"""

import re
from typing import Final

from services.common.questions.refusals import only_refuses, refuses
from services.common.reading.lexicon import (
    AUXILIARIES,
    BASE_VERBS,
    COURTESIES,
    DISCOURSE_PREFIX,
    HEDGES,
    IMPERATIVES,
    IRREGULAR_VERBS,
    META_MARKERS,
    OPINION_MARKERS,
    OWED,
    STOPWORDS,
    SUBORDINATORS,
)
from services.common.reading.text_types import ClaimType, SentenceKind
from services.common.reading.words import words

VALUE_FACTOR: Final = 0.6
NAME_FACTOR: Final = 0.7
HEDGE_FACTOR: Final = 0.8
MAX_HEDGES: Final = 3
_DIGITS: Final = 4
_READ_CHARS: Final = 2_000
"""Rules look at the first 2,000 characters of a claim: bounded work on hostile input."""

_OPINION: Final = re.compile("|".join(OPINION_MARKERS), re.IGNORECASE)
_OWED: Final = re.compile(OWED, re.IGNORECASE)
_META: Final = re.compile("|".join(META_MARKERS), re.IGNORECASE)
_COURTEOUS: Final = re.compile("|".join(COURTESIES), re.IGNORECASE)
_PREFIX: Final = re.compile(DISCOURSE_PREFIX, re.IGNORECASE)
_ADVICE: Final = re.compile(
    r"^(?:(?:i|we)(?:['\u2019]d| would)?\s(?:recommend|suggest|advise)\b|please\s+"
    r"|you\s+(?:should|must|need to|have to|will need to|are advised to)\s+"
    r"|(?:to|in order to)\s+[^,]{3,120},\s+(?:please\s+|you\s+(?:should|must|need to|have to|can)\s+)?(?=[a-z]))",
    re.IGNORECASE,
)
_MIN_INSTRUCTION_WORDS: Final = 2
_OPENING: Final = frozenset(
    {"please", "then", "first", "next", "always", "never", "do", "don't", "also", "now", "finally", "simply", "just"}
    | {"carefully", "instead", "afterwards"}
)
_VERBS: Final = IMPERATIVES | BASE_VERBS
_STATING: Final = AUXILIARIES | (IRREGULAR_VERBS - _VERBS)
"""Words that make a statement of what begins like an instruction: "Record sales were reported"."""
_DETERMINERS: Final = frozenset(
    {"the", "a", "an", "your", "this", "these", "those", "any", "each", "every", "all", "it", "them"}
)
_NO_VERBS: Final = (
    STOPWORDS
    | SUBORDINATORS
    | frozenset(
        {
            "like",
            "despite",
            "among",
            "within",
            "without",
            "upon",
            "per",
            "via",
            "across",
            "along",
            "around",
            "behind",
            "beside",
        }
        | {
            "besides",
            "beyond",
            "inside",
            "near",
            "outside",
            "toward",
            "towards",
            "throughout",
            "unlike",
            "half",
            "not",
            "even",
        }
        | {"neither", "nor", "although", "perhaps", "maybe", "today", "yesterday", "tomorrow", "yes", "sure"}
    )
)
_FIRST_PERSON: Final = re.compile(r"^I(?:'m|'ve|'d|'ll|\u2019m|\u2019ve|\u2019d|\u2019ll)?\s")
_HEDGE: Final = re.compile(
    r"^(?:(?:I|we) (?:think|believe|suspect|guess|assume)(?: that)?\s"
    r"|(?:I['\u2019]m|I am) (?:afraid|sorry|(?:happy|glad|pleased|sorry) to (?:say|tell you|confirm))"
    r"(?:,? but)?(?: that)?,?\s"
    r"|(?:(?:great|good) question|thanks|thank you|happy to help)[^,:!.]{0,40}[,:!.]\s)",
    re.IGNORECASE,
)
"""What is claimed with less than certainty is claimed."""
_COURTESY: Final = re.compile(
    r"^(?:let me|let's|allow me"
    r"|(?:please )?feel free(?=\s*[!.,]|\s*$| to (?:ask|contact|write|reach|let|get|come back|share))"
    r"|please (?:let|ask)|have a|hope|thanks?"
    r"|see (?:the )?\w* ?(?:above|below))\b",
    re.IGNORECASE,
)
_HEAD_CHARS: Final = 120
_HEAD_WORDS: Final = 8
_GOAL: Final = re.compile(
    r"^(?:(?:to|if|when|once|after|before|in case)\b[^,]{3,120},\s+)(?P<rest>.*)", re.IGNORECASE | re.DOTALL
)
_MARKUP: Final = "*_`\"'“”‘’>#- "  # noqa: RUF001 - typographic quotes


def classify(text: str, *, has_values: bool, kind: SentenceKind) -> ClaimType:
    """Return the type of one claim.

    Args:
        text: the claim, as it stands.
        has_values: it holds a number, date, amount, address or identifier.
        kind: what the sentence is part of.
    """
    bare = text[:_READ_CHARS].strip(_MARKUP)
    said = _PREFIX.sub("", bare, count=1).lstrip(_MARKUP)
    core = _HEDGE.sub("", said, count=1)
    # A refusal speaks of the sources, not of the matter (ADR 0096).
    is_courteous = any(_COURTEOUS.match(one.replace("\u2019", "'")) for one in (said, core))
    if not has_values and (_COURTESY.match(core) or is_courteous):
        return ClaimType.META
    refusal = bare if core == said else core
    if not has_values and refuses(refusal):
        # What is concluded from silence is claimed: "the document names no limit, so there is none".
        return ClaimType.META if only_refuses(refusal) else ClaimType.FACTUAL
    if _is_imperative(core):
        return ClaimType.PROCEDURAL
    if has_values:
        return ClaimType.FACTUAL
    return _type_without_values(text, bare, core, kind)


def _type_without_values(text: str, bare: str, core: str, kind: SentenceKind) -> ClaimType:
    leads_in = not core or kind is SentenceKind.HEADING or text.rstrip(_MARKUP).endswith((":", "?"))
    if leads_in or _META.search(bare) or _META.search(core):
        return ClaimType.META
    if _OPINION.search(_OWED.sub(" ", bare)):
        return ClaimType.OPINION
    if _FIRST_PERSON.match(core):
        # What the assistant says of itself.
        return ClaimType.META
    return ClaimType.PROCEDURAL if _ADVICE.match(core) else ClaimType.FACTUAL


def _is_imperative(core: str) -> bool:
    """Say whether a claim tells the reader to do something: a bare verb first, and no verb that states anything."""
    goal = _GOAL.match(core)
    head = (goal.group("rest") if goal else core)[:_HEAD_CHARS]
    tokens = words(head)
    while tokens and tokens[0].text in _OPENING:
        negated = len(tokens) > 1 and tokens[1].text == "not"
        tokens = tokens[2:] if negated else tokens[1:]
    if len(tokens) < _MIN_INSTRUCTION_WORDS:
        return False
    first, second = tokens[0].text, tokens[1].text
    is_unknown_verb = second in _DETERMINERS and first not in _NO_VERBS and not first.endswith(("ing", "ed", "ly", "s"))
    if first not in _VERBS and not is_unknown_verb:
        return False
    # "Record sales were reported", "Wear and tear is ...", "Check-ups count": here the first word is a noun.
    if head[tokens[0].end] in "-,/" or (second in {"and", "or", "of"} and not is_unknown_verb):
        return False
    for token in tokens[1:_HEAD_WORDS]:
        if token.text in SUBORDINATORS:
            break
        if token.text in _STATING:
            return False
    return True


def specificity(text: str, values: int, names: int) -> float:
    """Return how specific a claim is, 0.0-1.0, by the published formula."""
    hedges = min(MAX_HEDGES, sum(1 for word in words(text) if word.text in HEDGES))
    specific = 1.0 - VALUE_FACTOR**values * NAME_FACTOR**names
    return round(specific * HEDGE_FACTOR**hedges, _DIGITS)


def is_name(text: str) -> bool:
    """Say whether a recognised name is one: some word of it is capitalised and no stop word."""
    return any(
        word.text not in STOPWORDS and (text[word.start].isupper() or text[word.start].isdigit())
        for word in words(text)
    )
