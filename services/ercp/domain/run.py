"""The loop of ERCP 1.0 §9 as a step function: a state and what just happened give the next state and what to do next.

Pure: the shell (``run_app``) carries the commands out and hands their outcomes back. Why it ends is argued in ADR 0072
and tested with adversarial generators; in short: within a stage the constraints only gain weight, the same candidate
under the same constraints is met twice at most, mutations are counted, and ``max_iterations`` bounds all of it.
"""

from dataclasses import dataclass, field, replace

from services.common.encoding import canonical_json, sha256_hex
from services.ercp.domain.admission import Admission
from services.ercp.domain.grounds import MOST_ROUNDS, confirmed, fresh, meets_any
from services.ercp.domain.records import Constraint, Fault, OpenGround, Problem, Reasoning, RunConfig
from services.ercp.domain.vocabulary import Grounds, RunStatus, StatusReason, Strategy


@dataclass(frozen=True, slots=True)
class Generate:
    """Write a candidate for the problem under the constraints (§9 steps 2 and 6).

    Attributes:
        put: statements of earlier candidates whose ground is asked for (ADR 0185).
    """

    problem: Problem
    constraints: tuple[Constraint, ...]
    put: tuple[OpenGround, ...] = ()


@dataclass(frozen=True, slots=True)
class Verify:
    """Find the errors of a candidate (§9 step 3)."""

    reasoning: Reasoning
    constraints: tuple[Constraint, ...]


@dataclass(frozen=True, slots=True)
class Extract:
    """Derive constraints from errors, admit them and check that all can hold (§9 steps 4 and 5).

    Attributes:
        asking: they are doubts, and the supervisor puts them before the generator, sure or not (ADR 0179).
    """

    faults: tuple[Fault, ...]
    reasoning: Reasoning
    constraints: tuple[Constraint, ...]
    relaxed: tuple[Constraint, ...]
    asking: bool = False


@dataclass(frozen=True, slots=True)
class Stabilize:
    """Compare two candidates (§9 step 7)."""

    previous: Reasoning
    current: Reasoning


@dataclass(frozen=True, slots=True)
class Mutate:
    """Change the problem or its constraints (§9 step 9).

    Attributes:
        core: ids of constraints that cannot hold together; empty unless ``relax``.
    """

    strategy: Strategy
    problem: Problem
    constraints: tuple[Constraint, ...]
    faults: tuple[Fault, ...] = ()
    core: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Stop:
    """The run is over; ``reason`` is a ``StatusReason``, or for FAILED the reason of the step's error."""

    status: RunStatus
    reason: str


Command = Generate | Verify | Extract | Stabilize | Mutate | Stop


@dataclass(frozen=True, slots=True)
class Generated:
    """A candidate was written."""

    reasoning: Reasoning


@dataclass(frozen=True, slots=True)
class Verified:
    """A candidate was verified.

    Attributes:
        undecided: ids of the immutable constraints that it leaves undecided and that keep it from converging, and what
            else is open.
        unanswered: the question asks why, and it gives no reason (§12).
        doubts: what may be wrong with it, less sure than an error that demands a constraint (ADR 0179).
        grounds: what it says that nothing given bears out (ADR 0185).
    """

    faults: tuple[Fault, ...]
    undecided: tuple[str, ...] = ()
    unanswered: bool = False
    doubts: tuple[Fault, ...] = ()
    grounds: tuple[OpenGround, ...] = ()


@dataclass(frozen=True, slots=True)
class Extracted:
    """Constraints were derived and admitted.

    Attributes:
        core: ids of constraints that cannot hold together; empty when they can, or when the solver does not know.
    """

    admission: Admission
    core: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Stabilized:
    """Two candidates were compared."""

    stable: bool


@dataclass(frozen=True, slots=True)
class Mutated:
    """Problem or constraints were changed.

    Attributes:
        relaxed: constraints that were taken out of force.
        core: ids of constraints that still cannot hold together: no more could be relaxed.
    """

    strategy: Strategy
    problem: Problem
    constraints: tuple[Constraint, ...]
    relaxed: tuple[Constraint, ...] = ()
    core: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Failed:
    """A step could not run; ``reason`` is a stable token."""

    reason: str


@dataclass(frozen=True, slots=True)
class OutOfTime:
    """The run's time is up."""


Outcome = Generated | Verified | Extracted | Stabilized | Mutated | Failed | OutOfTime


@dataclass(frozen=True, slots=True)
class MutationLimits:
    """How often a run without progress may change its problem."""

    reframes: int = 1
    decompositions: int = 1


@dataclass(frozen=True, slots=True)
class RunState:
    """Where a run is.

    Attributes:
        candidates: constraints below verify_threshold, best first (§7).
        iterations: candidates that were written.
        stage: mutations so far; candidates of different stages are not compared.
        previous, current: the last two candidates of the stage.
        last: the last candidate of all.
        faults: what was wrong with ``current``.
        undecided: the same of ``current``; the shell knows what the caller allows (``standing.blocking``).
        unanswered: the question asks why, and ``current`` gives no reason (§12, ADR 0118).
        doubts: what may be wrong with ``current``.
        asked: keys of the doubts that were put before the generator; each is once.
        asking: that is what is being done.
        grounds: what ``current`` says that nothing given bears out (ADR 0185).
        before: the like of the candidate before, without what an error was about.
        put: statements whose ground the generator was asked for, in the order in which they came.
        rounds: how often it was.
        seen: digests of the (stage, candidate, constraints) that came to nothing.
        core: the last set of constraints found that cannot hold together.
        overflowed: a constraint found no room.
    """

    config: RunConfig
    limits: MutationLimits
    problem: Problem
    constraints: tuple[Constraint, ...] = ()
    candidates: tuple[Constraint, ...] = ()
    relaxed: tuple[Constraint, ...] = ()
    iterations: int = 0
    stage: int = 0
    reframes: int = 0
    decompositions: int = 0
    previous: Reasoning | None = None
    current: Reasoning | None = None
    last: Reasoning | None = None
    faults: tuple[Fault, ...] = ()
    undecided: tuple[str, ...] = ()
    unanswered: bool = False
    doubts: tuple[Fault, ...] = ()
    asked: frozenset[str] = frozenset()
    asking: bool = False
    grounds: tuple[OpenGround, ...] = ()
    before: tuple[OpenGround, ...] = ()
    put: tuple[OpenGround, ...] = ()
    rounds: int = 0
    seen: frozenset[str] = frozenset()
    core: tuple[str, ...] = ()
    overflowed: bool = False
    conflicts: tuple[Constraint, ...] = field(default=(), repr=False)

    @property
    def standing_grounds(self) -> tuple[OpenGround, ...]:
        """The statements of ``current`` that nothing given bears out, each with whether it was confirmed."""
        marks = confirmed(self.grounds, self.put)
        return tuple(replace(each, is_confirmed=mark) for each, mark in zip(self.grounds, marks, strict=True))

    @property
    def unmarred(self) -> tuple[OpenGround, ...]:
        """The statements of ``current`` that nothing given bears out, but for those that an error is about."""
        spans = sorted(each.span for each in self.blocking if each.span is not None)
        return tuple(each for each in self.grounds if not meets_any(each.span, spans))

    @property
    def is_grounded(self) -> bool:
        """Whether all that ``current`` says has the ground that a convergence takes."""
        if self.config.grounds is Grounds.GIVEN:
            return not self.grounds
        return self.config.grounds is Grounds.OFF or all(confirmed(self.grounds, self.put))

    @property
    def blocking(self) -> tuple[Fault, ...]:
        """The errors that stand in the way of convergence: those sure enough to demand a constraint (ADR 0074)."""
        return tuple(fault for fault in self.faults if fault.confidence >= self.config.verify_threshold)


def start(state: RunState, core: tuple[str, ...] = ()) -> tuple[RunState, Command]:
    """Return the first command.

    Args:
        state: fresh.
        core: ids of the caller's constraints that cannot hold together; empty when they can.
    """
    return _clash(state, core) if core else _generate(state)


def advance(state: RunState, outcome: Outcome) -> tuple[RunState, Command]:
    """Return the state after what happened, and what to do next."""
    match outcome:
        case Generated(reasoning):
            then = _generated(state, reasoning)
        case Verified():
            then = _verified(
                replace(
                    state,
                    faults=outcome.faults,
                    undecided=outcome.undecided,
                    unanswered=outcome.unanswered,
                    doubts=outcome.doubts,
                    grounds=outcome.grounds,
                )
            )
        case Extracted():
            then = _extracted(state, outcome)
        case Stabilized(stable):
            then = _stable(state) if stable else _again(state)
        case Mutated():
            then = _mutated(state, outcome)
        case Failed(reason):
            then = (state, Stop(RunStatus.FAILED, reason))
        case OutOfTime():
            then = (state, Stop(RunStatus.PARTIAL, StatusReason.MAX_DURATION))
    return then


def _stable(state: RunState) -> tuple[RunState, Command]:
    """End the run, unless a statement is new whose ground was not asked for, or one was taken back (ADR 0185).

    What was written beside a statement that the answerer took back when it was asked is no confirmation yet.
    """
    if _questioned(state) is not state:
        return _generate(state)
    is_open = state.rounds < MOST_ROUNDS and state.config.grounds is Grounds.CONFIRMED
    if is_open and fresh(state.before, state.grounds):
        return _generate(replace(state, rounds=state.rounds + 1))
    return state, _settled(state)


def _settled(state: RunState) -> Stop:
    """Say how a run ends whose candidates are stable and without errors.

    What nobody decided is not kept (ADR 0115), what may be wrong is not right (ADR 0179), and what nothing bears out
    is not known (ADR 0185).
    """
    if state.undecided or state.doubts:
        return Stop(RunStatus.PARTIAL, StatusReason.UNDECIDED)
    if not state.is_grounded:
        return Stop(RunStatus.PARTIAL, StatusReason.NOT_GROUNDED)
    return Stop(RunStatus.CONVERGED, StatusReason.STABLE)


def _generated(state: RunState, reasoning: Reasoning) -> tuple[RunState, Command]:
    after = replace(
        state,
        previous=state.current,
        current=reasoning,
        last=reasoning,
        iterations=state.iterations + 1,
        faults=(),
        undecided=(),
        unanswered=False,
        doubts=(),
        grounds=(),
        before=state.unmarred,
    )
    return after, Verify(reasoning, state.constraints)


def _verified(state: RunState) -> tuple[RunState, Command]:
    if state.faults and state.current is not None:
        return state, Extract(state.faults, state.current, state.constraints, state.relaxed)
    return _asked(state)


def _asked(state: RunState) -> tuple[RunState, Command]:
    """Put doubts before the generator that it was not asked about yet, once nothing surer is left (ADR 0179)."""
    new = {doubt_key(each): each for each in state.doubts if doubt_key(each) not in state.asked}
    if not new or state.current is None:
        return _compared(state)
    after = replace(state, asked=state.asked | new.keys(), asking=True)
    return after, Extract(tuple(new.values()), state.current, state.constraints, state.relaxed, asking=True)


def _questioned(state: RunState) -> RunState:
    """Ask for the ground of what nothing given bears out, each statement once; the same state where none is new.

    What an error is about is demanded otherwise already.

    Every candidate after the first is written under these questions, for a deterministic model would else fall back to
    what it wrote before it was asked.
    """
    new = fresh(state.unmarred, state.put)
    if not new or state.rounds >= MOST_ROUNDS or state.config.grounds is Grounds.OFF:
        return state
    return replace(state, put=(*state.put, *new), rounds=state.rounds + 1)


def doubt_key(doubt: Fault) -> str:
    """Return the same text for one doubt about two candidates: what it would be, of what, against what."""
    against = "|".join(sorted(each.excerpt for each in doubt.evidence))
    return f"{doubt.type}|{doubt.excerpt}|{against}"


def _compared(state: RunState) -> tuple[RunState, Command]:
    """Compare with the candidate before, or write another one to compare with (§9 step 7)."""
    if state.previous is not None and state.current is not None:
        return state, Stabilize(state.previous, state.current)
    return _generate(state)


def _extracted(state: RunState, outcome: Extracted) -> tuple[RunState, Command]:
    admission = outcome.admission
    after = replace(
        state,
        constraints=admission.constraints,
        candidates=_merged(state.candidates, admission.candidates),
        overflowed=state.overflowed or admission.overflowed,
        asking=False,
    )
    if outcome.core:
        return _clash(after, outcome.core)
    if state.asking:
        return _generate(after) if admission.added else _compared(after)
    if not state.blocking and not state.unanswered:
        return _asked(after)
    if admission.waived and not admission.added:
        # What had to be relaxed follows from the candidate once more: nothing that is left can make it hold.
        return after, Stop(RunStatus.INFEASIBLE, StatusReason.CORE_NOT_RESOLVED)
    return _again(after)


def _again(state: RunState) -> tuple[RunState, Command]:
    """Write another candidate, unless this very one came to nothing under these very constraints before (ADR 0072)."""
    asking = _questioned(state)
    key = _key(asking)
    if key in state.seen:
        return _stuck(state)
    return _generate(replace(asking, seen=state.seen | {key}))


def _generate(state: RunState) -> tuple[RunState, Command]:
    if state.iterations >= state.config.max_iterations:
        return state, Stop(RunStatus.PARTIAL, StatusReason.MAX_ITERATIONS)
    asking = _questioned(state)
    return asking, Generate(state.problem, state.constraints, asking.put)


def _clash(state: RunState, core: tuple[str, ...]) -> tuple[RunState, Command]:
    """Relax what clashes; immutable constraints never are, and the operator then says that the core is left (§4.1)."""
    members = tuple(each for each in state.constraints if each.constraint_id in core)
    after = replace(state, core=core, conflicts=members)
    return after, Mutate(Strategy.RELAX, state.problem, state.constraints, state.faults, core)


def _stuck(state: RunState) -> tuple[RunState, Command]:
    if state.core:
        return state, Stop(RunStatus.INFEASIBLE, StatusReason.CORE_NOT_RESOLVED)
    if state.reframes < state.limits.reframes:
        return state, Mutate(Strategy.REFRAME, state.problem, state.constraints, state.faults)
    if state.decompositions < state.limits.decompositions:
        return state, Mutate(Strategy.DECOMPOSE, state.problem, state.constraints, state.faults)
    reason = StatusReason.MAX_CONSTRAINTS if state.overflowed else StatusReason.NO_PROGRESS
    return state, Stop(RunStatus.PARTIAL, reason)


def _mutated(state: RunState, outcome: Mutated) -> tuple[RunState, Command]:
    """Begin a new stage with what was changed (§9 step 9)."""
    after = replace(
        state,
        problem=outcome.problem,
        constraints=outcome.constraints,
        relaxed=(*state.relaxed, *outcome.relaxed),
        stage=state.stage + 1,
        reframes=state.reframes + (outcome.strategy is Strategy.REFRAME),
        decompositions=state.decompositions + (outcome.strategy is Strategy.DECOMPOSE),
        previous=None,
        current=None,
        faults=(),
        undecided=(),
        unanswered=False,
        doubts=(),
        grounds=(),
        before=(),
    )
    if outcome.core:
        members = tuple(each for each in state.constraints if each.constraint_id in outcome.core)
        stopped = replace(after, core=outcome.core, conflicts=members)
        return stopped, Stop(RunStatus.INFEASIBLE, StatusReason.CORE_IMMUTABLE)
    return _generate(after)


def _key(state: RunState) -> str:
    """Return the digest of what a deterministic model's next answer depends on: stage, constraints, questions.

    The candidate is in it too.
    """
    text = state.current.text if state.current is not None else ""
    rules = sorted(each.predicate.key for each in state.constraints)
    digest = sha256_hex(text.encode("utf-8", "surrogatepass"))
    return sha256_hex(canonical_json([state.stage, digest, rules, len(state.put)]))


def _merged(held: tuple[Constraint, ...], found: tuple[Constraint, ...]) -> tuple[Constraint, ...]:
    """Return candidates of both, each predicate once with its best confidence, best first."""
    best: dict[str, Constraint] = {}
    for each in (*held, *found):
        known = best.get(each.predicate.key)
        if known is None or (each.confidence or 0.0) > (known.confidence or 0.0):
            best[each.predicate.key] = each
    return tuple(sorted(best.values(), key=lambda each: (-(each.confidence or 0.0), each.constraint_id)))
