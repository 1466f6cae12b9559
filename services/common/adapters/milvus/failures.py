"""Where the client's errors end: nothing above the adapter ever sees one.

What the server, the network or the way there causes is STORE_UNAVAILABLE; a server that has no room is STORAGE_FULL.
Anything else is a mistake of ours and passes through unchanged, to be reported as INTERNAL. Milvus's own message may
name hosts and hold expressions, so that only its code goes to callers; the message stands in the log, as the cause.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import grpc
from pymilvus.exceptions import MilvusException, ParamError

from services.common.errors import CrpError, ErrorReason, LimitExceededError, UnavailableError

STORE: Final = "milvus"
RETRY_S: Final = 1.0
"""``retry_after_s`` of a failure that time can heal."""
_RETRY_REFUSED_S: Final = 30.0
_FULL: Final = frozenset({3, 7, 9})
"""Milvus's codes for no memory, no disk and a quota that is used up."""
_OURS: Final = frozenset(range(1_100, 1_200))
_REFUSED: Final = frozenset({1_400, 1_401, 1_402})
_NOT_NOW: Final = frozenset(
    {1, 2, 4, 5, 8}  # not ready, too busy
    | {*range(101, 107), *range(201, 204), *range(300, 302)}  # a collection, partition or replica is being loaded
    | {*range(400, 404), *range(500, 505), *range(600, 604), *range(900, 904)}  # a node, channel or segment comes back
)
"""Milvus's codes for what passes."""
_WAY_REFUSED: Final = frozenset({"UNAUTHENTICATED", "PERMISSION_DENIED"})
_WAY_OURS: Final = frozenset({"INVALID_ARGUMENT", "UNIMPLEMENTED", "OUT_OF_RANGE"})


def unavailable(why: str, cause: str, retry_after_s: float = RETRY_S) -> UnavailableError:
    """Build the error for a store that cannot serve now.

    Args:
        why: for people.
        cause: a stable word or Milvus's code, for programs.
        retry_after_s: seconds after which a retry can help.
    """
    message = f"Milvus cannot serve: {why}"
    return UnavailableError(
        ErrorReason.STORE_UNAVAILABLE, message, retry_after_s=retry_after_s, store=STORE, cause=cause
    )


def passes(error: Exception) -> bool:
    """Say whether the same request can succeed a moment later."""
    if isinstance(error, grpc.RpcError | MilvusException):
        code = error.code() if callable(error.code) else error.code
        if isinstance(code, grpc.StatusCode):
            return code is grpc.StatusCode.UNAVAILABLE
        return code in _NOT_NOW
    return False


def translate(error: Exception) -> CrpError | None:
    """Return what an error of the client means to a caller, ``None`` when it is a mistake of ours."""
    if isinstance(error, ParamError):
        return None
    if isinstance(error, TimeoutError):
        return unavailable("it did not answer in time", "timeout")
    if not isinstance(error, grpc.RpcError | MilvusException):
        return None
    code = error.code() if callable(error.code) else error.code
    return _of_status(code) if isinstance(code, grpc.StatusCode) else _of_code(int(code))


def _of_status(code: grpc.StatusCode) -> CrpError | None:
    if code.name in _WAY_REFUSED:
        return unavailable("it refuses the credential; check GROUNDTRAIL_MILVUS__TOKEN", code.name, _RETRY_REFUSED_S)
    if code.name in _WAY_OURS:
        return None
    return unavailable("it cannot be reached, or did not answer in time", code.name)


def _of_code(code: int) -> CrpError | None:
    if code in _FULL:
        return LimitExceededError(
            ErrorReason.STORAGE_FULL,
            f"Milvus has no room (code {code}): give it memory or disk, or raise its quota",
            store=STORE,
            cause=str(code),
        )
    if code in _REFUSED:
        return unavailable("it refuses the credential; check GROUNDTRAIL_MILVUS__TOKEN", str(code), _RETRY_REFUSED_S)
    if code in _OURS:
        return None
    return unavailable(f"it gave up (code {code})", str(code))


@contextmanager
def translated() -> Iterator[None]:
    """Translate the client's errors of a block."""
    try:
        yield
    except (MilvusException, grpc.RpcError, TimeoutError) as error:
        meaning = translate(error)
        if meaning is None:
            raise
        raise meaning from error
