"""What the encoder is asked about: the claim as it stands, or a question and its short answer as one statement.

"Delhi" can be judged only together with what was asked. A short answer takes the place of the question word where the
question allows that without knowing its grammar ("Who wrote Hamlet?", "… has its head office in what city?"); otherwise
the question stands before it. A claim that is a sentence of its own stands alone, unless it begins with a pronoun that
may refer to the question.

The same rule prepares training rows and requests. The claim's text is never changed, only surrounded, so that a token
of the statement can be traced to the claim.
"""

import re
from dataclasses import dataclass
from typing import Final

from services.common.grounding.words import sentences

SHORT_ANSWER_WORDS: Final = 6
"""Up to so many words a claim is an answer rather than a sentence."""
SENTENCE_WORDS: Final = 12
"""From so many words a claim is a sentence, also without a full stop."""
MAX_QUERY_WORDS: Final = 60
"""Of a longer question the last sentence is taken, or nothing if that is longer too."""
PIECE_WORDS: Final = 32
"""A longer claim is judged in pieces of whole sentences."""

_QUESTION: Final = re.compile(
    r"^(?:who|whom|whose|what|which|when|where|why|how|is|are|was|were|do|does|did|can|could|will|would|has|have|had|"
    r"should|in (?:what|which)|name)\b",
    re.IGNORECASE,
)
_REFERS_BACK: Final = re.compile(
    r"^(?:it|its|he|his|she|her|they|their|this|that|these|those|there|yes|no)\b", re.IGNORECASE
)
_WHO_FIRST: Final = re.compile(
    r"^who\s+(?!do\b|does\b|did\b|else\b|all\b|the\b|has\s+\w+\s+\w+ed\b)(?P<rest>.+?)[\s?]*$", re.IGNORECASE
)
_ASKED_LAST: Final = re.compile(
    r"^(?P<rest>(?!who\b|what\b|which\b|when\b|where\b|how\b|why\b).+?\b(?:by|in|of|at|for|from|on|after|with|to|as|is|was))"
    r"\s+(?:who|whom|(?:what|which)(?:\s+[\w-]+){0,2})[\s?]*$",
    re.IGNORECASE,
)
_CHOICE: Final = re.compile(r"\bor\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Statement:
    """A text for the encoder to judge. The claim is ``text[claim_start:claim_end]``, in Unicode code points."""

    text: str
    claim_start: int
    claim_end: int


def statement(claim: str, query: str | None) -> Statement:
    """Present a claim to the encoder.

    Args:
        claim: the text to check; surrounding white space is kept.
        query: the question that it answers, if there is one.
    """
    question = _question(query)
    if question is None or not _needs_question(claim):
        return Statement(claim, 0, len(claim))
    before, after = _frame(claim, question)
    return Statement(f"{before}{claim}{after}", len(before), len(before) + len(claim))


def pieces(claim: str) -> list[tuple[int, int]]:
    """Cut a claim of more than ``PIECE_WORDS`` words into stretches of whole sentences, as offsets (start, end).

    Short sentences stay together as long as a stretch has no more than that many words. A single sentence is never cut
    but for one beyond ``words.MAX_SENTENCE_CHARACTERS``. Between them the pieces cover every word of the claim.
    """
    if len(claim.split()) <= PIECE_WORDS:
        return [(0, len(claim))]
    found: list[tuple[int, int]] = []
    held = 0
    for start, end in sentences(claim):
        size = len(claim[start:end].split())
        if found and held + size <= PIECE_WORDS:
            found[-1] = (found[-1][0], end)
            held += size
        else:
            found.append((start, end))
            held = size
    return found


def is_short_answer(claim: str) -> bool:
    """Say whether a claim is an answer that means nothing without its question."""
    size = len(claim.split())
    return size <= SHORT_ANSWER_WORDS or (size < SENTENCE_WORDS and claim.rstrip()[-1:] not in {".", "!", "?"})


def _needs_question(claim: str) -> bool:
    return is_short_answer(claim) or _REFERS_BACK.match(claim.lstrip()) is not None


def _question(query: str | None) -> str | None:
    """Return what was asked, on one line; ``None`` when it is no question or too long to stand beside a claim."""
    if query is None or not query.strip():
        return None
    text = " ".join(query.split())
    if len(text.split()) > MAX_QUERY_WORDS:
        start, end = sentences(text)[-1]
        text = text[start:end]
    asked = text.endswith("?") or _QUESTION.match(text) is not None
    return text if asked and len(text.split()) <= MAX_QUERY_WORDS else None


def _frame(claim: str, question: str) -> tuple[str, str]:
    """Return what stands before and after the claim."""
    if is_short_answer(claim) and not _REFERS_BACK.match(claim.lstrip()) and not _CHOICE.search(question):
        who = _WHO_FIRST.match(question)
        if who is not None:
            return "", f" {who['rest']}"
        last = _ASKED_LAST.match(question)
        if last is not None:
            return f"{last['rest']} ", ""
    mark = "" if question.endswith("?") else "?"
    return f"{question}{mark} ", ""
