"""Who calls over HTTP: proven before a byte of the body is read, at the same gate as over gRPC (ADR 0089)."""

from typing import Final

from fastapi import Request

from services.common.context import Caller, Role
from services.common.errors import ErrorReason, PermissionDeniedError
from services.common.rpc.credential_gate import CredentialGate
from services.common.rpc.peer_address import FORWARDED_KEY
from services.common.rpc.pipeline import AUTHORIZATION_KEY
from services.common.settings.edge import UNIX

_HTTP: Final = "http"
API_KEY: Final = "x-api-key"
"""Where clients of Anthropic's form, and proxies, put a key."""


def credential_of(request: Request) -> str:
    """Return what ``Authorization`` holds, or what ``x-api-key`` does where clients have only that.

    Two credentials prove nobody: joined they match no form of credential.
    """
    given = request.headers.getlist(AUTHORIZATION_KEY)
    keys = [f"Bearer {key.strip()}" for key in request.headers.getlist(API_KEY)]
    return " ".join([*given, *keys]).strip()


async def prove_caller(request: Request, gate: CredentialGate, role: Role, rpc: str) -> Caller:
    """Return the caller, proven, who may call ``rpc``.

    Raises:
        UnauthenticatedError, LimitExceededError, UnavailableError: as ``CredentialGate.prove``.
        PermissionDeniedError: ROLE_MISSING.
    """
    host = UNIX if request.client is None else request.client.host
    address = gate.addresses.behind(host, request.headers.getlist(FORWARDED_KEY))
    caller = await gate.prove(credential_of(request), address, _HTTP)
    if not caller.allows(role):
        raise PermissionDeniedError(
            ErrorReason.ROLE_MISSING,
            f"{rpc} needs the role {role.value}, which this credential does not have",
            role=role.value,
            rpc=rpc,
        )
    return caller
