"""From an answer to its analysis and what the policy makes of it (SPEC-005 §7.4)."""

from dataclasses import replace

from services.gateway.domain.admitted import AdmittedDispatch
from services.gateway.domain.completion import Completion
from services.gateway.domain.outcome import PolicyInForce, final_tier, judge
from services.gateway.domain.remedies import AnalyzedAnswer
from services.gateway.domain.vocabulary import OversightMode
from services.gateway.domain.window import BuiltEnvelope, OpenedWindow
from services.gateway.ports import Analyze, ProvenanceClient


class AnswerAnalyzer:
    """Analyses and judges answers; holds no state between them."""

    def __init__(self, provenance: ProvenanceClient) -> None:
        self._provenance = provenance

    async def analyze(
        self, admitted: AdmittedDispatch, opened: OpenedWindow, envelope: BuiltEnvelope, written: Completion
    ) -> AnalyzedAnswer:
        """Return the answer with its report, its tier and its verdict.

        Args:
            admitted: the query.
            opened: the window; a parent that was summarised is compared with by its summary.
            envelope: what the answer was generated from.
            written: the answer.
        """
        command = admitted.command
        # SPEC-005 §13.1: the request's prompt, which the caller wrote; facts are not searched (ADR 0038).
        prompt = "\n\n".join(part for part in (command.generation.system_prompt, command.query) if part)
        analysis = await self._provenance.analyze(
            Analyze(
                place=opened.place,
                query=command.query,
                prompt=prompt,
                response_text=written.text,
                envelope=envelope.message,
                prior_windows=opened.prior_windows,
                grounding_mode=command.grounding_mode,
                ai_system_id=command.ai_system_id,
                ai_system=admitted.ai_system,
                cache_directives=command.context.cache_directives,
                sub_queries=_sub_queries(admitted, envelope),
                audit_trail_id=opened.audit_trail_id,
                incomplete_level=admitted.policy.directives.incomplete_risk,
                leans_on=admitted.leans_on,
                stands_alone=admitted.approach.inner is not None and not opened.prior_windows,
            )
        )
        tier = final_tier(envelope.summary.quality_tier, analysis.summary)
        return AnalyzedAnswer(written, analysis, tier, judge(_force(admitted), analysis.summary, tier))


def _force(admitted: AdmittedDispatch) -> PolicyInForce:
    """Return the policy; what nobody is given no person has to look at, whatever else is withheld (ADR 0160)."""
    policy = admitted.policy
    if admitted.approach.delivers or policy.oversight is not OversightMode.HUMAN_REVIEW:
        return policy
    return replace(policy, oversight=OversightMode.AUTO)


def _sub_queries(admitted: AdmittedDispatch, envelope: BuiltEnvelope) -> tuple[str, ...]:
    """Return what has to be answered: of a follow-up the question itself, not what it was searched for with."""
    if admitted.focus is not None:
        return admitted.focus.sub_queries
    return () if admitted.leans_on else envelope.sub_queries
