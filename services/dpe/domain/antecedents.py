"""What a pronoun at the beginning of a claim stands for: the subject of the last claim before it that has one.

"A fire must be reported within 14 days. It is covered in full." A claim that opens with "it" says nothing of what it is
about; its neighbours do. Only subjects are carried on, and only to the next sentences of the same paragraph: beside
them a name that a pronoun introduces, "That's the Larch plan, which ...".
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

from services.common.reading.text_types import Claim
from services.common.reading.words import content_stems, words
from services.dpe.domain.roles import subject_and_rest

_PRONOUNS: Final = frozenset({"it", "they", "he", "she", "this", "these", "those", "its", "their", "his", "her"})
_REACH_SENTENCES: Final = 2
_INTRODUCES: Final = re.compile(
    r"\W{0,4}(?:That|This|It|These|Those)(?:['\u2019]s|\s(?:is|are|was|were|would\sbe|will\sbe))\s(?:the|our|your)\s"
    r"(?P<named>(?:[\w-]{1,30}\s){0,3}[A-Z][\w-]{0,30}(?:\s(?!(?:that|which|who|where)\b)[\w-]{1,30}){0,3})(?=,|[.:;]?$|\s\()"
)
"""A pronoun that is said to be what a name names: whoever goes on with "it" speaks of that."""


def opens_with_pronoun(text: str) -> bool:
    """Say whether a claim's first word stands for something said before it."""
    return _is_pronoun(text[:_OPENING_CHARS])


@lru_cache(maxsize=4_096)
def _is_pronoun(opening: str) -> bool:
    """Say whether the first word is one; asked of each claim by several rules."""
    said = words(opening)
    return bool(said) and said[0].text in _PRONOUNS


def antecedents(claims: Sequence[Claim], text: str) -> Mapping[str, frozenset[str]]:
    """Return the stems of what is meant for every claim that opens with a pronoun, by claim id.

    Args:
        claims: of one text, in order.
        text: the text that their offsets are in.
    """
    found: dict[str, frozenset[str]] = {}
    subject: frozenset[str] = frozenset()
    said_in, ended = 0, 0
    for claim in claims:
        introduced = _introduced(claim.text)
        if opens_with_pronoun(claim.text):
            is_near = claim.sentence_index - said_in <= _REACH_SENTENCES and "\n\n" not in text[ended : claim.start]
            if subject and is_near:
                found[claim.claim_id] = subject
        else:
            parts = subject_and_rest(claim.text)
            subject, said_in = (parts[0] if parts else frozenset()), claim.sentence_index
        if introduced:
            subject, said_in = introduced, claim.sentence_index
        ended = claim.end
    return found


def _introduced(text: str) -> frozenset[str]:
    """Return the stems of the name that a claim introduces, up to a comma or its end; none where it does not."""
    found = _INTRODUCES.match(text)
    return frozenset() if found is None else content_stems(found["named"])


_OPENING_CHARS: Final = 24
