"""What a sentence of a reasoning can be, and what a second one can be to a first (ADR 0118)."""

from enum import StrEnum, unique


@unique
class UnitKind(StrEnum):
    """What a sentence is; it can be several things, or none of these."""

    ORDER = "order"
    """It says what comes before what."""
    JUSTIFICATION = "justification"
    """It gives a reason."""
    CONDITION = "condition"
    """It says when something holds or is to be done."""
    DEFINITION = "definition"
    """It says what a word means."""
    ASSUMPTION = "assumption"
    """It takes something for granted, and asserts nothing."""
    RESULT = "result"
    """It says what follows or came out."""


@unique
class Relation(StrEnum):
    """What the second of two sentences is to the first; at most one of these."""

    JUSTIFIES = "justifies"
    """It gives the reason for what the first says."""
    CONTRADICTS = "contradicts"
    """Both cannot hold."""
    DEPENDS_ON = "depends_on"
    """It says what has to be so for what the first says."""
    RESTATES = "restates"
    """It says the same again."""
