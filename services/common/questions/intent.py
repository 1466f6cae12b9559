"""What a question asks to be done, as far as its words say so (CRP-SPEC-008, chosen by intent; ADR 0162).

A comparison and independent parts are found by the rules that take questions apart; the rest by the words that the
specification names. Deterministic, for English; a question in no such words is a simple one.
"""

import re
from enum import StrEnum, unique
from typing import Final

from services.common.questions.decomposition import cut

_READ_CHARS: Final = 2_000
_COMPARED: Final = re.compile(r"\A(?=.*\bcomparison\Z).*?\bvs\b", re.IGNORECASE)
_VERIFY: Final = re.compile(
    r"\b(?:verify|double-check|fact-check|cross-check|validate)\b|\bconfirm (?:that|whether|if)\b"
    r"|\bis it (?:true|correct|right|the case) that\b",
    re.IGNORECASE,
)
_EXTRACT: Final = re.compile(
    r"\A(?:please |can you |could you )?(?:extract|quote|enumerate|pull out|(?:list|find) (?:all|every|each))\b",
    re.IGNORECASE,
)
_STEPS: Final = re.compile(r"\bstep[ -]by[ -]step\b|\bwalk me through\b|\bwork out a plan\b", re.IGNORECASE)


@unique
class Intent(StrEnum):
    """What is to be done."""

    SIMPLE = "simple"
    EXTRACT = "extract"
    VERIFY = "verify"
    STEPS = "steps"
    COMPARE = "compare"
    SEVERAL = "several"


def intent_of(query: str) -> Intent:
    """Return what a question asks to be done; of a long text its beginning says it."""
    read = " ".join(query[:_READ_CHARS].split())
    for intent, words in ((Intent.VERIFY, _VERIFY), (Intent.EXTRACT, _EXTRACT), (Intent.STEPS, _STEPS)):
        if words.search(read):
            return intent
    parts = cut(query)
    if _COMPARED.search(parts[-1]) and len(parts) > 1:
        return Intent.COMPARE
    return Intent.SEVERAL if len(parts) > 1 else Intent.SIMPLE
