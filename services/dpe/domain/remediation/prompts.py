"""The prompts of the remedies, as the text gives them (SPEC-005 §9.3, §10.3, §11.5), and our own where it gives none.

Findings are named by kind and number. Nothing here takes a word of an answer: where the text puts an earlier answer
into a prompt, its bracket is kept and the step lists what it stands for by offsets. Sub-queries are the caller's own;
they are quoted without line breaks, control characters, quotation marks and brackets, and cut (ADR 0042).
"""

import unicodedata
from collections.abc import Sequence
from typing import Final

PRIOR_SUMMARY: Final = "Prior response summary — flagged repeated sections marked"
PRIOR_END: Final = "last 3 sentences of prior response"
PASSAGE_A: Final = "last 2 sentences of Window N-1"
PASSAGE_B: Final = "first 2 sentences of Window N"
"""The brackets, word for word."""

MAX_TOPIC_CHARS: Final = 200
MAX_TOPICS: Final = 20

# SPEC-005 §9.3.
ANTI_REPETITION: Final = f"""\
IMPORTANT: The following content has already been provided to the user in prior responses.
DO NOT repeat this content. Build upon it, extend it, or address different aspects.

[{PRIOR_SUMMARY}]

Continue from where the prior response ended. Provide NEW information only."""

# SPEC-005 §11.5, option A.
CONTINUATION_FLOW: Final = f"""\
This is a continuation of a prior response. The prior response ended with:

'[{PRIOR_END}]'

Continue naturally from that point. Do NOT re-introduce the topic.
Do NOT repeat content from the prior response.
Use transitional language to bridge from the prior content.
Maintain the same style, formality, and level of detail."""

# SPEC-005 §11.5, option B.
STITCH: Final = f"""\
Write a 1-2 sentence bridge connecting these two passages:

PASSAGE A ends with: '[{PASSAGE_A}]'
PASSAGE B begins with: '[{PASSAGE_B}]'

The bridge should create a natural transition. Be concise."""

_REJECTED: Final = "An earlier attempt at this answer was not accepted."
_KEEP_TO_FACTS: Final = (
    "State only what the provided facts say. Copy numbers, dates and names exactly, keep every condition and every "
    "negation, and leave out what no fact bears out."
)
_CORRECT: Final = (
    "Follow the provided facts: keep the earlier statement where they bear it out, state what they say and that it "
    "corrects the earlier response where they contradict it, and leave the statement out where they settle neither."
)


def keep_to_facts(found: Sequence[str]) -> str:
    """Return the instruction of a strategy upgrade (SPEC-005 §19.2: "specific remediation instructions").

    Args:
        found: what was found, by kind and number, e.g. ``2 changed numbers``; may be empty.
    """
    return _sentences(_REJECTED, f"Found in it: {'; '.join(found)}." if found else "", _KEEP_TO_FACTS)


def correct_contradictions(found: Sequence[str], window_numbers: Sequence[int]) -> str:
    """Return the instruction of a re-dispatch with context correction (SPEC-005 §8.3, §18.1).

    Args:
        found: contradictions by severity and number, e.g. ``1 CRITICAL``.
        window_numbers: of the earlier windows that are contradicted.
    """
    told = f"It contradicts what the user was told in {_windows(window_numbers)}: {', '.join(found)}."
    return _sentences(_REJECTED, told, _CORRECT)


def continue_with(covered: Sequence[str], uncovered: Sequence[str]) -> str:
    """Return the addition to the system prompt of a continuation (SPEC-005 §10.3, 3)."""
    topics = _topics(covered) if covered else "none of the topics"
    return f"The prior response addressed {topics}. Now address: {_topics(uncovered)}."


def quoted(topic: str) -> str:
    """Return a sub-query on one line, without what could end the quotation or forge a bracket, in quotation marks."""
    plain = "".join(_plain(char) for char in topic)
    words = " ".join(plain.split())
    if len(words) > MAX_TOPIC_CHARS:
        words = words[: MAX_TOPIC_CHARS - 1].rstrip() + "…"
    return f'"{words}"'


def _topics(topics: Sequence[str]) -> str:
    shown = ", ".join(quoted(topic) for topic in topics[:MAX_TOPICS])
    more = len(topics) - MAX_TOPICS
    return f"{shown} and {more} more" if more > 0 else shown


def _windows(numbers: Sequence[int]) -> str:
    shown = ", ".join(str(number) for number in numbers)
    return f"window {shown} of this session" if len(numbers) == 1 else f"windows {shown} of this session"


def _sentences(*parts: str) -> str:
    return " ".join(part for part in parts if part)


_REPLACED: Final = {"[": "(", "]": ")", "{": "(", "}": ")"}
_QUOTES: Final = frozenset('"“”„‟«»″\uff02')


def _plain(char: str) -> str:
    if char in _QUOTES:
        return ""
    category = unicodedata.category(char)
    if category[0] in "CZ":
        # Format characters vanish; control characters and separators part words as spaces do.
        return "" if category == "Cf" else " "
    return _REPLACED.get(char, char)
