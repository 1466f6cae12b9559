"""Check mode of the door: ``POST /v1/check``, and the endpoint that LiteLLM's proxy calls (ADR 0131).

Answers are checked against what the caller brings; nothing is retrieved, nothing is stored.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from crp.dpe.v1 import provenance_service_pb2 as pb
from crp.dpe.v1.provenance_service_pb2_grpc import ProvenanceServiceStub
from fastapi import APIRouter, Request
from groundtrail.grounds import Grounds
from pydantic import BaseModel
from starlette.responses import Response

from services.common.clock import Clock
from services.common.computing import compute, compute_unless_small
from services.common.context import Role
from services.common.rpc.credential_gate import CredentialGate
from services.common.rpc.rate_limits import RateLimits
from services.common.settings.gateway import GatewaySettings
from services.common.settings.http import HttpSettings
from services.gateway.check_policy import CheckPolicies, needs_sources
from services.gateway.domain.outcome import PolicyInForce, PolicyRequest
from services.gateway.domain.source_screening import SourceScreening
from services.gateway.doors.http import check_schemas as schemas
from services.gateway.doors.http.calls import REFUSALS
from services.gateway.doors.http.check_messages import (
    blocked_reason,
    check_answer,
    form_request,
    guardrail_request,
    has_sources,
    screened_sources,
)
from services.gateway.doors.http.guarded import Asked, guarded
from services.gateway.doors.http.json_bodies import read_form
from services.gateway.doors.http.json_bounds import check_nodes
from services.gateway.doors.http.problems import json_bytes, json_response
from services.gateway.doors.http.remembered import RememberedGrounds
from services.gateway.doors.http.requests import call_metadata, read_body, until_disconnected

CHECK: Final = "/v1/check"
LITELLM: Final = "/beta/litellm_basic_guardrail_api"
"""The path that the proxy puts behind ``api_base``."""
_RPC: Final = "/crp.dpe.v1.ProvenanceService/Check"
_NO_SOURCES: Final = "NO_SOURCES"
_NONE: Final = "NONE"
_BLOCKED: Final = "BLOCKED"
_FormT = TypeVar("_FormT", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class CheckTerms:
    """By what answers are checked.

    Attributes:
        gateway: what becomes of injections.
        policies: what answers are held against.
        limits: what callers may ask for in a minute.
    """

    gateway: GatewaySettings
    policies: CheckPolicies
    limits: RateLimits


class CheckRoutes:
    """The endpoints.

    Args:
        stub: ProvenanceService, over a channel that raises the peer's own errors.
        gate: proves callers before anything of their bodies is read.
        settings: limits and deadlines.
        clock: the time.
        terms: of the checks.
    """

    forms: Sequence[type[BaseModel]] = (schemas.CheckForm, schemas.GuardrailForm)
    """Schemas of the bodies."""

    def __init__(
        self,
        stub: ProvenanceServiceStub,
        gate: CredentialGate,
        settings: HttpSettings,
        clock: Clock,
        terms: CheckTerms,
    ) -> None:
        self._stub = stub
        self._gate = gate
        self._settings = settings
        self._clock = clock
        self._gateway = terms.gateway
        self._policies = terms.policies
        self._limits = terms.limits
        self._remembered = RememberedGrounds()

    def router(self) -> APIRouter:
        """Return the routes, for an app."""
        router = APIRouter(tags=["Check mode"])
        for path, handler, form, answer, says in (
            (CHECK, self._check, schemas.CheckForm, schemas.CheckAnswer, "Check an answer against what you bring."),
            (
                LITELLM,
                self._guardrail,
                schemas.GuardrailForm,
                schemas.GuardrailAnswer,
                "What LiteLLM's proxy calls for a generic guardrail.",
            ),
        ):
            schema = {"$ref": f"#/components/schemas/{form.__name__}"}
            router.add_api_route(
                path,
                guarded(self._gate, self._clock, Role.READER, _RPC, handler),
                methods=["POST"],
                responses={200: {"model": answer}, **REFUSALS},
                openapi_extra={"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}},
                summary=says,
                operation_id=path.strip("/").replace("/", "_"),
            )
        return router

    async def _check(self, request: Request, asked: Asked) -> Response:
        form = await self._form(request, schemas.CheckForm)
        self._limits.admit(asked.caller.scope)
        force = await self._force(asked, form.policy)
        screening = SourceScreening(self._gateway.suspected_sources)
        screened = await compute(screening.messages, form.messages, self._gateway.suspected_queries)
        grounds = screened.grounds
        form = form.model_copy(update=await compute(screened_sources, form, screening))
        message = await compute(form_request, form, grounds)
        found = await self._asked(request, asked, message)

        def written() -> bytes:
            return json_bytes(check_answer(found, force, grounds, report=form.report, injections=screening.findings))

        return Response(await compute(written), 200, {"X-Request-Id": asked.request_id}, "application/json")

    async def _guardrail(self, request: Request, asked: Asked) -> Response:
        form = await self._form(request, schemas.GuardrailForm)
        options = form.additional_provider_specific_params or schemas.GuardrailOptions()
        force = await self._force(asked, options.policy)  # one that cannot hold is refused at the request already
        call_id, tenant = form.litellm_call_id or "", asked.caller.tenant_id
        if form.input_type == "request":
            texts = form.texts or []
            messages = form.structured_messages or [{"role": "user", "content": text} for text in texts]
            screening = SourceScreening(self._gateway.suspected_sources)
            screened = await compute(screening.messages, messages, self._gateway.suspected_queries)
            grounds = screened.grounds
            kept = bool(call_id) and self._remembered.keep(tenant, call_id, grounds)
            told: dict[str, Any] = {
                "remembered": kept,
                "sources": len(grounds.sources),
                "unreadable_parts": grounds.unreadable,
            }
            if screening.findings:
                told["injections"] = [one.told() for one in screening.findings]
            return self._answer(asked, {"action": _NONE, "groundtrail": told})
        self._limits.admit(asked.caller.scope)
        held = self._remembered.found(tenant, call_id)
        return await self._judged(request, asked, (form, options, force), held or Grounds())

    async def _judged(
        self,
        request: Request,
        asked: Asked,
        wish: tuple[schemas.GuardrailForm, schemas.GuardrailOptions, PolicyInForce],
        grounds: Grounds,
    ) -> Response:
        form, options, force = wish
        texts = [text for text in form.texts or [] if text.strip()]
        screening = SourceScreening(self._gateway.suspected_sources)
        options = options.model_copy(update=await compute(screened_sources, options, screening))
        messages = [await compute(guardrail_request, text, options, grounds) for text in texts]
        if not all(map(has_sources, messages)):
            lacking = {"reason": _NO_SOURCES, "unreadable_parts": grounds.unreadable}
            if options.without_sources == "pass" and not needs_sources(force):
                return self._answer(asked, {"action": _NONE, "groundtrail": lacking})
            text = "Withheld: there is nothing to check this answer against."
            return self._answer(asked, {"action": _BLOCKED, "blocked_reason": text, "groundtrail": lacking})
        found = await asyncio.gather(*(self._asked(request, asked, message) for message in messages))
        checked = [await compute(_checked, one, force, grounds) for one in found]
        withheld = [one for one in checked if one["withheld"]]
        told: dict[str, Any] = {"checks": checked}
        if screening.findings:
            told["injections"] = [one.told() for one in screening.findings]
        if not withheld:
            return self._answer(asked, {"action": _NONE, "groundtrail": told})
        reason = " ".join(map(blocked_reason, withheld))
        return self._answer(asked, {"action": _BLOCKED, "blocked_reason": reason, "groundtrail": told})

    def _answer(self, asked: Asked, body: dict[str, Any]) -> Response:
        return json_response(body, headers={"X-Request-Id": asked.request_id})

    async def _force(self, asked: Asked, policy: str | None) -> PolicyInForce:
        request = PolicyRequest(safety_policy=policy or "")
        return await self._policies.in_force(asked.caller.tenant_id, request, names_none=policy is None)

    async def _asked(self, request: Request, asked: Asked, message: pb.CheckRequest) -> pb.CheckResponse:
        metadata = call_metadata(request, asked.request_id)
        call = self._stub.Check(message, timeout=self._settings.call_timeout_s, metadata=metadata)
        found: pb.CheckResponse = await until_disconnected(request, call)
        return found

    async def _form(self, request: Request, form: type[_FormT]) -> _FormT:
        body = await read_body(request, self._settings)
        return await compute_unless_small(len(body), _read, body, form, self._settings.max_json_nodes)


def _read(body: bytes, form: type[_FormT], most_nodes: int) -> _FormT:
    check_nodes(body, most_nodes)
    return read_form(body, form)


def _checked(response: pb.CheckResponse, force: PolicyInForce, grounds: Grounds) -> dict[str, Any]:
    found = check_answer(response, force, grounds, report=False)
    return {name: value for name, value in found.items() if name not in {"facts", "injections"}}
