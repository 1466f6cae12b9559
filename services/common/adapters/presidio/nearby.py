"""What stands around a match: words that speak for it, and a person that it can be about.

Presidio's own enhancer searches all tokens of a text for each result, knows words but no phrases, and puts the text
into its errors; ours looks at a bounded stretch of characters before and after.
"""

import re
from collections.abc import Sequence
from typing import Any, Final

from presidio_analyzer import EntityRecognizer, RecognizerResult
from presidio_analyzer.context_aware_enhancers import ContextAwareEnhancer
from presidio_analyzer.nlp_engine import NlpArtifacts

BEFORE_CHARS: Final = 64
AFTER_CHARS: Final = 24
SENTENCE_CHARS: Final = 240
"""A sentence is read at most so far to either side."""
_SUPPORTED: Final = 0.35
_SUPPORTED_AT_LEAST: Final = 0.75

_BEGIN: Final = re.compile(r"[.!?](?=\s)|\n")
_END: Final = re.compile(r"[.!?](?=\s|\Z)|\n")
FIRST_PERSON: Final = re.compile(r"\b(?:I|I'm|I've|[Mm]y|[Mm]e|[Mm]ine|[Mm]yself)\b")
_THIRD_PERSON: Final = re.compile(r"\b(?:[Hh]e|[Ss]he|[Hh]is|[Hh]er|[Hh]im|[Hh]imself|[Hh]erself)\b")
_BARE_ROLE: Final = re.compile(
    r"(?:\A|[:;\"(]\s*|\b[Tt]his )(?:[Pp]atient|[Cc]lient|[Cc]laimant|[Aa]pplicant|[Cc]ustomer|[Ee]mployee)\b"
)
_GENERIC: Final = re.compile(
    r"\b(?:if|whether|unless|when|whoever|whose|anyone|someone|any|each|every|must|may|shall|should|can|could|would|might)\b",
    re.IGNORECASE,
)


class NearbyWords(ContextAwareEnhancer):
    """Raises a result whose recogniser's context words stand near it, and drops one that needs them and has none."""

    def __init__(self) -> None:
        super().__init__(_SUPPORTED, _SUPPORTED_AT_LEAST, BEFORE_CHARS, AFTER_CHARS)
        self._words: dict[str, re.Pattern[str]] = {}
        self._needed: set[str] = set()

    def learn(self, recognizer: EntityRecognizer, words: Sequence[str], *, needed: bool) -> None:
        """Take the words that speak for a recogniser's results; ``needed``: nothing counts without one."""
        self._words[recognizer.id] = phrase(words)
        if needed:
            self._needed.add(recognizer.id)

    def enhance_using_context(
        self,
        text: str,
        raw_results: list[RecognizerResult],
        nlp_artifacts: NlpArtifacts,  # noqa: ARG002 - Presidio's signature
        recognizers: list[EntityRecognizer],  # noqa: ARG002
        context: list[str] | None = None,  # noqa: ARG002
    ) -> list[RecognizerResult]:
        """Return the results with their scores settled."""
        for result in raw_results:
            key = result.recognition_metadata[RecognizerResult.RECOGNIZER_IDENTIFIER_KEY]
            words = self._words.get(key)
            if words is None:
                continue
            if words.search(around(text, result.start, result.end)):
                result.score = min(1.0, max(result.score + _SUPPORTED, _SUPPORTED_AT_LEAST))
            elif key in self._needed:
                result.score = 0.0
        return raw_results


def phrase(words: Sequence[str]) -> re.Pattern[str]:
    """Return a pattern for whole words and phrases; a blank in them stands for blank, hyphen or underscore."""
    parts = "|".join(re.escape(word).replace(r"\ ", r"[ _-]?") for word in sorted(words, key=len, reverse=True))
    return re.compile(rf"(?<![^\W_])(?:{parts})(?![^\W_])", re.IGNORECASE)


def hints(words: Sequence[str]) -> tuple[str, ...]:
    """Return what must stand in a lower-case text for ``phrase`` to match: the first word of each."""
    return tuple(dict.fromkeys(word.lower().partition(" ")[0] for word in words))


def around(text: str, start: int, end: int) -> str:
    """Return what stands before and after, without the match."""
    return f"{text[max(0, start - BEFORE_CHARS) : start]} {text[end : end + AFTER_CHARS]}"


def sentence(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the bounds of the sentence, at most ``SENTENCE_CHARS`` to either side."""
    low = max(0, start - SENTENCE_CHARS)
    cut = [match.end() for match in _BEGIN.finditer(text, low, start)]
    stop = _END.search(text, end, min(len(text), end + SENTENCE_CHARS))
    return (cut[-1] if cut else low), (stop.end() if stop else min(len(text), end + SENTENCE_CHARS))


def about_a_person(text: str, start: int, end: int, artifacts: Any) -> bool:
    """Say whether the sentence speaks of one person: by name, as "I", or as "she" or "patient" without a rule's words.

    "Pregnant employees may leave early" and "if she is ill, she must report it" are rules and speak of nobody.
    """
    low, high = sentence(text, start, end)
    if any(
        one.label_ == "PERSON" and low <= one.start_char < high and (one.end_char <= start or one.start_char >= end)
        for one in artifacts.entities
    ):
        return True
    said = text[low:high]
    if _GENERIC.search(said):
        return FIRST_PERSON.search(said) is not None and not said.lstrip().lower().startswith("if ")
    return any(pattern.search(said) for pattern in (FIRST_PERSON, _THIRD_PERSON)) or bool(
        _BARE_ROLE.search(said.strip())
    )
