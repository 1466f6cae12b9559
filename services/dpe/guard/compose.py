"""The guard's composition: models, stores and settings in, a served service out."""

from collections.abc import Callable, Mapping
from typing import Final

import grpc
from crp.dpe.v1 import guard_service_pb2_grpc as pb_grpc

from services.common.composition import Adapters
from services.common.context import Role
from services.common.rpc.server import ServedService
from services.common.rpc.work import Work
from services.common.settings import Settings
from services.common.settings.guard.verification import VerificationSettings
from services.dpe.app import ProvenanceApp
from services.dpe.domain.guard.verification_signals import Limits
from services.dpe.domain.guard.verification_votes import VerificationPolicy, Weights
from services.dpe.guard.servicer import GuardServicer
from services.dpe.guard.verification import VerificationApp
from services.dpe.guard.verification_metrics import VerificationMetrics
from services.dpe.guard.verification_work import batch_units, verify_units
from services.dpe.ports import AnalysisModels

GUARD_SERVICE: Final = "crp.dpe.v1.GuardService"
GUARD_ROLES: Final[Mapping[str, Role]] = {"VerifyClaims": Role.READER, "VerifyClaimsBatch": Role.READER}
WORK: Final[Mapping[str, Work]] = {"VerifyClaims": Work(verify_units), "VerifyClaimsBatch": Work(batch_units)}


async def guard_service(
    models: AnalysisModels,
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
    return guard_over(models, settings, analyses)


def guard_over(models: AnalysisModels, settings: Settings, analyses: ProvenanceApp) -> ServedService:
    """Return GuardService over any models."""
    policy = verification_policy(settings.guard.verification)
    verification = VerificationApp(analyses, policy, models.fingerprints())
    servicer = GuardServicer(verification, settings)
    add: Callable[[GuardServicer, grpc.aio.Server], None] = pb_grpc.add_GuardServiceServicer_to_server
    return ServedService(
        GUARD_SERVICE,
        lambda server: add(servicer, server),
        GUARD_ROLES,
        analyses.check,
        metrics=VerificationMetrics(verification.counts),
        work=WORK,
    )


def verification_policy(settings: VerificationSettings) -> VerificationPolicy:
    """Return the policy that the settings describe."""
    return VerificationPolicy(
        Limits(settings.overlap_supports, settings.overlap_contradicts, settings.traceable, settings.untraceable),
        Weights(**settings.weights.model_dump()),
        settings.support_threshold,
        settings.min_confidence,
        settings.rule_confidence,
    )
