"""The guard over HTTP (Director-AI page): ``/v1/review``, ``/v1/verify``, ``/v1/injection/detect`` (ADR 0124).

Each over one RPC of ``crp.dpe.v1.GuardService``, which checks and answers; forms and answers are made of its messages.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from crp.dpe.v1 import guard_service_pb2 as pb
from crp.dpe.v1.guard_service_pb2_grpc import GuardServiceStub
from fastapi import APIRouter
from google.protobuf.message import Message
from pydantic import BaseModel

from services.common.clock import Clock
from services.common.context import Role
from services.common.rpc.credential_gate import CredentialGate
from services.common.settings.http import HttpSettings
from services.gateway.doors.http.calls import REFUSALS, RpcCalls, answered, body
from services.gateway.doors.http.message_schemas import MessageModels

SERVICE: Final = "crp.dpe.v1.GuardService"
ROLES: Final = {"ScoreCoherence": Role.READER, "VerifyClaims": Role.READER, "DetectInjection": Role.READER}
"""What each RPC will ask for in the end; asked for here before the body is read."""
_MODELS: Final = MessageModels()


@dataclass(frozen=True, slots=True)
class GuardEndpoint:
    """One POST.

    Attributes:
        path: where it is served.
        rpc: of GuardService.
        message: the request.
        answer: the answer.
        name: of the operation in the OpenAPI document.
        says: one line for it.
        more: a few sentences for it.
    """

    path: str
    rpc: str
    message: type[Message]
    answer: type[Message]
    name: str
    says: str
    more: str


GUARD_ENDPOINTS: Final = (
    GuardEndpoint(
        "/v1/review",
        "ScoreCoherence",
        pb.ScoreCoherenceRequest,
        pb.ScoreCoherenceResponse,
        "review",
        "Score the coherence of an answer.",
        "coherence = 1 - (0.6 H_logical + 0.4 H_factual), against the facts of the request or of the tenant's "
        "knowledge. `approved` is coherence >= threshold.",
    ),
    GuardEndpoint(
        "/v1/verify",
        "VerifyClaims",
        pb.VerifyClaimsRequest,
        pb.VerifyClaimsResponse,
        "verify_claims",
        "Verify each claim of an answer against sources.",
        "Each claim is supported, contradicted, fabricated or unverifiable, with evidence and the votes of five "
        "signals. Sources need no ids: without any they are cited as s1, s2 and so on.",
    ),
    GuardEndpoint(
        "/v1/injection/detect",
        "DetectInjection",
        pb.DetectInjectionRequest,
        pb.DetectInjectionResponse,
        "detect_injection",
        "Look for prompt injection.",
        "Patterns in the input and, with `intent` and `response`, an answer that drifts from the intent.",
    ),
)
FORMS: Final = tuple(_MODELS.request(endpoint.message) for endpoint in GUARD_ENDPOINTS)
"""The schemas of the bodies, which the routes read themselves."""


class GuardRoutes:
    """The endpoints.

    Args:
        stub: GuardService, over a channel that raises the peer's own errors.
        gate: proves callers before anything of their bodies is read.
        settings: limits and deadlines.
        clock: the time.
    """

    forms: Sequence[type[BaseModel]]
    """Schemas of the bodies."""

    def __init__(self, stub: GuardServiceStub, gate: CredentialGate, settings: HttpSettings, clock: Clock) -> None:
        self.forms = FORMS
        self._calls = RpcCalls(stub, SERVICE, ROLES, gate, settings, clock)

    def router(self) -> APIRouter:
        """Return the routes, for an app."""
        router = APIRouter(tags=["Guard"])
        for endpoint, form in zip(GUARD_ENDPOINTS, FORMS, strict=True):
            router.add_api_route(
                endpoint.path,
                self._calls.guarded(endpoint.rpc, self._calls.operator(endpoint.rpc, form, endpoint.message)),
                methods=["POST"],
                responses={200: answered(_MODELS.answer(endpoint.answer), "The answer."), **REFUSALS},
                openapi_extra=body(form),
                summary=endpoint.says,
                description=endpoint.more,
                operation_id=endpoint.name,
            )
        return router
