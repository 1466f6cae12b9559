"""The provenance service's composition: models and settings in, served services out."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any, Final

import grpc
from crp.dpe.v1 import provenance_service_pb2_grpc as pb_grpc

from services.common.build_manifest import BuildIdentity
from services.common.clock import Clock
from services.common.composition import Adapters
from services.common.context import Role
from services.common.ids import IdSource
from services.common.ports.documents import DocumentReader
from services.common.ports.second_opinion import SecondOpinion
from services.common.rpc.server import ServedService
from services.common.settings import Settings
from services.common.settings.dpe import DpeSettings
from services.common.settings.second_opinion import SecondOpinionSettings
from services.dpe.app import AnalysisConfig, Limits, ProvenanceApp
from services.dpe.checking import CheckApp
from services.dpe.domain.models import ASKED_MODELS
from services.dpe.domain.opinion_record import Limits as OpinionLimits
from services.dpe.domain.opinion_record import Scope
from services.dpe.domain.policy import Amplifiers, Policy, Weights
from services.dpe.gazetteer import load_gazetteer
from services.dpe.guard.compose import guard_service
from services.dpe.metrics import ProvenanceMetrics
from services.dpe.opinions import counts_of
from services.dpe.ports import AnalysisModels, OpinionReplay, OpinionTerms
from services.dpe.servicer import ProvenanceServicer
from services.dpe.work import WORK

MIB: Final = 1024 * 1024
PROVENANCE_SERVICE: Final = "crp.dpe.v1.ProvenanceService"
PROVENANCE_ROLES: Final = {
    "Analyze": Role.READER,
    "AnalyzeStream": Role.READER,
    "SegmentClaims": Role.READER,
    "VerifySummary": Role.READER,
    "Check": Role.READER,
}


async def build(settings: Settings, adapters: Adapters) -> list[ServedService]:
    """Return ProvenanceService and GuardService over the process's models."""
    models = await open_models(adapters)
    provenance, analyses = await _service(settings, adapters, models)
    return [provenance, await guard_service(models, settings, adapters, analyses)]


def build_for_replay(replay: OpinionReplay) -> Callable[[Settings, Adapters], Coroutine[Any, Any, list[ServedService]]]:
    """Return what builds a service that asks nobody: second opinions are those of the reports that are recomputed."""

    async def build(settings: Settings, adapters: Adapters) -> list[ServedService]:
        models = await open_models(adapters, asks=False)
        return [(await _service(settings, adapters, replace(models, second_opinion=replay)))[0]]

    return build


async def _service(
    settings: Settings, adapters: Adapters, models: AnalysisModels
) -> tuple[ServedService, ProvenanceApp]:
    build, documents = await adapters.build_identity(), await adapters.documents()
    servicer, app = provenance_servicer(models, settings.dpe, adapters.clock, adapters.ids, documents, build)
    return _served(servicer, app), app


async def open_servicer(settings: Settings, adapters: Adapters) -> ProvenanceServicer:
    """Return the servicer without a server before it, for whoever checks inside its own process."""
    models, documents = await open_models(adapters), await adapters.documents()
    return provenance_servicer(models, settings.dpe, adapters.clock, adapters.ids, documents)[0]


def opinion_terms(settings: SecondOpinionSettings, endpoint: SecondOpinion) -> OpinionTerms:
    """Return on which terms an endpoint is asked."""
    limits = OpinionLimits(
        Scope(settings.scope.upper()),
        settings.max_calls,
        settings.max_tokens,
        settings.max_call_tokens,
        settings.max_seconds,
    )
    return OpinionTerms(endpoint, limits, settings.cache_ttl_s)


async def open_models(adapters: Adapters, *, asks: bool = True) -> AnalysisModels:
    """Open the models side by side, so that a start does not wait for one after the other.

    Args:
        adapters: of the process.
        asks: whether a second opinion is asked for where the settings name an endpoint.

    Raises:
        StartupError: of the first that cannot be opened, once the others have ended: none is left opening.
    """
    opening = {str(model.role): asyncio.create_task(getattr(adapters, model.role)()) for model in ASKED_MODELS}
    await asyncio.wait(opening.values())
    failures = [error for error in (task.exception() for task in opening.values()) if error is not None]
    if failures:
        raise failures[0]
    opened: dict[str, Any] = {role: task.result() for role, task in opening.items()}
    endpoint = await adapters.second_opinion() if asks else None
    terms = None if endpoint is None else opinion_terms(adapters.settings.second_opinion, endpoint)
    return AnalysisModels(**opened, second_opinion=terms)


def provenance_servicer(
    models: AnalysisModels,
    settings: DpeSettings,
    clock: Clock,
    ids: IdSource,
    documents: DocumentReader,
    build: BuildIdentity | None = None,
) -> tuple[ProvenanceServicer, ProvenanceApp]:
    """Wire servicer and app over any models; without ``build`` the reports do not say which code made them."""
    limits = Limits(
        settings.max_response_chars,
        settings.max_claims,
        settings.embed_batch_size,
        settings.min_remaining_s,
        settings.cache_mib * MIB,
    )
    app = ProvenanceApp(models, AnalysisConfig(policy_of(settings), load_gazetteer(), limits, clock, ids, build))
    return ProvenanceServicer(app, CheckApp(app, documents, settings.max_facts), settings), app


def provenance_service(
    models: AnalysisModels,
    settings: DpeSettings,
    clock: Clock,
    ids: IdSource,
    documents: DocumentReader,
    build: BuildIdentity | None = None,
) -> ServedService:
    """Return ProvenanceService over any models."""
    return _served(*provenance_servicer(models, settings, clock, ids, documents, build))


def _served(servicer: ProvenanceServicer, app: ProvenanceApp) -> ServedService:
    add: Callable[[ProvenanceServicer, grpc.aio.Server], None] = pb_grpc.add_ProvenanceServiceServicer_to_server
    return ServedService(
        PROVENANCE_SERVICE,
        lambda server: add(servicer, server),
        PROVENANCE_ROLES,
        app.check,
        metrics=ProvenanceMetrics(app.cache, counts_of(app.opinions)),
        work=WORK,
    )


def policy_of(settings: DpeSettings) -> Policy:
    """Return the policy that the settings describe."""
    return Policy(
        Weights(**settings.weights.model_dump()),
        Amplifiers(**settings.amplifiers.model_dump()),
        settings.loop_depth_threshold,
        settings.score_all_pairs,
        settings.level_floors,
    )
