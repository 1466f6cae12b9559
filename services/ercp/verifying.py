"""V: the verification oracle of ERCP 1.0 §7 over four detectors: rules, sentence pairs, evidence, predicates."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from services.common.ports.entailment import CONTRADICTION, EntailmentModel
from services.common.settings import ErcpSettings
from services.ercp.domain import checking, models, pairs, readings
from services.ercp.domain.faults import Suspicion, faults_of, suspicion_of
from services.ercp.domain.findings import FindingKind
from services.ercp.domain.predicates import TextFacts
from services.ercp.domain.records import Constraint, Fault, Sentence
from services.ercp.domain.trace import constraint_summary, fault_summary, text_summary
from services.ercp.domain.validators import validate
from services.ercp.domain.vocabulary import Detector
from services.ercp.performed import Performed, fidelity_summary
from services.ercp.ports import Analysis, Knowledge

NO_MODEL = "MODEL_NOT_CONFIGURED"


@dataclass(frozen=True, slots=True)
class VerifyAsk:
    """What is verified.

    Attributes:
        name: of this step; the errors' ids follow from it.
        question: what the text answers; empty when that is not known.
        analysis: what the dpe service found in the text.
        knowledge: what it is held against; ``None`` = no fact check.
        facts: what the text asserts, where it was read already.
    """

    name: str
    text: str
    sentences: tuple[Sentence, ...]
    constraints: tuple[Constraint, ...]
    nli_threshold: float
    analysis: Analysis
    knowledge: Knowledge | None
    question: str = ""
    was_cut: bool = False
    facts: TextFacts | None = None


@dataclass(frozen=True, slots=True)
class Verification:
    """The errors, and the detectors that could not run, each with the reason."""

    faults: tuple[Fault, ...]
    skipped: tuple[str, ...] = ()


class Verifying:
    """Verifies texts; holds no state between them. ``entailment`` ``None``: no NLI model is configured."""

    def __init__(self, entailment: EntailmentModel | None, settings: ErcpSettings) -> None:
        self._entailment = entailment
        self._settings = settings

    async def verify(self, ask: VerifyAsk) -> Performed[Verification]:
        """Return the errors of a text, merged over all detectors, in text order.

        Raises:
            UnavailableError: MODEL_UNAVAILABLE.
            LimitExceededError: QUEUE_FULL.
        """
        suspicions = validate(ask.text, ask.sentences, question=ask.question, was_cut=ask.was_cut)
        facts = ask.facts
        if facts is None:
            facts = await asyncio.to_thread(readings.facts_of, ask.text, ask.sentences)
        planned = pairs.plan(ask.sentences, self._settings.max_nli_pairs, partial(readings.apart, facts))
        suspicions += await self._nli(ask, planned)
        suspicions += await asyncio.to_thread(_findings, ask, facts)
        suspicions += await asyncio.to_thread(_checked, ask, facts)
        spans = [(each.start, each.end) for each in ask.sentences]
        faults = faults_of(suspicions, ask.text, spans, ask.name)
        skipped = () if self._entailment is not None else (f"{Detector.NLI.value}: {NO_MODEL}",)
        fingerprints = [*ask.analysis.models, *([self._entailment.fingerprint] if self._entailment else [])]
        return Performed(
            Verification(faults, skipped),
            inputs={
                "reasoning": text_summary(ask.text),
                "constraints": constraint_summary(ask.constraints),
                "nli_threshold": ask.nli_threshold,
                "fact_check": ask.knowledge is not None,
                "facts_total": len(ask.knowledge.passages) if ask.knowledge else 0,
                "nli_pairs": len(planned),
            },
            outputs={
                "errors": fault_summary(faults),
                "skipped_detectors": list(skipped),
                "fidelity": fidelity_summary(ask.analysis.fidelity),
            },
            identity=models.of_models("verifiers", fingerprints),
        )

    async def _nli(self, ask: VerifyAsk, planned: Sequence[tuple[int, int]]) -> list[Suspicion]:
        """Read all pairs of the text in one batch."""
        if self._entailment is None or not planned:
            return []
        rows = await self._entailment.classify(pairs.both_ways(ask.sentences, planned))
        scores = [float(row[CONTRADICTION]) for row in rows]
        return pairs.contradictions(ask.sentences, planned, scores, ask.nli_threshold)


def _findings(ask: VerifyAsk, facts: TextFacts) -> list[Suspicion]:
    """Return the dpe service's findings; without a fact check, or facts to check with, those within the text alone.

    A clash of values that the predicates read otherwise is overruled: they know what the values are of (ADR 0074).
    """
    has_facts = ask.knowledge is not None and bool(ask.knowledge.passages)
    kept = [each for each in ask.analysis.findings if has_facts or each.kind is FindingKind.CONTRADICTION]
    clashes = {FindingKind.DISTORTION, FindingKind.CONTRADICTED, FindingKind.CONTRADICTION}
    return [
        suspicion_of(each)
        for each in kept
        if each.kind not in clashes or not each.other or not readings.overruled(facts, each.span, each.other)
    ]


def _checked(ask: VerifyAsk, facts: TextFacts) -> list[Suspicion]:
    """Return what predicates have against the text; run off the event loop."""
    passages = ask.knowledge.passages if ask.knowledge is not None else ()
    asserted = [(each, readings.facts_of(each.text, readings.sentences_of(each.text))) for each in passages]
    question = readings.facts_of(ask.question, readings.sentences_of(ask.question)) if ask.question else None
    return checking.check(facts, checking.Ground(ask.constraints, asserted, question))
