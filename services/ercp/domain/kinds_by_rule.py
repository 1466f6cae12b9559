"""What a sentence is, where words say it without doubt (ADR 0118).

Each phrase below was right in nearly all training sentences that it occurs in; what is right only more often than not
is left to the heads: so are the readers of §8 for orders (right in .72 of the training sentences) and reasons (.79).
"""

import re
from typing import Final

from services.ercp.domain.predicates import TextFacts
from services.ercp.domain.unit_vocabulary import UnitKind

_BEGINS: Final = r"^\W{0,4}(?:(?:and|but|so|then|also)\s+)?"
_DEFINES: Final = (
    r"\b(?:is|are) defined as\b|\b(?:refers to|stands for|is short for|is understood to mean)\b"
    r"|[\"\u201d'\u2019`]\s+means\b"
    r"|\bby (?:an? |the )?[\"\u201c'\u2018`].{1,60} (?:we|i) (?:mean|understand)\b|\bwhat we (?:call|know as)\b"
)
_ASSUMES: Final = (
    rf"{_BEGINS}(?:suppose|supposing|assume|assuming|imagine|let(?: us|'s) (?:say|suppose|assume))\b"
    r"|\b(?:we|i) (?:assume|suppose|presume|take it)\b"
    r"|\b(?:is|are|was|were) (?:assumed|presumed|supposed) (?:to|that)\b"
    r"|\bfor the sake of argument\b|\btaken? for granted\b"
)
_CONDITIONS: Final = (
    rf"{_BEGINS}(?:if (?!not the|only\b|nothing|anything|i\b|memory)|provided (?:that|the|you|it)|in case of)\b"
    rf"|{_BEGINS}in the event (?:of|that)\b"
    r"|\b(?:provided that|on condition that|only if|as long as the|so long as|unless)\b"
)
_RESULTS: Final = (
    rf"{_BEGINS}(?:hence|therefore|thus|consequently|as a (?:result|consequence)|it follows that|accordingly)\b"
)
_REASONS: Final = r"\b(?:because|owing to|due to the|on the grounds that|for the reason that)\b"
_PHRASES: Final = (
    (UnitKind.DEFINITION, _DEFINES),
    (UnitKind.ASSUMPTION, _ASSUMES),
    (UnitKind.CONDITION, _CONDITIONS),
    (UnitKind.RESULT, _RESULTS),
    (UnitKind.JUSTIFICATION, _REASONS),
)
_EXACT: Final = tuple((kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in _PHRASES)
_READ_CHARS: Final = 2_000


def kinds_of(facts: TextFacts) -> list[frozenset[UnitKind]]:
    """Return what rules say of each of a text's sentences; linear in the text."""
    ends = [min(span.end, span.start + _READ_CHARS) for span in facts.sentences]
    read = [facts.text[span.start : end] for span, end in zip(facts.sentences, ends, strict=True)]
    return [frozenset(kind for kind, pattern in _EXACT if pattern.search(each)) for each in read]
