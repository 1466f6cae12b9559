"""Claims of a text and the reasons it gives for them: "because", "therefore", "this is because" (ADR 0070).

A reason says something that the claim does not say: "it is so because it is so" justifies nothing.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from services.ercp.domain.predicates.facts import Justification, Span
from services.ercp.domain.predicates.naming import words_of

_REACH: Final = 300
"""So many characters before and after a marker are its claim and its reason."""
_LEAST_WORDS: Final = 2
_BACKWARD: Final = re.compile(
    r"\b(?P<marker>because(?:\s+of)?|due\s+to|owing\s+to|thanks\s+to|as\s+a\s+result\s+of|on\s+account\s+of|given\s+that|"
    r"given(?=\s+(?:the|its|their)\b)|seeing\s+that|in\s+view\s+of|since(?!\s+(?:\d|then\b|last\b|the\s+(?:19|20)|"
    r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\w*\b))|inasmuch\s+as|by\s+virtue\s+of|caused\s+by|"
    r"follows\s+from|results?\s+from|explained\s+by|the\s+reason\s+being)\b|,\s+(?P<comma>as|for)\s+(?=(?:the|it|its|this|that|they|"
    r"there|water|air|each|every|all|we|an?|\w+s)\s)",
    re.IGNORECASE,
)
"""Behind these stands the reason; the claim stands before them, or after a comma when they begin the sentence."""
_FORWARD: Final = re.compile(
    r"(?:[,;:]\s{0,3}|\s)(?:and\s+)?(?P<marker>therefore|thus|hence|consequently|as\s+a\s+result|as\s+a\s+consequence|for\s+(?:this|that)\s+reason|"
    r"which\s+(?:means|implies|shows|proves|is\s+why)(?:\s+that)?|(?:so|meaning)(?:\s+that)?(?=\s+(?!far\b|since\b|because\b|on\b|called\b|many\b|much\b|"
    r"long\b))|it\s+follows\s+that|this\s+(?:means|implies|shows|proves)\s+that|(?:means|implies|shows|proves)\s+that|that\s+is\s+why)\b[\s,]*",
    re.IGNORECASE,
)
"""Behind these stands the claim, and the reason before them."""
_SENTENCE_FORWARD: Final = re.compile(
    r"\s*(?:[-*•]\s*)?(?:and\s+)?(?P<marker>therefore|thus|hence|consequently|as\s+a\s+result|as\s+a\s+consequence|accordingly|so|"
    r"for\s+(?:this|that|these)\s+reasons?|it\s+follows\s+that|(?:this|that|which)\s+(?:means|implies|shows|proves)(?:\s+that)?|"
    r"(?:that|this)\s+is\s+why|from\s+this\s+it\s+follows\s+that|in\s+consequence)\b[\s,]*",
    re.IGNORECASE,
)
_SENTENCE_BACKWARD: Final = re.compile(
    r"\s*(?:[-*•]\s*)?(?P<marker>(?:this|that|it)\s+(?:is|was|happens|occurs)\s+(?:so\s+)?(?:because(?:\s+of)?|due\s+to|since)|"
    r"the\s+(?:reason|explanation|cause)(?:\s+for\s+(?:this|that))?\s+(?:is|was)(?:\s+that)?|(?:the\s+)?reason:|"
    r"(?:this|that)\s+(?:follows|results?)\s+from|the\s+justification\s+is(?:\s+that)?)(?!\w)[\s,]*",
    re.IGNORECASE,
)
_REASON_WHY: Final = re.compile(
    r"\s*(?:the\s+|a\s+|one\s+)?(?P<marker>reason)\s+(?:why\s+|that\s+|for\s+)(?P<claim>.{3,300}?)\s+(?:is|was)\s+(?:that\s+|because\s+)?(?P<reason>.+)",
    re.IGNORECASE | re.DOTALL,
)
_OPENINGS: Final = frozenset({"", "and", "but", "however", "so", "also", "this is", "that is", "it is"})
_OPENING_REACH: Final = 20
_COMMA: Final = re.compile(r",\s+")


def read_justifications(text: str, sentences: Sequence[Span]) -> Iterator[Justification]:
    """Yield the claims that stand with a reason, in text order."""
    previous: Span | None = None
    for sentence in sentences:
        if text[sentence.start : sentence.end].rstrip().endswith("?"):
            previous = None
            continue
        yield from _across(text, previous, sentence)
        yield from _within(text, sentence)
        previous = sentence


def _across(text: str, previous: Span | None, sentence: Span) -> Iterator[Justification]:
    """Read a sentence that points back to the one before it."""
    if previous is None:
        return
    match = _SENTENCE_BACKWARD.match(text, sentence.start, sentence.end)
    if match is not None:
        yield from _pair(text, previous, Span(match.end(), sentence.end), match["marker"])
        return
    match = _SENTENCE_FORWARD.match(text, sentence.start, sentence.end)
    if match is not None:
        yield from _pair(text, Span(match.end(), sentence.end), previous, match["marker"], concludes=True)


def _within(text: str, sentence: Span) -> Iterator[Justification]:
    why = _REASON_WHY.match(text, sentence.start, min(sentence.end, sentence.start + 2 * _REACH))
    if why is not None:
        yield from _pair(text, Span(*why.span("claim")), Span(*why.span("reason")), why["marker"])
    for match in _BACKWARD.finditer(text, sentence.start, sentence.end):
        marker = match["marker"] or match["comma"]
        before = Span(max(sentence.start, match.start() - _REACH), match.start())
        after = Span(match.end(), min(sentence.end, match.end() + _REACH))
        if words_of(text[before.start : before.end]) and not _is_opening(text, sentence, match.start()):
            yield from _pair(text, before, after, marker)
            continue
        comma = _COMMA.search(text, after.start, after.end)
        if comma is not None:
            # "Because the pressure is lower, water boils sooner."
            yield from _pair(text, Span(comma.end(), after.end), Span(after.start, comma.start()), marker)
    for match in _FORWARD.finditer(text, sentence.start, sentence.end):
        before = Span(max(sentence.start, match.start() - _REACH), match.start())
        yield from _pair(text, Span(match.end(), min(sentence.end, match.end() + _REACH)), before, match["marker"])


def _is_opening(text: str, sentence: Span, start: int) -> bool:
    """Say whether nothing but a connective stands before a marker."""
    if start - sentence.start > _OPENING_REACH:
        return False
    return text[sentence.start : start].strip(" ,-*•\"'").lower() in _OPENINGS


def _pair(text: str, claim: Span, reason: Span, marker: str, *, concludes: bool = False) -> Iterator[Justification]:
    claim, reason = _trimmed(text, claim), _trimmed(text, reason)
    said, given = (frozenset(words_of(text[span.start : span.end])) for span in (claim, reason))
    # A reason that only says the claim again is none.
    if said and len(given) >= _LEAST_WORDS and not given <= said:
        is_given = not concludes or bool(said & given)
        yield Justification(claim, reason, " ".join(marker.lower().split()), is_given)


def _trimmed(text: str, span: Span) -> Span:
    start, end = span.start, span.end
    while start < end and text[start] in " ,;:-\n\t":
        start += 1
    while end > start and text[end - 1] in " ,;:.\n\t":
        end -= 1
    return Span(start, end)
