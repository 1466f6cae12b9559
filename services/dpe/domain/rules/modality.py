"""May, must, should, need not, will (SPEC-005 §5.3, ADR 0095): the force with which the same act is said.

A claim that says "must" of what its source allows, or "will" of what it holds possible, says something else. Compared
is the force that stands before the same verb; where no verb is shared, the only force of the sentence that says the
same, a condition with a condition: "If you cannot swallow it, open it" does not forbid to open it. A subject that is
denied denies the verb: "none of them may be reused" forbids it.
"""

import re
from bisect import bisect_left
from dataclasses import dataclass, replace
from enum import StrEnum, unique
from typing import Final

from services.common.reading.clauses import finite_verb_at
from services.common.reading.polarity import denies_too_much, is_negated
from services.common.reading.words import Word, words
from services.dpe.domain.conditions import Condition, Kind, conditions, without_conditions
from services.dpe.domain.findings import DistortionType, Rule
from services.dpe.domain.rules.ages import limits_age
from services.dpe.domain.rules.finding import Departure
from services.dpe.domain.rules.reading import Reading, act_root, nearest, pieces, root, roots, share, statements
from services.dpe.domain.rules.rows import values_of

SAME_VERB: Final = 0.4
"""Share of the claim's words that a sentence must hold when the verb is the same."""
SAME_SENTENCE: Final = 0.6
"""The same share when it is not."""


@unique
class Force(StrEnum):
    """How an act is said."""

    MUST = "MUST"
    SHOULD = "SHOULD"
    MAY = "MAY"
    NEED_NOT = "NEED_NOT"
    FORBIDDEN = "FORBIDDEN"
    MIGHT = "MIGHT"
    WILL = "WILL"


_BE: Final = r"(?:is|are|was|were|be|been|being|['\u2019](?:re|s|m)(?=\s))"
_ELLIPTIC: Final = r"(?:(?<=but\s)|(?<=and\s))"
"""What follows has no verb of its own: "prohibited in the flat, but allowed on the balcony"."""
_FORBIDDEN: Final = (
    rf"{_ELLIPTIC}(?:not (?:allowed|permitted)|forbidden|prohibited|banned|barred(?= from))"
    r"|(?:must|shall|may|can|could) not|cannot|can't|mustn't"
    rf"|{_BE} (?:not (?:allowed|permitted)|forbidden|prohibited|banned|barred(?= from))(?: to)?"
    r"|(?:^|(?<=[:;] ))(?:never|do not|don't|avoid)(?= [a-z])"
    r"(?! (?:need|have|require|forget|hesitate|worry|mind|in|on|at|by|for|to|of|with|during|within|before|after|until"
    r"|more|less|the|an?|be|just|only)\b)"
    r"(?![^.;:]*(?:\d|\b(?:above|below|under|over|before|after|until|while|when|if|unless|without|more|less|too|only"
    r"|alone|first)\b))"
)
_NEED_NOT: Final = (
    r"need not|needn't|(?:(?:do|does|did) not|don't|doesn't) (?:need(?: to)?|require|have to)"
    r"|(?:needs?|requires?) no|no need (?:to|for)"
    rf"|{_BE} not (?:required|obliged|necessary|mandatory|compulsory|needed)(?: to)?"
    rf"|{_BE} (?:optional|voluntary|up to you)|{_ELLIPTIC}(?:not (?:required|mandatory|compulsory)|optional|voluntary)"
)
_SHOULD: Final = (
    rf"should|ought to|{_BE} (?:recommended|advised|encouraged|advisable)(?: to)?|recommends?|advises?"
    rf"|{_ELLIPTIC}(?:recommended|advised|encouraged|advisable)"
)
_MUST: Final = (
    rf"must|shall|ha(?:s|ve) to|needs? to|{_BE} (?:required|obliged|mandatory|compulsory|obligatory)(?: to)?|requires?"
    rf"|{_ELLIPTIC}(?:required|mandatory|compulsory|obligatory)"
)
_MAY: Final = (
    rf"{_ELLIPTIC}(?:allowed|permitted)|may|can|feel free to"
    rf"|{_BE} (?:allowed|permitted|entitled|free|welcome)(?: to)?"
)
_CUES: Final = (
    (Force.FORBIDDEN, _FORBIDDEN),
    (Force.NEED_NOT, _NEED_NOT),
    (Force.SHOULD, _SHOULD),
    (Force.MUST, _MUST),
    (Force.MAY, _MAY),
    (Force.MIGHT, r"might|could"),
    (Force.WILL, r"will"),
)
_CUE: Final = re.compile(
    r"\b(?:" + "|".join(f"(?P<{force.value}>{cue})" for force, cue in _CUES) + r")\b", re.IGNORECASE
)
_MONTH: Final = re.compile(r"\bMay\b(?=[\s,.]|$)")
_OF_AGE: Final = re.compile(r"\w+\s(?:not\s)?be\s(?:(?:no|not)\s)?(?:older|younger|newer)\sthan\b", re.IGNORECASE)
"""Sets a limit rather than that it forbids, where a length of time stands behind it: rules of ages compare it."""
APART: Final = frozenset(
    frozenset(pair)
    for pair in (
        (Force.MUST, Force.MAY),
        (Force.MUST, Force.SHOULD),
        (Force.MUST, Force.NEED_NOT),
        (Force.MUST, Force.MIGHT),
        (Force.MUST, Force.FORBIDDEN),
        (Force.SHOULD, Force.NEED_NOT),
        (Force.MAY, Force.FORBIDDEN),
        (Force.NEED_NOT, Force.FORBIDDEN),
        (Force.WILL, Force.MIGHT),
    )
)
"""Forces of which one is not said for the other: what need not be done is not forbidden."""
_WEAK_VERBS: Final = frozenset({"b", "be", "hav", "have", "do", "get", "make", "not", "also", "only", "then", "take"})


@dataclass(frozen=True, slots=True)
class _Said:
    force: Force
    start: int
    end: int
    verb: str
    conditional: bool


def forces(text: str) -> list[tuple[Force, int, int]]:
    """Return the forces of a text with where the words stand that say them; what conditions govern is left out."""
    if _CUE.search(text) is None:
        return []
    reading = Reading.of(text, 0)
    return [(one.force, one.start, one.end) for one in _said(reading) if not one.conditional]


def meant_forces(reading: Reading) -> list[tuple[Force, int, int, bool]]:
    """Return the forces as they are meant, each with where its words stand and whether its subject is denied."""
    return [(meant.force, one.start, one.end, meant is not one) for one, meant in reading.once(_said_and_meant)]


def _means(source: Reading) -> frozenset[str]:
    """Return what a sentence says an act is done by: "by giving notice"."""
    return frozenset(act_root(match["act"].lower()) for match in _BY.finditer(source.text))


_BY: Final = re.compile(r"\bby\s(?P<act>[a-z]{3,20}ing)\b", re.IGNORECASE)


def changed_force(claim: Reading, sources: list[Reading]) -> Departure | None:
    """Return where a claim says an act with another force than its source, or ``None``."""
    ours = _meant(claim)
    if not ours or any(one.verb for one in ours[1:]):
        return None
    own = ours[0]  # behind it there is at most "..., but you don't have to"
    # "You can stay for at most 20 days" sets a limit rather than that it allows the stay.
    sets_limit = own.force is Force.MAY and _LIMIT.search(claim.text, own.end) is not None
    parts = [part for source in sources for part in source.once(statements)]
    near = [(rate, source, _meant(source)) for rate, source in nearest(claim.content, parts, claim.names)[:_READ]]
    # A sentence that says the same act is asked before one that only follows it.
    for rate, source, theirs in sorted(near, key=lambda item: all(one.verb != own.verb for one in item[2])):
        same_verb = [one for one in theirs if one.verb and one.verb == own.verb]
        if own.force is Force.MUST and not same_verb and own.verb in _means(source):
            continue  # "ended by giving notice": whoever ends it needs to give notice
        compared = [one for one in same_verb if rate >= SAME_VERB or _forbids(source, one, claim)]
        compared = _of_the_case(claim, own, source, theirs, compared)
        if not compared and not sets_limit and rate >= SAME_SENTENCE and len({one.force for one in theirs}) == 1:
            compared = [one for one in theirs if one.conditional == own.conditional][:1]
        if not compared:
            continue
        if any(frozenset({own.force, one.force}) not in APART for one in compared):
            return None
        at = compared[0]
        if _is_of_another_case(claim, own, source, at) or _is_told_elsewhere(claim, own, source, sources):
            return None
        if (
            _is_of_the_askers_case(claim, own, source, at)
            or _is_under_another_label(claim, source, sources)
            or (not same_verb and _is_of_another_thing(claim, source, at))
        ):
            return None
        return Departure(
            DistortionType.MODALITY_ALTERED,
            Rule.MODALITY,
            claim.span(own.start, own.end),
            source,
            source.span(at.start, at.end),
            is_same=bool(same_verb) and claim.content - _OF_FORCES - {own.verb} <= source.content,
        )
    return None


_OF_FORCES: Final = roots(
    "allowed permitted prohibited forbidden banned mandatory required optional obliged free welcome feel whether"
)


def _of_the_case(claim: Reading, own: _Said, source: Reading, theirs: list[_Said], same: list[_Said]) -> list[_Said]:
    """Return of forces with which a sentence says one act that of the case that the claim names, or all.

    "Smoking is prohibited inside the flat, but allowed on the balcony": a claim of the balcony meets the second, and so
    does one of the balcony and the flat that says "prohibited" of both. One that sets a case apart ("unlike the flat")
    names the other.
    """
    before, behind = claim.text[: own.start], claim.text[own.end :]
    if len({one.force for one in same}) < 2 or len(_meant(claim)) > 1:  # noqa: PLR2004 - one force is of every case
        return same
    if _SET_APART.search(before) or _SET_APART.search(behind):
        return same
    ends = [*(one.start for one in theirs[1:]), len(source.text)]
    reach = {one.start: roots(source.text[one.end : end]) - {own.verb} for one, end in zip(theirs, ends, strict=True)}
    said = roots(_own_clause(before)) | roots(_REACH.split(behind)[0])
    for one in same:
        if reach[one.start] and reach[one.start] <= said and frozenset({own.force, one.force}) in APART:
            return [one]
    # What holds of one case alone is not what holds where the claim names no case.
    same = [one for one in same if not reach[one.start] or reach[one.start] & claim.content]
    named = [len(reach[one.start] & claim.content) for one in same]
    best = max(named, default=0)
    return [same[named.index(best)]] if named.count(best) == 1 else same


def _own_clause(before: str) -> str:
    """Return what stands before a force, without a clause of its own in front: "In the ward, it is ..." has none."""
    *others, last = _REACH.split(before)
    return last if finite_verb_at(words(" ".join(others))) is not None else before


_SET_APART: Final = re.compile(
    r"\b(?:not|but|except|apart|save|other than|elsewhere|unlike|outside|instead|rather|even (?:with|if|when)|no(?!,)"
    r"|nor|never)\b|n['\u2019]t\b",
    re.IGNORECASE,
)


def _is_of_another_case(claim: Reading, own: _Said, source: Reading, at: _Said) -> bool:
    """Say whether two forces do not meet: a duty is the other's condition, or each speaks of another case.

    "May be booked if the director approves" and "must be approved by the director" go together, and so do "may if not"
    and "must not if". Of "negative ones may not be released, but positive ones may" the second has no verb of its own.
    """
    ours, theirs = list(conditions(claim.text)), list(conditions(source.text))
    if at.verb in _governed(ours) or own.verb in _governed(theirs):
        return True
    if ours and theirs and is_negated(_together(ours)) != is_negated(_together(theirs)):
        return True
    if frozenset({own.force, at.force}) == _ALLOWED and (
        _EXCEPTED.search(source.text)
        or _meet(claim, source)
        or (denies_too_much(source.text, claim.text) and values_of(claim))
    ):
        return True
    if _ORDER.match(source.text, at.start) and not _is_of_its_object(claim, source, at):
        return True
    return any(not one.verb and frozenset({own.force, one.force}) not in APART for one in _meant(source))


_ORDER: Final = re.compile(r"never|do not|don't|avoid", re.IGNORECASE)


def _forbids(source: Reading, one: _Said, claim: Reading) -> bool:
    return _ORDER.match(source.text, one.start) is not None and _is_of_its_object(claim, source, one)


def _is_of_its_object(claim: Reading, source: Reading, order: _Said) -> bool:
    """Say whether a claim speaks of what an order not to forbids: "Avoid bleach: use vinegar" forbids no vinegar."""
    behind = source.text[order.end :]
    reach = _REACH.search(behind)
    forbidden = roots(behind[: reach.start()] if reach else behind) - {order.verb}
    instead = roots(behind[reach.end() :]) - forbidden if reach else frozenset[str]()
    said = claim.content - {order.verb}
    is_other = bool(forbidden - said and said - forbidden)  # "by courier" for "by post"
    return bool(forbidden & said) and not instead & said and not is_other


_REACH: Final = re.compile(r"[:;,.]")


def _is_of_the_askers_case(claim: Reading, own: _Said, source: Reading, at: _Said) -> bool:
    """Say whether a claim tells whoever asks that they need to, and the source frees from it in a case not theirs.

    "Yes, you need to register" is no "you need not register while your turnover stays below 2,400" turned round, unless
    the question names that case. Every other force holds, whatever the source says besides: "you must not" is wrong
    where one may under a condition, and "you need not" where one must.
    """
    if (own.force, at.force) != (Force.MUST, Force.NEED_NOT) or not _ASKER.search(claim.text):
        return False
    if any(True for _ in conditions(claim.text)) or _WHILE.search(claim.text):
        return False
    freed = _freed_in(source.text, at)
    return bool(freed) and not any(
        roots(case) & claim.content or _names_case(claim.asked, case) is not is_exception
        for case, is_exception in freed
    )


def _freed_in(text: str, at: _Said) -> list[tuple[str, bool]]:
    """Return the cases that a force holds in, each with whether it is one in which it does not."""
    cases = [
        *(
            (one.span.start, one.governed, one.kind is Kind.UNLESS)
            for one in conditions(text)
            if one.kind is not Kind.DENIED
        ),
        *((one.start(), one["case"], one["cue"].lower() == "until") for one in _WHILE.finditer(text)),
    ]
    return [
        (case, is_exception)
        for start, case, is_exception in cases
        if not text[:start].strip() or (start >= at.end and not _APART_FROM_IT.search(text, at.end, start))
    ]


def _names_case(asked: str, case: str) -> bool:
    """Say whether a question says that a case is the one of whoever asks: not what it denies."""
    named = roots(case)
    return any(share(named, roots(one)) >= _NAMED and is_negated(one) == is_negated(case) for one in _ENDS.split(asked))


_NAMED: Final = 0.5
_ENDS: Final = re.compile(r"[.;?!\n]")
_APART_FROM_IT: Final = re.compile(r"[,;:.]|\b(?:and|but)\b", re.IGNORECASE)
_ASKER: Final = re.compile(r"\b(?:you|your)\b", re.IGNORECASE)
_WHILE: Final = re.compile(r"\b(?P<cue>while|whilst|until)\s(?P<case>[^,;.:]{1,120})", re.IGNORECASE)


def _is_under_another_label(claim: Reading, source: Reading, sources: list[Reading]) -> bool:
    """Say whether what stands before the colon of a sentence names another kind than the claim does.

    "Night trains: a space must be booked" says nothing of what "regional trains: ..." is said of.
    """
    own = source.once(_label)
    if not own - claim.content:
        return False
    known = own | source.content  # "Note: staff wear a badge in the office" is said of the office, too
    return any((other.once(_label) - known) & claim.content for other in sources if other is not source)


def _label(source: Reading) -> frozenset[str]:
    lead_in = _LEAD_IN.match(source.text)
    return roots(lead_in.group()) if lead_in is not None else frozenset()


_LEAD_IN: Final = re.compile(r"[^.;:\n]{1,80}:\s")


def _is_of_another_thing(claim: Reading, source: Reading, at: _Said) -> bool:
    """Say whether another part of the sentence than the one with the force says what the claim does.

    "Guests need a sponsor and are not allowed in the plant rooms" does not say that guests with one are not welcome.
    """
    parts = pieces(source)
    begun = [one.start - source.start for one in parts]
    first = last = max((number for number, start in enumerate(begun) if start <= at.start), default=0)
    while last + 1 < len(parts) and finite_verb_at(parts[last + 1].tokens) is None:
        last += 1  # "in the plant rooms | or on the roof terrace"
    start, end = begun[first], begun[last] + len(parts[last].text)
    governed = roots(source.text[at.end : end])
    shared = len(roots(source.text[start:end]) & claim.content)
    main = without_conditions(source.text)
    others = [one for one in (*parts[:first], *parts[last + 1 :]) if main[one.start - source.start] != " "]
    return (
        bool(governed)
        and not governed & claim.content
        and any(len(one.content & claim.content) > shared for one in others)
    )


def _is_told_elsewhere(claim: Reading, own: _Said, source: Reading, sources: list[Reading]) -> bool:
    """Say whether another sentence says the act as the claim does, of what the claim names and the source does not.

    "Objectors cannot appeal" is told by the sentence about objectors, not by "the applicant may appeal".
    """
    foreign = claim.content - source.known - {own.verb}
    return any(
        own.verb in other.content
        and bool(foreign & other.content)
        and not any(one.verb == own.verb and frozenset({own.force, one.force}) in APART for one in _meant(other))
        for other in sources
        if (other.fact_index, other.place) != (source.fact_index, source.place)
    )


_ALLOWED: Final = frozenset({Force.MAY, Force.FORBIDDEN})
_EXCEPTED: Final = re.compile(r"\b(?:except|save for|apart from|other than|with the exception of)\b", re.IGNORECASE)


_OPEN_TO: Final = re.compile(r"\b(?:unless|without|until)\b", re.IGNORECASE)
_UNDER: Final = re.compile(
    r"\b(?:if|only|provided|once|after|with|subject\sto|as\slong\sas|when|where|unless|without|until)\b", re.IGNORECASE
)


def _meet(claim: Reading, source: Reading) -> bool:
    """Say whether one may what the other forbids "unless" or "without" something: "may if the head agrees"."""
    one, other = claim.text, source.text
    return bool((_OPEN_TO.search(other) and _UNDER.search(one)) or (_OPEN_TO.search(one) and _UNDER.search(other)))


def _together(found: list[Condition]) -> str:
    return " ".join(one.governed for one in found)


def _governed(found: list[Condition]) -> frozenset[str]:
    """Return the roots of what conditions govern, none for those that are denied."""
    return roots(" ".join(one.governed for one in found if one.kind is Kind.IF))


_READ: Final = 2
_LIMIT: Final = re.compile(
    r"\b(?:(?:no|not) more than|at most|up to|a maximum of|no longer than|only|at the most)\b", re.IGNORECASE
)


def _said(reading: Reading) -> list[_Said]:
    found: list[_Said] = []
    governed = [item.span for item in conditions(reading.text)]
    for cue in _CUE.finditer(reading.text):
        if (_MONTH.match(reading.text, cue.start()) and cue.start() > 0) or _limits_an_age(reading, cue.start()):
            continue
        force = Force(cue.lastgroup or "")
        at = bisect_left(reading.tokens, cue.end(), key=lambda word: word.start)
        following = list(reading.tokens[at : at + 3])
        # "Positive ones may, provided that ...": its verb stands elsewhere.
        following = [word for word in following if not _PAUSE.search(reading.text, cue.end(), word.start)]
        acts = (word for word in following if root(word.text) not in _WEAK_VERBS and _is_act(word.text))
        verb = _named_act(reading, cue) or next((_act(word, reading.text) for word in acts), "")
        if found and _NO_VERB.fullmatch(cue.group()):
            verb = found[-1].verb
        conditional = any(span.start <= cue.start() < span.end for span in governed)
        found.append(_Said(force, cue.start(), cue.end(), verb, conditional))
    return found


def _limits_an_age(reading: Reading, start: int) -> bool:
    """Say whether a force sets a limit of an age that is read as one: "older than the director" is none."""
    return _OF_AGE.match(reading.text, start) is not None and limits_age(reading)


def _named_act(reading: Reading, cue: re.Match[str]) -> str:
    """Return the root of the act that a force is said of as its subject: "Jumping from the jetty is prohibited"."""
    if not _IS.match(cue.group()) or cue.group().lower().endswith(" to"):
        return ""
    named = _ACT_NAMED.search(reading.text, max(0, cue.start() - _ACT_CHARS), cue.start())
    return act_root(named["act"].lower()) if named is not None and finite_verb_at(words(named["rest"])) is None else ""


_IS: Final = re.compile(_BE, re.IGNORECASE)
_ACT_CHARS: Final = 120
"""So far before its force the act may stand."""
_NO_VERB: Final = re.compile(
    r"(?:not )?(?:allowed|permitted|forbidden|prohibited|banned|required|mandatory|compulsory|obligatory|optional"
    r"|voluntary)",
    re.IGNORECASE,
)
_ACT_NAMED: Final = re.compile(
    r"(?:^|[,;:.]\s|\b(?:because|as|since|that|and|but|so|while|where|when)\s)\W{0,3}"
    r"(?:(?:in|on|at|during|from|inside|outside)\s(?:the|an?|your|our)\s[a-z-]{2,20}\s)?(?P<act>[a-z]{2,20}ing)\b"
    r"(?P<rest>[^,;:.]{0,80})$",
    re.IGNORECASE,
)


def _act(word: Word, text: str) -> str:
    """Return the root of a verb; what may not be "used to buy" something may be used."""
    return root("use") if word.text == "used" and text[word.end : word.end + 4] != " to " else root(word.text)


_PAUSE: Final = re.compile(r"[,;.:]")
_DENIED_SUBJECT: Final = re.compile(
    r"(?:^|[,;:.]\s|\b(?:and|but|or|that|because|as|so|where|when|if|since|while)\s)\W{0,3}"
    r"(?P<none>no(?!\s(?:more|less|fewer|later|earlier|longer|matter|doubt)\b)|none|nobody|no[ -]one|nothing|neither"
    r"|not\s(?:one|a\ssingle|any))\b(?P<rest>[^,;:.]{0,80})$",
    re.IGNORECASE,
)
_SUBJECT_CHARS: Final = 120
"""So far before its force a denied subject may stand."""
_BARRING: Final = frozenset({"must", "shall"})
"""With these a denied subject forbids: "no one must touch it". "No one has to touch it" frees from a duty."""


def _meant(reading: Reading) -> list[_Said]:
    """Return the forces of a sentence, each as it is meant of one thing where it is said of none."""
    return [meant for _, meant in reading.once(_said_and_meant)]


def _said_and_meant(reading: Reading) -> list[tuple[_Said, _Said]]:
    return [(one, _of_each(one, reading.text)) for one in _said(reading)]


def _of_each(said: _Said, text: str) -> _Said:
    if said.force not in _DENIABLE:
        return said
    denied = _DENIED_SUBJECT.search(text, max(0, said.start - _SUBJECT_CHARS), said.start)
    if denied is None or finite_verb_at(words(denied["rest"])) is not None:
        return said
    is_barred = said.force is Force.MAY or text[said.start : said.end].lower() in _BARRING
    force = Force.FORBIDDEN if is_barred else _DENIABLE[said.force]
    return replace(said, force=force, start=denied.start("none"))


_DENIABLE: Final = {Force.MAY: Force.FORBIDDEN, Force.MUST: Force.NEED_NOT, Force.FORBIDDEN: Force.MAY}
"""What a denied subject makes of a force: "nobody is forbidden to swim" lets all of them."""


def _is_act(word: str) -> bool:
    return not word.endswith("ly") and share([word], _FUNCTION) == 0.0


_FUNCTION: Final = frozenset(
    {"the", "a", "an", "to", "of", "in", "on", "at", "for", "with", "by", "be", "been", "it", "that", "whether", "you"}
)
