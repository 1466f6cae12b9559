"""The error table: which gRPC status each reason has, what details go with it, and the way back on the client's side.

Invariants: every ``ErrorReason`` has a row; every error leaves with ``ErrorInfo`` (domain ``groundtrail``); the details
stay small, because trailers over 8 KiB are dropped by some proxies; nothing of an unexpected exception leaves.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import grpc
from google.protobuf import any_pb2
from google.rpc import error_details_pb2, status_pb2

from services.common.errors import (
    ChainBrokenError,
    ConflictError,
    CrpError,
    DeadlineError,
    ErrorReason,
    FieldViolation,
    InvalidRequestError,
    LimitExceededError,
    NotFoundError,
    PermissionDeniedError,
    PreconditionError,
    UnauthenticatedError,
    UnavailableError,
)

DOMAIN: Final = "groundtrail"
DETAILS_KEY: Final = "grpc-status-details-bin"
MAX_MESSAGE_BYTES: Final = 600
MAX_DETAILS_BYTES: Final = 4096
MAX_METADATA_CHARS: Final = 2000
MAX_VALUE_CHARS: Final = 200


@dataclass(frozen=True, slots=True)
class StatusRow:
    """One row: the status code and whether the same call can succeed later as it stands."""

    code: grpc.StatusCode
    retryable: bool


_INVALID: Final = StatusRow(grpc.StatusCode.INVALID_ARGUMENT, retryable=False)
_UNAUTHENTICATED: Final = StatusRow(grpc.StatusCode.UNAUTHENTICATED, retryable=False)
_DENIED: Final = StatusRow(grpc.StatusCode.PERMISSION_DENIED, retryable=False)
_NOT_FOUND: Final = StatusRow(grpc.StatusCode.NOT_FOUND, retryable=False)
_ABORTED: Final = StatusRow(grpc.StatusCode.ABORTED, retryable=False)  # a retry needs a fresh read first
_PRECONDITION: Final = StatusRow(grpc.StatusCode.FAILED_PRECONDITION, retryable=False)
_EXHAUSTED: Final = StatusRow(grpc.StatusCode.RESOURCE_EXHAUSTED, retryable=False)
_BUSY: Final = StatusRow(grpc.StatusCode.RESOURCE_EXHAUSTED, retryable=True)
_UNAVAILABLE: Final = StatusRow(grpc.StatusCode.UNAVAILABLE, retryable=True)

STATUS: Final[Mapping[ErrorReason, StatusRow]] = {
    ErrorReason.INVALID_FIELD: _INVALID,
    ErrorReason.UNSUPPORTED_MEDIA: _INVALID,
    ErrorReason.DOCUMENT_WITHOUT_TEXT: _INVALID,
    ErrorReason.UNKNOWN_MODEL: _INVALID,
    ErrorReason.UNKNOWN_DIRECTIVE: _INVALID,
    ErrorReason.PAGE_TOKEN_INVALID: _INVALID,
    ErrorReason.RESPONSE_ONLY_HEADER: _INVALID,
    ErrorReason.CONSTRAINT_WORDS_DISAGREE: _INVALID,
    ErrorReason.CREDENTIAL_MISSING: _UNAUTHENTICATED,
    ErrorReason.CREDENTIAL_INVALID: _UNAUTHENTICATED,
    ErrorReason.CREDENTIAL_EXPIRED: _UNAUTHENTICATED,
    ErrorReason.CREDENTIAL_REVOKED: _UNAUTHENTICATED,
    ErrorReason.TOKEN_INVALID: _UNAUTHENTICATED,
    ErrorReason.TOKEN_EXPIRED: _UNAUTHENTICATED,
    ErrorReason.TOKEN_SPENT: _UNAUTHENTICATED,
    ErrorReason.TOKEN_SCOPE_MISMATCH: _UNAUTHENTICATED,
    ErrorReason.ROLE_MISSING: _DENIED,
    ErrorReason.POLICY_RELAXED: _DENIED,
    ErrorReason.NAMESPACE_READ_ONLY: _DENIED,
    ErrorReason.REVIEWER_IS_AUTHOR: _DENIED,
    ErrorReason.SESSION_NOT_FOUND: _NOT_FOUND,
    ErrorReason.WINDOW_NOT_FOUND: _NOT_FOUND,
    ErrorReason.EVENT_NOT_FOUND: _NOT_FOUND,
    ErrorReason.CONTINUATION_NOT_FOUND: _NOT_FOUND,
    ErrorReason.REPORT_NOT_FOUND: _NOT_FOUND,
    ErrorReason.FACT_NOT_FOUND: _NOT_FOUND,
    ErrorReason.SOURCE_NOT_FOUND: _NOT_FOUND,
    ErrorReason.API_KEY_NOT_FOUND: _NOT_FOUND,
    ErrorReason.AI_SYSTEM_NOT_FOUND: _NOT_FOUND,
    ErrorReason.REVIEW_NOT_FOUND: _NOT_FOUND,
    ErrorReason.TRACE_NOT_FOUND: _NOT_FOUND,
    ErrorReason.PATH_NOT_FOUND: _NOT_FOUND,
    ErrorReason.OVERSIGHT_NOT_FOUND: _NOT_FOUND,
    ErrorReason.PROVIDER_NOT_FOUND: _NOT_FOUND,
    ErrorReason.COMMIT_RACE: _ABORTED,
    ErrorReason.ETAG_STALE: _ABORTED,
    ErrorReason.OVERSIGHT_TAKEN_OVER: _ABORTED,
    ErrorReason.SESSION_CLOSED: _PRECONDITION,
    ErrorReason.SESSION_EXPIRED: _PRECONDITION,
    ErrorReason.SESSION_HELD: _PRECONDITION,
    ErrorReason.REVIEW_EXPIRED: _PRECONDITION,
    ErrorReason.WINDOW_NOT_PENDING: _PRECONDITION,
    ErrorReason.REQUEST_ID_REUSED: _PRECONDITION,
    ErrorReason.NO_RELEVANT_FACTS: _PRECONDITION,
    ErrorReason.REPORT_MISMATCH: _PRECONDITION,
    ErrorReason.UNSUPPORTED_STRATEGY: _PRECONDITION,
    ErrorReason.FAN_IN_INCOMPLETE: _PRECONDITION,
    ErrorReason.DELEGATION_SUSPENDED: _PRECONDITION,
    ErrorReason.TRACE_MISMATCH: _PRECONDITION,
    ErrorReason.MESSAGE_TOO_LARGE: _EXHAUSTED,
    ErrorReason.DOCUMENT_TOO_COMPLEX: _EXHAUSTED,
    ErrorReason.CONCURRENCY_LIMIT: _BUSY,
    ErrorReason.LOGIN_LIMIT: _EXHAUSTED,
    ErrorReason.QUEUE_FULL: _BUSY,
    ErrorReason.BUDGET_TOO_SMALL: _EXHAUSTED,
    ErrorReason.WINDOW_LIMIT: _EXHAUSTED,
    ErrorReason.FAN_OUT_LIMIT: _EXHAUSTED,
    ErrorReason.DAG_NODE_LIMIT: _EXHAUSTED,
    ErrorReason.LOOP_DEPTH_LIMIT: _EXHAUSTED,
    ErrorReason.EVENT_LIMIT: _EXHAUSTED,
    ErrorReason.STORAGE_FULL: _EXHAUSTED,
    ErrorReason.WORK_LIMIT: _BUSY,
    ErrorReason.DEADLINE_UNREACHABLE: _BUSY,
    ErrorReason.RATE_LIMIT: _BUSY,
    ErrorReason.STORE_UNAVAILABLE: _UNAVAILABLE,
    ErrorReason.MODEL_UNAVAILABLE: _UNAVAILABLE,
    ErrorReason.LLM_UNAVAILABLE: _UNAVAILABLE,
    ErrorReason.SERVICE_UNAVAILABLE: _UNAVAILABLE,
    ErrorReason.QUALITY_UNREACHABLE: StatusRow(grpc.StatusCode.UNAVAILABLE, retryable=False),
    ErrorReason.QUALITY_DEGRADED: StatusRow(grpc.StatusCode.UNAVAILABLE, retryable=False),
    ErrorReason.MASTER_KEY_MISMATCH: StatusRow(grpc.StatusCode.UNAVAILABLE, retryable=False),
    ErrorReason.DEADLINE_EXCEEDED: StatusRow(grpc.StatusCode.DEADLINE_EXCEEDED, retryable=True),
    ErrorReason.CHAIN_BROKEN: StatusRow(grpc.StatusCode.DATA_LOSS, retryable=False),
    ErrorReason.LOG_INCONSISTENT: StatusRow(grpc.StatusCode.DATA_LOSS, retryable=False),
    ErrorReason.RECORD_UNREADABLE: StatusRow(grpc.StatusCode.DATA_LOSS, retryable=False),
    ErrorReason.INTERNAL: StatusRow(grpc.StatusCode.INTERNAL, retryable=False),
}

DEFAULT_RETRY_S: Final = 1.0
"""What RetryInfo says for a retryable UNAVAILABLE or RESOURCE_EXHAUSTED error that names no time itself."""

PERMANENT_CAUSES: Final = frozenset(
    {
        *(f"http_{status}" for status in (400, 401, 403, 404, 405, 410, 422)),
        *("malformed_reply", "wrong_content_type", "host_not_allowed"),
    }
)
"""Causes of LLM_UNAVAILABLE that somebody has to mend: a key, a model's name, an address that no such endpoint has."""

_CLASSES: Final[Mapping[grpc.StatusCode, type[CrpError]]] = {
    grpc.StatusCode.INVALID_ARGUMENT: InvalidRequestError,
    grpc.StatusCode.UNAUTHENTICATED: UnauthenticatedError,
    grpc.StatusCode.PERMISSION_DENIED: PermissionDeniedError,
    grpc.StatusCode.NOT_FOUND: NotFoundError,
    grpc.StatusCode.ABORTED: ConflictError,
    grpc.StatusCode.FAILED_PRECONDITION: PreconditionError,
    grpc.StatusCode.RESOURCE_EXHAUSTED: LimitExceededError,
    grpc.StatusCode.UNAVAILABLE: UnavailableError,
    grpc.StatusCode.DEADLINE_EXCEEDED: DeadlineError,
    grpc.StatusCode.DATA_LOSS: ChainBrokenError,
}

_RESERVED: Final = frozenset({"reason", "message", "violations", "retry_after_s", "x-request-id", "retryable"})


@dataclass(frozen=True, slots=True)
class WireError:
    """An error as it goes onto the wire: status, text, and the serialised ``google.rpc.Status``."""

    code: grpc.StatusCode
    message: str
    details: bytes


def to_wire(error: CrpError, request_id: str) -> WireError:
    """Turn an error into its status and details.

    Args:
        error: what was raised.
        request_id: of the call; goes into ErrorInfo so that a log of the client alone leads to ours.
    """
    row = STATUS[error.reason]
    message = _cut(error.message, MAX_MESSAGE_BYTES)
    status = status_pb2.Status(code=row.code.value[0], message=message)
    metadata = told_metadata(error, request_id)
    _attach(status, error_details_pb2.ErrorInfo(reason=error.reason.value, domain=DOMAIN, metadata=metadata))
    retry_after_s = told_retry_s(error)
    if retry_after_s is not None:
        retry = error_details_pb2.RetryInfo()
        retry.retry_delay.FromMicroseconds(round(retry_after_s * 1e6))
        _attach(status, retry)
    if row.code is grpc.StatusCode.FAILED_PRECONDITION:
        violation = error_details_pb2.PreconditionFailure.Violation(
            type=error.reason.value, subject=metadata.get("subject", DOMAIN), description=message
        )
        _attach(status, error_details_pb2.PreconditionFailure(violations=[violation]))
    if error.violations:
        _attach(status, _bad_request(error.violations, MAX_DETAILS_BYTES - status.ByteSize()))
    return WireError(row.code, message, status.SerializeToString())


def is_retryable(error: CrpError) -> bool:
    """Say whether the same call may succeed later; a provider that refuses the deployment's settings will not."""
    if error.reason is ErrorReason.LLM_UNAVAILABLE and error.metadata.get("cause") in PERMANENT_CAUSES:
        return False
    return STATUS[error.reason].retryable


def told_metadata(error: CrpError, request_id: str) -> dict[str, str]:
    """Return what a caller is told beside reason and message: the dynamic parts, the call, whether to repeat it."""
    retryable = "true" if is_retryable(error) else "false"
    return _metadata(error.metadata) | {"x-request-id": request_id, "retryable": retryable}


def told_retry_s(error: CrpError) -> float | None:
    """Return the seconds after which a caller is told to try again; ``None`` = it is told none."""
    row = STATUS[error.reason]
    if error.retry_after_s is None and is_retryable(error) and row.code is not grpc.StatusCode.DEADLINE_EXCEEDED:
        return DEFAULT_RETRY_S
    return error.retry_after_s


def from_wire(code: grpc.StatusCode, message: str, details: bytes | None, target: str) -> CrpError:
    """Turn a peer's answer back into the error that it raised, or into the nearest one when it came from elsewhere.

    Args:
        code: status code of the call.
        message: its text.
        details: value of ``grpc-status-details-bin``, if there was one.
        target: who was called; named where the peer could not be reached.
    """
    if details is not None:
        found = _from_details(status_pb2.Status.FromString(details))
        if found is not None:
            return found
    if code is grpc.StatusCode.DEADLINE_EXCEEDED:
        return DeadlineError(ErrorReason.DEADLINE_EXCEEDED, f"no answer from {target} within the deadline", peer=target)
    if code is grpc.StatusCode.RESOURCE_EXHAUSTED:  # gRPC's own, sent without details when the wire limit is hit
        text = f"a message to or from {target} is over the wire limit"
        return LimitExceededError(ErrorReason.MESSAGE_TOO_LARGE, text, peer=target)
    if code in {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.UNIMPLEMENTED, grpc.StatusCode.CANCELLED}:
        text = f"{target} does not serve this call now ({code.name})"
        return UnavailableError(
            ErrorReason.SERVICE_UNAVAILABLE, text, retry_after_s=DEFAULT_RETRY_S, peer=target, code=code.name
        )
    said = f": {message[:MAX_VALUE_CHARS]}" if message else ""
    return CrpError(ErrorReason.INTERNAL, f"{target} answered {code.name}{said}", peer=target)


def _from_details(status: status_pb2.Status) -> CrpError | None:
    info = error_details_pb2.ErrorInfo()
    retry = error_details_pb2.RetryInfo()
    bad = error_details_pb2.BadRequest()
    retry_after_s: float | None = None
    for detail in status.details:
        detail.Unpack(info)
        detail.Unpack(bad)
        if detail.Unpack(retry):
            retry_after_s = retry.retry_delay.ToMicroseconds() / 1e6
    if info.domain != DOMAIN or info.reason not in ErrorReason.__members__:
        return None
    reason = ErrorReason(info.reason)
    return _CLASSES.get(STATUS[reason].code, CrpError)(
        reason,
        status.message,
        violations=tuple(FieldViolation(v.field, v.description) for v in bad.field_violations),
        retry_after_s=retry_after_s,
        **{key: value for key, value in info.metadata.items() if key not in _RESERVED},
    )


def _metadata(given: Mapping[str, str]) -> dict[str, str]:
    """Return what fits of the metadata, in its order; a value that does not fit is cut short."""
    kept: dict[str, str] = {}
    room = MAX_METADATA_CHARS
    for key, value in given.items():
        kept[key] = value[: max(room, 0)]
        room -= len(key) + len(value)
        if room <= 0:
            break
    return kept


def _bad_request(violations: Iterable[FieldViolation], room_bytes: int) -> error_details_pb2.BadRequest:
    bad = error_details_pb2.BadRequest()
    for violation in violations:
        entry = bad.field_violations.add(
            field=violation.field[:MAX_VALUE_CHARS], description=violation.description[:MAX_VALUE_CHARS]
        )
        if bad.ByteSize() > room_bytes:
            entry.field, entry.description = "*", "more fields are wrong than fit here; correct these first"
            break
    return bad


def _attach(
    status: status_pb2.Status,
    detail: error_details_pb2.ErrorInfo
    | error_details_pb2.RetryInfo
    | error_details_pb2.PreconditionFailure
    | error_details_pb2.BadRequest,
) -> None:
    packed = any_pb2.Any()
    packed.Pack(detail)
    status.details.append(packed)


def _cut(text: str, limit_bytes: int) -> str:
    data = text.encode()
    if len(data) <= limit_bytes:
        return text
    return data[: limit_bytes - 3].decode(errors="ignore") + "…"
