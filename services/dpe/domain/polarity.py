"""Whether a statement is negated: an odd number of negating words, idioms that do not negate left out."""

import re
from typing import Final

from services.dpe.domain.lexicon import NEGATORS
from services.dpe.domain.words import words

_NOT_NEGATING: Final = re.compile(
    r"\b(?:no|not)\s+(?:later|earlier|more|less|fewer|longer|only|sooner|higher|lower)\s*(?:than\b)?|\bno\.|\bwhether\s+or\s+not\b"
    r"|\bno\s+matter\b|\bnot\s+just\b",
    re.IGNORECASE,
)
_NO_LONGER: Final = re.compile(r"\bno\s+longer\b(?!\s+than)", re.IGNORECASE)


def is_negated(text: str) -> bool:
    """Say whether the text is negated: "not unless" is not, "does not apply" is."""
    bare = _NOT_NEGATING.sub(" ", _NO_LONGER.sub(" not ", text))
    return sum(1 for word in words(bare) if word.text in NEGATORS) % 2 == 1
