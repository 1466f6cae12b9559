"""How an answer stands to its question: the record that ``relevance.py`` fills in (ADR 0096)."""

from dataclasses import dataclass
from enum import StrEnum, unique

from services.common.questions.kinds import Kind
from services.dpe.domain.outcome import Reason


@unique
class RelevanceStatus(StrEnum):
    """How the answer stands to the question."""

    RELEVANT = "RELEVANT"
    PARTIAL = "PARTIAL"
    BESIDE_THE_QUESTION = "BESIDE_THE_QUESTION"
    REFUSAL = "REFUSAL"
    NOT_ASSESSED = "NOT_ASSESSED"


@dataclass(frozen=True, slots=True)
class Relevance:
    """What was found.

    Attributes:
        score: mean over the questions of the query, 0.0-1.0; ``None`` for a refusal and where nothing was assessed.
        expected: the kind that each question expects, in their order.
        questions: the questions, in their order; ``unanswered`` those of them that the answer leaves open.
        reason: why it was not assessed.
    """

    status: RelevanceStatus
    score: float | None = None
    expected: tuple[Kind, ...] = ()
    questions: tuple[str, ...] = ()
    unanswered: tuple[str, ...] = ()
    reason: Reason = Reason.NONE
