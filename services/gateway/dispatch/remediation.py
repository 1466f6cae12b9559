"""Carrying out the remedies of an analysis within one window (SPEC-005 §8.3, §9.3, §11.5, §19; ADR 0042, ADR 0059).

A re-dispatch generates the answer anew with the plan's instructions, at the plan's temperature and with another seed,
and analyses it again; the better of the two is kept by ``AnalyzedAnswer.standing``. A stitch puts a bridge before the
answer, and the whole is analysed again: nothing leaves that was not analysed. Whatever fails here leaves the answer as
it was.
"""

from collections.abc import Awaitable
from dataclasses import dataclass, replace
from typing import Final

from services.common.concurrency import deadline_within, remaining_s
from services.common.errors import CrpError
from services.common.ports.language_model import ChatMessage, ChatRole, LanguageRequest
from services.common.settings import GatewaySettings
from services.common.taxonomy import Remedy, RemedyCall
from services.gateway.dispatch.analyzer import AnswerAnalyzer
from services.gateway.dispatch.model_caller import SAFETY_MARGIN_TOKENS, ModelCaller
from services.gateway.domain.admitted import AdmittedDispatch
from services.gateway.domain.approach import REFINE_TEMPERATURE
from services.gateway.domain.command import Notice
from services.gateway.domain.completion import CallPurpose, Completion, ModelCall
from services.gateway.domain.remedies import (
    PROMPT_AUGMENTED,
    REDISPATCH_TEMPERATURE,
    STITCHED,
    AnalyzedAnswer,
    RemedyRound,
    due,
    redispatch_steps,
)
from services.gateway.domain.remedy_plan import RemedyPlan, RemedyStep
from services.gateway.domain.remedy_prompt import remedy_instructions
from services.gateway.domain.window import BuiltEnvelope, OpenedWindow

EXCERPT_CHARS: Final = (8_000, 2_000, 500, 0)
"""Characters of excerpts per step, the most that fit into the model's context window."""
STITCH_TOKENS: Final = 120
"""One or two sentences."""


@dataclass(frozen=True, slots=True)
class WindowContext:
    """A window on its way, as remedies see it.

    Attributes:
        opened: with what its parents really hand on.
        prompt: the system message of the first answer.
        request: what the first answer was asked with.
        took_s: seconds that the first answer and its analysis took.
    """

    admitted: AdmittedDispatch
    opened: OpenedWindow
    envelope: BuiltEnvelope
    prompt: str
    request: LanguageRequest
    took_s: float


@dataclass(frozen=True, slots=True)
class RemediationResult:
    """The best answer, what was tried for it, what was called and what the caller should know.

    Attributes:
        flow_remediation: ``prompt-augmented``, ``stitched`` or empty (SPEC-005 §11.6).
        upgraded: the answer is one of a strategy upgrade (SPEC-005 §19.2).
    """

    best: AnalyzedAnswer
    rounds: tuple[RemedyRound, ...] = ()
    calls: tuple[ModelCall, ...] = ()
    notices: tuple[Notice, ...] = ()
    flow_remediation: str = ""

    @property
    def upgraded(self) -> bool:
        """Whether the answer that is kept is one of a strategy upgrade."""
        kept = [each for each in self.rounds if each.kept]
        return any(step.remedy is Remedy.UPGRADE_STRATEGY for each in kept for step in each.steps)

    def with_round(
        self, steps: tuple[RemedyStep, ...], candidate: AnalyzedAnswer, call: ModelCall
    ) -> "RemediationResult":
        """Return this with one more round, and the better of the two answers."""
        tried = RemedyRound.of(len(self.rounds) + 1, steps, (self.best, candidate), call)
        flow = self.flow_remediation
        if tried.kept:
            remedies = {step.remedy for step in steps}
            flow = PROMPT_AUGMENTED if Remedy.AUGMENT_FLOW in remedies else flow
            flow = STITCHED if Remedy.STITCH_FLOW in remedies else flow
        return replace(
            self,
            best=candidate if tried.kept else self.best,
            rounds=(*self.rounds, tried),
            calls=(*self.calls, call),
            flow_remediation=flow,
        )

    def with_call(self, call: ModelCall) -> "RemediationResult":
        """Return this with one more call, which gave nothing."""
        return replace(self, calls=(*self.calls, call))

    def with_notice(self, code: str, message: str) -> "RemediationResult":
        """Return this with one more notice."""
        return replace(self, notices=(*self.notices, Notice(code, message)))


class _UnanalysedError(Exception):
    """Another answer was written and could not be analysed; it is dropped, its call counts."""

    def __init__(self, call: ModelCall, reason: str) -> None:
        super().__init__(reason)
        self.call = call
        self.reason = reason


class Remediator:
    """Carries remedies out; holds no state between windows."""

    def __init__(self, model_caller: ModelCaller, analyzer: AnswerAnalyzer, settings: GatewaySettings) -> None:
        self._model_caller = model_caller
        self._analyzer = analyzer
        self._settings = settings

    async def remediate(self, context: WindowContext, first: AnalyzedAnswer) -> RemediationResult:
        """Return the best answer that the remedies gave, at worst the first."""
        state, goes_on = RemediationResult(first), True
        while goes_on and (steps := redispatch_steps(state.best, context.admitted.terms())):
            state, goes_on = await self._round(context, state, steps)
        return await self._stitch(context, state, stopped=not goes_on)

    async def _round(
        self, context: WindowContext, state: RemediationResult, steps: tuple[RemedyStep, ...]
    ) -> tuple[RemediationResult, bool]:
        """Make one re-dispatch; also return whether another one may follow."""
        why = self._hindrance(context, state)
        if why is not None:
            return state.with_notice(*why), False
        instructions = self._fitting(context, steps)
        if instructions is None:
            text = "the instructions of a re-dispatch do not fit into the model's context window"
            return state.with_notice("REMEDY_DOES_NOT_FIT", text), False
        try:
            return await self._in_time(self._redispatch(context, state, steps, instructions)), True
        except CrpError as error:
            return state.with_notice("REMEDY_FAILED", f"a re-dispatch came to nothing: {error.reason.value}"), False
        except _UnanalysedError as lost:
            text = f"a re-dispatch could not be analysed: {lost.reason}"
            return state.with_call(lost.call).with_notice("REMEDY_FAILED", text), False

    async def _redispatch(
        self, context: WindowContext, state: RemediationResult, steps: tuple[RemedyStep, ...], instructions: str
    ) -> RemediationResult:
        plan, asked = state.best.plan, context.request
        system = ChatMessage(ChatRole.SYSTEM, f"{context.prompt}\n\n{instructions}")
        request = replace(
            asked,
            messages=(system, *asked.messages[1:]),
            temperature=_temperature(context, plan),
            seed=_other_seed(context, len(state.rounds) + 1),
        )
        written, call = await self._model_caller.write(request, CallPurpose.RE_DISPATCH, context.opened.place.window_id)
        return state.with_round(steps, await self._candidate(context, written, call), call)

    async def _candidate(self, context: WindowContext, written: Completion, call: ModelCall) -> AnalyzedAnswer:
        """Return another answer of the window with its analysis.

        Raises:
            _UnanalysedError: it could not be analysed; the call that wrote it counts all the same.
        """
        try:
            return await self._analyzer.analyze(context.admitted, context.opened, context.envelope, written)
        except CrpError as error:
            raise _UnanalysedError(call, error.reason.value) from error

    async def _stitch(self, context: WindowContext, state: RemediationResult, *, stopped: bool) -> RemediationResult:
        """Put a bridge before the answer where the plan has one and no re-dispatch can be had (SPEC-005 §11.5, B)."""
        over = stopped or len(state.rounds) >= self._most_rounds(context, state)
        steps = due(state.best.plan, RemedyCall.STITCH, context.admitted.terms(over_budget=over))
        if not steps or not self._model_caller.generative:
            return state
        try:
            return await self._in_time(self._with_bridge(context, state, steps[:1]))
        except CrpError as error:
            return state.with_notice("REMEDY_FAILED", f"a bridge came to nothing: {error.reason.value}")
        except _UnanalysedError as lost:
            return state.with_call(lost.call).with_notice(
                "REMEDY_FAILED", f"a bridge could not be analysed: {lost.reason}"
            )

    async def _with_bridge(
        self, context: WindowContext, state: RemediationResult, steps: tuple[RemedyStep, ...]
    ) -> RemediationResult:
        best, window_id = state.best, context.opened.place.window_id
        prompt = remedy_instructions(steps, _texts(context, best), EXCERPT_CHARS[0])
        request = LanguageRequest(
            query="",
            messages=(ChatMessage(ChatRole.USER, prompt),),
            evidence=(),
            model=context.admitted.model,
            max_tokens=STITCH_TOKENS,
            temperature=REDISPATCH_TEMPERATURE,  # SPEC-005 §11.5, B
        )
        bridge, call = await self._model_caller.write(request, CallPurpose.STITCH, window_id)
        if not bridge.text.strip():
            return state.with_call(call).with_notice("REMEDY_FAILED", "the model wrote no bridge")
        text = f"{bridge.text.strip()}\n\n{best.written.text}"
        tokens = self._model_caller.counts([text], context.admitted.model)[0]
        written = replace(best.written, text=text, response_tokens=tokens)
        return state.with_round(steps, await self._candidate(context, written, call), call)

    def _hindrance(self, context: WindowContext, state: RemediationResult) -> tuple[str, str] | None:
        """Return why no further re-dispatch is made, or ``None``."""
        if not self._model_caller.generative:
            # ADR 0020: the same facts and query give the same quotation, whatever the prompt says.
            return (
                "REMEDY_NEEDS_MODEL",
                "no language model is configured: the built-in answerer would say the same again",
            )
        most = self._most_rounds(context, state)
        if len(state.rounds) >= most:
            return "REMEDIES_SPENT", f"{most} re-dispatches did not remedy what was found"
        left = remaining_s()
        if left is not None and left - self._settings.reserve_s < context.took_s:
            return "REMEDY_NEEDS_TIME", f"{max(0.0, left):.3f} s are left; the first answer took {context.took_s:.3f} s"
        return None

    def _most_rounds(self, context: WindowContext, state: RemediationResult) -> int:
        own = max(
            self._settings.max_redispatches, int(bool(context.admitted.terms().reflexive))
        )  # what is forced is done once at least
        return min(own, state.best.plan.max_redispatches or own)

    def _fitting(self, context: WindowContext, steps: tuple[RemedyStep, ...]) -> str | None:
        """Return the instructions with as much of their excerpts as the context window takes."""
        # Half of the margin that the envelope left free for tokenizer variance (SPEC-003 §10.1) stays free.
        room = (
            self._model_caller.room_tokens(context.admitted, context.prompt, context.admitted.command.query)
            - SAFETY_MARGIN_TOKENS // 2
        )
        texts = {prior.window_id: prior.text for prior in context.opened.prior_windows}
        for max_chars in EXCERPT_CHARS:
            instructions = remedy_instructions(steps, texts, max_chars)
            if self._model_caller.counts([instructions], context.admitted.model)[0] <= room:
                return instructions
        return None

    async def _in_time(self, work: Awaitable[RemediationResult]) -> RemediationResult:
        """Keep back what the commit of the answer at hand needs."""
        left = remaining_s()
        with deadline_within(None if left is None else left - self._settings.reserve_s):
            return await work


def _texts(context: WindowContext, best: AnalyzedAnswer) -> dict[str, str]:
    texts = {prior.window_id: prior.text for prior in context.opened.prior_windows}
    return texts | {context.opened.place.window_id: best.written.text}


def _temperature(context: WindowContext, plan: RemedyPlan) -> float:
    """Return the plan's temperature (SPEC-005 §19.2), or that of a strategy which refines (CRP-SPEC-008)."""
    if context.admitted.approach.refines:
        return REFINE_TEMPERATURE
    return REDISPATCH_TEMPERATURE if plan.temperature is None else plan.temperature


def _other_seed(context: WindowContext, attempt: int) -> int:
    """Return a seed other than the first answer's (SPEC-005 §19.2); the same request gives the same one."""
    seed = context.request.seed
    return attempt if seed is None else seed + attempt
