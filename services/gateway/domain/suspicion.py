"""What of a dispatch speaks to a language model out of turn, as it is recorded: rules, places, counts (ADR 0145)."""

from dataclasses import dataclass
from enum import StrEnum, unique
from typing import Any, Final

from services.common.injection.masking import Finding
from services.common.injection.rule_set import rule_set

LISTED: Final = 50
"""Texts of one window that its event lists; the numbers are those of all."""


@unique
class Part(StrEnum):
    """What of a dispatch a text is."""

    QUERY = "query"
    EARLIER_QUESTION = "earlier_question"
    """That the caller tells, of a conversation which the caller keeps."""
    FACT = "fact"
    SUMMARY = "summary"
    """Of an earlier window, written to be carried (SPEC-004 §12)."""
    TOOL = "tool"
    """What a tool answered."""
    RESULT = "result"
    """An earlier window's last paragraph, which flows where no summary does."""


@dataclass(frozen=True, slots=True)
class Suspicion:
    """One text that speaks to a model; never its words.

    Attributes:
        part: what it is.
        of: the fact, the tool, or the window that it comes from; empty for what the caller says.
        action: what was done: reported, masked, left_out.
        tells: what it says to a model, for people.
        rules: ids of the rules that matched and how often.
        places: where in the text as it came, the first 20.
        count: how many places there are.
    """

    part: Part
    of: str
    action: str
    tells: tuple[str, ...]
    rules: tuple[tuple[str, int], ...]
    places: tuple[tuple[int, int], ...]
    count: int

    @classmethod
    def found(cls, part: Part, of: str, action: str, finding: Finding) -> "Suspicion":
        """Return what a search of a text came to."""
        return cls(part, of, action, finding.tells, finding.rules, finding.places, finding.count)

    def record(self) -> dict[str, Any]:
        """Return what an auditor reads of it."""
        own = self.part in {Part.QUERY, Part.EARLIER_QUESTION}
        named = {} if own else {_OF.get(self.part, "window_id"): self.of}
        return {
            "part": self.part.value,
            **named,
            "action": self.action,
            "rules": dict(self.rules),
            "places": [list(place) for place in self.places],
            "count": self.count,
        }


_OF: Final = {Part.FACT: "fact_id", Part.TOOL: "tool"}
"""What names a text, where it is not the window that it comes from."""


def event_data(suspicions: tuple[Suspicion, ...]) -> dict[str, Any]:
    """Return the data of a window's audit event: the rules that judged, and each text, the first 50."""
    return {
        "rule_set": rule_set().fingerprint,
        "texts": [one.record() for one in suspicions[:LISTED]],
        "text_count": len(suspicions),
    }
