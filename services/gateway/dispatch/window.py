"""One window's way from opened to analysed: summaries, envelope, model, analysis, remedies.

Writes nothing: what it returns is a draft, which the attempt keeps and commits. The order of the checks is part of
the contract: what can be refused before a model is called is refused before.
"""

import asyncio
from dataclasses import dataclass, replace
from typing import Final

from services.common.ports.language_model import ChatMessage, ChatRole, EvidenceFact, LanguageRequest
from services.common.progress import at
from services.common.taxonomy import BreakerState, DispatchStrategy, Remedy, RemedyCall, RiskLevel
from services.gateway.dispatch.envelope_gate import EnvelopeGate
from services.gateway.dispatch.model_caller import SAFETY_MARGIN_TOKENS, ModelCaller
from services.gateway.dispatch.outlet import Outlet
from services.gateway.dispatch.parent_summaries import ParentSummaries
from services.gateway.dispatch.remediation import RemediationResult, Remediator, WindowContext
from services.gateway.dispatch.screening import query_notices
from services.gateway.dispatch.tool_use import ToolsUsed, ToolUser, tool_source_disagreement
from services.gateway.dispatch.writing import AnswerWriter, ToWrite
from services.gateway.domain.admitted import AdmittedDispatch
from services.gateway.domain.agent_state import AgentPhase, AgentState, Revision
from services.gateway.domain.command import DispatchDraft, Notice
from services.gateway.domain.conversation import conversation
from services.gateway.domain.prompt import asked_of_model, continuation_notice, fixed_prompt, system_prompt
from services.gateway.domain.quality import QualityUpgrade
from services.gateway.domain.remedies import AnalyzedAnswer, Focus, RemedyRound, due
from services.gateway.domain.vocabulary import RemedyMode
from services.gateway.domain.window import BuiltEnvelope, EnvelopeSummary, OpenedWindow, ReportSummary

AGENT_COMPLETE: Final = 0.85
"""CRP-SPEC-008: an agent is done when so much of the question is answered."""
SERVED_UPGRADE = DispatchStrategy.REFLEXIVE
"""What a re-dispatch amounts to: generated, verified by the analysis, refined with what it found (ADR 0059)."""


@dataclass(frozen=True, slots=True)
class WindowSteps:
    """What a window is taken through."""

    gate: EnvelopeGate
    model_caller: ModelCaller
    writer: AnswerWriter
    summaries: ParentSummaries
    remediator: Remediator
    tools: ToolUser


class WindowRun:
    """Runs opened windows; holds no state between them.

    Args:
        steps: what they are taken through.
        outlet: where what has passed of an answer leaves; ``None`` = nothing leaves before its window is committed.
    """

    def __init__(self, steps: WindowSteps, outlet: Outlet | None = None) -> None:
        self._steps = steps
        self._gate = steps.gate
        self._model_caller = steps.model_caller
        self._writer = steps.writer
        self._summaries = steps.summaries
        self._remediator = steps.remediator
        self._outlet = outlet

    @property
    def tools(self) -> ToolUser:
        """What has tools called."""
        return self._steps.tools

    @property
    def generative(self) -> bool:
        """Whether a language model is configured."""
        return self._model_caller.generative

    def leaving_by(self, outlet: Outlet) -> "WindowRun":
        """Return what runs a window whose answer leaves as it passes."""
        return WindowRun(self._steps, outlet)

    async def available_budget_tokens(self, admitted: AdmittedDispatch) -> int:
        """Return what the context window leaves for facts: SPEC-004 §8.2's available budget, at least 0.

        Raises:
            InvalidRequestError: UNKNOWN_MODEL; INVALID_FIELD: no window for a model that is counted approximately.
        """
        await self._model_caller.ready_to_count(admitted)
        room = (
            self._model_caller.room_tokens(admitted, fixed_prompt(admitted.instruction), admitted.command.query)
            - SAFETY_MARGIN_TOKENS
        )
        ceiling = admitted.command.context.max_envelope_tokens
        return max(0, room if ceiling is None else min(room, ceiling))

    async def probe(self, admitted: AdmittedDispatch) -> BuiltEnvelope | str:
        """Compare the presented ETag for a query that has no window yet: what stands, or why nothing does (§11.2)."""
        command = admitted.command
        leans_on = conversation(command.query, None, command.earlier_questions)
        return await self._gate.probe(replace(admitted, leans_on=leans_on))

    async def draft(self, admitted: AdmittedDispatch, opened: OpenedWindow) -> DispatchDraft | BuiltEnvelope:
        """Take the window to an analysed answer, or find that the presented ETag still stands (the envelope then).

        Raises:
            UnavailableError: QUALITY_UNREACHABLE, LLM_UNAVAILABLE, or a service does not answer.
            DeadlineError: too little time is left for the next step.
        """
        admitted = replace(admitted, breaker=opened.breaker)
        at("summarising earlier windows")
        resolved, transfers, calls = await self._summaries.resolve(admitted, opened)
        if admitted.approach.inner is not None:
            resolved = admitted.approach.inner.hidden(resolved)
        if admitted.focus is None:
            command = admitted.command
            admitted = replace(admitted, leans_on=conversation(command.query, opened, command.earlier_questions))
        at("having tools called")
        used = await self.tools.use(admitted, resolved)
        admitted = replace(admitted, told=used.texts)
        at("building the envelope")
        accepted = await self._gate.build(admitted, resolved)
        envelope = accepted.envelope
        if envelope.not_modified:
            return envelope
        prompt = system_prompt(admitted.instruction, envelope, notice=_notice(admitted, opened))
        disputed, disputes = tool_source_disagreement(envelope)
        request = _language_request(admitted, opened, envelope, prompt, disputed)
        began = asyncio.get_running_loop().time()
        first, call = await self._writer.write(ToWrite(admitted, resolved, envelope, request), self._outlet)
        took = asyncio.get_running_loop().time() - began
        context = WindowContext(admitted, resolved, envelope, prompt, request, took)
        at("improving the answer")
        found = await self._remediator.remediate(context, first)
        draft = _draft(context, found, accepted.upgrade)
        return replace(
            draft,
            notices=(*draft.notices, *query_notices(admitted.suspicions), *used.notices, *disputes),
            transfers=transfers,
            calls=(*calls, *used.model_calls, call, *found.calls),
            tool_calls=used.named(envelope),
            agent=_agent(admitted, draft, found, used),
            suspicions=(
                *used.suspicions,
                *admitted.suspicions,
                *(one for transfer in transfers for one in transfer.suspicions),
                *envelope.summary.suspicions,
            ),
        )


def _language_request(
    admitted: AdmittedDispatch,
    opened: OpenedWindow,
    envelope: BuiltEnvelope,
    prompt: str,
    disputed: frozenset[str],
) -> LanguageRequest:
    return LanguageRequest(
        query=admitted.command.query if admitted.focus is None else admitted.focus.query,
        messages=(
            ChatMessage(ChatRole.SYSTEM, prompt),
            ChatMessage(ChatRole.USER, asked_of_model(admitted.command.query, admitted.leans_on)),
        ),
        # An earlier answer is context, not evidence: quoting it would ground an answer in itself. What a tool answered
        # against a document is in the prompt, marked as disputed, and is not quoted (ADR 0161).
        evidence=tuple(
            EvidenceFact(
                fact.fact_id,
                fact.content,
                fact.relevance_score,
                fact.stale,
                fact.location,
                fact.out_of_time.begins if fact.out_of_time is not None else None,
            )
            for fact in envelope.facts
            if not fact.carried_from and fact.fact_id not in disputed
        ),
        model=admitted.model,
        max_tokens=admitted.max_tokens,
        temperature=admitted.temperature,
        seed=admitted.command.generation.seed,
        # Only the gateway's own continuation must not repeat what was said; a person may ask for it again.
        prior_texts=() if admitted.focus is None else tuple(one.text for one in opened.prior_windows if one.text),
        leans_on=admitted.leans_on,
        parts=admitted.approach.parts,
    )


def _notice(admitted: AdmittedDispatch, opened: OpenedWindow) -> str:
    """Return what the model is told of earlier answers; behind windows that nobody was given their task says it."""
    return continuation_notice(len(opened.parents)) if admitted.approach.inner is None else ""


def _draft(context: WindowContext, found: RemediationResult, upgrade: QualityUpgrade | None) -> DispatchDraft:
    admitted, envelope, place, best = context.admitted, context.envelope, context.opened.place, found.best
    report = best.analysis.summary
    return DispatchDraft(
        place=place,
        envelope=envelope.summary,
        report=replace(report, flow_remediation=found.flow_remediation or report.flow_remediation),
        report_message=best.analysis.message,
        # SPEC-003 §16.1: an envelope with personal data is subject to no-store, whatever the caller asked for.
        inputs_message=b"" if report.gdpr_pii_detected else best.analysis.inputs,
        written=best.written,
        tier=best.tier,
        strategy=_strategy(admitted, found, upgrade),
        verdict=best.verdict,
        policy_applied=admitted.policy.applied,
        oversight=admitted.policy.oversight,
        notices=(*_notices(context, found), *found.notices, *_told(context.opened, envelope)),
        rounds=_rounds(context, found),
        focus=_focus(context, best),
        upgrade=upgrade,
        sub_queries=envelope.sub_queries,
    )


def _agent(
    admitted: AdmittedDispatch, draft: DispatchDraft, found: RemediationResult, used: ToolsUsed
) -> AgentState | None:
    approach = admitted.approach
    if not approach.refines:
        return None
    rewritten = sum(any(step.remedy is not Remedy.STITCH_FLOW for step in each.steps) for each in found.rounds)
    revision = Revision.after(rewritten)
    if approach.tools is None:
        return AgentState(revision=revision)
    done = draft.focus is None and _completeness(draft.report) >= AGENT_COMPLETE
    phase = AgentPhase.COMPLETE if done else AgentPhase.EVALUATE
    made = sum(call.outcome.called for call in (*approach.tool_calls, *used.calls))
    return AgentState(phase, made, revision)


def _completeness(report: ReportSummary) -> float:
    """Return the share of the question's parts that are answered; 1.0 where that was not assessed."""
    total = report.sub_queries_total
    return 1.0 if not total else (total - len(report.uncovered_sub_queries)) / total


def _strategy(admitted: AdmittedDispatch, found: RemediationResult, upgrade: QualityUpgrade | None) -> DispatchStrategy:
    """Return the strategy that the answer came by: of two upgrades the one of the answer."""
    if admitted.approach.called is not None:
        return admitted.approach.called
    if found.upgraded:
        return SERVED_UPGRADE
    return admitted.strategy if upgrade is None else upgrade.to_strategy


def _focus(context: WindowContext, best: AnalyzedAnswer) -> Focus | None:
    """Return what the gateway shall continue with by itself (SPEC-005 §10.3)."""
    terms = context.admitted.terms()
    if context.admitted.approach.tools is not None:  # an agent goes on by its own bounds (CRP-SPEC-008)
        terms = replace(terms, mode=RemedyMode.RECOMMENDED)
        if _completeness(best.analysis.summary) >= AGENT_COMPLETE:
            return None
    steps = due(best.plan, RemedyCall.CONTINUATION, terms)
    return Focus.of(steps[0], best, context.opened.place.window_id) if steps else None


def _rounds(context: WindowContext, found: RemediationResult) -> tuple[RemedyRound, ...]:
    """Return what was tried, with the continuation that this window is and the gap that it leaves."""
    focus, best, window_id = context.admitted.focus, found.best, context.opened.place.window_id
    began = () if focus is None else (focus.carried_out(best),)
    gaps = tuple(RemedyRound.told(step, best, window_id) for step in best.plan.steps if step.call is RemedyCall.NOTICE)
    return (*began, *found.rounds, *gaps)


def _told(opened: OpenedWindow, envelope: BuiltEnvelope) -> list[Notice]:
    return [
        *(Notice("ENVELOPE", text) for text in envelope.warnings),
        *(Notice("TRANSFER_REDUCED", text) for text in opened.notes),
        *(
            Notice("PART_WITHOUT_ANSWER", f"agent's session {session_id} has no answer and is left out")
            for session_id in opened.agents_left_out
        ),
    ]


def _notices(context: WindowContext, found: RemediationResult) -> list[Notice]:
    admitted, report, notices = context.admitted, found.best.analysis.summary, []
    if report.pii_cache_warning:
        text = "personal data was found: nothing of this call is kept for a replay; ask with cache directive no-store"
        notices.append(Notice("PII_WITHOUT_NO_STORE", text))
    notices += _of_time(context.envelope.summary)
    if context.envelope.approximate:
        text = (
            "the model's tokenizer is not known here: a stand-in counted, with a margin (docs/how-to/count-tokens.md)"
        )
        notices.append(Notice("TOKENS_APPROXIMATE", text))
    if context.envelope.reuse_recommended:  # SPEC-003 §9.3
        text = "the envelope is nearly full; continue with cache directive reuse-ckf"
        notices.append(Notice("REUSE_CKF_RECOMMENDED", text))
    upgrade = admitted.policy.directives.upgrade_on_risk
    if upgrade is not None and upgrade != SERVED_UPGRADE and report.risk_level.rank >= RiskLevel.HIGH.rank:
        text = f"the policy asks for an upgrade to {upgrade}; this deployment upgrades to {SERVED_UPGRADE} alone"
        notices.append(Notice("UPGRADE_NOT_SERVED", text))
    if gaps := [step for step in found.best.plan.steps if step.call is RemedyCall.NOTICE]:
        count = sum(len(step.sub_queries) for step in gaps)
        text = f"{count} of the query's parts are not answered, and no further window may follow ({gaps[0].reason})"
        notices.append(Notice("COMPLETENESS_GAP", text))
    if admitted.breaker is not BreakerState.CLOSED:
        text = (
            f"the window starts from a safety budget of {context.opened.safety_budget:g}: the circuit breaker is "
            f"{admitted.breaker}, answers with a risk are generated again (reflexive), and nothing more is delegated"
        )
        notices.append(Notice("CIRCUIT_BREAKER", text))
    if context.opened.place.windows_remaining == 0:
        notices.append(Notice("LAST_WINDOW", "the session has reached max_windows; start a new one to go on"))
    return notices


def _of_time(envelope: EnvelopeSummary) -> list[Notice]:
    """Return what there is to know of facts that do not hold now, and of sources that disagree (ADR 0109)."""
    notices = []
    if count := envelope.facts_out_of_time:
        some = (
            "one of the facts does not hold now and is"
            if count == 1
            else f"{count} of the facts do not hold now and are"
        )
        text = f"{some} marked so; what nothing else bears out is SUPERSEDED"
        notices.append(Notice("FACTS_OUT_OF_TIME", text))
    if count := envelope.source_conflicts:
        things = "one thing" if count == 1 else f"{count} things"
        text = f"current sources disagree on {things}; see source_disagreements of the report"
        notices.append(Notice("SOURCES_DISAGREE", text))
    return notices
