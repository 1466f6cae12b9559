"""The shape of our own recognisers: patterns that propose, and a check that looks around and decides."""

import re
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import regex
from presidio_analyzer import LocalRecognizer, RecognizerResult

Check = Callable[[str, int, int, Any], float | None]
"""(text, start, end, artifacts) to the confidence, or ``None``: it is not personal data."""


AnyPattern: TypeAlias = "regex.Pattern[str] | re.Pattern[str]"


class RuleRecognizer(LocalRecognizer):
    """Finds what a pattern proposes and the check confirms.

    Args:
        entity: the type of what is found.
        patterns: what to look for; a group named ``data`` is what counts of a match. Linear on any input.
        check: decides on each proposal.
        hints: lower-case texts; where none of them stands, no pattern can match or none of its matches would count.
    """

    def __init__(self, entity: str, patterns: Sequence[AnyPattern], check: Check, hints: Sequence[str] = ()) -> None:
        self._title = f"Groundtrail{entity.title().replace('_', '')}"
        super().__init__(supported_entities=[entity], name=self._title)
        self.hints = tuple(hints)
        self._patterns = patterns
        self._check = check

    def load(self) -> None:
        """Need nothing."""

    def analyze(self, text: str, entities: list[str], nlp_artifacts: Any = None) -> list[RecognizerResult]:  # noqa: ARG002
        """Return the confirmed proposals."""
        found = []
        for pattern in self._patterns:
            named = "data" in pattern.groupindex
            for match in pattern.finditer(text):
                start, end = match.span("data" if named else 0)
                score = self._check(text, start, end, nlp_artifacts)
                if score is not None:
                    found.append(self.result(start, end, score))
        return found

    def result(self, start: int, end: int, score: float) -> RecognizerResult:
        """Return a finding."""
        known = {RecognizerResult.RECOGNIZER_NAME_KEY: self._title, RecognizerResult.RECOGNIZER_IDENTIFIER_KEY: self.id}
        return RecognizerResult(self.supported_entities[0], start, end, score, recognition_metadata=known)


def always(score: float) -> Check:
    """Return a check that confirms everything."""
    return lambda text, start, end, artifacts: score  # noqa: ARG005
