"""Finding named entities and quantities in text."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum, unique
from typing import Protocol


@unique
class EntityKind(StrEnum):
    """Kinds of entities that the provenance stages tell apart (SPEC-005 §3.2, §5.2)."""

    PERSON = "PERSON"
    ORGANISATION = "ORGANISATION"
    LOCATION = "LOCATION"
    DATE = "DATE"
    TIME = "TIME"
    MONEY = "MONEY"
    PERCENT = "PERCENT"
    QUANTITY = "QUANTITY"
    NUMBER = "NUMBER"
    CITATION = "CITATION"
    URL = "URL"
    EMAIL = "EMAIL"
    PRODUCT = "PRODUCT"
    EVENT = "EVENT"
    LAW = "LAW"
    OTHER = "OTHER"


@dataclass(frozen=True, slots=True)
class Entity:
    """A mention: ``text`` is exactly ``source[start:end]``, offsets in Unicode code points."""

    kind: EntityKind
    text: str
    start: int
    end: int


class EntityRecognizer(Protocol):
    """Recognises named entities."""

    @property
    def fingerprint(self) -> str:
        """Name, version and digest of the weights."""
        ...

    async def recognize(self, texts: Sequence[str]) -> list[tuple[Entity, ...]]:
        """Return for each text its entities, ordered by start, not overlapping. One batch, off the event loop."""
        ...
