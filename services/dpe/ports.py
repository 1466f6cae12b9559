"""What the provenance service needs from outside: models, pinned by digest. It keeps no store."""

from dataclasses import dataclass
from typing import Any

from services.common.ports.embedding import EmbeddingModel
from services.common.ports.entailment import EntailmentModel
from services.common.ports.grounding import GroundingModel
from services.common.ports.personal_data import PersonalDataDetector
from services.common.ports.recognition import EntityRecognizer
from services.common.ports.second_opinion import SecondOpinion
from services.dpe.domain.models import ASKED_MODELS, AskedModel
from services.dpe.domain.opinion_record import Limits, OpinionRecord


@dataclass(frozen=True, slots=True)
class OpinionTerms:
    """Whom a second opinion is asked of, what one analysis may spend on it, and how long a vote is remembered."""

    endpoint: SecondOpinion
    limits: Limits
    ttl_s: float


@dataclass(slots=True)
class OpinionReplay:
    """Second opinions out of reports that are recomputed: nobody is asked.

    Attributes:
        record: of the report that is recomputed next; ``None`` = it has none.
    """

    record: OpinionRecord | None = None


@dataclass(frozen=True, slots=True)
class AnalysisModels:
    """The models of an analysis, each under its role; one that the repository does not hold is ``None``.

    A second opinion is no part of the fingerprints: the report has its own record of it (ADR 0119).
    """

    embedding: EmbeddingModel
    entity_recognizer: EntityRecognizer
    entailment: EntailmentModel | None = None
    grounding: GroundingModel | None = None
    personal_data: PersonalDataDetector | None = None
    second_opinion: OpinionTerms | OpinionReplay | None = None

    def fingerprints(self) -> tuple[tuple[str, str], ...]:
        """Return role and fingerprint of each model, for the report (SPEC-005 §21.1)."""
        asked = ((model.role, self.of(model)) for model in ASKED_MODELS)
        return tuple((str(role), port.fingerprint) for role, port in asked if port is not None)

    def of(self, model: AskedModel) -> Any:
        """Return the model of a row, or ``None`` where there is none."""
        return getattr(self, model.role)
