"""What a statement holds under, and in spite of what it holds (SPEC-005 §5.3, §8.2; ADR 0095).

"If", "unless" and "provided that" open a condition, "even if", "regardless of" and "whatever" deny that there is one. A
cue governs what stands up to the next comma or full stop, or up to the next cue. One pass, one regular expression.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum, unique
from typing import Final

from services.common.reading.text_types import Span

_DENIED: Final = (
    r"even (?:if|when|where|though|after|before|without|with|for|in|on)|regardless of|irrespective of|no matter"
    r"|whatever|whether or not|with or without|however (?:long|much|many|late|early|old|large|small)|in any case"
)
_UNLESS: Final = r"unless|except (?:if|when|where|that)"
_IF: Final = (
    r"(?:but |and |or )?only (?:if|when|where|once|after|with)|if|where|when(?:ever)?|once|provided(?: that)?"
    r"|providing(?: that)?|as long as|so long as|on condition that|in case|in the event (?:of|that)"
    r"|subject to|on the condition that"
)
_CUE: Final = re.compile(rf"\b(?:(?P<denied>{_DENIED})|(?P<unless>{_UNLESS})|(?P<if>{_IF}))\b", re.IGNORECASE)
_END: Final = re.compile(r"[,.;:?!]\s|[.;:?!]$|\n")


@unique
class Kind(StrEnum):
    """What a cue says of what it governs."""

    IF = "IF"
    UNLESS = "UNLESS"
    DENIED = "DENIED"


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition of a text: the cue with what it governs; offsets in the text."""

    kind: Kind
    cue: str
    span: Span
    governed: str


def conditions(text: str) -> Iterator[Condition]:
    """Yield the conditions of a text, in order."""
    cues = list(_CUE.finditer(text))
    for at, cue in enumerate(cues):
        limit = cues[at + 1].start() if at + 1 < len(cues) else len(text)
        end = _END.search(text, cue.end(), limit)
        stop = end.start() if end else limit
        yield Condition(_kind(cue), cue.group().lower(), Span(cue.start(), stop), text[cue.end() : stop].strip())


def governed_conditions(text: str) -> list[str]:
    """Return what the conditions of a text govern; "where" and "when" inside a sentence included."""
    return [item.governed for item in conditions(text) if item.kind is not Kind.DENIED]


def without_conditions(text: str) -> str:
    """Return the text with its conditions blanked out; offsets stay what they were."""
    for item in conditions(text):
        text = text[: item.span.start] + " " * (item.span.end - item.span.start) + text[item.span.end :]
    return text


def _kind(cue: re.Match[str]) -> Kind:
    if cue["denied"]:
        return Kind.DENIED
    return Kind.UNLESS if cue["unless"] else Kind.IF
