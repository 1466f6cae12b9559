"""Who says it, and whether it is more than said (SPEC-005 §5.3, ADR 0095).

A claim that names another source than its fact does, one that tells as fact what the fact calls alleged, and one that
takes for decided what is proposed, a draft or withdrawn.
"""

import re
from dataclasses import dataclass
from typing import Final

from services.common.reading.polarity import is_negated
from services.common.reading.text_types import Span
from services.dpe.domain.conditions import without_conditions
from services.dpe.domain.findings import DistortionType, Rule
from services.dpe.domain.rules.finding import Departure
from services.dpe.domain.rules.reading import Reading, nearest, nearest_to, roots, share, statements

SAME: Final = 0.4
TOLD: Final = 0.6
"""Share of the claim's words that a sentence must hold for a claim to be told from it."""
_SAYING: Final = (
    r"(?:allege|argue|insist|maintain|accuse|blame|assert|complain|suspect|announce|assume|conclude)(?:s|d|ed)?"
    r"|(?:claim|report)(?:s|ed)?(?= that\b)|claimed|reported|says|said|states|stated|denies|denied"
    r"|alleging|claiming|arguing|saying|stating|blaming|accusing"
    # Words that say something only before "that", or of a figure.
    r"|(?:holds?|held|finds?|found|shows?|showed|notes?|noted|thinks?|thought|believes?|believed|expects?|expected"
    r"|estimates?|estimated|confirms?|confirmed|suggests?|suggested|warns?|warned|fears?|feared|considers?|considered)"
    r"(?= that\b)|puts?(?= [^.;]{2,80}? (?:at|down to|on)\b)"
)
_PHRASE: Final = re.compile(
    r"\b(?:according to|in the (?:view|opinion|words|judgement|judgment) of|in the eyes of|by the account of)\s"
    r"(?P<who>[^,;:.]{2,60})",
    re.IGNORECASE,
)
_AS: Final = re.compile(
    r"\bas (?P<who>[^,.;:]{2,60}?) (?:shows?|says?|states?|reports?|confirms?|notes?)\b", re.IGNORECASE
)
_IT_IS: Final = re.compile(r"^it (?:is|was) (?P<who>[^,;:]{2,60}?),? (?:that|who|which)\b", re.IGNORECASE)
_CLAUSE: Final = re.compile(
    rf"(?<!be )(?<!is )(?<!are )(?<!was )(?<!were )(?<!been )(?<!not )\b(?P<verb>{_SAYING})\b(?! (?:by|to)\b)",
    re.IGNORECASE,
)
_ALLEGED: Final = re.compile(
    r"\b(?:alleg(?:es?|ed|ing|edly)|claims(?= (?:that|to)\b)|claimed|claiming|suspect(?:s|ed)|accus(?:es|ed|ing)"
    r"|denies|denied|rumou?rs?|rumou?red"
    r"|reportedly|supposedly|purported(?:ly)?|is said to|are said to|unconfirmed|assumes?|assumed|speculat\w+)\b"
    # Expenses are claimed within six weeks, and nobody says so.
    r"(?<!are claimed(?= within ))(?<!is claimed(?= within ))(?<!be claimed(?= within ))",
    re.IGNORECASE,
)
_PLANNED: Final = re.compile(
    r"\b(?:propos(?:e|es|ed|al|als|ing)|drafts?|drafted|planned|(?<!for )planning|plans to"
    r"|(?:(?<=\bwe )|(?<=\bthey )|(?<=\w\ws ))plan to"
    r"|considers?|considered|considering"
    r"|envisag\w+|intend(?:s|ed)|under (?:discussion|consideration)|shortlisted|hopes? to|will (?:vote|decide)|pending"
    r"|not (?:yet )?(?:been )?(?:adopted|approved|decided|confirmed|ratified|passed|signed)|undecided"
    r"|withdrawn|withdrew|dropped|abandoned|shelved|voted down|rejected|repealed|revoked)\b",
    re.IGNORECASE,
)
_DONE: Final = re.compile(
    r"(?<!not )(?<!not been )(?<!yet been )\b(?:adopted|approved|decided|completed|agreed|confirmed|ratified|passed"
    r"|introduced|in force|launched|signed|finali[sz]ed|enacted|took effect|takes effect|implemented)\b",
    re.IGNORECASE,
)
_LEAVES_OPEN: Final = re.compile(
    r"\b(?:may|might|could|would|should|if|whether|reportedly|allegedly|possibly|perhaps|likely|expected|not|no|never)\b",
    re.IGNORECASE,
)
_PRONOUN: Final = frozenset({"he", "she", "they", "it", "we", "his", "her", "their", "own", "account"})


@dataclass(frozen=True, slots=True)
class _Source:
    """Who says it, and the rest of what is said."""

    who: frozenset[str]
    span: Span
    text: str
    is_pronoun: bool


def changed_source(claim: Reading, sources: list[Reading]) -> Departure | None:
    """Return where a claim has somebody else say it than its source, or ``None``."""
    own = _source(claim)
    if own is None or not own.who or not any(own.who <= one.content for one in sources):
        return None
    said = claim.content - own.who
    told = [(one, other) for one in sources if (other := _source(one)) is not None]
    for rate, source in nearest(said, [one for one, _ in told])[:1]:
        other = next(found for one, found in told if one is source)
        if max(rate, share(said, source.content)) < SAME or own.who & other.who:
            return None
        if own.is_pronoun or _may_be_one(own, other) or _may_be_one(other, own):
            return None
        return Departure(
            DistortionType.ATTRIBUTION_ALTERED,
            Rule.ATTRIBUTION,
            claim.span(own.span.start, own.span.end),
            source,
            source.span(other.span.start, other.span.end),
        )
    return None


def told_as_fact(claim: Reading, sources: list[Reading]) -> Departure | None:
    """Return where a claim asserts what its source calls alleged, or ``None``."""
    if _source(claim) is not None or _ALLEGED.search(claim.text) or _LEAVES_OPEN.search(claim.text):
        return None
    ranked = nearest_to(claim, sources)
    for rate, source in ranked[:1]:
        alleged = _alleged(source.text, claim.content)
        also_plain = any(
            share(claim.content, one.content) >= TOLD and not _ALLEGED.search(one.text) for _, one in ranked
        )
        if alleged is None or rate < TOLD or also_plain:
            return None
        return Departure(
            DistortionType.ATTRIBUTION_ALTERED,
            Rule.ALLEGED,
            claim.whole,
            source,
            source.span(alleged.start(), alleged.end()),
        )
    return None


def _alleged(text: str, claimed: frozenset[str]) -> re.Match[str] | None:
    """Return the first word that calls something alleged which the claim speaks of.

    Right before what it qualifies ("suspected wrong blood") it leaves everything else as plain as it stands.
    """
    for found in _ALLEGED.finditer(text):
        qualified = _QUALIFIED.match(text, found.end())
        if qualified is None or not (own := roots(qualified["what"])) or own <= claimed:
            return found
    return None


_QUALIFIED: Final = re.compile(
    r"(?<=suspected)\s(?!(?:of|to|that|by|in|on|at|as|for|from|with|the|an?)\b)(?P<what>[\w-]{2,40})", re.IGNORECASE
)


def changed_status(claim: Reading, sources: list[Reading]) -> Departure | None:
    """Return where a claim takes for decided or done what its source calls proposed or withdrawn, or ``None``."""
    done = _DONE.search(claim.text)
    if done is None or _PLANNED.search(claim.text) or is_negated(claim.text):
        return None
    said = claim.content - roots(done.group())
    for rate, source in nearest(said, sources, claim.names)[:1]:
        planned = _PLANNED.search(source.text)
        if planned is None or rate < SAME or _DONE.search(source.text):
            return None
        return Departure(
            DistortionType.ATTRIBUTION_ALTERED,
            Rule.STATUS,
            claim.span(done.start(), done.end()),
            source,
            source.span(planned.start(), planned.end()),
        )
    return None


def planned_as_fact(claim: Reading, sources: list[Reading]) -> Departure | None:
    """Return where a claim asserts what stands in its facts only as a plan or a draft, or ``None``."""
    if _PLANNED.search(claim.text) or _DONE.search(claim.text) or _LEAVES_OPEN.search(claim.text):
        return None
    if _source(claim) is not None:
        return None
    parts = [part for source in sources for part in source.once(statements)]
    for rate, source in nearest(claim.content, parts, claim.names)[:1]:
        planned = _PLANNED.search(without_conditions(source.text))
        if planned is None or rate < TOLD:
            return None
        return Departure(
            DistortionType.ATTRIBUTION_ALTERED,
            Rule.PLANNED,
            claim.whole,
            source,
            source.span(planned.start(), planned.end()),
        )
    return None


def _source(reading: Reading) -> _Source | None:
    """Return who says what the sentence says, where it names somebody."""
    for pattern in (_PHRASE, _IT_IS, _AS):
        match = pattern.search(reading.text)
        if match is not None and (pattern is not _IT_IS or _CLAUSE.search(reading.text, match.end())):
            return _named(reading, match.start("who"), match.end("who"))
    match = _CLAUSE.search(reading.text)
    if match is None or match.start() == 0:
        return None
    head = reading.text[: match.start()]
    first = max(head.rfind(mark) for mark in (", ", ": ", "; "))
    participle = match["verb"].lower().endswith("ing")
    # "Castor sued the firm, alleging ...": who alleges is the subject of the sentence.
    start = 0 if participle or first < 0 else first + 2
    if head.rstrip().endswith(_QUOTED):
        # "'We do,' said the director": who says it stands behind the verb.
        return _named(reading, match.end(), min(len(reading.text), match.end() + _WHO_CHARS))
    words_before = head[start:].split()
    if participle:
        words_before = [word for word in words_before if word[:1].isupper()] or words_before[:3]
        who = roots(" ".join(words_before[:4]))
        return _Source(who, Span(start, match.start()), head[start:], is_pronoun=False)
    if head.endswith(", "):
        # "The tenant, Palloway Logistics, alleges": what stands before the apposition counts as well.
        start = 0
    return _named(reading, start, match.start())


_QUOTED: Final = ("'", '"', "’", "”")  # noqa: RUF001 - typographic quotes
_WHO_CHARS: Final = 60


def _named(reading: Reading, start: int, end: int) -> _Source:
    text = reading.text[start:end]
    told = [word.lower().strip(".,") for word in text.split()]
    pronoun = set(told) <= _PRONOUN or told[:1] in _SUBJECTS
    span = Span(start, start + len(text.rstrip()))
    return _Source(roots(text), span, text, is_pronoun=pronoun)


_SUBJECTS: Final = (["he"], ["she"], ["they"], ["it"], ["we"])
_TITLED: Final = re.compile(r"\b(?:mr|mrs|ms|dr|prof|sir|lord|lady|he|she|they|we)\b", re.IGNORECASE)
_IT: Final = re.compile(r"\s*(?:it|they|we)\b", re.IGNORECASE)
_PERSON: Final = re.compile(
    r"\b(?:[a-z]{2,20}(?:ers?|ors?|ists?|ants?|men|man|women|woman|ess)|chief|head|staff|nurse|president|secretary|judge"
    r"|father|mother|son|daughter|wife|husband|people|police)\b",
    re.IGNORECASE,
)
_LARGE: Final = re.compile(r"(?<=[\w,;] )[A-Z][a-z]|^\W*[A-Z]\w+ [A-Z]|^\W*(?!The |A |An |Our |Its |Their )[A-Z]")


def _may_be_one(described: _Source, named: _Source) -> bool:
    """Say whether a description may be of whom another sentence names or means: "the prime minister", "Mr Cameron"."""
    is_name = bool(_LARGE.search(described.text))
    if _IT.match(named.text) and named.is_pronoun:
        return is_name or not _PERSON.search(described.text)
    is_person = bool(_PERSON.search(described.text))
    return bool(_TITLED.search(named.text)) and (is_person or (is_name and named.is_pronoun))
