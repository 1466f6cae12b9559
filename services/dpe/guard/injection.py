"""DetectInjection: rules on the input, entailment on the answer's claims, a classifier where there is one (ADR 0125).

The three know nothing of one another and run side by side. A model that is down leaves its stage SKIPPED with the
reason; the rules always run.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from services.common.computing import compute
from services.common.errors import UnavailableError
from services.common.injection.combining import combined_score
from services.common.injection.rule_set import rule_set
from services.common.injection.searching import find_injections
from services.common.ports.injection import InjectionClassifier
from services.common.taxonomy import StageStatus
from services.dpe.app import ProvenanceApp
from services.dpe.domain.guard.detection import (
    COMPLETED,
    Detection,
    Divergence,
    InjectionInput,
    Judged,
    StageEnd,
)
from services.dpe.domain.guard.intent_divergence import Thresholds, judge, questions_of, risk_of
from services.dpe.domain.models import Requests
from services.dpe.domain.outcome import Reason
from services.dpe.inference import Inference
from services.dpe.ports import AnalysisModels

NO_RESPONSE: Final = "NO_RESPONSE"
NO_INTENT: Final = "NO_INTENT"
NO_CLAIMS: Final = "NO_CLAIMS"
NO_CLASSIFIER: Final = "NO_CLASSIFIER"
CLASSIFIER_FAILED: Final = "CLASSIFIER_FAILED"


@dataclass(slots=True)
class InjectionCounts:
    """What was searched: by outcome, and the matches by class; for the metrics."""

    inputs: Counter[str] = field(default_factory=Counter)
    matches: Counter[str] = field(default_factory=Counter)
    claims: Counter[str] = field(default_factory=Counter)


class InjectionApp:
    """Searches for injections; safe to share between tasks of one event loop, keeps nothing but counts.

    Args:
        models: shared with the provenance service.
        analyses: its app, for the claims of an answer and what models said before.
        thresholds: of stage 2.
        classifier: stage 3; ``None`` = the deployment has none.
    """

    def __init__(
        self,
        models: AnalysisModels,
        analyses: ProvenanceApp,
        thresholds: Thresholds,
        classifier: InjectionClassifier | None = None,
    ) -> None:
        self._entailment = models.entailment
        self._analyses = analyses
        self._inference = Inference(models, analyses.cache, _NOTHING_IS_EMBEDDED)
        self._thresholds = thresholds
        self._classifier = classifier
        self.counts = InjectionCounts()

    async def detect(self, given: InjectionInput, threshold: float) -> Detection:
        """Return what an input holds.

        Raises:
            LimitExceededError: a queue is full, or the answer has too many claims.
        """
        searching = asyncio.ensure_future(compute(find_injections, given.text))
        diverging = asyncio.ensure_future(self._diverging(given))
        judging = asyncio.ensure_future(self._judging(given.text))
        tasks = (searching, diverging, judging)
        try:
            await asyncio.gather(*tasks)
        except BaseException:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            raise
        found, divergence, judged = searching.result(), diverging.result(), judging.result()
        score = combined_score(found.score, divergence.risk, judged.probability, disguised=found.is_disguised)
        detection = Detection(found, divergence, judged, score, threshold, self._took_part(divergence, judged))
        self._count(detection)
        return detection

    async def _diverging(self, given: InjectionInput) -> Divergence:
        if not given.response.strip() or not given.intent.strip():
            missing = NO_RESPONSE if not given.response.strip() else NO_INTENT
            return Divergence(StageEnd(StageStatus.NOT_APPLICABLE, missing))
        if self._entailment is None:
            return Divergence(StageEnd(StageStatus.SKIPPED, Reason.ENTAILMENT_MODEL_NOT_CONFIGURED))
        segmented = await self._analyses.segment(given.response)
        if not segmented.claims:
            return Divergence(StageEnd(StageStatus.NOT_APPLICABLE, NO_CLAIMS))
        questions = await compute(questions_of, segmented.claims, given.intent, given.text)
        pairs = tuple(dict.fromkeys(pair for one in questions for pair in one.pairs))
        answered = await self._inference.fulfil(Requests(classify=pairs), self._inference.empty_answers())
        if answered.classified is None:
            return Divergence(StageEnd(StageStatus.SKIPPED, Reason.ENTAILMENT_MODEL_FAILED))
        claims = judge(questions, answered.classified, self._thresholds)
        return Divergence(COMPLETED, claims, risk_of([one.verdict for one in claims]))

    async def _judging(self, text: str) -> Judged:
        if self._classifier is None:
            return Judged(StageEnd(StageStatus.SKIPPED, NO_CLASSIFIER))
        try:
            (probability,) = await self._classifier.score([text])
        except UnavailableError:
            return Judged(StageEnd(StageStatus.SKIPPED, CLASSIFIER_FAILED))
        return Judged(COMPLETED, probability)

    def _took_part(self, divergence: Divergence, judged: Judged) -> tuple[tuple[str, str], ...]:
        took = [("injection_rules", rule_set().fingerprint)]
        if divergence.risk is not None and self._entailment is not None:
            took.append(("entailment", self._entailment.fingerprint))
        if judged.probability is not None and self._classifier is not None:
            took.append(("injection_classifier", self._classifier.fingerprint))
        return tuple(took)

    def _count(self, detection: Detection) -> None:
        outcome = "blocked" if detection.blocked else "detected" if detection.detected else "passed"
        self.counts.inputs[outcome] += 1
        self.counts.matches.update(_classes(detection))
        self.counts.claims.update(str(one.verdict) for one in detection.divergence.claims)


_NOTHING_IS_EMBEDDED: Final = 1


def _classes(detection: Detection) -> Sequence[str]:
    return [str(match.pattern_class) for match in detection.found.matches]
