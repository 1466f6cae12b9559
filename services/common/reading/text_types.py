"""What a text is made of: sentences, values, claims. Offsets are Unicode code points of the text that is analysed."""

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum, unique

from groundtrail.reading.boundaries import SentenceKind

from services.common.ports.recognition import Entity, EntityKind

__all__ = ["Claim", "ClaimType", "Sentence", "SentenceKind", "Span", "Value"]


@dataclass(frozen=True, slots=True)
class Span:
    """``text[start:end]``."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence, heading, table row or line of code, without the layout around it."""

    index: int
    start: int
    end: int
    kind: SentenceKind = SentenceKind.PROSE


@unique
class ClaimType(StrEnum):
    """SPEC-005 §3.3."""

    FACTUAL = "FACTUAL"
    OPINION = "OPINION"
    PROCEDURAL = "PROCEDURAL"
    META = "META"


@dataclass(frozen=True, slots=True)
class Value:
    """A number, date, amount, address or reference in comparable form.

    Attributes:
        kind: NUMBER, QUANTITY, MONEY, PERCENT, DATE, TIME, URL, EMAIL, CITATION, or OTHER for an identifier.
        normal: equal for equal values: ``4200000 USD``, ``2024-03``, ``0.15``, ``https://example.org/a``.
        alternative: the other reading of an ambiguous date; empty when there is none.
        number: the number as written, scaled (``4.2 million`` is 4200000); ``None`` for kinds without one.
        magnitude: the number in base units; equal to ``number`` without a unit of measure.
        unit: base unit, e.g. ``meter``, ``USD``, ``%``; empty for a bare number.
        approximate: a word such as "about" stands before it.
        floor: words such as "more than" or "over" stand before it: the true number is larger.
        counted: stem of the word behind a bare number, which says what it counts; empty when none stands there.
        per: the length of time that an amount is for, e.g. ``month`` in "5 EUR a month"; empty when it is for none.
    """

    kind: EntityKind
    text: str
    start: int
    end: int
    normal: str
    alternative: str = ""
    number: Decimal | None = None
    magnitude: Decimal | None = None
    unit: str = ""
    approximate: bool = False
    floor: bool = False
    counted: str = ""
    per: str = ""


@dataclass(frozen=True, slots=True)
class Claim:
    """An atomic assertion (SPEC-005 §3.2): ``text`` is exactly ``answer[start:end]``; entities have answer offsets."""

    claim_id: str
    text: str
    start: int
    end: int
    sentence_index: int
    claim_type: ClaimType
    specificity: float
    entities: tuple[Entity, ...] = ()
    values: tuple[Value, ...] = ()
