"""The guard's composition: models, stores and settings in, a served service out."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Final

import grpc
from crp.dpe.v1 import guard_service_pb2_grpc as pb_grpc

from services.common.composition import Adapters
from services.common.context import Role
from services.common.rpc.server import ServedService
from services.common.rpc.work import Work
from services.common.settings import Settings
from services.dpe.guard.servicer import GuardServicer
from services.dpe.ports import AnalysisModels

GUARD_SERVICE: Final = "crp.dpe.v1.GuardService"
GUARD_ROLES: Final[Mapping[str, Role]] = {}
WORK: Final[Mapping[str, Work]] = {}


async def guard_service(
    models: AnalysisModels,  # noqa: ARG001
    settings: Settings,  # noqa: ARG001
    adapters: Adapters,  # noqa: ARG001
    check: Callable[[], Awaitable[None]],
) -> ServedService:
    """Return GuardService over the models of the provenance service.

    Args:
        models: of the process, shared with the provenance service.
        settings: of the process.
        adapters: of the process, for what only the guard needs.
        check: returns when the models can serve.
    """
    servicer = GuardServicer()
    add: Callable[[GuardServicer, grpc.aio.Server], None] = pb_grpc.add_GuardServiceServicer_to_server
    return ServedService(GUARD_SERVICE, lambda server: add(servicer, server), GUARD_ROLES, check, work=WORK)
