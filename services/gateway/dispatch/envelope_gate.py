"""Asking for a window's envelope, and for a better one where the caller's tiers ask for it (SPEC-003 §8.4, §11).

One attempt at an upgrade, at most (ADR 0064): the envelope is built once more with the strategy that the envelope
service recommends and this deployment can build with. It is kept when its tier is accepted; the refusal names the
better of the two tiers.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from services.common.envelope_request import EnvelopeRequest
from services.common.errors import ErrorReason, UnavailableError
from services.common.taxonomy import DispatchStrategy, QualityTier
from services.gateway.domain.admitted import AdmittedDispatch
from services.gateway.domain.prompt import fixed_prompt
from services.gateway.domain.quality import QualityGap, QualityUpgrade, gap_json, tier_accepted
from services.gateway.domain.window import (
    BuiltEnvelope,
    OpenedWindow,
    carried_texts,
    deferred_fact_ids,
    transferred_fact_ids,
)
from services.gateway.ports import EnvelopeClient

_MISS: Final = "MISS"
UPGRADES_OF_AN_ENVELOPE: Final = frozenset({DispatchStrategy.PULL})
"""Strategies that change how one envelope is built; hierarchical would take a window for each part of the query."""


@dataclass(frozen=True, slots=True)
class AcceptedEnvelope:
    """An envelope whose tier the caller accepts, or a finding that a presented ETag still stands.

    Attributes:
        upgrade: the attempt that led to it; ``None`` when the first build was accepted.
    """

    envelope: BuiltEnvelope
    upgrade: QualityUpgrade | None = None


class EnvelopeGate:
    """Builds envelopes; holds no state between windows."""

    def __init__(self, envelopes: EnvelopeClient) -> None:
        self._envelopes = envelopes

    async def probe(self, admitted: AdmittedDispatch) -> BuiltEnvelope | str:
        """Compare the presented ETag for a query that has no window yet: what stands, or why nothing does (§11.2)."""
        return await self._envelopes.compare(_request(admitted, None, if_match=admitted.command.context.if_match))

    async def build(self, admitted: AdmittedDispatch, opened: OpenedWindow) -> AcceptedEnvelope:
        """Build the window's envelope; with ``upgrade-on-risk`` twice, where the first one's tier is not accepted.

        Raises:
            UnavailableError: QUALITY_UNREACHABLE.
        """
        # For a new session the ETag was compared before there was a window (probe).
        if_match = "" if admitted.command.continuation.is_root else admitted.command.context.if_match
        request = _request(admitted, opened, if_match=if_match)
        first = _with_status(await self._envelopes.build(request), admitted.cache_status)
        accepted = admitted.command.context.accept_quality
        if first.not_modified or _taken(first, accepted):
            return AcceptedEnvelope(first)
        chosen = first.recommended_strategy
        if not request.upgrade_on_risk or chosen not in UPGRADES_OF_AN_ENVELOPE:
            raise quality_unreachable(first, accepted)
        rebuilt = await self._envelopes.build(replace(request, strategy=chosen, if_match_etag=""))
        second = _with_status(rebuilt, first.summary.cache_status)
        if not _taken(second, accepted):
            better = second if second.summary.quality_tier.rank < first.summary.quality_tier.rank else first
            raise quality_unreachable(better, accepted, attempted=chosen)
        before, after = first.summary.quality_tier, second.summary.quality_tier
        return AcceptedEnvelope(second, QualityUpgrade(request.strategy, chosen, before, after, kept=True))


def _with_status(envelope: BuiltEnvelope, compared: str) -> BuiltEnvelope:
    """Say why it was built where the comparison came before it; PARTIAL says more and stays (SPEC-003 §9.3)."""
    if not compared.startswith(_MISS) or not envelope.summary.cache_status.startswith(_MISS):
        return envelope
    return replace(envelope, summary=replace(envelope.summary, cache_status=compared))


def _taken(envelope: BuiltEnvelope, accepted: tuple[QualityTier, ...]) -> bool:
    return envelope.accepted and tier_accepted(envelope.summary.quality_tier, accepted)


def _request(admitted: AdmittedDispatch, opened: OpenedWindow | None, *, if_match: str = "") -> EnvelopeRequest:
    command, place = admitted.command, None if opened is None else opened.place
    return EnvelopeRequest(
        query=admitted.envelope_query,
        model=admitted.model,
        session_id="" if place is None else place.session_id,
        window_id="" if place is None else place.window_id,
        window_number=1 if place is None else place.window_number,
        grounding_mode=command.grounding_mode,
        strategy=admitted.strategy,
        system_prompt=fixed_prompt(admitted.instruction),
        expected_response_tokens=admitted.max_tokens,
        facts_seen=() if opened is None else opened.facts_seen,
        deferred_fact_ids=() if opened is None else deferred_fact_ids(opened),
        transferred_fact_ids=() if opened is None else transferred_fact_ids(opened),
        carried=() if opened is None else carried_texts(opened),
        if_match_etag=if_match,
        upgrade_on_risk=admitted.policy.directives.upgrade_on_risk is not None,
        told=admitted.told,
    ).wishing(command.context)


def quality_unreachable(
    envelope: BuiltEnvelope, accepted: Sequence[QualityTier], attempted: DispatchStrategy | None = None
) -> UnavailableError:
    """Return the refusal of SPEC-003 §8.4: the best achievable tier, what was asked for, and the gap between them."""
    tier = envelope.summary.quality_tier
    gap = envelope.gap or QualityGap(tier, max(accepted, key=lambda each: each.rank, default=tier))
    tried = f"; an envelope of the strategy {attempted} was tried" if attempted is not None else ""
    recommended = envelope.recommended_strategy
    return UnavailableError(
        ErrorReason.QUALITY_UNREACHABLE,
        f"the knowledge base reaches quality tier {tier} for this query{tried}; ingest more on it, or accept {tier}",
        best_tier=tier.value,
        accepted=",".join(accepted),
        quality_gap=gap_json(gap),
        attempted_strategy=attempted.value if attempted is not None else "",
        recommended_strategy=recommended.value if recommended is not None else "",
    )
