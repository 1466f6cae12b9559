"""Having tools called for a window: decided, called within bounds, screened, made into facts (CRP-SPEC-008; ADR 0161).

A model decides, and sees what the tools answered before it decides again; without a model each tool that takes one text
is asked each part of the question. Nothing here fails the window: what comes to nothing is told, and it is answered
without.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from services.common.concurrency import deadline_within, remaining_s
from services.common.context import current_call
from services.common.encoding import sha256_hex
from services.common.envelope_request import ToolText
from services.common.errors import CrpError, FieldViolation, InvalidRequestError
from services.common.ports.language_model import ChatMessage, ChatRole, LanguageRequest
from services.common.ports.tool_box import ToolBox, ToolEnd
from services.common.settings import ToolSettings
from services.common.tool_facts import disputed
from services.gateway.dispatch.model_caller import ModelCaller
from services.gateway.dispatch.screening import LEFT_OUT, screened, suspected
from services.gateway.domain.admitted import AdmittedDispatch
from services.gateway.domain.command import Notice
from services.gateway.domain.completion import CallPurpose, ModelCall
from services.gateway.domain.suspicion import Part, Suspicion
from services.gateway.domain.tools import (
    DECISION_SCHEMA,
    TOOL_NAME,
    WITHHELD,
    PlannedCall,
    ToolCall,
    ToolOutcome,
    ToolSpec,
    decided,
    deciding_prompt,
    fact_texts,
    without_model,
)
from services.gateway.domain.window import BuiltEnvelope, OpenedWindow

TIME_SHARE: Final = 1 / 3
"""Share of the caller's time that tools of one window may take together; the answer needs the rest."""
DECISION_TOKENS: Final = 1_024
DECISION_TEMPERATURE: Final = 0.1
_ENDS: Final = {
    ToolEnd.FAILED: ToolOutcome.FAILED,
    ToolEnd.TIMED_OUT: ToolOutcome.TIMED_OUT,
    ToolEnd.TOO_LONG: ToolOutcome.TOO_LONG,
}


@dataclass(frozen=True, slots=True)
class ToolsUsed:
    """What came of the tools of a window.

    Attributes:
        texts: facts of its envelope.
        calls: those that were to be made.
        model_calls: decisions.
        suspicions: answers that speak to a model.
    """

    texts: tuple[ToolText, ...] = ()
    calls: tuple[ToolCall, ...] = ()
    model_calls: tuple[ModelCall, ...] = ()
    notices: tuple[Notice, ...] = ()
    suspicions: tuple[Suspicion, ...] = ()

    def named(self, envelope: BuiltEnvelope) -> tuple[ToolCall, ...]:
        """Return the calls with the facts that the envelope holds of their answers."""
        ids = {(fact.tool, sha256_hex(fact.content)): fact.fact_id for fact in envelope.facts if fact.tool}
        return tuple(
            replace(call, fact_ids=tuple(ids[call.tool, each] for each in call.fact_ids if (call.tool, each) in ids))
            for call in self.calls
        )


@dataclass(slots=True)
class _Work:
    """What was done so far; ``made`` counts the calls of earlier windows too."""

    window_id: str
    seen: set[tuple[str, str]]
    made: int
    texts: list[ToolText] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    model_calls: list[ModelCall] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)
    suspicions: list[Suspicion] = field(default_factory=list)
    answers: list[tuple[str, str]] = field(default_factory=list)

    def used(self) -> ToolsUsed:
        return ToolsUsed(
            tuple(dict.fromkeys(self.texts)),
            tuple(self.calls),
            tuple(self.model_calls),
            tuple(self.notices),
            tuple(self.suspicions),
        )


class ToolUser:
    """Uses tools; holds no state between windows."""

    def __init__(self, box: ToolBox, model_caller: ModelCaller, settings: ToolSettings) -> None:
        self._box = box
        self._model_caller = model_caller
        self.settings = settings

    def specs(self, asked: Sequence[str]) -> tuple[ToolSpec, ...]:
        """Return the tools that the running call may have called.

        Args:
            asked: names that the request allows; empty = all.

        Raises:
            InvalidRequestError: INVALID_FIELD: a name is none of them.
        """
        listed = self._box.listed(current_call().caller.tenant_id)
        names = [one.name for one in listed]
        if any(name not in names for name in asked):
            has = ", ".join(names) if names else "none"
            raise InvalidRequestError.of(FieldViolation("tools", f"must be tools of this deployment: {has}"))
        return tuple(
            ToolSpec(one.name, one.description, one.parameters, one.importance)
            for one in listed
            if not asked or one.name in asked
        )

    async def use(self, admitted: AdmittedDispatch, opened: OpenedWindow) -> ToolsUsed:
        """Have the tools called that a window needs; raises nothing but cancellation."""
        approach = admitted.approach
        if approach.tools is None:
            return ToolsUsed()
        if not approach.tools:
            return ToolsUsed(notices=(Notice("NO_TOOLS", "no tool may be called: none is registered for this tenant"),))
        work = _Work(
            opened.place.window_id,
            {call.key for call in approach.tool_calls},
            sum(call.outcome.called for call in approach.tool_calls),
        )
        left = remaining_s()
        share = self.settings.total_s if left is None else min(self.settings.total_s, left * TIME_SHARE)
        try:
            with deadline_within(share):
                async with asyncio.timeout(max(0.0, share)):
                    await self._rounds(admitted, work)
        except TimeoutError:
            work.notices.append(Notice("TOOLS_NEED_TIME", f"tools may take {share:.3g} s of a window; that is over"))
        except CrpError as error:
            text = f"no further tool was called: the decision came to nothing ({error.reason.value})"
            work.notices.append(Notice("TOOL_DECISION_FAILED", text))
        self._tell(work)
        return work.used()

    async def _rounds(self, admitted: AdmittedDispatch, work: _Work) -> None:
        """Decide and call, until nothing new is decided or the bounds are reached."""
        specs = {spec.name: spec for spec in admitted.approach.tools or ()}
        for _ in range(self.settings.max_rounds if self._model_caller.generative else 1):
            calls = await self._decided(admitted, tuple(specs.values()), work)
            if not calls:
                return
            fresh = [call for call in calls if self._may_be_made(call, specs, work)]
            if not fresh:
                return
            turns = asyncio.Semaphore(self.settings.max_parallel)
            await asyncio.gather(*(self._call(call, specs[call.tool], work, turns) for call in fresh))

    async def _decided(
        self, admitted: AdmittedDispatch, specs: tuple[ToolSpec, ...], work: _Work
    ) -> tuple[PlannedCall, ...]:
        questions = (admitted.command.query,) if admitted.focus is None else admitted.focus.sub_queries
        if not self._model_caller.generative:
            return without_model(specs, questions)
        left = self.settings.max_calls - work.made
        if left <= 0:
            return ()
        request = LanguageRequest(
            query="",
            messages=(
                ChatMessage(ChatRole.SYSTEM, deciding_prompt(specs, work.answers, left)),
                ChatMessage(ChatRole.USER, "\n".join(questions)),
            ),
            evidence=(),
            model=admitted.model,
            max_tokens=DECISION_TOKENS,
            temperature=DECISION_TEMPERATURE,
            seed=admitted.command.generation.seed,
            reply_json=True,
            reply_schema=DECISION_SCHEMA,
        )
        written, call = await self._model_caller.write(request, CallPurpose.PLAN, work.window_id)
        work.model_calls.append(call)
        calls = decided(written.text)
        if calls is None:
            text = "what the model decided about tools could not be read; the question is answered without them"
            work.notices.append(Notice("TOOL_DECISION_UNREADABLE", text))
        return calls or ()

    def _may_be_made(self, call: PlannedCall, specs: dict[str, ToolSpec], work: _Work) -> bool:
        """Say whether a call is made, and note why not."""
        spec, outcome, reason = specs.get(call.tool), None, ""
        if spec is None:
            outcome, reason = ToolOutcome.REFUSED, "no such tool may be called"
        elif call.key in work.seen:
            outcome, reason = ToolOutcome.REPEATED, "the same was asked of it before"
        elif reason := spec.refusal(call.arguments):
            outcome = ToolOutcome.REFUSED
        elif work.made >= self.settings.max_calls:
            outcome, reason = ToolOutcome.SPENT, f"at most {self.settings.max_calls} calls are made"
        if outcome is not None:
            name = call.tool if TOOL_NAME.fullmatch(call.tool) else ""
            work.calls.append(ToolCall(name, outcome, work.window_id, call.arguments_sha256, reason=reason))
            return False
        work.seen.add(call.key)
        work.made += 1
        return True

    async def _call(self, call: PlannedCall, spec: ToolSpec, work: _Work, turns: asyncio.Semaphore) -> None:
        made = ToolCall(call.tool, ToolOutcome.TIMED_OUT, work.window_id, call.arguments_sha256)
        place = len(work.calls)
        work.calls.append(made)  # stands as it is where time is up meanwhile
        async with turns:
            reply = await self._box.call(call.tool, call.arguments)
        if reply.end is not ToolEnd.ANSWERED:
            work.calls[place] = replace(made, outcome=_ENDS[reply.end], reason=reply.reason)
            return
        text, digests = await self._taken(reply.text, spec, work)
        work.calls[place] = replace(
            made,
            outcome=ToolOutcome.ANSWERED if digests else ToolOutcome.EMPTY,
            result_sha256=sha256_hex(reply.text),
            result_bytes=len(reply.text.encode()),
            fact_ids=digests,
            reason="" if digests else "it answered with nothing that can be a fact",
        )
        work.answers.append((call.tool, text if digests and await suspected(text) is None else WITHHELD))

    async def _taken(self, text: str, spec: ToolSpec, work: _Work) -> tuple[str, tuple[str, ...]]:
        """Take an answer in as facts, screened as documents are (ADR 0145); return it and the facts' digests."""
        policy = self.settings.suspected
        found = await screened(text, Part.TOOL, spec.name, masks=policy == "mask")
        if found.suspicion is not None:
            left_out = policy == "leave_out"
            work.suspicions.append(replace(found.suspicion, action=LEFT_OUT) if left_out else found.suspicion)
            if left_out:
                return "", ()
        facts = fact_texts(found.text, self.settings.max_facts)
        work.texts += [ToolText(fact, spec.name, spec.importance) for fact in facts]
        return found.text, tuple(sha256_hex(fact) for fact in facts)

    def _tell(self, work: _Work) -> None:
        """Note what the caller should know of the calls: numbers and names of tools alone."""
        failed = [call for call in work.calls if call.outcome not in {ToolOutcome.ANSWERED, ToolOutcome.REPEATED}]
        spent = [call for call in failed if call.outcome is ToolOutcome.SPENT]
        if others := [f"{call.tool or 'unknown'}: {call.outcome}" for call in failed if call not in spent]:
            text = f"{len(others)} calls of tools gave no fact: {', '.join(others)}"
            work.notices.append(Notice("TOOL_WITHOUT_ANSWER", text))
        if spent:
            text = f"{len(spent)} calls of tools were not made: a dispatch may make {self.settings.max_calls}"
            work.notices.append(Notice("TOOL_CALLS_SPENT", text))
        if work.suspicions:
            text = f"{len(work.suspicions)} answers of tools speak to a language model; {self.settings.suspected}"
            work.notices.append(Notice("TOOL_ANSWER_SUSPECTED", text))


def tool_source_disagreement(envelope: BuiltEnvelope) -> tuple[frozenset[str], tuple[Notice, ...]]:
    """Return the facts of tools that a document contradicts, and what the caller should know of them."""
    tools = {fact.fact_id: fact.tool for fact in envelope.facts if fact.tool}
    stored = {fact.fact_id for fact in envelope.facts if not fact.tool and not fact.carried_from}
    untrue = disputed((conflict.values for conflict in envelope.conflicts), tools, stored)
    if not untrue:
        return frozenset(), ()
    names = ", ".join(sorted({tools[fact_id] for fact_id in untrue}))
    text = f"what a tool answered contradicts a document: {names}; see source_disagreements of the report"
    return untrue, (Notice("TOOL_CONTRADICTS_SOURCE", text),)
