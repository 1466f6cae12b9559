"""The guard's composition: models, stores and settings in, a served service out."""

from collections.abc import Callable, Mapping
from typing import Final

import grpc
from crp.dpe.v1 import guard_service_pb2_grpc as pb_grpc

from services.common.composition import Adapters
from services.common.context import Role
from services.common.ports.injection import InjectionClassifier
from services.common.rpc.server import ServedService
from services.common.rpc.work import Work
from services.common.settings import Settings
from services.common.settings.guard.injection import InjectionSettings
from services.dpe.app import ProvenanceApp
from services.dpe.domain.guard.intent_divergence import Thresholds
from services.dpe.guard.injection import InjectionApp
from services.dpe.guard.injection_metrics import InjectionMetrics
from services.dpe.guard.injection_work import detect_units
from services.dpe.guard.servicer import GuardServicer
from services.dpe.ports import AnalysisModels

GUARD_SERVICE: Final = "crp.dpe.v1.GuardService"
GUARD_ROLES: Final[Mapping[str, Role]] = {"DetectInjection": Role.READER}
WORK: Final[Mapping[str, Work]] = {"DetectInjection": Work(detect_units)}


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


def guard_over(
    models: AnalysisModels,
    settings: Settings,
    analyses: ProvenanceApp,
    classifier: InjectionClassifier | None = None,
) -> ServedService:
    """Return GuardService over any models."""
    thresholds = injection_thresholds(settings.guard.injection)
    injection = InjectionApp(models, analyses, thresholds, classifier)
    servicer = GuardServicer(injection, settings)
    add: Callable[[GuardServicer, grpc.aio.Server], None] = pb_grpc.add_GuardServiceServicer_to_server
    return ServedService(
        GUARD_SERVICE,
        lambda server: add(servicer, server),
        GUARD_ROLES,
        analyses.check,
        metrics=InjectionMetrics(injection.counts),
        work=WORK,
    )


def injection_thresholds(settings: InjectionSettings) -> Thresholds:
    """Return the thresholds of stage 2 that the settings describe."""
    return Thresholds(settings.drifted_threshold, settings.injected_threshold, settings.traceability_floor)
