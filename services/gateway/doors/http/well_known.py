"""``/.well-known/crp-gateway.json``: what this gateway speaks, serves and takes, for clients that find their own way.

Everything in it is read from what serves: routes, tables of words, settings. No credential is asked for, and nothing of
tenants, keys, providers or addresses is told.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict
from starlette.responses import Response

from services.common.settings.chat import ChatSettings
from services.common.settings.gateway import GatewaySettings
from services.common.settings.http import HttpSettings
from services.common.taxonomy import PROTOCOL_VERSION, DispatchStrategy, GroundingMode, QualityTier, RiskLevel
from services.gateway.dispatch.strategies import SERVED
from services.gateway.domain.holding import Hold
from services.gateway.domain.policy import KNOWN_DIRECTIVES, PROFILES
from services.gateway.domain.vocabulary import OversightMode, SafetyMode
from services.gateway.doors.grpc.validate import FIELDS_BY_HEADER, MAX_TOKENS
from services.gateway.doors.http.problems import json_response
from services.gateway.doors.http.protocol import label

WELL_KNOWN: Final = "/.well-known/crp-gateway.json"
_MODES: Final = ("ground", "check", "observe")


class _Told(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Implementation(_Told):
    """Which program answers."""

    name: str
    version: str


class Words(_Told):
    """The words of the protocol that this gateway takes or says."""

    strategies: list[str]
    grounding_modes: list[str]
    quality_tiers: list[str]
    risk_levels: list[str]
    safety_modes: list[str]
    oversight_modes: list[str]
    stream_safety_modes: list[str]
    safety_policy_directives: list[str]
    safety_policy_profiles: list[str]
    request_headers: list[str]


class Limits(_Told):
    """What is refused beyond: bytes, characters, tokens, seconds."""

    max_body_bytes: int
    max_query_chars: int
    max_system_prompt_chars: int
    max_answer_tokens: int
    call_timeout_s: float
    stream_timeout_s: float


class Served(_Told):
    """One endpoint."""

    method: str
    path: str
    operation: str


class GatewayMetadata(_Told):
    """The document; ``data_residency`` is empty where the deployment states no region."""

    crp_version: str
    implementation: Implementation
    authentication: list[str]
    chat_modes: list[str]
    default_chat_mode: str | None
    data_residency: str
    default_safety_policy: str
    words: Words
    limits: Limits
    endpoints: list[Served]
    openapi: str


class WellKnownRoutes:
    """The endpoint.

    Args:
        version: of the program.
        http, chat, gateway: settings that are told.
    """

    forms: Sequence[type[BaseModel]] = ()

    def __init__(self, version: str, http: HttpSettings, chat: ChatSettings, gateway: GatewaySettings) -> None:
        self._version = version
        self._http = http
        self._chat = chat
        self._gateway = gateway

    def router(self) -> APIRouter:
        """Return the route, for an app."""
        router = APIRouter(tags=["Metadata"])
        router.add_api_route(
            WELL_KNOWN,
            self._answer,
            methods=["GET"],
            responses={200: {"model": GatewayMetadata}},
            summary="What this gateway speaks, serves and takes.",
            operation_id="gateway_metadata",
        )
        return router

    async def _answer(self, request: Request) -> Response:
        found = self.metadata(_served(request.app.openapi())).model_dump()
        return label(json_response(found, headers={"Cache-Control": "public, max-age=300"}))

    def metadata(self, endpoints: list[Served]) -> GatewayMetadata:
        """Return the document of a gateway that serves ``endpoints``."""
        gateway, http = self._gateway, self._http
        return GatewayMetadata(
            crp_version=PROTOCOL_VERSION,
            implementation=Implementation(name="groundtrail", version=self._version),
            authentication=["bearer", "x-api-key"],
            chat_modes=list(_MODES),
            default_chat_mode=self._chat.mode,
            data_residency=gateway.data_residency,
            default_safety_policy=gateway.default_safety_policy,
            words=_WORDS,
            limits=Limits(
                max_body_bytes=http.max_body_bytes,
                max_query_chars=gateway.max_query_chars,
                max_system_prompt_chars=gateway.max_system_prompt_chars,
                max_answer_tokens=MAX_TOKENS,
                call_timeout_s=http.call_timeout_s,
                stream_timeout_s=http.run_timeout_s,
            ),
            endpoints=endpoints,
            openapi="/openapi.json",
        )


def _words(values: Iterable[Any]) -> list[str]:
    return [str(value) for value in values]


_WORDS: Final = Words(
    strategies=[str(name) for name in DispatchStrategy if name in {one.name for one in SERVED}],
    grounding_modes=_words(GroundingMode),
    quality_tiers=_words(QualityTier),
    risk_levels=_words(RiskLevel),
    safety_modes=_words(SafetyMode),
    oversight_modes=_words(OversightMode),
    stream_safety_modes=_words(Hold),
    safety_policy_directives=list(KNOWN_DIRECTIVES),
    safety_policy_profiles=list(PROFILES),
    request_headers=sorted(FIELDS_BY_HEADER),
)


def _served(document: Mapping[str, Any]) -> list[Served]:
    """Return what the OpenAPI document names."""
    return [
        Served(method=method.upper(), path=path, operation=operation["operationId"])
        for path, operations in sorted(document["paths"].items())
        for method, operation in operations.items()
    ]
