"""V: the verification oracle of ERCP 1.0 §7 over four detectors: rules, sentence pairs, evidence, predicates.

What predicates leave undecided is asked of a second detector, which suspects (ADR 0117).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from services.common.computing import compute
from services.common.ports.embedding import EmbeddingModel
from services.common.ports.entailment import CONTRADICTION, EntailmentModel
from services.common.settings import ErcpSettings
from services.ercp.domain import checking, grounds, models, pairs, readings, standing, suspecting, weighing
from services.ercp.domain.answering_why import Draft, answer_to_why, asks_why, lacking
from services.ercp.domain.doubting import Statements
from services.ercp.domain.faults import Suspicion, faults_of, suspicion_of
from services.ercp.domain.predicates import TextFacts
from services.ercp.domain.records import Constraint, ConstraintOutcome, Doubt, Fault, OpenGround, Passage, Sentence
from services.ercp.domain.suspecting import SuspicionBounds
from services.ercp.domain.thinning import asserting
from services.ercp.domain.topics import topics_of
from services.ercp.domain.trace import (
    constraint_summary,
    doubt_summary,
    fault_summary,
    ground_summary,
    outcome_summary,
    text_summary,
)
from services.ercp.domain.unit_summary import question_summary, unit_summary
from services.ercp.domain.units import Units
from services.ercp.domain.validators import validate
from services.ercp.domain.vocabulary import Detector, Standing
from services.ercp.domain.weighing import Reading
from services.ercp.doubting import Doubting
from services.ercp.operator_results import OperatorResult, fidelity_summary
from services.ercp.ports import Analysis, Knowledge
from services.ercp.unit_reading import UnitReading

NO_MODEL = "MODEL_NOT_CONFIGURED"
NO_UNITS = Units(())


@dataclass(frozen=True, slots=True)
class VerifyCommand:
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
    """What verification found.

    Attributes:
        skipped: the detectors that could not run, with the reason.
        outcomes: how the text stands to each constraint.
        question: whether it gives a reason where the question asks why; ``None`` for other questions (§12, ADR 0118).
        units: what its sentences are.
        doubts: statements that may be at odds, while nothing decides it (ADR 0179).
        grounds: statements that nothing given bears out (ADR 0185).
    """

    faults: tuple[Fault, ...]
    skipped: tuple[str, ...] = ()
    outcomes: tuple[ConstraintOutcome, ...] = ()
    question: ConstraintOutcome | None = None
    units: Units = NO_UNITS
    doubts: tuple[Doubt, ...] = ()
    grounds: tuple[OpenGround, ...] = ()

    @property
    def is_unanswered(self) -> bool:
        """Whether the question asks why and the text gives no reason."""
        return self.question is not None and self.question.standing is Standing.BROKEN

    @property
    def open_question(self) -> tuple[str, ...]:
        """A name for the question where nobody knows whether its reason is given; what is open is no convergence."""
        is_open = self.question is not None and self.question.standing is Standing.UNDECIDED
        return (checking.QUESTION,) if is_open else ()


@dataclass(frozen=True, slots=True)
class SecondDetector:
    """What constraints that rules leave open are held against a text with (ADR 0117)."""

    entailment: EntailmentModel
    embedding: EmbeddingModel
    bounds: SuspicionBounds
    most_pairs: int

    async def suspect(
        self, facts: TextFacts, constraints: Sequence[Constraint], stands: tuple[ConstraintOutcome, ...]
    ) -> tuple[ConstraintOutcome, ...]:
        """Return how a text stands to constraints, those marked as suspected that the models doubt: two batches.

        Raises:
            UnavailableError: MODEL_UNAVAILABLE.
            LimitExceededError: QUEUE_FULL.
        """
        stands = await compute(suspecting.doubt_limits, facts, constraints, stands)
        planned = await compute(suspecting.plan, facts, constraints, stands)
        if not planned.inquiries or not self.most_pairs:
            return stands
        vectors = await self.embedding.embed(planned.texts)
        asked = await compute(planned.nearest, vectors, self.most_pairs)
        batch = [pair for each in asked for pair in each.pairs(planned.words)]
        rows = np.asarray(await self.entailment.classify(batch)) if batch else np.zeros((0, 3), np.float32)
        return await compute(suspecting.judge, facts, planned, asked, rows, stands, self.bounds)


class Verifying:
    """Verifies texts; holds no state between them.

    Args:
        entailment: ``None``: no NLI model is configured.
        settings: of the service.
        second: ``None``: what the rules leave undecided stays so.
        units: reads what sentences are; ``None`` = by rules alone.
    """

    def __init__(
        self,
        entailment: EntailmentModel | None,
        settings: ErcpSettings,
        second: SecondDetector | None = None,
        units: UnitReading | None = None,
    ) -> None:
        self._entailment = entailment
        self._settings = settings
        self._second = second
        self._doubting = None
        if second is not None:
            self._doubting = Doubting(second.entailment, second.embedding, settings.max_nli_pairs)
        self._units = units or UnitReading(None, settings.max_nli_pairs)

    async def verify(self, ask: VerifyCommand) -> OperatorResult[Verification]:
        """Return the errors of a text, merged over all detectors, in text order.

        Raises:
            UnavailableError: MODEL_UNAVAILABLE.
            LimitExceededError: QUEUE_FULL.
        """
        suspicions = await compute(
            partial(validate, ask.text, ask.sentences, question=ask.question, was_cut=ask.was_cut)
        )
        facts = ask.facts
        if facts is None:
            facts = await compute(readings.facts_of, ask.text, ask.sentences)
        reading = await compute(_reading, ask, facts)
        planned = await compute(
            pairs.plan, ask.sentences, reading.topics, self._settings.max_nli_pairs, partial(readings.apart, facts)
        )
        units = await self._units.read(facts, neighbours=asks_why(ask.question))
        question = await compute(answer_to_why, ask.question, Draft(facts, reading.topics, units))
        suspicions += lacking(question, ask.question)
        planned = asserting(planned, units)
        suspicions += await self._nli(ask, reading, planned)
        suspicions += await compute(_findings, ask, reading)
        passages = await compute(_passages, ask)
        suspicions += await compute(_checked, ask, facts, passages)
        doubts = list[Doubt]()
        if self._doubting is not None:
            at_odds, doubts = await self._doubting.read(*await compute(_statements, reading, passages))
            suspicions += at_odds
        stands = await compute(standing.outcomes, facts, ask.constraints)
        if self._second is not None:
            stands = await self._second.suspect(facts, ask.constraints, stands)
        spans = [(each.start, each.end) for each in ask.sentences]
        faults = await compute(faults_of, suspicions, ask.text, spans, ask.name)
        doubts = [each for each in doubts if not any(_meet(each.span, fault.span) for fault in faults)]
        unborne: tuple[OpenGround, ...] = ()
        if self._settings.grounds != "off":
            unborne = await compute(_unborne, ask, passages, facts, stands)
        skipped = () if self._entailment is not None else (f"{Detector.NLI.value}: {NO_MODEL}",)
        own = [self._entailment.fingerprint] if self._entailment else []
        own += [self._second.embedding.fingerprint] if self._second is not None else []
        fingerprints = [*ask.analysis.models, *own, *self._units.fingerprints]
        return OperatorResult(
            Verification(faults, skipped, stands, question, units, tuple(doubts), unborne),
            inputs={
                "reasoning": text_summary(ask.text),
                "constraints": constraint_summary(ask.constraints),
                "nli_threshold": ask.nli_threshold,
                "fact_check": ask.knowledge is not None,
                "facts_total": len(ask.knowledge.passages) if ask.knowledge else 0,
                "nli_pairs": len(planned),
                "sentence_heads": self._units.told,
            },
            outputs={
                "errors": fault_summary(faults),
                "constraints": outcome_summary(stands),
                **doubt_summary(doubts),
                **ground_summary(unborne),
                "skipped_detectors": list(skipped),
                "fidelity": fidelity_summary(ask.analysis.fidelity),
                "units": unit_summary(units),
                **question_summary(question),
            },
            identity=models.of_models("verifiers", fingerprints),
        )

    async def _nli(self, ask: VerifyCommand, reading: Reading, planned: Sequence[tuple[int, int]]) -> list[Suspicion]:
        """Read all pairs of the text in one batch."""
        if self._entailment is None or not planned:
            return []
        rows = await self._entailment.classify(pairs.both_ways(reading.topics, planned))
        scores = [float(row[CONTRADICTION]) for row in rows]
        return await compute(_contradictions, ask, reading, planned, scores)


def _contradictions(
    ask: VerifyCommand, reading: Reading, planned: Sequence[tuple[int, int]], scores: Sequence[float]
) -> list[Suspicion]:
    amounts = readings.mentions_of(reading.facts)

    def weigh(first: int, second: int) -> float | None:
        differ = readings.values_differ(amounts[first], amounts[second])
        return pairs.least_for(reading.topics[first], reading.topics[second], differ)

    return pairs.contradictions(ask.sentences, planned, scores, ask.nli_threshold, weigh)


def _meet(first: tuple[int, int] | None, second: tuple[int, int] | None) -> bool:
    return first is not None and second is not None and first[0] < second[1] and second[0] < first[1]


def _reading(ask: VerifyCommand, facts: TextFacts) -> Reading:
    return Reading(ask.sentences, topics_of(ask.sentences), facts)


def _findings(ask: VerifyCommand, reading: Reading) -> list[Suspicion]:
    """Return what stands of the dpe service's findings (ADR 0074, 0080)."""
    has_facts = ask.knowledge is not None and bool(ask.knowledge.passages)
    return [suspicion_of(each) for each in weighing.kept(ask.analysis.findings, reading, has_facts=has_facts)]


@dataclass(frozen=True, slots=True)
class _ReadPassage:
    """A passage, its sentences and what it asserts."""

    passage: Passage
    sentences: tuple[Sentence, ...]
    facts: TextFacts


def _passages(ask: VerifyCommand) -> list[_ReadPassage]:
    """Return the passages as they are read; run off the event loop."""
    passages = ask.knowledge.passages if ask.knowledge is not None else ()
    split = [(each, readings.sentences_of(each.text)) for each in passages]
    return [_ReadPassage(each, sentences, readings.facts_of(each.text, sentences)) for each, sentences in split]


def _statements(reading: Reading, passages: Sequence[_ReadPassage]) -> tuple[Statements, list[Statements]]:
    """Return the statements of a draft and of each passage; run off the event loop."""
    others = [
        Statements.of(each.facts, each.sentences, topics_of(each.sentences), each.passage.source) for each in passages
    ]
    return Statements.of(reading.facts, reading.sentences, reading.topics), others


def _unborne(
    ask: VerifyCommand,
    passages: Sequence[_ReadPassage],
    facts: TextFacts,
    stands: Sequence[ConstraintOutcome],
) -> tuple[OpenGround, ...]:
    """Return what nothing given bears out; run off the event loop."""
    given = [sentence for each in passages for sentence in each.sentences]
    reckoned = grounds.reckoned(facts, ask.constraints, stands)
    return grounds.open_grounds(ask.sentences, ask.analysis.supports, given, reckoned)


def _checked(ask: VerifyCommand, facts: TextFacts, passages: Sequence[_ReadPassage]) -> list[Suspicion]:
    """Return what predicates have against the text; run off the event loop."""
    question = readings.facts_of(ask.question, readings.sentences_of(ask.question)) if ask.question else None
    asserted = [(each.passage, each.facts) for each in passages]
    return checking.check(facts, checking.ReferenceTexts(ask.constraints, asserted, question))
