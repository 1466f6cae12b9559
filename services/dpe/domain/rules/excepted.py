"""What is said of all but one case, and of that case the opposite (SPEC-005 §5.3, CONDITION_ALTERED, ADR 0218).

"The museum is open every day except Monday": on Mondays it is closed, and who says "open on Mondays" has every word of
the sentence and says what it denies. Of what is not excepted the exception says nothing.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from services.common.reading.clauses import finite_verb_at
from services.common.reading.polarity import compared
from services.common.reading.text_types import Span
from services.common.reading.words import words
from services.dpe.domain.findings import DistortionType, Rule
from services.dpe.domain.rules.finding import Departure
from services.dpe.domain.rules.reading import Reading, root, roots

_CUE: Final = re.compile(
    r"\b(?:except(?:ing)?(?:\sfor)?|with\sthe\s(?:sole\s)?exception\sof|save\sfor"
    r"|(?P<weak>excluding|apart\sfrom|aside\sfrom|other\sthan|barring)|(?P<but>but))"
    r"(?:\s(?:on|in|at|to|for|by|during|from|with|of))?\s(?!(?:if|when|where|that|as|under|otherwise|not|also|only)\b)",
    re.IGNORECASE,
)
_ALL: Final = re.compile(
    r"\b(?:all|any|anybody|anyone|anything|anywhere|daily|each|entire|every|everybody|everyone|everything|everywhere|full"
    r"|never|no|nobody|none|nothing|nowhere|whole|always)\b",
    re.IGNORECASE,
)
_JUST_BEFORE: Final = re.compile(
    r"\b(?:all|any|anybody|anyone|anything|anywhere|each|every|everybody|everyone|everything|everywhere|no|nobody|none"
    r"|nothing|nowhere)(?P<between>(?:\s[\w-]{1,30}){0,3})\s*$",
    re.IGNORECASE,
)
"""Of whom or what it is said; the weaker cues except nothing without one of these, "but" none that does not follow it:
"every day but Monday", not "other than that", nor "all rooms are heated but small".
"""
_END: Final = re.compile(
    r"[,;:.()\u2013\u2014]|\s(?:which|who|that|whose|if|unless|when|where|until|provided|and\sthe)\s", re.IGNORECASE
)
_OF_ITS_OWN: Final = re.compile(
    r"\b(?:from|only|until|till|between|after|before)\b|\d\s?(?:to|[-\u2013:%]|[ap]\.?m\b)|[$\u20ac\u00a3]",
    re.IGNORECASE,
)
"""An exception with hours or a value of its own says how it is there, not that it is not."""
_MORE: Final = re.compile(
    r",?\s(?:(?P<unless>unless)|when|where|for\swhich|on\swhich|which|who)\b(?P<rest>[^.;]{0,200})", re.IGNORECASE
)
_AND: Final = re.compile(r"\s(?:and|or|nor|as\swell\sas)\s", re.IGNORECASE)
_LIMITED: Final = re.compile(
    r"\b(?:if|unless|when|only|except(?:ing)?|excluding|apart|other\sthan|but|until|without|while|whereas|instead"
    r"|provided|both)\b",
    re.IGNORECASE,
)
"""A claim with one of these may say what the sentence says: it is for the other rules."""
_LOOSE: Final = frozenset(
    {"day", "time", "case", "else", "also", "remain", "however", "there", "need", "must", "have", "hav", "bring", "get"}
)
_USED: Final = re.compile(r"\bused\b(?!\sto\b)", re.IGNORECASE)
_DAYS: Final = roots("Monday Tuesday Wednesday Thursday Friday Saturday Sunday")
_DAILY: Final = re.compile(
    r"\b(?:every\sday|each\sday|all\sdays|daily|seven\sdays\sa\sweek|all\sweek)\b", re.IGNORECASE
)
_MOST_WORDS: Final = 5
_MOST_CASES: Final = 8
_HEAD_CHARS: Final = 400
"""So many exceptions of a sentence are read, and so much of what stands before one: bounded work."""
_LEAST_CHARS: Final = 3


@dataclass(frozen=True, slots=True)
class ExceptedCase:
    """What a sentence says of all but one case.

    Attributes:
        source: the sentence.
        main: what it says, without the exception.
        members: roots of each case that is excepted.
        span: of the exception, in the sentence.
    """

    source: Reading
    main: str
    members: tuple[frozenset[str], ...]
    span: Span


def excepted_case(claim: Reading, sources: list[Reading]) -> Departure | None:
    """Return where a claim says of an excepted case what its source says of all others, or ``None``."""
    if _LIMITED.search(claim.text):
        return None
    for case in _cases(sources):
        member = _named(claim, case)
        if member and not _turned(claim, case) and not _is_said_elsewhere(claim, member, case, sources):
            named = [word for word in claim.tokens if root(word.text) in member]
            own = claim.span(named[0].start, named[-1].end)
            there = case.source.span(case.span.start, case.span.end)
            return Departure(DistortionType.CONDITION_ALTERED, Rule.EXCEPTION, own, case.source, there, is_same=True)
    return None


def said_by_exception(claim: Reading, sources: list[Reading]) -> ExceptedCase | None:
    """Return the sentence whose exception says what a claim says of the excepted case, or ``None``."""
    if _LIMITED.search(claim.text):
        return None
    for case in _cases(sources):
        member = _named(claim, case)
        if member and _turned(claim, case) and not _is_said_elsewhere(claim, member, case, sources, turned=True):
            return case
        if not member and _is_another_day(claim, case):
            return case
    return None


def beside_exceptions(claim: Reading, sources: list[Reading]) -> tuple[ExceptedCase, ...]:
    """Return the sentences with exceptions that are none of what a claim speaks of: they say nothing of it."""
    if _LIMITED.search(claim.text):
        return ()
    return tuple(
        case
        for case in _cases(sources)
        if not any(member & claim.content for member in case.members) and not _turned(claim, case)
    )


def leaves_out(claim: Reading, source: Reading) -> str:
    """Return the exception of a sentence that a claim speaks of as if there were none, or an empty text.

    What else the claim says need not be in the sentence ("pay by card" beside "cards are accepted"), half of it does.
    """
    if _LIMITED.search(claim.text):
        return ""
    for case in source.once(_read):
        members = frozenset[str]().union(*case.members)
        rest = claim.content - members
        is_named = any(member <= claim.content for member in case.members)
        shared = len(rest & roots(case.main))
        if is_named and rest and 2 * shared >= len(rest) and not _turned(claim, case):
            return source.text[case.span.start : case.span.end].strip()
    return ""


def _cases(sources: list[Reading]) -> Iterator[ExceptedCase]:
    for source in sources:
        yield from source.once(_read)
    yield from _others(sources)


_OTHER: Final = re.compile(
    r"^\W{0,3}(?P<cue>(?:(?:all|any|the|every)\s)?other)\s(?P<noun>[a-z]{3,30})\b", re.IGNORECASE
)


def _others(sources: list[Reading]) -> Iterator[ExceptedCase]:
    """Yield what is said of all others than the one that the sentence before speaks of: "All other alarms can be …"."""
    by_place = {(source.fact_index, source.place): source for source in sources}
    for source in sources:
        match = _OTHER.match(source.text)
        before = by_place.get((source.fact_index, source.place - 1)) if match is not None else None
        if match is None or before is None:
            continue
        noun = re.escape(match["noun"].removesuffix("s"))
        named = re.match(
            rf"\W{{0,3}}(?:the|an?)\s(?P<which>[\w-]+(?:\s[\w-]+){{0,3}}?)\s{noun}\b", before.text, re.IGNORECASE
        )
        member = roots(named["which"]) if named is not None else frozenset()
        if member and len(member) <= _MOST_WORDS:
            main = f"All {source.text[match.start('noun') :]}"
            yield ExceptedCase(source, main, (member,), Span(match.start("cue"), match.end("noun")))


def _read(source: Reading) -> tuple[ExceptedCase, ...]:
    """Return the exceptions of a sentence that can be told whole."""
    found = (_case(source, match) for match in islice(_CUE.finditer(source.text), _MOST_CASES))
    return tuple(case for case in found if case is not None)


def _case(source: Reading, match: re.Match[str]) -> ExceptedCase | None:
    text = source.text
    start = max(text.rfind(mark, 0, match.start()) for mark in ";:.") + 1
    head = text[max(start, match.start() - _HEAD_CHARS) : match.start()]
    if (match["weak"] and not _ALL.search(head)) or (match["but"] and not _follows_all(head)):
        return None
    stop = _END.search(text, match.end())
    end = stop.start() if stop else len(text)
    tail = ""
    excepted = text[match.end() : end]
    if finite_verb_at(words(head)) is not None:
        if match["but"] and not _is_named_after_but(excepted):
            return None
    else:  # "All employees except interns receive a laptop"
        behind = _behind(text, match.end(), end)
        if behind is None:
            return None
        end, tail = behind
        excepted = text[match.end() : end]
    main = f"{head.strip(' ,')} {tail}".strip()
    if len(main) < _LEAST_CHARS or _OF_ITS_OWN.search(excepted) or _says_more(text[end:], main):
        return None
    listed = (roots(one) for one in _AND.split(excepted))
    members = tuple(content for content in listed if 0 < len(content) <= _MOST_WORDS)
    return ExceptedCase(source, main, members, Span(match.start(), end)) if members else None


def _follows_all(head: str) -> bool:
    """Say whether "but" behind these words excepts: "every day but", not "all rooms are heated but"."""
    before = _JUST_BEFORE.search(head)
    return before is not None and finite_verb_at(words(before["between"])) is None


def _is_named_after_but(text: str) -> bool:
    """Say whether "but" is followed by a name alone, not by what else is the case: "but expires after two hours"."""
    named = words(text)
    return len(named) <= _MOST_WORDS and finite_verb_at(named) is None


def _says_more(behind: str, main: str) -> bool:
    """Say whether the sentence goes on about the excepted case: "except Saturday, when they open at 10"."""
    if behind.lstrip().startswith("("):
        return True
    more = _MORE.match(behind)
    return more is not None and (more["unless"] is not None or bool(roots(more["rest"]) & roots(main)))


def _behind(text: str, start: int, end: int) -> tuple[int, str] | None:
    """Return where an exception behind a subject ends, and what is said of the subject; ``None`` where nothing is."""
    behind = words(text[start:end])
    verb = finite_verb_at(behind)
    if verb:
        at = start + behind[verb].start
        return at, text[at:end]
    if text[end : end + 1] != ",":
        return None
    stop = _END.search(text, end + 1)
    tail = text[end + 1 : stop.start() if stop else len(text)]
    return (end, tail) if finite_verb_at(words(tail)) is not None else None


def _named(claim: Reading, case: ExceptedCase) -> frozenset[str]:
    """Return the excepted case that a claim speaks of, where all else that it says is in the sentence."""
    everything = frozenset().union(*case.members)
    main = roots(_USED.sub("use", case.main)) | _LOOSE
    how = compared(claim.text, case.main)
    said = {word: root(other) for word, other in how.instead.items()}
    rest = {said.get(word, word) for word in roots(_USED.sub("use", claim.text)) - everything}
    rest = {root(said.get(root(word), word)) for word in rest}
    if not rest or not rest <= main:
        return frozenset()
    return next((member for member in case.members if member <= claim.content), frozenset())


def _is_said_elsewhere(
    claim: Reading, member: frozenset[str], case: ExceptedCase, sources: list[Reading], *, turned: bool = False
) -> bool:
    """Say whether another sentence says the like of the excepted case, or the opposite: "contractors get 10 days"."""
    rest = claim.content - member
    return any(
        member <= source.content and rest <= source.content and compared(claim.text, source.text).turned is turned
        for source in sources
        if (source.fact_index, source.start) != (case.source.fact_index, case.source.start)
    )


def _is_another_day(claim: Reading, case: ExceptedCase) -> bool:
    """Say whether a claim says of days of the week that are not excepted what is said of every day."""
    days = claim.content & _DAYS
    others = frozenset[str]().union(*case.members)
    rest = claim.content - days
    if not days or not rest or not others <= _DAYS or days & others or not _DAILY.search(case.main):
        return False
    return rest <= roots(case.main) | _LOOSE and not _turned(claim, case)


def _turned(claim: Reading, case: ExceptedCase) -> bool:
    return compared(claim.text, case.main).turned
