"""X, Oₛ and M: constraints from errors, two candidates compared, the supervisor's changes (ERCP 1.0 §3.4-§3.6)."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from services.common.computing import compute
from services.common.ports.embedding import EmbeddingModel
from services.common.settings import ErcpSettings
from services.ercp.domain import models, mutating, readings
from services.ercp.domain.admission import Admission, admit, sorted_out
from services.ercp.domain.extracting import extract, topic
from services.ercp.domain.predicates import Predicate, PredicateError
from services.ercp.domain.records import Constraint, Fault, Problem
from services.ercp.domain.run import Mutated
from services.ercp.domain.solver import Consistency, SolverAnswer, Stop, check
from services.ercp.domain.trace import constraint_summary, fault_summary, text_summary
from services.ercp.domain.vocabulary import Strategy
from services.ercp.operator_results import OperatorResult

EXACT_SIMILARITY = 1.0


@dataclass(frozen=True, slots=True)
class ExtractCommand:
    """What constraints are derived from.

    Attributes:
        name: of this step; the constraints' ids follow from it.
        held, relaxed: as of ``admission.admit``; empty for the operator alone.
        most: bound of the constraints in force.
    """

    name: str
    faults: tuple[Fault, ...]
    text: str
    verify_threshold: float
    candidate_threshold: float
    most_per_error: int
    held: tuple[Constraint, ...] = ()
    relaxed: tuple[Constraint, ...] = ()
    most: int = 200


@dataclass(frozen=True, slots=True)
class Extraction:
    """What came into force, and what the solver says of all of it."""

    admission: Admission
    answer: SolverAnswer


@dataclass(frozen=True, slots=True)
class MutateCommand:
    """What is changed, and how.

    Attributes:
        core: ids of constraints that cannot hold together; empty lets the solver look for them.
        max_parts: of ``decompose``.
    """

    strategy: Strategy
    problem: Problem
    constraints: tuple[Constraint, ...]
    faults: tuple[Fault, ...] = ()
    core: tuple[str, ...] = ()
    text: str = ""
    max_parts: int = mutating.MAX_PARTS


@dataclass(frozen=True, slots=True)
class Mutation:
    """What was changed, and why, in a sentence or two."""

    mutated: Mutated
    notes: str


@dataclass(frozen=True, slots=True)
class Stability:
    """How alike two candidates are, 0.0-1.0, and whether that is enough."""

    stable: bool
    score: float


class Deciding:
    """Extracts, stabilises and mutates; holds no state between calls."""

    def __init__(self, embedding: EmbeddingModel, settings: ErcpSettings) -> None:
        self._embedding = embedding
        self._settings = settings

    async def consistency(self, constraints: Sequence[Constraint]) -> SolverAnswer:
        """Say whether constraints can hold together, within the deployment's time; unknown is said to be unknown."""
        named = await compute(_named, constraints)
        if not named:
            return SolverAnswer(Consistency.SAT)
        stop = Stop()
        try:
            # Not among the computing threads: it waits for a thread of its own, and Z3 lets others compute.
            return await asyncio.to_thread(check, named, self._settings.solver_deadline_ms, stop=stop)
        except asyncio.CancelledError:
            stop.ask()
            raise

    async def extract(self, ask: ExtractCommand) -> OperatorResult[Extraction]:
        """Derive constraints, admit the sure ones and check all that are in force then."""
        admission = await compute(_admission, ask)
        answer = await self.consistency(admission.constraints)
        return OperatorResult(
            Extraction(admission, answer),
            inputs={
                "errors": fault_summary(ask.faults),
                "reasoning": text_summary(ask.text),
                "constraints_before": len(ask.held),
                "verify_threshold": ask.verify_threshold,
                "candidate_threshold": ask.candidate_threshold,
            },
            outputs={
                "added": constraint_summary(admission.added),
                "candidates": constraint_summary(admission.candidates),
                "constraints": len(admission.constraints),
                "displaced": [each.constraint_id for each in admission.displaced],
                "relaxed_before": [each.constraint_id for each in admission.waived],
                "consistency": answer.status.value,
                "core": list(answer.core),
            },
            identity=models.RULES,
        )

    async def stabilize(self, previous: str, current: str, threshold: float) -> OperatorResult[Stability]:
        """Compare two texts: the cosine of their embeddings, not below 0; the same text is the same (§3.5)."""
        score = EXACT_SIMILARITY
        if previous != current:
            first, second = await self._embedding.embed([previous, current])
            score = round(float(np.clip(np.dot(first, second), 0.0, 1.0)), 6)
        stability = Stability(score >= threshold, score)
        return OperatorResult(
            stability,
            inputs={"previous": text_summary(previous), "current": text_summary(current), "threshold": threshold},
            outputs={"stable": stability.stable, "score": score},
            identity=models.of_models("embedder", [self._embedding.fingerprint]),
        )

    async def mutate(self, ask: MutateCommand) -> OperatorResult[Mutation]:
        """Change the problem or its constraints."""
        if ask.strategy is Strategy.RELAX:
            mutation = await self._relaxed(ask)
        else:
            mutation = _reworded(ask)
        mutated = mutation.mutated
        return OperatorResult(
            mutation,
            inputs={
                "strategy": ask.strategy.value,
                "problem": text_summary(ask.problem.description),
                "constraints": constraint_summary(ask.constraints),
                "core": list(ask.core),
            },
            outputs={
                "problem": text_summary(mutated.problem.description),
                "constraints": len(mutated.constraints),
                "relaxed": constraint_summary(mutated.relaxed),
                "core_left": list(mutated.core),
                "changes": len(mutated.relaxed) or int(mutated.problem != ask.problem),
            },
            identity=models.RULES,
        )

    async def _relaxed(self, ask: MutateCommand) -> Mutation:
        """Take the least of each core out of force until the rest can hold, or only immutable ones clash (§4.1)."""
        kept, gone = list(ask.constraints), list[Constraint]()
        core = ask.core or (await self.consistency(kept)).core
        reasons = list[str]()
        while core:
            members = [each for each in kept if each.constraint_id in core]
            least = mutating.victim(members)
            if least is None:
                break
            kept.remove(least)
            gone.append(least)
            reasons.append(f"{least.nl_text} ({least.constraint_id})")
            core = (await self.consistency(kept)).core
        if gone:
            notes = f"Relaxed, because it could not hold together with the rest: {' '.join(reasons)}"
        elif core:
            notes = "Nothing was relaxed: the constraints that clash are all immutable."
        else:
            notes = "Nothing was relaxed: the constraints can hold together."
        left = tuple(each for each in core if each)
        mutated = Mutated(Strategy.RELAX, ask.problem, tuple(kept), tuple(gone), left)
        return Mutation(mutated, notes)


def _reworded(ask: MutateCommand) -> Mutation:
    description = ask.problem.description
    if ask.strategy is Strategy.REFRAME:
        topics = [found for fault in ask.faults if (found := topic(fault.excerpt).replace("_", " "))]
        changed, notes = (
            mutating.reframed(description, topics[:5]),
            "The question was put so that it asks for less at a time.",
        )
    else:
        changed, notes = mutating.decomposed(description, ask.max_parts), "The question was split into parts."
    problem = replace(ask.problem, description=changed)
    return Mutation(Mutated(ask.strategy, problem, ask.constraints), notes)


def _admission(ask: ExtractCommand) -> Admission:
    found = extract(ask.faults, ask.text, ask.most_per_error, ask.name)
    sure, maybe = sorted_out(found, ask.verify_threshold, ask.candidate_threshold)
    return replace(admit(ask.held, sure, ask.relaxed, ask.most, readings.demand_key), candidates=tuple(maybe))


def _named(constraints: Sequence[Constraint]) -> list[tuple[str, Predicate]]:
    return [(each.constraint_id, found) for each in constraints if (found := _readable(each)) is not None]


def _readable(constraint: Constraint) -> Predicate | None:
    try:
        return readings.predicate_of(constraint)
    except PredicateError:  # a newer version's (§10): refused where it came in, if it had to be
        return None
