"""The provenance service's composition: models and settings in, served services out."""

import asyncio
from collections.abc import Callable
from typing import Final

import grpc
from crp.dpe.v1 import provenance_service_pb2_grpc as pb_grpc

from services.common.build_manifest import BuildIdentity
from services.common.clock import Clock
from services.common.composition import Adapters
from services.common.context import Role
from services.common.ids import IdSource
from services.common.ports.documents import DocumentReader
from services.common.reading import units
from services.common.rpc.server import ServedService
from services.common.settings import Settings
from services.common.settings.dpe import DpeSettings
from services.dpe.app import Limits, ProvenanceApp, Workplace
from services.dpe.checking import CheckApp
from services.dpe.domain.policy import Amplifiers, Policy, Weights
from services.dpe.gazetteer import load_gazetteer
from services.dpe.metrics import CacheMetrics
from services.dpe.ports import AnalysisModels
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
    """Return ProvenanceService over the process's models."""
    models, build = await open_models(adapters), await adapters.build_identity()
    documents = await adapters.documents()
    return [provenance_service(models, settings.dpe, adapters.clock, adapters.ids, documents, build)]


async def open_servicer(settings: Settings, adapters: Adapters) -> ProvenanceServicer:
    """Return the servicer without a server before it, for whoever checks inside its own process."""
    models, documents = await open_models(adapters), await adapters.documents()
    return provenance_servicer(models, settings.dpe, adapters.clock, adapters.ids, documents)[0]


async def open_models(adapters: Adapters) -> AnalysisModels:
    """Open the models side by side, so that a start does not wait for one after the other.

    Raises:
        StartupError: of the first that cannot be opened, once the others have ended: none is left opening.
    """
    embedding = asyncio.create_task(adapters.embedding())
    recognizer = asyncio.create_task(adapters.entity_recognizer())
    entailment = asyncio.create_task(adapters.entailment())
    grounding = asyncio.create_task(adapters.grounding())
    personal_data = asyncio.create_task(adapters.personal_data())
    opening = (embedding, recognizer, entailment, grounding, personal_data)
    await asyncio.wait(opening)
    failures = [error for error in (task.exception() for task in opening) if error is not None]
    if failures:
        raise failures[0]
    return AnalysisModels(
        embedding.result(), recognizer.result(), entailment.result(), grounding.result(), personal_data.result()
    )


def provenance_servicer(
    models: AnalysisModels,
    settings: DpeSettings,
    clock: Clock,
    ids: IdSource,
    documents: DocumentReader,
    build: BuildIdentity | None = None,
) -> tuple[ProvenanceServicer, ProvenanceApp]:
    """Wire servicer and app over any models; without ``build`` the reports do not say which code made them."""
    units.warm()
    limits = Limits(
        settings.max_response_chars,
        settings.max_claims,
        settings.embed_batch_size,
        settings.min_remaining_s,
        settings.cache_mib * MIB,
    )
    app = ProvenanceApp(models, Workplace(policy_of(settings), load_gazetteer(), limits, clock, ids, build))
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
    servicer, app = provenance_servicer(models, settings, clock, ids, documents, build)
    add: Callable[[ProvenanceServicer, grpc.aio.Server], None] = pb_grpc.add_ProvenanceServiceServicer_to_server
    return ServedService(
        PROVENANCE_SERVICE,
        lambda server: add(servicer, server),
        PROVENANCE_ROLES,
        app.check,
        metrics=CacheMetrics(app.cache),
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
