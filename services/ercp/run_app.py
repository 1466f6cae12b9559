"""Run: the loop of ERCP 1.0 §9 carried out, recorded step by step, and taken up again where it was broken off.

Which step comes next is ``domain.run``'s decision. Steps that the trace holds already are not carried out again where
that would write something: a candidate is read back from its window, the rest is computed anew from it, with the same
ids, and its event is the recorded one (ADR 0073).
"""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from services.common.clock import Clock
from services.common.computing import compute
from services.common.concurrency import KeyedLock
from services.common.context import current_call
from services.common.errors import CrpError, DeadlineError, ErrorReason
from services.common.progress import at
from services.common.settings import ErcpSettings
from services.ercp.deciding import ExtractCommand, MutateCommand
from services.ercp.domain import readings, standing
from services.ercp.domain import run as loop
from services.ercp.domain.doubting import doubted
from services.ercp.domain.duplicates import Duplicates, duplicates
from services.ercp.domain.identifiers import derived_uuid
from services.ercp.domain.records import (
    Constraint,
    ConstraintOutcome,
    Doubt,
    Fault,
    ModelIdentity,
    OpenGround,
    Passage,
    Problem,
    Reasoning,
    RunConfig,
)
from services.ercp.domain.run import Command, Outcome, RunState
from services.ercp.domain.trace import TraceEvent
from services.ercp.domain.unknown import UnknownFields
from services.ercp.domain.vocabulary import ErrorType, Operator, RunStatus
from services.ercp.generating import Candidate, GenerateCommand
from services.ercp.journal import RUN, Journal, RequestMark, TraceWriter
from services.ercp.operator_results import OperatorResult
from services.ercp.ports import Knowledge, TraceSession
from services.ercp.run_counts import RunCounts
from services.ercp.run_parts import OperatorParts
from services.ercp.timing import Stopwatch
from services.ercp.verifying import VerifyCommand

END_MARK: Final = "ercp-1.0"
_MOST_WHY: Final = 300
"""So many characters of what an error says stand in the trace."""
_STEP_FAILURES: Final = frozenset(
    {
        ErrorReason.LLM_UNAVAILABLE,
        ErrorReason.MODEL_UNAVAILABLE,
        ErrorReason.QUEUE_FULL,
        ErrorReason.UNKNOWN_MODEL,
        ErrorReason.WINDOW_LIMIT,
        ErrorReason.DAG_NODE_LIMIT,
        ErrorReason.MESSAGE_TOO_LARGE,
        ErrorReason.BUDGET_TOO_SMALL,
    }
)
"""Errors that end a run as FAILED. Others, such as a store that does not answer, leave it to be resumed."""
_OPERATORS: Final = {
    loop.Generate: Operator.GENERATE,
    loop.Verify: Operator.VERIFY,
    loop.Extract: Operator.EXTRACT,
    loop.Stabilize: Operator.STABILIZE,
    loop.Mutate: Operator.MUTATE,
}


_AT_ODDS: Final = frozenset({ErrorType.CONTRADICTION, ErrorType.FACTUAL_INCORRECT})


@dataclass(frozen=True, slots=True)
class RunCommand:
    """What is asked of a run.

    Attributes:
        trace_id: empty lets it follow from the request id.
        body_sha256: of the request without its ids.
        passages: what candidates are held against; empty retrieves.
        unknown: what the request holds beyond what this version knows (§10).
    """

    request_id: str
    body_sha256: str
    problem: Problem
    config: RunConfig
    trace_id: str = ""
    constraints: tuple[Constraint, ...] = ()
    passages: tuple[Passage, ...] = ()
    unknown: tuple[UnknownFields, ...] = ()


@dataclass(frozen=True, slots=True)
class RunResult:
    """How a run ended (§3.1).

    Attributes:
        fidelity_score: of the last candidate, by its report; ``None`` = not computed.
        outcomes: how the last candidate stands to each constraint in force, in their order (ADR 0115).
        duplicates: the caller's constraints that demand the same.
        doubts: statements of the last candidate that may be at odds (ADR 0179).
        grounds: those that nothing given bears out (ADR 0185).
    """

    trace_id: str
    session_id: str
    timestamp: datetime
    status: RunStatus
    reason: str
    state: RunState
    events: tuple[TraceEvent, ...]
    identity: ModelIdentity
    fidelity_score: float | None = None
    outcomes: tuple[ConstraintOutcome, ...] = ()
    duplicates: tuple[Duplicates, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    grounds: tuple[OpenGround, ...] = ()

    @property
    def reasoning(self) -> Reasoning | None:
        """The last candidate of all."""
        return self.state.last


@dataclass(slots=True)
class _RunContext:
    """One run under way; ``verified``: the text that was verified last, and how it stands to its constraints.

    ``doubts`` are about the same text (ADR 0179).
    """

    ask: RunCommand
    journal: Journal
    watch: Stopwatch
    knowledge: Knowledge | None = None
    candidate: Candidate | None = None
    verified: tuple[str, tuple[ConstraintOutcome, ...]] = ("", ())
    doubts: tuple[Doubt, ...] = ()
    identity: ModelIdentity | None = None


class RunApp:
    """Runs problems.

    Attributes:
        counts: how runs ended and what was found in their candidates.
    """

    def __init__(
        self, parts: OperatorParts, scribe: TraceWriter, settings: ErcpSettings, clock: Clock, turns: KeyedLock
    ) -> None:
        self._parts = parts
        self._scribe = scribe
        self._settings = settings
        self._clock = clock
        self._turns = turns
        self.counts = RunCounts()

    async def run(self, ask: RunCommand) -> AsyncGenerator[TraceEvent | RunResult, None]:
        """Carry the loop out; yield each event once it is written, then the result.

        Raises:
            PreconditionError: REQUEST_ID_REUSED, TRACE_MISMATCH.
            UnavailableError: STORE_UNAVAILABLE, SERVICE_UNAVAILABLE: the run can be taken up again.
        """
        trace_id = ask.trace_id or derived_uuid("trace", ask.request_id)
        tenant_id = current_call().caller.tenant_id
        async with self._turns.lock(tenant_id, trace_id), aclosing(self._steps(ask, trace_id)) as steps:
            async for step in steps:
                yield step

    async def _steps(self, ask: RunCommand, trace_id: str) -> AsyncGenerator[TraceEvent | RunResult, None]:
        course = await self._begun(ask, trace_id)
        core = (await self._parts.deciding.consistency(ask.constraints)).core
        limits = loop.MutationLimits(self._settings.max_reframes, self._settings.max_decompositions)
        state, command = loop.start(RunState(ask.config, limits, ask.problem, ask.constraints), core)
        while not isinstance(command, loop.Stop):
            outcome: Outcome | None = None
            if course.journal.next_recorded is None:
                ended = _ended(course.journal.end_reason)
                if ended is not None:
                    command = ended
                    break
                if course.watch.left() <= 0:
                    state, command = loop.advance(state, loop.OutOfTime())
                    break
            at(f"the operator {_OPERATORS[type(command)].value}")
            performed, outcome = await self._step(course, state, command)
            if performed is None:
                state, command = loop.advance(state, outcome)
                break
            if isinstance(outcome, loop.Verified) and course.journal.next_recorded is None:
                self.counts.found(fault.type for fault in outcome.faults)
                self.counts.stood(performed.result.outcomes)
            yield await course.journal.record(_OPERATORS[type(command)], performed)
            if isinstance(command, loop.Generate):
                course.identity = course.journal.events[-1].identity
            state, command = loop.advance(state, outcome)
        assert isinstance(command, loop.Stop)
        read_back = bool(course.journal.end_reason)
        await course.journal.end(f"{END_MARK} {command.status} {command.reason}")
        if not read_back:
            self.counts.ended(command.status, command.reason, state.iterations)
        yield await self._result(course, state, command)

    async def _begun(self, ask: RunCommand, trace_id: str) -> _RunContext:
        mark = RequestMark(RUN, ask.request_id, ask.body_sha256)
        stored = await self._scribe.sessions.find(trace_id)
        limit = ask.config.max_duration_s or self._settings.max_duration_s
        watch = Stopwatch(min(limit, self._settings.max_duration_s), self._settings.reserve_s)
        journal = await Journal.opened(self._scribe, trace_id, mark, stored)
        journal.unknown = ask.unknown
        if stored is not None:
            journal.resume(stored)
        return _RunContext(ask, journal, watch)

    async def _step(
        self, course: _RunContext, state: RunState, command: Command
    ) -> tuple[OperatorResult[Any] | None, Outcome]:
        """Carry a command out; a step that cannot run ends the run with an event that says why."""
        known = course.journal.next_recorded
        if known is not None and "failed" in known.output_summary:
            told = {name: str(known.output_summary[name]) for name in ("failed", "why") if name in known.output_summary}
            return self._failure(course, state, command, told)
        try:
            return await self._performed(course, state, command)
        except DeadlineError:
            return None, loop.OutOfTime()
        except CrpError as error:
            if error.reason not in _STEP_FAILURES:
                raise
            told = {"failed": error.reason.value, "why": error.message[:_MOST_WHY]}
            return self._failure(course, state, command, told)

    def _failure(
        self, course: _RunContext, state: RunState, command: Command, told: Mapping[str, str]
    ) -> tuple[OperatorResult[Any], Outcome]:
        performed: OperatorResult[Any] = OperatorResult(
            None, {"iteration": state.iterations}, dict(told), ModelIdentity("")
        )
        if isinstance(command, loop.Generate):
            performed = self._parts.generating.failed(self._generate_ask(course, command, _NOTHING), told)
        return performed, loop.Failed(told["failed"])

    async def _performed(
        self, course: _RunContext, state: RunState, command: Command
    ) -> tuple[OperatorResult[Any], Outcome]:
        match command:
            case loop.Generate():
                return await self._generate(course, command)
            case loop.Verify():
                return await self._verify(course, state, command)
            case loop.Extract():
                return await self._extract(course, command)
            case loop.Stabilize(previous, current):
                threshold = course.ask.config.similarity_threshold
                compared = await self._parts.deciding.stabilize(previous.text, current.text, threshold)
                return compared, loop.Stabilized(compared.result.stable)
            case loop.Mutate():
                ask = MutateCommand(
                    command.strategy, command.problem, command.constraints, command.faults, command.core
                )
                changed = await self._parts.deciding.mutate(ask)
                return changed, changed.result.mutated
            case loop.Stop():
                raise AssertionError("a stopped run performs nothing")

    async def _generate(self, course: _RunContext, command: loop.Generate) -> tuple[OperatorResult[Any], Outcome]:
        ask = self._generate_ask(course, command, await self._knowledge(course))
        known = course.journal.next_recorded
        if known is not None:
            session = TraceSession(course.journal.session_id, "")
            was_cut = bool(known.output_summary.get("was_cut"))
            course.candidate = await self._parts.generating.again(ask, session, known.window_id, was_cut=was_cut)
            performed: OperatorResult[Any] = OperatorResult(course.candidate, {}, {}, known.identity)
        else:
            performed = await self._parts.generating.generate(ask, await course.journal.session())
            course.candidate = performed.result
            course.journal.moved(performed.result.session)
        assert course.candidate is not None
        return performed, loop.Generated(course.candidate.reasoning)

    def _generate_ask(self, course: _RunContext, command: loop.Generate, knowledge: Knowledge) -> GenerateCommand:
        config = course.ask.config
        return GenerateCommand(
            name=course.journal.name(),
            problem=command.problem,
            constraints=command.constraints,
            knowledge=knowledge,
            decoding=config.decoding,
            model=config.model,
            timeout_s=max(0.001, course.watch.left()),
            put=command.put,
        )

    async def _verify(
        self, course: _RunContext, state: RunState, command: loop.Verify
    ) -> tuple[OperatorResult[Any], Outcome]:
        candidate, config = course.candidate, course.ask.config
        assert candidate is not None
        ask = VerifyCommand(
            name=course.journal.name(),
            text=command.reasoning.text,
            sentences=command.reasoning.sentences,
            constraints=command.constraints,
            nli_threshold=config.nli_threshold,
            analysis=candidate.analysis,
            knowledge=course.knowledge if config.run_fact_check else None,
            question=course.ask.problem.description,
            was_cut=candidate.was_cut,
            facts=candidate.facts,
        )
        verified = await self._parts.verifying.verify(ask)
        outputs = {**verified.outputs, "iteration": state.iterations}
        result, lenient = verified.result, config.allow_undecided
        blocking = standing.blocking(result.outcomes, allow_undecided=lenient)
        undecided = (*blocking, *(() if lenient else result.open_question))
        course.verified = (command.reasoning.text, result.outcomes)
        weak = tuple(each for each in result.faults if _is_weak(each, config.verify_threshold))
        doubts = () if lenient else (*weak, *doubted(result.doubts, ask.name))
        grounds = () if lenient else result.grounds
        happened = loop.Verified(
            result.faults, undecided, unanswered=result.is_unanswered, doubts=doubts, grounds=grounds
        )
        course.doubts = result.doubts
        return replace(verified, outputs=outputs), happened

    async def _extract(self, course: _RunContext, command: loop.Extract) -> tuple[OperatorResult[Any], Outcome]:
        config = course.ask.config
        ask = ExtractCommand(
            name=course.journal.name(),
            faults=command.faults,
            text=command.reasoning.text,
            verify_threshold=0.0 if command.asking else config.verify_threshold,
            candidate_threshold=0.0 if command.asking else config.candidate_threshold,
            most_per_error=config.max_constraints_per_error,
            held=command.constraints,
            relaxed=command.relaxed,
            most=config.max_constraints,
        )
        extracted = await self._parts.deciding.extract(ask)
        result = extracted.result
        return extracted, loop.Extracted(result.admission, result.answer.core)

    async def _knowledge(self, course: _RunContext) -> Knowledge:
        """Return what candidates are written from: the caller's passages, or the tenant's facts on the first question.

        A mutated problem is still about the same facts: they are retrieved once.
        """
        if course.knowledge is None:
            if course.ask.passages:
                course.knowledge = self._parts.knowledge.given(course.ask.passages)
            elif course.ask.config.run_fact_check:
                course.knowledge = await self._parts.knowledge.retrieve(course.ask.problem.description)
            else:
                course.knowledge = self._parts.knowledge.given(())
        return course.knowledge

    async def _result(self, course: _RunContext, state: RunState, stop: loop.Stop) -> RunResult:
        events = tuple(course.journal.events)
        return RunResult(
            trace_id=course.journal.trace_id,
            session_id=course.journal.session_id,
            timestamp=events[-1].timestamp if events else self._clock.now(),
            status=stop.status,
            reason=stop.reason,
            state=state,
            events=events,
            identity=course.identity or (events[-1].identity if events else ModelIdentity("")),
            fidelity_score=None if course.candidate is None else course.candidate.analysis.fidelity.score,
            outcomes=await compute(_outcomes, course.candidate, state, course.verified),
            duplicates=await compute(duplicates, course.ask.constraints),
            # A last candidate whose verification did not end has none that are known.
            doubts=course.doubts if state.last is not None and state.last.text == course.verified[0] else (),
            grounds=state.standing_grounds,
        )


def _is_weak(fault: Fault, threshold: float) -> bool:
    """Say whether an error demands no constraint and yet names a statement that speaks against the candidate's."""
    return fault.confidence < threshold and any(each.excerpt for each in fault.evidence) and fault.type in _AT_ODDS


def _outcomes(
    candidate: Candidate | None, state: RunState, verified: tuple[str, tuple[ConstraintOutcome, ...]]
) -> tuple[ConstraintOutcome, ...]:
    """Return how the last candidate stands to what is in force now: some of it may have come after it was verified."""
    if candidate is None or state.last is None:
        return standing.no_draft(state.constraints)
    facts = candidate.facts or readings.facts_of(state.last.text, state.last.sentences)
    found = standing.outcomes(facts, state.constraints)
    text, before = verified
    return standing.with_suspicions(found, before) if text == state.last.text else found


_NOTHING: Final = Knowledge(b"", (), ())


def _ended(reason: str) -> loop.Stop | None:
    """Return how a run ended that was recorded as ended; ``None`` while it was not."""
    if not reason:
        return None
    mark, _, rest = reason.partition(" ")
    status, _, why = rest.partition(" ")
    if mark != END_MARK or status not in set(RunStatus):
        return loop.Stop(RunStatus.FAILED, reason[:100])
    return loop.Stop(RunStatus(status), why)
