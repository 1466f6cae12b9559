"""The guard's composition: models, stores and settings in, a served service out."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Final

import grpc
from crp.dpe.v1 import guard_service_pb2_grpc as pb_grpc

from services.common.composition import Adapters
from services.common.context import Role
from services.common.rpc.server import ServedService
from services.common.rpc.work import CALL_UNITS, Work
from services.common.settings import Settings
from services.dpe.app import ProvenanceApp
from services.dpe.domain.guard.coherence import CoherencePolicy
from services.dpe.guard.oversight import OversightApp
from services.dpe.guard.oversight_metrics import OversightMetrics
from services.dpe.guard.sentence_scoring import EngineScoring, Scoring
from services.dpe.guard.servicer import GuardServicer
from services.dpe.ports import AnalysisModels

GUARD_SERVICE: Final = "crp.dpe.v1.GuardService"
GUARD_ROLES: Final[Mapping[str, Role]] = {"OverseeStream": Role.READER}
WORK: Final[Mapping[str, Work]] = {"OverseeStream": Work(lambda _: CALL_UNITS, computes=False, bounded=True)}


async def guard_service(
    models: AnalysisModels,  # noqa: ARG001
    settings: Settings,
    adapters: Adapters,  # noqa: ARG001
    analyses: ProvenanceApp,
) -> ServedService:
    """Return GuardService over the models of the provenance service.

    Args:
        models: of the process, shared with the provenance service.
        settings: of the process.
        adapters: of the process, for what only the guard needs.
        analyses: the provenance service's own stages, with what its models said before.
    """
    return guard_over(settings, analyses)


def guard_over(settings: Settings, analyses: ProvenanceApp, scoring: Scoring | None = None) -> ServedService:
    """Return GuardService over any models; ``scoring`` takes the place of the engine's for streams."""
    wanted = settings.guard.oversight
    weights = settings.guard.coherence
    policy = CoherencePolicy(weights.logical_weight, weights.factual_weight)
    scores = scoring or EngineScoring(analyses, policy, wanted.scored_at_once)
    oversight = OversightApp(scores, wanted, asyncio.get_running_loop().time)
    servicer = GuardServicer(oversight, settings)
    add: Callable[[GuardServicer, grpc.aio.Server], None] = pb_grpc.add_GuardServiceServicer_to_server
    return ServedService(
        GUARD_SERVICE,
        lambda server: add(servicer, server),
        GUARD_ROLES,
        analyses.check,
        metrics=OversightMetrics(oversight),
        work=WORK,
    )
