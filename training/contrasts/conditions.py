"""Conditions, limits and exceptions stripped or turned: what holds under a condition does not hold without it."""

import random
import re
from collections.abc import Iterator
from typing import Final

from training.contrasts.change import Change, Edit, Scene, cased, single

_LIMITS: Final = {
    "up to": ("at least", "more than"),
    "at least": ("at most", "fewer than"),
    "at most": ("at least",),
    "more than": ("less than", "exactly"),
    "less than": ("more than", "exactly"),
    "fewer than": ("more than",),
    "over": ("under",),
    "no more than": ("no less than", "more than"),
    "not more than": ("more than",),
    "about": ("exactly",),
    "approximately": ("exactly",),
    "around": ("exactly",),
    "roughly": ("exactly",),
    "nearly": ("more than",),
    "almost": ("more than",),
    "within": ("after",),
    "a maximum of": ("a minimum of",),
    "a minimum of": ("a maximum of",),
}
_LIMIT: Final = re.compile(
    rf"(?<![\w-])({'|'.join(sorted(_LIMITS, key=len, reverse=True))}) (?=[$€£]?\d|two\b|three\b|four\b"
    rf"|five\b|six\b|ten\b)",
    re.IGNORECASE,
)
_VAGUE: Final = frozenset({"about", "approximately", "around", "roughly"})
_SUBORDINATE: Final = re.compile(
    r"(?P<gap>,? )(?P<word>only if|if|unless|provided that|as long as|only when|except when|except) "
    r"(?P<rest>[^.;?!,]{8,90})(?=[.;]|$)"
)
_LEADING: Final = re.compile(
    r"^(?P<word>If|Unless|Provided that|As long as) (?P<rest>[^,.;?]{8,90}), (?P<main>[a-zA-Z])"
)
_SCOPE: Final = re.compile(
    r" (?P<phrase>for (?:new|existing|registered|full-time|eligible|first-time|young|older|some"
    r"|certain) [a-z]+(?: [a-z]+)?"
    r"|with (?:prior |written )+(?:approval|consent|notice|permission)|during (?:business hours|the day"
    r"|the week|working hours)"
    r"|on (?:weekdays|weekends)|in (?:some|certain|most|many|rare) (?:cases|countries|states|areas"
    r"|circumstances))(?=[ .,;]|$)"
)
_EVERYWHERE: Final = {
    "for": "for everyone",
    "with": "without any approval",
    "during": "at any time",
    "on": "every day",
    "in": "in all cases",
}
_MODAL: Final = re.compile(r"\b(?:can|may|must|will|is|are|should|shall|allowed|eligible|required)\b")
_UNCONDITIONAL: Final = (" in all cases", " in any case", " under all circumstances", " whatever happens")
_QUESTION: Final = re.compile(r"\?\s*$")


def turned_limits(text: str, _scene: Scene, choice: random.Random) -> Iterator[Change]:
    """``at least`` to ``at most``, ``up to`` to ``more than``, ``about`` to ``exactly``, ``within`` to ``after``."""
    for match in _LIMIT.finditer(text):
        word = match.group(1).lower()
        new = cased(choice.choice(_LIMITS[word]), match.group(1))
        yield single("conditions.limit", Edit(*match.span(1), new), back=word in _VAGUE)


def stripped(text: str, _scene: Scene, choice: random.Random) -> Iterator[Change]:
    """``…, if X`` and ``If X, …`` without the condition, or with one that excludes nothing."""
    if _QUESTION.search(text) or " whether " in text:
        return
    for match in _SUBORDINATE.finditer(text):
        main = text[: match.start()]
        if len(main.split()) >= 3 and not re.search(r"\b(?:as|even|what|not|see|ask|know|say|wonder)$", main):  # noqa: PLR2004
            new = choice.choice(_UNCONDITIONAL)
            yield single("conditions.stripped", Edit(*match.span(), new), back=None)
    leading = _LEADING.match(text)
    if leading is not None:
        new = choice.choice(("In all cases, ", "In any case, ", "Under all circumstances, "))
        yield single("conditions.stripped", Edit(0, leading.start("main"), new), back=None)


def widened(text: str, _scene: Scene, _choice: random.Random) -> Iterator[Change]:
    """``for new customers`` to ``for everyone``, ``in some cases`` to ``in all cases``."""
    if _MODAL.search(text) is None:
        return
    for match in _SCOPE.finditer(text):
        phrase = match.group("phrase")
        if phrase.startswith("in most"):
            continue
        new = _EVERYWHERE[phrase.split()[0]]
        yield single("conditions.widened", Edit(*match.span("phrase"), new), back=None)
