"""The guard's composition: models, stores and settings in, a served service out."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

import grpc
from crp.dpe.v1 import guard_service_pb2_grpc as pb_grpc

from services.common.composition import Adapters
from services.common.context import Role
from services.common.ids import IdSource, RandomIds
from services.common.ports.injection import InjectionClassifier
from services.common.rpc.peers import PeerChannels
from services.common.rpc.server import ServedService
from services.common.rpc.work import CALL_UNITS, Work
from services.common.settings import Settings
from services.common.settings.guard.injection import InjectionSettings
from services.common.settings.guard.verification import VerificationSettings
from services.dpe.app import ProvenanceApp
from services.dpe.domain.guard.coherence import CoherencePolicy
from services.dpe.domain.guard.intent_divergence import Thresholds
from services.dpe.domain.guard.verification_signals import Limits
from services.dpe.domain.guard.verification_votes import VerificationPolicy
from services.dpe.guard.coherence import CoherenceApp
from services.dpe.guard.ground_truth import GrpcGroundTruth
from services.dpe.guard.injection import InjectionApp
from services.dpe.guard.injection_metrics import InjectionMetrics
from services.dpe.guard.injection_work import detect_units
from services.dpe.guard.judge import Judge
from services.dpe.guard.metrics import CoherenceMetrics, GuardMetrics
from services.dpe.guard.oversight import OversightApp
from services.dpe.guard.oversight_metrics import OversightMetrics
from services.dpe.guard.score_cache import ScoreCache
from services.dpe.guard.sentence_scoring import EngineScoring, Scoring
from services.dpe.guard.servicer import GuardApps, GuardServicer
from services.dpe.guard.verification import VerificationApp
from services.dpe.guard.verification_metrics import VerificationMetrics
from services.dpe.guard.verification_work import batch_units, verify_units
from services.dpe.guard.work import coherence_units
from services.dpe.ports import AnalysisModels, OpinionTerms

GUARD_SERVICE: Final = "crp.dpe.v1.GuardService"
GUARD_ROLES: Final[Mapping[str, Role]] = {
    "ScoreCoherence": Role.READER,
    "OverseeStream": Role.READER,
    "DetectInjection": Role.READER,
    "VerifyClaims": Role.READER,
    "VerifyClaimsBatch": Role.READER,
}
WORK: Final[Mapping[str, Work]] = {
    "ScoreCoherence": Work(coherence_units),
    "OverseeStream": Work(lambda _: CALL_UNITS, computes=False, bounded=True),
    "DetectInjection": Work(detect_units),
    "VerifyClaims": Work(verify_units),
    "VerifyClaimsBatch": Work(batch_units),
}
KNOWLEDGE: Final = {"envelope": "crp.ckf.v1.KnowledgeService"}
"""The peer that scores without facts of their own are held against."""


@dataclass(frozen=True, slots=True)
class GuardParts:
    """What the guard has beside models and stages; each may be missing but the ids.

    Attributes:
        ids: of what is asked of a judge.
        channels: to the knowledge service; without it scores need facts in the request.
        classifier: of injections.
        scoring: of streams, in the place of the engine's.
    """

    ids: IdSource = field(default_factory=RandomIds)
    channels: PeerChannels | None = None
    classifier: InjectionClassifier | None = None
    scoring: Scoring | None = None


async def guard_service(
    models: AnalysisModels, settings: Settings, adapters: Adapters, analyses: ProvenanceApp
) -> ServedService:
    """Return GuardService over the models of the provenance service.

    Args:
        models: of the process, shared with the provenance service.
        settings: of the process.
        adapters: of the process, for what only the guard needs.
        analyses: the provenance service's own stages, with what its models said before.
    """
    channels = PeerChannels(settings, KNOWLEDGE)
    adapters.closing(channels.close)
    classifier = await adapters.injection_classifier()
    return guard_over(models, settings, analyses, GuardParts(adapters.ids, channels, classifier))


def guard_over(
    models: AnalysisModels,
    settings: Settings,
    analyses: ProvenanceApp,
    parts: GuardParts | None = None,
) -> ServedService:
    """Return GuardService over any models."""
    parts = parts or GuardParts()
    wanted = settings.guard.coherence
    terms = models.second_opinion
    judge = Judge(terms, parts.ids) if isinstance(terms, OpinionTerms) else None
    cache = ScoreCache(wanted.cache_entries, wanted.cache_ttl_s, asyncio.get_running_loop().time)
    coherence = CoherenceApp(analyses, None, judge, wanted, cache)
    policy = verification_policy(settings.guard.verification)
    verification = VerificationApp(analyses, policy, models.fingerprints())
    oversight = overseeing(settings, analyses, parts.scoring)
    thresholds = injection_thresholds(settings.guard.injection)
    injection = InjectionApp(models, analyses, thresholds, parts.classifier)
    servicer = GuardServicer(GuardApps(coherence, oversight, injection, verification), settings)
    add: Callable[[GuardServicer, grpc.aio.Server], None] = pb_grpc.add_GuardServiceServicer_to_server

    def listening(target: str, names: frozenset[str]) -> None:
        """Find the knowledge service: a peer, or a service of this process; without one there is no knowledge."""
        channels = parts.channels
        if channels is not None and (settings.peers.envelope or KNOWLEDGE["envelope"] in names):
            channels.listening(target, names)
            share = wanted.knowledge_deadline_share
            coherence.ground_truth = GrpcGroundTruth(channels.to("envelope"), wanted.retrieved_facts, share)

    return ServedService(
        GUARD_SERVICE,
        lambda server: add(servicer, server),
        GUARD_ROLES,
        analyses.check,
        listening=listening,
        metrics=GuardMetrics(
            CoherenceMetrics(coherence, judge),
            OversightMetrics(oversight),
            InjectionMetrics(injection.counts),
            VerificationMetrics(verification.counts),
        ),
        work=WORK,
    )


def verification_policy(settings: VerificationSettings) -> VerificationPolicy:
    """Return the policy that the settings describe."""
    return VerificationPolicy(
        Limits(settings.overlap_supports, settings.overlap_contradicts, settings.traceable, settings.untraceable),
        settings.min_confidence,
        settings.rule_confidence,
    )


def injection_thresholds(settings: InjectionSettings) -> Thresholds:
    """Return the thresholds of stage 2 that the settings describe."""
    return Thresholds(settings.drifted_threshold, settings.injected_threshold, settings.traceability_floor)


def overseeing(settings: Settings, analyses: ProvenanceApp, scoring: Scoring | None = None) -> OversightApp:
    """Return the oversight of streams; ``scoring`` takes the place of the engine's."""
    wanted, weights = settings.guard.oversight, settings.guard.coherence
    policy = CoherencePolicy(weights.logical_weight, weights.factual_weight)
    scores = scoring or EngineScoring(analyses, policy, wanted.scored_at_once)
    return OversightApp(scores, wanted, asyncio.get_running_loop().time)
