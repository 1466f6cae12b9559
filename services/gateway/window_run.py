"""One window's way from opened to analysed: summaries, envelope, model, analysis, remedies (architecture §1).

Writes nothing: what it returns is a draft, which ``dispatch_app`` keeps and commits. The order of the checks is part of
the contract: what can be refused before a model is called is refused before.
"""

import asyncio
from dataclasses import replace

from services.common.ports.language_model import ChatMessage, ChatRole, EvidenceFact, LanguageRequest
from services.common.progress import at
from services.gateway.analysing import Analysing
from services.gateway.domain.command import DispatchDraft, Notice
from services.gateway.domain.conversation import conversation
from services.gateway.domain.job import Job
from services.gateway.domain.prompt import asked_of_model, continuation_notice, fixed_prompt, system_prompt
from services.gateway.domain.quality import QualityUpgrade
from services.gateway.domain.remedies import Analysed, Focus, RemedyRound, due
from services.gateway.domain.remedy_plan import RemedyCall
from services.gateway.domain.vocabulary import BreakerState, RiskLevel, Strategy
from services.gateway.domain.window import BuiltEnvelope, EnvelopeSummary, OpenedWindow
from services.gateway.domain.written import CallPurpose
from services.gateway.enveloping import Enveloping
from services.gateway.remedying import Bettered, Case, Remedying
from services.gateway.screening import query_notices
from services.gateway.summarising import Summarising
from services.gateway.writing import SAFETY_MARGIN_TOKENS, Writing

SERVED_UPGRADE = Strategy.REFLEXIVE
"""What a re-dispatch amounts to: generated, verified by the analysis, refined with what it found (ADR 0059)."""


class WindowRun:
    """Runs opened windows; holds no state between them."""

    def __init__(
        self,
        *,
        enveloping: Enveloping,
        writing: Writing,
        analysing: Analysing,
        summarising: Summarising,
        remedying: Remedying,
    ) -> None:
        self._enveloping = enveloping
        self._writing = writing
        self._analysing = analysing
        self._summarising = summarising
        self._remedying = remedying

    async def available_budget_tokens(self, job: Job) -> int:
        """Return what the context window leaves for facts: SPEC-004 §8.2's available budget, at least 0.

        Raises:
            InvalidRequestError: UNKNOWN_MODEL; INVALID_FIELD: no window for a model that is counted approximately.
        """
        await self._writing.ready_to_count(job)
        room = self._writing.room_tokens(job, fixed_prompt(job.instruction), job.command.query) - SAFETY_MARGIN_TOKENS
        ceiling = job.command.context.max_envelope_tokens
        return max(0, room if ceiling is None else min(room, ceiling))

    async def probe(self, job: Job) -> BuiltEnvelope | str:
        """Compare the presented ETag for a query that has no window yet: what stands, or why nothing does (§11.2)."""
        return await self._enveloping.probe(job)

    async def draft(self, job: Job, opened: OpenedWindow) -> DispatchDraft | BuiltEnvelope:
        """Take the window to an analysed answer, or find that the presented ETag still stands (the envelope then).

        Raises:
            UnavailableError: QUALITY_UNREACHABLE, LLM_UNAVAILABLE, or a service does not answer.
            DeadlineError: too little time is left for the next step.
        """
        job = replace(job, breaker=opened.breaker)
        at("summarising earlier windows")
        resolved, transfers, calls = await self._summarising.summarised(job, opened)
        if job.focus is None:
            job = replace(job, leans_on=conversation(job.command.query, opened))
        at("building the envelope")
        gated = await self._enveloping.gated(job, resolved)
        envelope = gated.envelope
        if envelope.not_modified:
            return envelope
        prompt = system_prompt(job.instruction, envelope, notice=continuation_notice(len(opened.parents)))
        request = _language_request(job, opened, envelope, prompt)
        began = asyncio.get_running_loop().time()
        at("writing the answer")
        written, call = await self._writing.write(request, CallPurpose.ANSWER, opened.place.window_id)
        at("analysing the answer")
        first = await self._analysing.analysed(job, resolved, envelope, written)
        took = asyncio.get_running_loop().time() - began
        case = Case(job, resolved, envelope, prompt, request, took)
        at("improving the answer")
        found = await self._remedying.bettered(case, first)
        draft = _draft(case, found, gated.upgrade)
        return replace(
            draft,
            notices=(*draft.notices, *query_notices(job.suspicion)),
            transfers=transfers,
            calls=(*calls, call, *found.calls),
            suspicions=(
                *((job.suspicion,) if job.suspicion is not None else ()),
                *(one for transfer in transfers for one in transfer.suspicions),
                *envelope.summary.suspicions,
            ),
        )


def _language_request(job: Job, opened: OpenedWindow, envelope: BuiltEnvelope, prompt: str) -> LanguageRequest:
    return LanguageRequest(
        query=job.command.query if job.focus is None else job.focus.query,
        messages=(
            ChatMessage(ChatRole.SYSTEM, prompt),
            ChatMessage(ChatRole.USER, asked_of_model(job.command.query, job.leans_on)),
        ),
        # An earlier answer is context, not evidence: quoting it would ground an answer in itself.
        evidence=tuple(
            EvidenceFact(fact.fact_id, fact.content, fact.relevance_score, fact.stale, fact.location)
            for fact in envelope.facts
            if not fact.carried_from
        ),
        model=job.model,
        max_tokens=job.max_tokens,
        temperature=job.temperature,
        seed=job.command.generation.seed,
        # Only the gateway's own continuation must not repeat what was said; a person may ask for it again.
        prior_texts=() if job.focus is None else tuple(one.text for one in opened.prior_windows if one.text),
        leans_on=job.leans_on,
    )


def _draft(case: Case, found: Bettered, upgrade: QualityUpgrade | None) -> DispatchDraft:
    job, envelope, place, best = case.job, case.envelope, case.opened.place, found.best
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
        strategy=_strategy(job, found, upgrade),
        verdict=best.verdict,
        policy_applied=job.force.applied,
        oversight=job.force.oversight,
        notices=(*_notices(case, found), *found.notices, *_told(case.opened, envelope)),
        rounds=_rounds(case, found),
        focus=_focus(case, best),
        upgrade=upgrade,
    )


def _strategy(job: Job, found: Bettered, upgrade: QualityUpgrade | None) -> Strategy:
    """Return the strategy that the answer came by: of two upgrades the one of the answer; fan windows keep theirs."""
    if job.strategy is not Strategy.PUSH:
        return job.strategy
    if found.upgraded:
        return SERVED_UPGRADE
    return job.strategy if upgrade is None else upgrade.to_strategy


def _focus(case: Case, best: Analysed) -> Focus | None:
    """Return what the gateway shall continue with by itself (SPEC-005 §10.3)."""
    steps = due(best.plan, RemedyCall.CONTINUATION, case.job.terms())
    return Focus.of(steps[0], best, case.opened.place.window_id) if steps else None


def _rounds(case: Case, found: Bettered) -> tuple[RemedyRound, ...]:
    """Return what was tried, with the continuation that this window is and the gap that it leaves."""
    focus, best, window_id = case.job.focus, found.best, case.opened.place.window_id
    began = () if focus is None else (focus.carried_out(best),)
    gaps = tuple(RemedyRound.told(step, best, window_id) for step in best.plan.steps if step.call is RemedyCall.NOTICE)
    return (*began, *found.rounds, *gaps)


def _told(opened: OpenedWindow, envelope: BuiltEnvelope) -> list[Notice]:
    return [
        *(Notice("ENVELOPE", text) for text in envelope.warnings),
        *(Notice("TRANSFER_REDUCED", text) for text in opened.notes),
    ]


def _notices(case: Case, found: Bettered) -> list[Notice]:
    job, report, notices = case.job, found.best.analysis.summary, []
    if report.pii_cache_warning:
        text = "personal data was found: nothing of this call is kept for a replay; ask with cache directive no-store"
        notices.append(Notice("PII_WITHOUT_NO_STORE", text))
    notices += _of_time(case.envelope.summary)
    if case.envelope.approximate:
        notices.append(
            Notice("TOKENS_APPROXIMATE", "the model's tokenizer is not known: a stand-in counted, with a margin")
        )
    if case.envelope.reuse_recommended:  # SPEC-003 §9.3
        text = "the envelope is nearly full; continue with cache directive reuse-ckf"
        notices.append(Notice("REUSE_CKF_RECOMMENDED", text))
    upgrade = job.force.policy.upgrade_on_risk
    if upgrade is not None and upgrade != SERVED_UPGRADE and report.risk_level.rank >= RiskLevel.HIGH.rank:
        text = f"the policy asks for an upgrade to {upgrade}; this deployment upgrades to {SERVED_UPGRADE} alone"
        notices.append(Notice("UPGRADE_NOT_SERVED", text))
    if job.command.safety_report_uri or job.force.policy.report_uri or job.force.policy.report_to:
        text = "violation reports are not sent by this deployment; read the violations of this response instead"
        notices.append(Notice("VIOLATION_REPORT_NOT_SENT", text))
    if gaps := [step for step in found.best.plan.steps if step.call is RemedyCall.NOTICE]:
        count = sum(len(step.sub_queries) for step in gaps)
        text = f"{count} of the query's parts are not answered, and no further window may follow ({gaps[0].reason})"
        notices.append(Notice("COMPLETENESS_GAP", text))
    if job.breaker is not BreakerState.CLOSED:
        text = (
            f"the window starts from a safety budget of {case.opened.safety_budget:g}: the circuit breaker is "
            f"{job.breaker}, answers with a risk are generated again (reflexive), and nothing more is delegated"
        )
        notices.append(Notice("CIRCUIT_BREAKER", text))
    if case.opened.place.windows_remaining == 0:
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
