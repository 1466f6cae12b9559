"""Finding personal data in text (GDPR Art. 4(1); SPEC-005 §13).

A finding says what kind of data stands where, and never holds the data: nothing of the text leaves through this port,
also not in an error.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum, unique
from typing import Protocol

from services.common.ports.recognition import Entity


@unique
class PersonalDataCategory(StrEnum):
    """The four categories of SPEC-005 §13.2."""

    DIRECT_IDENTIFIER = "DIRECT_IDENTIFIER"
    QUASI_IDENTIFIER = "QUASI_IDENTIFIER"
    SENSITIVE = "SENSITIVE"
    FINANCIAL = "FINANCIAL"


@dataclass(frozen=True, slots=True)
class RecognisedText:
    """A text with the entities that the recogniser found in it, offsets in Unicode code points."""

    text: str = field(repr=False)
    entities: tuple[Entity, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class PersonalData:
    """A place that holds personal data.

    Attributes:
        category: one of SPEC-005 §13.2.
        type: what it is, upper snake case, e.g. ``EMAIL_ADDRESS``; an open set.
        start: first Unicode code point, 0 and up.
        end: code point after the last one.
        confidence: of the detector, 0.0-1.0; 1.0 = a checksum fits.
    """

    category: PersonalDataCategory
    type: str
    start: int
    end: int
    confidence: float


class PersonalDataDetector(Protocol):
    """Finds personal data."""

    @property
    def fingerprint(self) -> str:
        """Name, version and digest of rules and numbering plans."""
        ...

    async def detect(self, texts: Sequence[RecognisedText]) -> list[tuple[PersonalData, ...]]:
        """Return for each text its findings, ordered by start, then end, then type; two never overlap.

        One batch, off the event loop; a cancelled call stops after a bounded stretch of text.

        Raises:
            UnavailableError: MODEL_UNAVAILABLE: the detector failed or ran out of its time; nothing was skipped.
            LimitExceededError: QUEUE_FULL.
        """
        ...
