"""Measures the ERCP loop on scripted problems: how runs end, what verification finds, whether runs repeat."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from evaluation.ercp_generator import ScriptedGenerator
from evaluation.ercp_problems import Draft, ScriptedProblem
from evaluation.ercp_scoring import (
    ANY,
    FINISHED,
    REFUSED,
    Counts,
    DraftScore,
    RunScore,
    confusion,
    distinct_drafts,
    percentile,
    score_draft,
    score_run,
)
from evaluation.ercp_system import ErcpSystem, comparable

REPEATS: Final = 10
SAMPLE_EVERY: Final = 8
MODEL_ROUNDS: Final = 6
MODEL_TOKENS: Final = 200
TYPES: Final = ("contradiction", "factual_incorrect", "missing_justification", "ambiguity", "syntax_error", ANY)
EXPECTED: Final = ("converged", "infeasible", "partial")

Report = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Checked:
    """A draft and what verification found in it."""

    problem: ScriptedProblem
    draft: Draft
    score: DraftScore


@dataclass(frozen=True, slots=True)
class Measured:
    """All that was measured on some problems.

    Attributes:
        drafts: every distinct draft, verified by itself.
        unequal: ids of the sampled problems whose consecutive runs differed; ``sampled`` says how many were asked.
        skipped: detectors that did not run, with how often.
    """

    drafts: tuple[Checked, ...]
    runs: tuple[RunScore, ...]
    sampled: int
    unequal: tuple[str, ...]
    skipped: Mapping[str, int]


async def measure(
    system: ErcpSystem, generator: ScriptedGenerator, problems: Sequence[ScriptedProblem], repeats: int, report: Report
) -> Measured:
    """Verify each draft, run each problem once, and each one of the sample so often again."""
    drafts, runs, unequal = [], [], []
    skipped: Counter[str] = Counter()
    for problem in problems:
        for draft in distinct_drafts(problem):
            found, absent = await system.verify(problem, draft)
            skipped.update(absent)
            drafts.append(Checked(problem, draft, score_draft(draft, found)))
        generator.begin(problem)
        outcome, _ = await system.run(problem, {})
        runs.append(score_run(problem, outcome))
        report(problem.id)
    sample = problems[::SAMPLE_EVERY] if repeats > 1 else ()
    for problem in sample:
        if not await _equal(system, generator, problem, repeats):
            unequal.append(problem.id)
        report(f"{problem.id}, {repeats} times")
    return Measured(tuple(drafts), tuple(runs), len(sample), tuple(unequal), dict(skipped))


async def measure_stubborn(
    system: ErcpSystem, generator: ScriptedGenerator, problems: Sequence[ScriptedProblem], report: Report
) -> dict[str, int]:
    """Run each draft of the feasible problems by itself, by an answerer that says it again whatever it is asked.

    A script mends what it is asked about; here nothing is mended, so that only what the detectors see keeps a broken
    draft from converging.
    """
    counts = Counter[str]()
    for problem in problems:
        for draft in distinct_drafts(problem) if problem.status == "converged" else ():
            generator.insist(problem, draft)
            outcome, _ = await system.run(problem, {})
            name = "clean" if all(error.optional for error in draft.errors) else "broken"
            counts[name] += 1
            counts[f"{name}_converged"] += outcome.status == "converged"
        report(problem.id)
    return {name: counts[name] for name in ("clean", "clean_converged", "broken", "broken_converged")}


async def _equal(system: ErcpSystem, generator: ScriptedGenerator, problem: ScriptedProblem, repeats: int) -> bool:
    answers = []
    for _ in range(repeats):
        generator.begin(problem)
        outcome, answer = await system.run(problem, {})
        answers.append(comparable(answer) if answer else outcome.reason)
    return all(answer == answers[0] for answer in answers)


async def measure_model(system: ErcpSystem, problems: Sequence[ScriptedProblem], model: str) -> dict[str, Any]:
    """Run problems with a real model; what it writes is its own, so nothing is held against the scripts."""
    outcomes = []
    for problem in problems:
        outcome, _ = await system.run(problem, {"max_iterations": MODEL_ROUNDS, "max_tokens": MODEL_TOKENS})
        outcomes.append(outcome)
    ended = Counter(outcome.status if outcome.status != REFUSED else outcome.reason for outcome in outcomes)
    rounds = [outcome.iterations for outcome in outcomes]
    seconds = [outcome.seconds for outcome in outcomes]
    return {
        "model": model,
        "problems": len(outcomes),
        "max_iterations": MODEL_ROUNDS,
        "ended": dict(ended),
        "iterations": {"median": percentile(rounds, 0.5), "p95": percentile(rounds, 0.95)},
        "seconds": {"median": percentile(seconds, 0.5), "p95": percentile(seconds, 0.95)},
    }


def results(measured: Measured) -> dict[str, Any]:
    """Return the figures, as the results file holds them."""
    return {
        "problems": len(measured.runs),
        "runs": _runs(measured.runs),
        "detection": _detection(measured.drafts),
        "kinds": _kinds(measured),
        "repeated": {"problems": measured.sampled, "unequal": len(measured.unequal)},
        "skipped_detectors": dict(measured.skipped),
    }


def _runs(runs: Sequence[RunScore]) -> dict[str, Any]:
    ended = confusion(runs)
    feasible = [run for run in runs if run.problem.status == "converged"]
    converged = [run for run in feasible if run.outcome.status == "converged"]
    infeasible = [run for run in runs if run.problem.status == "infeasible"]
    relaxable = [run for run in runs if run.relaxed_exact is not None]
    rounds = [run.outcome.iterations for run in converged]
    seconds = [run.outcome.seconds for run in runs]
    return {
        "ended": {expected: {status: ended[expected, status] for status in FINISHED} for expected in EXPECTED},
        "feasible": len(feasible),
        "converged": len(converged),
        "sound": sum(run.sound is True for run in converged),
        "infeasible": len(infeasible),
        "infeasible_found": sum(run.outcome.status == "infeasible" for run in infeasible),
        "infeasible_refused": sum(run.outcome.status == REFUSED for run in infeasible),
        "core_exact": sum(run.core_exact is True for run in infeasible),
        "relaxable": len(relaxable),
        "relaxed_exact": sum(run.relaxed_exact is True and run.as_expected for run in relaxable),
        "iterations": {"median": percentile(rounds, 0.5), "p95": percentile(rounds, 0.95)},
        "seconds": {"median": percentile(seconds, 0.5), "p95": percentile(seconds, 0.95)},
    }


def _detection(drafts: Sequence[Checked]) -> dict[str, Any]:
    total = {name: Counts() for name in TYPES}
    for checked in drafts:
        for name, counts in checked.score.by_type.items():
            total[name].add(counts)
    clean = [checked for checked in drafts if not checked.draft.errors]
    return {
        "drafts": len(drafts),
        "types": {
            name: {
                "planted": counts.right + counts.missed,
                "right": counts.right,
                "false": counts.false,
                "precision": counts.precision,
                "recall": counts.recall,
            }
            for name, counts in total.items()
        },
        "repeats": sum(checked.score.repeats for checked in drafts),
        "clean_drafts": len(clean),
        "clean_drafts_with_findings": sum(bool(checked.score.false) for checked in clean),
        "hard_negatives": sum(len(checked.draft.hard_negatives) for checked in drafts),
        "hard_negatives_hit": sum(checked.score.negatives_hit for checked in drafts),
    }


def _kinds(measured: Measured) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for kind in dict.fromkeys(run.problem.kind for run in measured.runs):
        runs = [run for run in measured.runs if run.problem.kind == kind]
        scores = [checked.score for checked in measured.drafts if checked.problem.kind == kind]
        planted = [error for one in scores for error in (*one.found, *one.missed) if not error.optional]
        found[kind] = {
            "problems": len(runs),
            "as_expected": sum(run.as_expected for run in runs),
            "planted": len(planted),
            "missed": sum(len(one.missed) for one in scores),
            "false": sum(len(one.false) for one in scores),
        }
    return found
