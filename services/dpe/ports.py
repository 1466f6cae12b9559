"""What the provenance service needs from outside: models, pinned by digest. It keeps no store."""

from dataclasses import dataclass

from services.common.ports.embedding import EmbeddingModel
from services.common.ports.entailment import EntailmentModel
from services.common.ports.grounding import GroundingModel
from services.common.ports.personal_data import PersonalDataDetector
from services.common.ports.recognition import EntityRecognizer


@dataclass(frozen=True, slots=True)
class AnalysisModels:
    """The models of an analysis; ``entailment`` and ``grounding`` are ``None`` when the repository holds none."""

    embedding: EmbeddingModel
    recognizer: EntityRecognizer
    entailment: EntailmentModel | None = None
    grounding: GroundingModel | None = None
    personal_data: PersonalDataDetector | None = None

    def fingerprints(self) -> tuple[tuple[str, str], ...]:
        """Return role and fingerprint of each model, for the report (SPEC-005 §21.1)."""
        pinned = [
            ("embedding", self.embedding.fingerprint),
            ("entity_recognizer", self.recognizer.fingerprint),
        ]
        if self.entailment is not None:
            pinned.append(("entailment", self.entailment.fingerprint))
        if self.grounding is not None:
            pinned.append(("grounding", self.grounding.fingerprint))
        if self.personal_data is not None:
            pinned.append(("personal_data", self.personal_data.fingerprint))
        return tuple(pinned)
