"""Whole clauses: added from elsewhere (costs the support), dropped, moved, or turned into the passive (keep it)."""

import random
import re
from collections.abc import Iterator, Sequence
from typing import Final

from training.contrasts.change import Change, Edit, Scene, single
from training.contrasts.mentions import names
from training.words import content_words, coverage, sentences

_END: Final = re.compile(r"(?<=[a-z\d)])(?:\s?[.])?\s*$")
_TRAILING: Final = re.compile(
    r"(?P<clause>,? (?:because|after|before|despite|due to|in order to|although|while|since|during|thanks to|following"
    r"|as part of|along with|with the help of|for the (?:first|second|third) time|as a result of|in response to"
    r"|which (?:is|was|has|had)|who (?:is|was|has|had)|where (?:he|she|they|it)) [^,;:()\"]{8,70}"
    r"|, [a-z]+ing [^,;:()\"]{8,60})"
    r"(?:\s?\.)\s*$"
)
_TEMPLATES: Final = (
    " for the first time in its history",
    ", the first of its kind",
    " despite strong protests",
    " after a delay of several months",
    " because of a lack of money",
    ", as experts had predicted",
    " with the help of {person}",
    ", according to {organisation}",
    ", much to the surprise of {person}",
    " in cooperation with {organisation}",
    " while on a visit to {place}",
    ", which was later confirmed by {person}",
    " and received an award for it",
    ", at a cost of {number} million dollars",
    " in front of {number} people",
    ", mainly for financial reasons",
    " at the request of {organisation}",
    " and lives in {place}",
    " after consulting {person}",
    " on the advice of doctors",
)
_NEGATIVE: Final = re.compile(
    r"\b(?:not|\w+n't|never|no|none|neither|nor|without|cannot|few|only|if|unless|until|all|every|most|always|least|first"
    r"|last|rarely|whether|or|would|could|largest|highest|best|any)\b",
    re.IGNORECASE,
)
_PARENTHESIS: Final = re.compile(r"\s?\([^()]{1,80}\)")
_APPOSITION: Final = re.compile(r"(?<=\w), (?:an?|the|who|which|whose|where) [^,;:()]{4,80},(?= [a-z])")
_CONNECTIVE: Final = re.compile(
    r"^(?:However|In addition|Additionally|Moreover|Furthermore|Meanwhile|Also|In fact|For example|For instance|Overall"
    r"|Therefore|Thus|As a result|On the other hand|Finally|Nevertheless|Indeed|In conclusion|Similarly), (?=\w)"
)
_ADDED_CONNECTIVES: Final = (
    "In fact, ",
    "In addition, ",
    "Moreover, ",
    "Overall, ",
    "Also, ",
    "Furthermore, ",
    "Additionally, ",
)
_FRONTED: Final = re.compile(
    r"^(?P<when>(?:In|On|During|After|Before|By|Since) (?:[^,;:()]{0,30}\d{4}|(?:the )?(?:early |late "
    r"|mid-)?\d{4}s|[A-Z][a-z]+ \d{1,2}, \d{4}"
    r"|the (?:same year|end|following year|beginning|summer|winter))), (?P<main>[^,;:()\"]{10,160}?)(?P<stop>\s?\.)?$"
)
_LATE: Final = re.compile(
    r"^(?P<main>[^,;:()\"]{10,160}?) (?P<when>(?:in|on|since) "
    r"(?:(?:[A-Z][a-z]+ )?(?:\d{1,2}, )?\d{4}))(?P<stop>\s?\.)?$"
)
_PAIR: Final = re.compile(
    r"(?<![\w-])(?P<first>[A-Z][\w-]+(?: [A-Z][\w-]+)*|[a-z]{3,}) and "
    r"(?P<second>[A-Z][\w-]+(?: [A-Z][\w-]+)*|[a-z]{3,})(?![\w-])"
)
_VERBS: Final = (
    "acquired|defeated|founded|directed|produced|published|released|attacked|replaced|created|invented|designed|built"
    "|bought|discovered|sued|hired|appointed|elected|killed|invaded|painted|composed|edited|sponsored|owned"
)
"""Verbs whose past tense is their participle."""
_ACTIVE: Final = re.compile(rf"^(?P<gap> )(?P<verb>{_VERBS})(?P<gap2> (?:the )?)$")
_PASSIVE: Final = re.compile(rf"^ (?:is|was) (?P<verb>{_VERBS}) by (?P<the>the )?$")
_REST: Final = re.compile(r"^(?P<when> (?:in|on) (?:[A-Z][a-z]+ )?(?:\d{1,2}, )?\d{4})?(?P<stop>\s?\.)?$")


def added(text: str, scene: Scene, choice: random.Random) -> Iterator[Change]:
    """A clause that the premise knows nothing of, put at the end: from another passage, or from a list."""
    match = _END.search(text)
    if match is None or text.rstrip().endswith("?"):
        return
    known = content_words(scene.premise)
    far = choice.sample(scene.clauses, min(6, len(scene.clauses)))
    fitting = [clause for clause in far if coverage(content_words(clause), known) <= 0.5]  # noqa: PLR2004 - not said there
    if fitting:
        yield single("clauses.added", Edit(match.start(), match.start(), fitting[0]), back=True)
    template = _filled(choice.choice(_TEMPLATES), scene, choice)
    if template is not None:
        yield single("clauses.added", Edit(match.start(), match.start(), template), back=True)


def harvest(passages: Sequence[str]) -> list[str]:
    """Return the subordinate clauses at the ends of sentences, each once, in alphabetical order."""
    found: set[str] = set()
    for passage in passages:
        for sentence in sentences(passage):
            match = _TRAILING.search(sentence)
            if match is not None and len(sentence[: match.start()].split()) >= 4:  # noqa: PLR2004 - a main clause
                found.add(match.group("clause"))
    return sorted(found)


def dropped(text: str, _scene: Scene, _choice: random.Random) -> Iterator[Change]:
    """A parenthesis, an apposition, a connective or a subordinate clause left out."""
    for match in _PARENTHESIS.finditer(text):
        if match.start() > 0:
            yield single("clauses.dropped", Edit(*match.span(), ""), keeps=True, back=False)
    for match in _APPOSITION.finditer(text):
        yield single("clauses.dropped", Edit(*match.span(), ""), keeps=True, back=False)
    if _NEGATIVE.search(text) is None:
        trailing = _TRAILING.search(text)
        if trailing is not None and len(text[: trailing.start()].split()) >= 4:  # noqa: PLR2004 - a main clause stays
            yield single("clauses.dropped", Edit(*trailing.span("clause"), ""), keeps=True, back=False)


def connectives(text: str, _scene: Scene, choice: random.Random) -> Iterator[Change]:
    """``However,`` and its like put before a sentence or taken away: they say nothing that evidence could carry."""
    match = _CONNECTIVE.match(text)
    if match is not None and len(text) > match.end():
        after = text[match.end()]
        yield single("clauses.connective", Edit(0, match.end() + 1, after.upper()), keeps=True, back=True)
    elif _head(text).lower() in _STARTERS and len(text.split()) > 3:  # noqa: PLR2004 - a sentence
        new = choice.choice(_ADDED_CONNECTIVES)
        yield single(
            "clauses.connective", Edit(0, len(_head(text)), new + _lowered(text, _head(text))), keeps=True, back=True
        )


def reordered(text: str, _scene: Scene, _choice: random.Random) -> Iterator[Change]:
    """``In 1999, she left.`` as ``She left in 1999.``; ``tea and milk`` as ``milk and tea``."""
    match = _FRONTED.match(text)
    if match is not None:
        main = match.group("main")
        when = match.group("when")
        new = f"{main[0].upper()}{main[1:]} {when[0].lower()}{when[1:]}"
        yield single("clauses.moved", Edit(0, match.end("main"), new), keeps=True, back=True)
    match = _LATE.match(text)
    if match is not None and " and " not in text:
        when = match.group("when")
        head = _head(text)
        main = _lowered(text, head) + match.group("main")[len(head) :]
        new = f"{when[0].upper()}{when[1:]}, {main}"
        yield single("clauses.moved", Edit(0, match.end("when"), new), keeps=True, back=True)
    for pair in _PAIR.finditer(text):
        first, second = pair.group("first"), pair.group("second")
        same_shape = first[0].isupper() == second[0].isupper() and pair.start() > 0
        both_plural = first.endswith("s") == second.endswith("s")
        if same_shape and both_plural and "between" not in text and (first[0].isupper() or _listed(text, pair)):
            yield single("clauses.pair", Edit(*pair.span(), f"{second} and {first}"), keeps=True, back=True)


def voice(text: str, _scene: Scene, _choice: random.Random) -> Iterator[Change]:
    """``A founded B.`` as ``B was founded by A.`` and the other way round."""
    there = names(text)
    if len(there) != 2 or there[0].start != 0:  # noqa: PLR2004 - who and whom, nothing else
        return
    first, second = there
    gap, rest = text[first.end : second.start], _REST.match(text[second.end :])
    active, passive = _ACTIVE.match(gap), _PASSIVE.match(gap)
    if rest is None:
        return
    if active is not None:
        the = "The " if active.group("gap2").strip() else ""
        new = f"{the}{second.text} was {active.group('verb')} by {first.text}"
    elif passive is not None:
        the = "The " if passive.group("the") else ""
        new = f"{the}{second.text} {passive.group('verb')} {first.text}"
    else:
        return
    yield single("clauses.voice", Edit(0, second.end, new), keeps=True, back=True)


def _filled(template: str, scene: Scene, choice: random.Random) -> str | None:
    filled = template.replace("{number}", str(choice.randint(2, 90)))
    for kind in ("person", "organisation", "place"):
        slot = "{" + kind + "}"
        if slot in filled:
            if not scene.names.get(kind):
                return None
            filled = filled.replace(slot, choice.choice(scene.names[kind]))
    return filled


def _head(text: str) -> str:
    match = re.match(r"\w+", text)
    return match.group() if match is not None else ""


def _lowered(text: str, head: str) -> str:
    """Return the first word as it stands within a sentence: a name or ``I`` keeps its capital."""
    common = head.lower() in _STARTERS
    return head.lower() if common else text[: len(head)]


_STARTERS: Final = frozenset(
    """the a an it he she they this that these those we his her its their there in on at by for from after before during
    when while as some many most all one two three several both each every such other another if since with""".split()  # noqa: SIM905 - a list of one word a line would be a page
)


def _listed(text: str, pair: re.Match[str]) -> bool:
    """Whether two plain words joined by ``and`` are nouns after an article or preposition and before a boundary."""
    before, after = text[: pair.start()], text[pair.end() :]
    return (
        re.search(r"\b(?:of|with|for|in|by|about) $", before) is not None and re.match(r"\s?[.,;]|$", after) is not None
    )
