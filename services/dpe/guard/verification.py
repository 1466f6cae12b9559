"""Verifies the claims of answers and documents against sources that the caller brings (Director-AI page, ADR 0127).

The sources are cut once, stages 1 to 3 run over all texts together, and the models are asked about all of them at once.
Nothing is kept but what models said, in the cache that the stages have anyway.
"""

from collections.abc import Sequence

from services.common.computing import compute
from services.common.encoding import canonical_json, sha256_hex
from services.common.errors import ErrorReason, UnavailableError
from services.common.progress import at
from services.dpe.app import ProvenanceApp
from services.dpe.domain.analysis import Analysis, AnalysisInput
from services.dpe.domain.guard.source_passages import SourceText, facts_of, passages_of
from services.dpe.domain.guard.verification import ClaimedText, Sources, Verified, VerifiedText, verified_text
from services.dpe.domain.guard.verification_votes import VerificationPolicy
from services.dpe.guard.verification_counts import VerificationCounts


class VerificationApp:
    """Verifies claims; safe to share between tasks of one event loop.

    Args:
        analyses: the provenance engine.
        policy: limits and thresholds.
        models: role and fingerprint of each model.
    """

    def __init__(
        self, analyses: ProvenanceApp, policy: VerificationPolicy, models: tuple[tuple[str, str], ...]
    ) -> None:
        self._analyses = analyses
        self._policy = policy
        self._models = models
        self._policy_hash = sha256_hex(canonical_json(policy.document()))
        self.counts = VerificationCounts()
        """Verdicts and texts so far; metrics."""

    async def verify(self, texts: Sequence[ClaimedText], given: Sequence[SourceText]) -> Verified:
        """Return the verified claims of some texts, at least one.

        Raises:
            LimitExceededError: the texts or their claims are too many (MESSAGE_TOO_LARGE), or a queue is full.
            UnavailableError: MODEL_UNAVAILABLE: without vectors no sentence can be matched.
        """
        at("cutting the sources")
        passages = await compute(passages_of, tuple(given))
        sources = Sources(tuple(given), passages)
        facts = facts_of(passages, given)
        inputs = [AnalysisInput("", "", 1, one.question, one.content, facts) for one in texts]
        analyses = await self._analyses.judge_together(inputs)
        if analyses[0].models.vectors is None:
            raise UnavailableError(ErrorReason.MODEL_UNAVAILABLE, "The embedding model does not answer.")
        at("reading the signals")
        found = await compute(self._verified, analyses, sources)
        self.counts.add(found)
        return Verified(found, self._models, self._policy_hash)

    def _verified(self, analyses: Sequence[Analysis], sources: Sources) -> tuple[VerifiedText, ...]:
        return tuple(verified_text(one, sources, self._policy) for one in analyses)
