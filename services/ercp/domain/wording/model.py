"""What was understood of a constraint in words: a predicate, or the reason why there is none."""

from dataclasses import dataclass

from services.ercp.domain.predicates import Predicate


@dataclass(frozen=True, slots=True)
class Understanding:
    """What a sentence demands.

    Attributes:
        predicate: what was understood; ``None`` when nothing was.
        rule: which rule understood it; empty with a reason.
        reason: why nothing was understood, in one sentence; empty with a predicate.
    """

    predicate: Predicate | None
    rule: str = ""
    reason: str = ""

    @property
    def is_understood(self) -> bool:
        """True when there is a predicate."""
        return self.predicate is not None


class NotUnderstoodError(ValueError):
    """A sentence is of a rule's kind and says more, or less, than the rule can take over; the text says what."""
