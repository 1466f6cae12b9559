"""One window's way from opened to analysed: envelope, model, analysis, judgement (architecture §1, steps 2-4).

Writes nothing: what it returns is a draft, which ``dispatch_app`` keeps and commits. The order of the checks is part of
the contract: what can be refused before a model is called is refused before.
"""

import asyncio
from dataclasses import dataclass

from services.common.context import current_call
from services.common.errors import DeadlineError, ErrorReason, UnavailableError
from services.common.ports.credentials import AiSystemRecord
from services.common.ports.language_model import ChatMessage, ChatRole, EvidenceFact, LanguageModel, LanguageRequest
from services.common.ports.tokens import TokenCounter
from services.common.settings import GatewaySettings
from services.gateway.domain.command import DispatchCommand, DispatchDraft, Notice, WrittenText
from services.gateway.domain.outcome import PolicyInForce, final_tier, judge
from services.gateway.domain.prompt import fixed_prompt, system_prompt
from services.gateway.domain.vocabulary import QualityTier, RiskLevel, Strategy
from services.gateway.domain.window import (
    Analysis,
    BuiltEnvelope,
    OpenedWindow,
    WindowPlace,
    carried_texts,
    deferred_fact_ids,
    transferred_fact_ids,
)
from services.gateway.ports import Analyze, BuildEnvelope, EnvelopeClient, ProvenanceClient

SAFETY_MARGIN_TOKENS = 512
"""SPEC-003 §10.1: kept free for tokenizer variance."""


@dataclass(frozen=True, slots=True)
class Job:
    """A command with everything that was decided before a window is opened.

    Attributes:
        ai_system: the registered system in the version that stood then; ``None`` when the command names none.
    """

    command: DispatchCommand
    force: PolicyInForce
    strategy: Strategy
    model: str
    max_tokens: int
    temperature: float
    ai_system: AiSystemRecord | None = None


class WindowRun:
    """Runs opened windows; holds no state between them."""

    def __init__(
        self,
        *,
        envelopes: EnvelopeClient,
        provenance: ProvenanceClient,
        model: LanguageModel,
        tokens: TokenCounter,
        settings: GatewaySettings,
    ) -> None:
        self._envelopes = envelopes
        self._provenance = provenance
        self._model = model
        self._tokens = tokens
        self._settings = settings

    def available_budget_tokens(self, job: Job) -> int:
        """Return what the context window leaves for facts: SPEC-004 §8.2's available budget, at least 0.

        Raises:
            InvalidRequestError: UNKNOWN_MODEL.
        """
        profile = self._tokens.profile(job.model)
        fixed = fixed_prompt(job.command.generation.system_prompt)
        prompt, query = self._tokens.count([fixed, job.command.query], job.model)
        left = profile.context_window_tokens - job.max_tokens - SAFETY_MARGIN_TOKENS - prompt - query
        ceiling = job.command.context.max_envelope_tokens
        return max(0, left if ceiling is None else min(left, ceiling))

    async def probe(self, job: Job) -> BuiltEnvelope:
        """Compare the presented ETag for a query that has no window yet (SPEC-003 §11)."""
        return await self._envelopes.build(self._envelope_command(job, None, if_match=job.command.context.if_match))

    async def draft(self, job: Job, opened: OpenedWindow) -> DispatchDraft | BuiltEnvelope:
        """Take the window to an analysed answer, or find that the presented ETag still stands (the envelope then).

        Raises:
            UnavailableError: QUALITY_UNREACHABLE, LLM_UNAVAILABLE, or a service does not answer.
            DeadlineError: too little time is left for the next step.
        """
        envelope = await self._envelope(job, opened)
        if envelope.not_modified:
            return envelope
        prompt = system_prompt(job.command.generation.system_prompt, envelope, continued=opened.place.window_number > 1)
        written = await self._written(job, opened, envelope, prompt)
        analysis = await self._analysis(job, opened, envelope, written)
        return self._judged(job, opened, envelope, written, analysis)

    async def _envelope(self, job: Job, opened: OpenedWindow) -> BuiltEnvelope:
        # For a new session the ETag was compared before there was a window (probe).
        continues = not job.command.continuation.is_root
        if_match = job.command.context.if_match if continues else ""
        envelope = await self._envelopes.build(self._envelope_command(job, opened, if_match=if_match))
        tier, accepted = envelope.summary.quality_tier, job.command.context.accept_quality
        if envelope.not_modified:
            return envelope
        if not envelope.accepted or not tier_accepted(tier, accepted):
            raise quality_unreachable(tier, accepted)
        return envelope

    def _envelope_command(self, job: Job, opened: OpenedWindow | None, *, if_match: str = "") -> BuildEnvelope:
        command = job.command
        return BuildEnvelope(
            place=opened.place if opened is not None else None,
            query=command.query,
            model=job.model,
            grounding_mode=command.grounding_mode,
            strategy=job.strategy,
            system_prompt=fixed_prompt(command.generation.system_prompt),
            response_tokens=job.max_tokens,
            max_envelope_tokens=command.context.max_envelope_tokens,
            facts_seen=opened.facts_seen if opened is not None else (),
            deferred_fact_ids=deferred_fact_ids(opened) if opened is not None else (),
            transferred_fact_ids=transferred_fact_ids(opened) if opened is not None else (),
            carried=carried_texts(opened) if opened is not None else (),
            if_match=if_match,
            cache_directives=command.context.cache_directives,
            accept_quality=command.context.accept_quality,
        )

    async def _written(self, job: Job, opened: OpenedWindow, envelope: BuiltEnvelope, prompt: str) -> WrittenText:
        timeout_s = self._time_for_model()
        reply = await self._model.complete(
            LanguageRequest(
                query=job.command.query,
                messages=(ChatMessage(ChatRole.SYSTEM, prompt), ChatMessage(ChatRole.USER, job.command.query)),
                # An earlier answer is context, not evidence: quoting it would ground an answer in itself.
                evidence=tuple(
                    EvidenceFact(fact.fact_id, fact.content, fact.relevance_score, fact.stale)
                    for fact in envelope.facts
                    if not fact.carried_from
                ),
                model=job.model,
                max_tokens=job.max_tokens,
                temperature=job.temperature,
                seed=job.command.generation.seed,
                timeout_s=timeout_s,
                prior_texts=tuple(prior.text for prior in opened.prior_windows if prior.text),
            )
        )
        return WrittenText(
            text=reply.text,
            finish_reason=reply.finish_reason,
            model_fingerprint=reply.model_fingerprint,
            response_tokens=self._tokens.count([reply.text], job.model)[0],
            prompt_tokens=reply.prompt_tokens,
            completion_tokens=reply.completion_tokens,
        )

    def _time_for_model(self) -> float | None:
        """Return the seconds that the model may take, so that analysis and commit still fit.

        Raises:
            DeadlineError: less is left than a call is worth starting with.
        """
        deadline = current_call().deadline
        if deadline is None:
            return None
        left = deadline - asyncio.get_running_loop().time() - self._settings.reserve_s
        if left < self._settings.llm_min_s:
            text = f"{max(0.0, left):.3f} s are left for the model; nothing was written"
            raise DeadlineError(ErrorReason.DEADLINE_EXCEEDED, text, left_s=f"{max(0.0, left):.3f}", step="model")
        return left

    async def _analysis(
        self, job: Job, opened: OpenedWindow, envelope: BuiltEnvelope, written: WrittenText
    ) -> Analysis:
        command = job.command
        # SPEC-005 §13.1: the request's prompt, which the caller wrote; facts are not searched (ADR 0038).
        prompt = "\n\n".join(part for part in (command.generation.system_prompt, command.query) if part)
        return await self._provenance.analyze(
            Analyze(
                place=opened.place,
                query=command.query,
                prompt=prompt,
                response_text=written.text,
                envelope=envelope.message,
                prior_windows=opened.prior_windows,
                grounding_mode=command.grounding_mode,
                ai_system_id=command.ai_system_id,
                ai_system=job.ai_system,
                cache_directives=command.context.cache_directives,
                sub_queries=envelope.sub_queries,
                audit_trail_id=opened.audit_trail_id,
            )
        )

    def _judged(
        self, job: Job, opened: OpenedWindow, envelope: BuiltEnvelope, written: WrittenText, analysis: Analysis
    ) -> DispatchDraft:
        tier = final_tier(envelope.summary.quality_tier, analysis.summary)
        return DispatchDraft(
            place=opened.place,
            envelope=envelope.summary,
            report=analysis.summary,
            report_message=analysis.message,
            inputs_message=analysis.inputs,
            written=written,
            tier=tier,
            strategy=job.strategy,
            verdict=judge(job.force, analysis.summary, tier),
            policy_applied=job.force.applied,
            oversight=job.force.oversight,
            notices=(*_notices(job, opened.place, analysis), *_told(opened, envelope)),
        )


def tier_accepted(tier: QualityTier, accepted: tuple[QualityTier, ...]) -> bool:
    """Say whether the caller takes the tier: a listed one, or a better one than the worst listed (SPEC-003 §8.4)."""
    return not accepted or tier.rank <= max(each.rank for each in accepted)


def quality_unreachable(tier: QualityTier, accepted: tuple[QualityTier, ...]) -> UnavailableError:
    """Return the refusal of SPEC-003 §8.4: the best achievable tier, and what was asked for."""
    return UnavailableError(
        ErrorReason.QUALITY_UNREACHABLE,
        f"the knowledge base reaches quality tier {tier} for this query; ingest more on it, or accept {tier}",
        best_tier=tier.value,
        accepted=",".join(accepted),
    )


def _told(opened: OpenedWindow, envelope: BuiltEnvelope) -> list[Notice]:
    return [
        *(Notice("ENVELOPE", text) for text in envelope.warnings),
        *(Notice("TRANSFER_REDUCED", text) for text in opened.notes),
    ]


def _notices(job: Job, place: WindowPlace, analysis: Analysis) -> list[Notice]:
    notices = []
    report = analysis.summary
    if report.pii_cache_warning:
        notices.append(Notice("PII_WITHOUT_NO_STORE", "personal data was found; ask with cache directive no-store"))
    upgrade = job.force.policy.upgrade_on_risk
    if upgrade is not None and report.risk_level.rank >= RiskLevel.HIGH.rank:
        text = f"the policy asks for an upgrade to {upgrade}, which this deployment does not serve"
        notices.append(Notice("UPGRADE_NOT_SERVED", text))
    if job.command.safety_report_uri or job.force.policy.report_uri or job.force.policy.report_to:
        text = "violation reports are not sent by this deployment; read the violations of this response instead"
        notices.append(Notice("VIOLATION_REPORT_NOT_SENT", text))
    if place.windows_remaining == 0:
        notices.append(Notice("LAST_WINDOW", "the session has reached max_windows; start a new one to go on"))
    return notices
