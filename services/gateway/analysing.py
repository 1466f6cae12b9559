"""From an answer to its analysis and what the policy makes of it (SPEC-005 §7.4)."""

from services.gateway.domain.job import Job
from services.gateway.domain.outcome import final_tier, judge
from services.gateway.domain.remedies import Analysed
from services.gateway.domain.window import BuiltEnvelope, OpenedWindow
from services.gateway.domain.written import WrittenText
from services.gateway.ports import Analyze, ProvenanceClient


class Analysing:
    """Analyses and judges answers; holds no state between them."""

    def __init__(self, provenance: ProvenanceClient) -> None:
        self._provenance = provenance

    async def analysed(self, job: Job, opened: OpenedWindow, envelope: BuiltEnvelope, written: WrittenText) -> Analysed:
        """Return the answer with its report, its tier and its verdict.

        Args:
            job: the query.
            opened: the window; a parent that was summarised is compared with by its summary.
            envelope: what the answer was generated from.
            written: the answer.
        """
        command = job.command
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
                ai_system=job.ai_system,
                cache_directives=command.context.cache_directives,
                sub_queries=_sub_queries(job, envelope),
                audit_trail_id=opened.audit_trail_id,
                incomplete_level=job.force.policy.incomplete_risk,
                leans_on=job.leans_on,
            )
        )
        tier = final_tier(envelope.summary.quality_tier, analysis.summary)
        return Analysed(written, analysis, tier, judge(job.force, analysis.summary, tier))


def _sub_queries(job: Job, envelope: BuiltEnvelope) -> tuple[str, ...]:
    """Return what has to be answered: of a follow-up the question itself, not what it was searched for with."""
    if job.focus is not None:
        return job.focus.sub_queries
    return () if job.leans_on else envelope.sub_queries
