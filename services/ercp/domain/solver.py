"""Whether predicates can all hold together, by Z3, and which ones cannot (ERCP 1.0 §7, ADR 0071).

A set that cannot is what ``infeasible`` means (§3.1). The answer comes within the deadline or a short grace after it:
Z3 has its own timeout, is interrupted when it overruns, and is left behind when it does not stop. Nothing is guessed:
what was not decided is UNKNOWN.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum, unique
from threading import Lock, Thread
from time import monotonic
from typing import Any, Final

from services.ercp.domain.encoding import System
from services.ercp.domain.predicates import Predicate, TextFacts, describe

MAX_PREDICATES: Final = 2_000
GRACE_S: Final = 0.25
"""How long after the deadline Z3 may take to stop before it is left behind, in seconds; twice at most."""
_SEED: Final = 7
_CONTEXTS: Final = Lock()
"""Z3 sets itself up when its first context is made, which must not happen twice at once."""


@unique
class Consistency(StrEnum):
    """What is known of a set of predicates."""

    SAT = "sat"
    UNSAT = "unsat"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class SolverAnswer:
    """What a solver found.

    Attributes:
        status: SAT, UNSAT or UNKNOWN.
        core: with UNSAT the ids of constraints that cannot all hold, in the order given; empty otherwise. An id that
            begins with ``text:`` is an assertion of the text, by its offsets.
        is_minimal: True when without any one of the core's constraints the others can hold.
        reason: one or more sentences for people: the constraints of the core in words, or why nothing is known.
    """

    status: Consistency
    core: tuple[str, ...] = ()
    is_minimal: bool = False
    reason: str = ""


def warm() -> None:
    """Load Z3, which takes a third of a second, before the first deadline runs."""
    import z3

    with _CONTEXTS:
        z3.Context()


class Stop:
    """Ends a check from another thread, at once or as soon as it begins."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._asked = False
        self._task: _Task | None = None

    def ask(self) -> None:
        """End the check: nobody waits for it any more."""
        with self._lock:
            self._asked = True
            if self._task is not None:
                self._task.interrupt()

    def guard(self, task: "_Task") -> None:
        """Take a task under its control."""
        with self._lock:
            self._task = task
            if self._asked:
                task.interrupt()


def check(
    predicates: Sequence[tuple[str, Predicate]],
    deadline_ms: int,
    facts: TextFacts | None = None,
    stop: Stop | None = None,
) -> SolverAnswer:
    """Say whether predicates can hold together; CPU work, safe to call from several threads at once.

    Args:
        predicates: (constraint id, predicate); each id once.
        deadline_ms: how long it may take, in milliseconds; at 0 and below nothing is tried.
        facts: assertions of a text that the predicates have to be true of; ``None`` for the predicates alone.
        stop: ends it before its time is up; the answer is UNKNOWN then.

    Raises:
        ValueError: an id is given twice.
    """
    if len({name for name, _ in predicates}) != len(predicates):
        raise ValueError("each constraint id may be given once")
    if deadline_ms <= 0:
        return _unknown("no time was left for the solver")
    if len(predicates) > MAX_PREDICATES:
        return _unknown(f"{len(predicates):,} constraints are more than the solver takes ({MAX_PREDICATES:,})")
    warm()
    task = _Task(tuple(predicates), facts, monotonic() + deadline_ms / 1_000)
    if stop is not None:
        stop.guard(task)
    worker = Thread(target=task.run, name="ercp-solver", daemon=True)
    worker.start()
    worker.join(deadline_ms / 1_000 + GRACE_S)
    if worker.is_alive():
        task.interrupt()
        worker.join(GRACE_S)
    if task.failure is not None:
        raise task.failure
    return task.answer or _unknown(f"the solver did not stop within {deadline_ms} ms")


def explain(core: Sequence[tuple[str, Predicate]]) -> str:
    """Return in words which constraints conflict.

    Args:
        core: (constraint id, predicate) of constraints that cannot all hold.
    """
    if len(core) == 1:
        name, predicate = core[0]
        return f"This constraint cannot hold: {describe(predicate)} ({name})"
    listed = " ".join(f"{number}. {describe(predicate)} ({name})" for number, (name, predicate) in enumerate(core, 1))
    return f"These {len(core)} constraints cannot all hold: {listed}"


class _Task:
    """One check, in a thread of its own."""

    def __init__(self, predicates: tuple[tuple[str, Predicate], ...], facts: TextFacts | None, ends_at: float) -> None:
        self._predicates = predicates
        self._facts = facts
        self._ends_at = ends_at
        self._context: Any = None
        self._why_unknown = ""
        self._is_minimal = False
        self.answer: SolverAnswer | None = None
        self.failure: Exception | None = None

    def run(self) -> None:
        try:
            self.answer = self._solve()
        except Exception as error:  # noqa: BLE001 - raised again by the caller's thread
            self.failure = error

    def interrupt(self) -> None:
        self._ends_at = 0.0  # Z3 is asked nothing more
        if self._context is not None:
            self._context.interrupt()

    def _solve(self) -> SolverAnswer:
        chosen = {name for name, _ in self._predicates}
        answer, core = self._core_of(self._predicates, self._facts)
        if answer is not Consistency.UNSAT:
            return SolverAnswer(answer, reason="" if answer is Consistency.SAT else self._why_unknown)
        is_minimal = self._is_minimal
        while is_minimal and chosen & set(core) != chosen:
            # Constraints outside the core may lend it values that are the same as written: again without them.
            chosen &= set(core)
            kept = tuple(pair for pair in self._predicates if pair[0] in chosen)
            again, smaller = self._core_of(kept, self._facts)
            if again is not Consistency.UNSAT:
                break
            core, is_minimal = smaller, self._is_minimal
        return SolverAnswer(Consistency.UNSAT, core, is_minimal, self._reason(core))

    def _core_of(
        self, predicates: tuple[tuple[str, Predicate], ...], facts: TextFacts | None
    ) -> tuple[Consistency, tuple[str, ...]]:
        import z3

        with _CONTEXTS:
            self._context = z3.Context()
        system = System(z3, self._context)
        system.add(predicates, facts)
        switches = {name: z3.Bool(f"on {number}", self._context) for number, name in enumerate(system.formulas)}
        solver = z3.Solver(ctx=self._context)
        solver.set("random_seed", _SEED)
        solver.set("unsat_core", True)  # noqa: FBT003 - Z3's own signature
        for name, formula in system.formulas.items():
            solver.add(z3.Implies(switches[name], formula))
        return self._minimised(z3, solver, switches)

    def _minimised(self, z3: Any, solver: Any, switches: dict[str, Any]) -> tuple[Consistency, tuple[str, ...]]:
        """Take constraints away one by one and keep those without which the rest can hold."""
        names = {str(switch): name for name, switch in switches.items()}
        self._is_minimal = False
        found, left = self._ask(z3, solver, list(switches.values()))
        if found != z3.unsat:
            return (Consistency.SAT if found == z3.sat else Consistency.UNKNOWN), ()
        needed: list[Any] = []
        while left:
            candidate, *rest = left
            found, smaller = self._ask(z3, solver, [*needed, *rest])
            if found == z3.unsat:
                kept = {str(switch) for switch in needed}
                left = [switch for switch in smaller if str(switch) not in kept]
            elif found == z3.sat:
                needed.append(candidate)
                left = rest
            else:
                return Consistency.UNSAT, self._ordered(names, [*needed, *left], switches)
        self._is_minimal = True
        return Consistency.UNSAT, self._ordered(names, needed, switches)

    def _ask(self, z3: Any, solver: Any, assumptions: list[Any]) -> tuple[Any, list[Any]]:
        left_ms = int((self._ends_at - monotonic()) * 1_000)
        if left_ms <= 0:
            self._why_unknown = "the time was up before the solver had an answer"
            return z3.unknown, []
        solver.set("timeout", left_ms)
        found = solver.check(*assumptions)
        if found == z3.unknown:
            self._why_unknown = f"the solver gave up: {solver.reason_unknown()}"
        return found, list(solver.unsat_core()) if found == z3.unsat else []

    def _ordered(self, names: dict[str, str], core: list[Any], switches: dict[str, Any]) -> tuple[str, ...]:
        chosen = {names[str(switch)] for switch in core}
        return tuple(name for name in switches if name in chosen)

    def _reason(self, core: tuple[str, ...]) -> str:
        own = [(name, predicate) for name, predicate in self._predicates if name in core]
        said = [f'The text says "{self._excerpt(name)}".' for name in core if name.startswith("text:")]
        return " ".join([explain(own), *said]) if own else "The text contradicts itself. " + " ".join(said)

    def _excerpt(self, name: str) -> str:
        assert self._facts is not None
        start, end = (int(part) for part in name.split(":")[1].split("-"))
        return self._facts.text[start:end][:200]


def _unknown(reason: str) -> SolverAnswer:
    return SolverAnswer(Consistency.UNKNOWN, reason=reason)
