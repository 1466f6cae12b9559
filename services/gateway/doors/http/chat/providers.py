"""Who writes the answers of a dialect: the tenant's own provider for the model, else the deployment's (ADR 0163)."""

from dataclasses import dataclass
from typing import Any

from crp.dag.v1 import session_service_pb2 as dag
from crp.dag.v1.session_service_pb2_grpc import SessionServiceStub
from fastapi import Request

from services.common.context import Caller
from services.common.ports.chat_provider import ChatProvider
from services.gateway.doors.http.chat.asks import FIELD, Call, wrong
from services.gateway.doors.http.requests import call_metadata
from services.gateway.providers.own import OwnProviders
from services.gateway.providers.sealing import KeySource, ProviderKey

ANY: str = "*"


@dataclass(frozen=True, slots=True)
class ChatProviders:
    """The providers of one form.

    Attributes:
        form: as records of providers name it.
        deployment: the deployment's; ``None`` = none is configured.
        own: the tenants' own ones; ``None`` = there are none.
        sessions: gives the keys that theirs are sealed with.
    """

    form: str
    deployment: ChatProvider | None
    own: OwnProviders | None = None
    sessions: SessionServiceStub | None = None

    async def of(self, call: Call) -> ChatProvider:
        """Return who answers a call.

        Raises:
            InvalidRequestError: INVALID_FIELD: nobody does.
            UnavailableError, UnreadableRecordError: as ``OwnProviders.find``.
        """
        model = call.ask.value.get("model")
        if self.own is not None:
            keys = self._keys(call.request, call.request_id)
            asked = model if isinstance(model, str) else ""
            found = await self.own.find(call.caller.tenant_id, asked, keys, self.form)
            if found is not None:
                return found
        if self.deployment is None:
            raise wrong(
                f"{FIELD}.mode", "must be ground: this deployment has no provider of this form to pass a chat to"
            )
        return self.deployment

    async def provided(self, caller: Caller) -> bool:
        """Say whether anybody speaks the form for a caller."""
        return self.deployment is not None or bool(await self.own_models(caller, with_patterns=True))

    async def own_models(self, caller: Caller, *, with_patterns: bool = False) -> list[dict[str, Any]]:
        """Return the models that the tenant's own providers are asked for, as lists of models have them.

        Args:
            caller: of the tenant.
            with_patterns: those too that stand for many names.
        """
        if self.own is None:
            return []
        return [
            {"id": model, "object": "model", "created": int(one.updated_at.timestamp()), "owned_by": one.name}
            for one in await self.own.listed(caller.tenant_id)
            for model in one.models
            if one.form == self.form and (with_patterns or ANY not in model)
        ]

    def _keys(self, request: Request, request_id: str) -> KeySource:
        async def key(version: int) -> ProviderKey:
            assert self.sessions is not None
            wanted = dag.GetProviderKeyRequest(key_version=version)
            found = await self.sessions.GetProviderKey(wanted, metadata=call_metadata(request, request_id))
            return ProviderKey(found.key_version, found.provider_key)

        return key
