"""Text that speaks to a language model rather than to a reader: how instructions are injected (ADR 0113).

By patterns, the classes of ``InjectionPatternClass`` that plain text can have. They are told to people; no fact is left
out because of them, since a manual of security quotes the same words. Linear in the text.
"""

import re
from collections.abc import Iterator
from typing import Final

OVERRIDES: Final = "overrides instructions"
FORGES: Final = "forges a speaker"
ROLE: Final = "changes the model's role"
EXFILTRATES: Final = "asks for secrets"
CONTROLS: Final = "holds characters that hide or turn text"
STEERS: Final = "tells a model what to answer"

_PATTERNS: Final = {
    OVERRIDES: r"\b(?:ignore|disregard|forget|override|bypass)\s+(?:\w+\s+){0,3}"
    r"(?:instructions?|prompts?|guidelines|directions|context|rules\s+above|system\s+message)\b"
    r"|\bnew\s+(?:system\s+)?instructions?\s*:",
    FORGES: r"<\|(?:im_start|im_end|system|user|assistant|endoftext)\|>|\[/?INST\]|<</?SYS>>"
    r"|(?:^|\n)[ \t]{0,8}(?:#{2,3} ?)?(?:system|assistant) ?:\s{1,8}(?:you|ignore|always|never)\b",
    ROLE: r"\byou\s+are\s+(?:now|no\s+longer)\s+(?:an?\s+)?(?:\w+\s+){0,3}(?:ai|assistant|model|chatbot|bot|dan)\b"
    r"|\bact\s+as\s+(?:an?\s+)?(?:\w+\s+){0,2}(?:ai|assistant|chatbot|jailbroken)\b|\bdeveloper\s+mode\b",
    EXFILTRATES: r"\b(?:reveal|print|repeat|output|send|leak|show)\s+(?:\w+\s+){0,4}"
    r"(?:system\s+prompt|api\s+keys?|passwords?\s+to\b|your\s+(?:instructions|prompt|credentials))",
    STEERS: r"\b(?:if\s+you\s+are|as)\s+an?\s+(?:ai|llm|language\s+model|assistant)\b"
    r"|\b(?:ai|llms?|language)\s+(?:models?|assistants?|agents?)\s+(?:reading|processing|must|should)\b"
    r"|\bdo\s+not\s+(?:mention|tell|inform)\s+(?:this\s+to\s+)?the\s+user\b"
    r"|\bwhen\s+(?:asked|summari[sz]ing)\b[^.\n]{0,80}\b(?:say|answer|respond|reply)\b",
}
_COMPILED: Final = tuple((why, re.compile(pattern, re.IGNORECASE)) for why, pattern in _PATTERNS.items())
_HINT: Final = re.compile(
    r"ignore|disregard|forget|override|bypass|instruction|<\||\[/?inst|<<|system|assistant|you\s+are|act\s+as"
    r"|developer\s+mode|reveal|print|repeat|output|send|leak|show|\bai\b|llm|language|do\s+not|when\s+",
    re.IGNORECASE,
)
"""Without one of these no pattern can match; most facts have none and cost one search."""
_CONTROLS: Final = re.compile("[\u200b\u2060\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")
_MIN_CONTROLS: Final = 3
"""One zero-width space is a hyphenation aid; several are a message, or hide one."""
MAX_CHARS: Final = 100_000


def why_suspected(text: str) -> tuple[str, ...]:
    """Return what in a text speaks to a model; nothing for ordinary text."""
    return tuple(_reasons(text[:MAX_CHARS]))


def _reasons(text: str) -> Iterator[str]:
    if _HINT.search(text):
        for why, pattern in _COMPILED:
            if pattern.search(text):
                yield why
    if not text.isascii() and len(_CONTROLS.findall(text)) >= _MIN_CONTROLS:
        yield CONTROLS
