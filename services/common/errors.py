"""The errors that Groundtrail raises on purpose, and the stable reasons they carry.

    CrpError
    ├── InvalidRequestError       the request is malformed (lists every field violation)
    ├── UnauthenticatedError      no credential, or one that does not hold
    ├── PermissionDeniedError     the credential is good and does not allow this
    ├── NotFoundError             the named thing does not exist for this tenant
    ├── ConflictError             two writers raced, or an etag is stale
    ├── PreconditionError         the state forbids it
    ├── LimitExceededError        a size, rate, depth or quota limit
    ├── UnavailableError          a backend is down or full; the caller may retry
    ├── DeadlineError             the caller's time is up
    ├── ChainBrokenError          a broken chain met while continuing it
    │   └── UnreadableRecordError a stored record that does not parse; a fault of that record alone
    └── LogInconsistentError      a tenant's transparency log does not hold together

    StartupError                  the process cannot start; for whoever starts it, never sent to a caller

Nothing here knows gRPC or HTTP: ``services.common.rpc.status`` maps a reason to a status code.
"""

from dataclasses import dataclass
from enum import StrEnum, unique
from typing import Final

INTERNAL_TEXT: Final = "an internal fault; give the request id to the operator, it finds the fault in the log"


@unique
class ErrorReason(StrEnum):
    """Stable reason codes; one row each in ``error_reason.proto``, ``rpc/status.py`` and ``docs/errors.md``."""

    # INVALID_ARGUMENT
    INVALID_FIELD = "INVALID_FIELD"
    UNSUPPORTED_MEDIA = "UNSUPPORTED_MEDIA"
    DOCUMENT_WITHOUT_TEXT = "DOCUMENT_WITHOUT_TEXT"
    UNKNOWN_MODEL = "UNKNOWN_MODEL"
    UNKNOWN_DIRECTIVE = "UNKNOWN_DIRECTIVE"
    PAGE_TOKEN_INVALID = "PAGE_TOKEN_INVALID"  # noqa: S105 - a reason, not a secret
    RESPONSE_ONLY_HEADER = "RESPONSE_ONLY_HEADER"
    CONSTRAINT_WORDS_DISAGREE = "CONSTRAINT_WORDS_DISAGREE"
    # UNAUTHENTICATED
    CREDENTIAL_MISSING = "CREDENTIAL_MISSING"
    CREDENTIAL_INVALID = "CREDENTIAL_INVALID"
    CREDENTIAL_EXPIRED = "CREDENTIAL_EXPIRED"
    CREDENTIAL_REVOKED = "CREDENTIAL_REVOKED"
    TOKEN_INVALID = "TOKEN_INVALID"  # noqa: S105 - the same
    TOKEN_EXPIRED = "TOKEN_EXPIRED"  # noqa: S105 - the same
    TOKEN_SPENT = "TOKEN_SPENT"  # noqa: S105 - the same
    TOKEN_SCOPE_MISMATCH = "TOKEN_SCOPE_MISMATCH"  # noqa: S105 - the same
    # PERMISSION_DENIED
    ROLE_MISSING = "ROLE_MISSING"
    POLICY_RELAXED = "POLICY_RELAXED"
    NAMESPACE_READ_ONLY = "NAMESPACE_READ_ONLY"
    REVIEWER_IS_AUTHOR = "REVIEWER_IS_AUTHOR"
    # NOT_FOUND
    SESSION_NOT_FOUND = "SESSION_NOT_FOUND"
    WINDOW_NOT_FOUND = "WINDOW_NOT_FOUND"
    EVENT_NOT_FOUND = "EVENT_NOT_FOUND"
    CONTINUATION_NOT_FOUND = "CONTINUATION_NOT_FOUND"
    REPORT_NOT_FOUND = "REPORT_NOT_FOUND"
    FACT_NOT_FOUND = "FACT_NOT_FOUND"
    SOURCE_NOT_FOUND = "SOURCE_NOT_FOUND"
    API_KEY_NOT_FOUND = "API_KEY_NOT_FOUND"
    AI_SYSTEM_NOT_FOUND = "AI_SYSTEM_NOT_FOUND"
    REVIEW_NOT_FOUND = "REVIEW_NOT_FOUND"
    TRACE_NOT_FOUND = "TRACE_NOT_FOUND"
    PATH_NOT_FOUND = "PATH_NOT_FOUND"
    OVERSIGHT_NOT_FOUND = "OVERSIGHT_NOT_FOUND"
    PROVIDER_NOT_FOUND = "PROVIDER_NOT_FOUND"
    # ABORTED
    COMMIT_RACE = "COMMIT_RACE"
    ETAG_STALE = "ETAG_STALE"
    OVERSIGHT_TAKEN_OVER = "OVERSIGHT_TAKEN_OVER"
    # FAILED_PRECONDITION
    SESSION_CLOSED = "SESSION_CLOSED"
    SESSION_EXPIRED = "SESSION_EXPIRED"
    SESSION_HELD = "SESSION_HELD"
    REVIEW_EXPIRED = "REVIEW_EXPIRED"
    WINDOW_NOT_PENDING = "WINDOW_NOT_PENDING"
    REQUEST_ID_REUSED = "REQUEST_ID_REUSED"
    NO_RELEVANT_FACTS = "NO_RELEVANT_FACTS"
    REPORT_MISMATCH = "REPORT_MISMATCH"
    UNSUPPORTED_STRATEGY = "UNSUPPORTED_STRATEGY"
    FAN_IN_INCOMPLETE = "FAN_IN_INCOMPLETE"
    DELEGATION_SUSPENDED = "DELEGATION_SUSPENDED"
    TRACE_MISMATCH = "TRACE_MISMATCH"
    # RESOURCE_EXHAUSTED
    MESSAGE_TOO_LARGE = "MESSAGE_TOO_LARGE"
    DOCUMENT_TOO_COMPLEX = "DOCUMENT_TOO_COMPLEX"
    CONCURRENCY_LIMIT = "CONCURRENCY_LIMIT"
    LOGIN_LIMIT = "LOGIN_LIMIT"
    QUEUE_FULL = "QUEUE_FULL"
    BUDGET_TOO_SMALL = "BUDGET_TOO_SMALL"
    WINDOW_LIMIT = "WINDOW_LIMIT"
    FAN_OUT_LIMIT = "FAN_OUT_LIMIT"
    DAG_NODE_LIMIT = "DAG_NODE_LIMIT"
    LOOP_DEPTH_LIMIT = "LOOP_DEPTH_LIMIT"
    EVENT_LIMIT = "EVENT_LIMIT"
    STORAGE_FULL = "STORAGE_FULL"
    WORK_LIMIT = "WORK_LIMIT"
    DEADLINE_UNREACHABLE = "DEADLINE_UNREACHABLE"
    RATE_LIMIT = "RATE_LIMIT"
    # UNAVAILABLE
    STORE_UNAVAILABLE = "STORE_UNAVAILABLE"
    MODEL_UNAVAILABLE = "MODEL_UNAVAILABLE"
    LLM_UNAVAILABLE = "LLM_UNAVAILABLE"
    SERVICE_UNAVAILABLE = "SERVICE_UNAVAILABLE"
    QUALITY_UNREACHABLE = "QUALITY_UNREACHABLE"
    QUALITY_DEGRADED = "QUALITY_DEGRADED"
    MASTER_KEY_MISMATCH = "MASTER_KEY_MISMATCH"
    # DEADLINE_EXCEEDED
    DEADLINE_EXCEEDED = "DEADLINE_EXCEEDED"
    # DATA_LOSS
    CHAIN_BROKEN = "CHAIN_BROKEN"
    LOG_INCONSISTENT = "LOG_INCONSISTENT"
    RECORD_UNREADABLE = "RECORD_UNREADABLE"
    # INTERNAL
    INTERNAL = "INTERNAL"


@dataclass(frozen=True, slots=True)
class FieldViolation:
    """One field that was wrong: its proto path, what was wrong and what is allowed."""

    field: str
    description: str


class CrpError(Exception):
    """Anything that Groundtrail refuses or cannot do, with a reason that programs can rely on.

    Args:
        reason: the stable code.
        message: one sentence for people: what was wrong and what to do next. Never holds prompts, facts or secrets.
        violations: the fields that were wrong, all of them at once.
        retry_after_s: seconds after which a retry can help; ``None`` when a retry is useless as it stands.
        metadata: every dynamic part of the message, as strings.
    """

    def __init__(
        self,
        reason: ErrorReason,
        message: str,
        *,
        violations: tuple[FieldViolation, ...] = (),
        retry_after_s: float | None = None,
        **metadata: str,
    ) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.violations = violations
        self.retry_after_s = retry_after_s
        self.metadata = metadata


def internal_error() -> CrpError:
    """Return what the caller learns of an unexpected exception: nothing but where to ask."""
    return CrpError(ErrorReason.INTERNAL, INTERNAL_TEXT)


class InvalidRequestError(CrpError):
    """The request is malformed; nothing was done."""

    @classmethod
    def of(cls, *violations: FieldViolation) -> "InvalidRequestError":
        """Build the error for one or more wrong fields."""
        text = "; ".join(f"{v.field}: {v.description}" for v in violations)
        return cls(ErrorReason.INVALID_FIELD, text, violations=tuple(violations))


class UnauthenticatedError(CrpError):
    """The caller's credential or session token does not hold."""


class PermissionDeniedError(CrpError):
    """The caller is known and may not do this."""


class NotFoundError(CrpError):
    """The named thing does not exist, or not for this tenant (the two are not told apart)."""


class ConflictError(CrpError):
    """Another writer came first; read again and retry."""


class PreconditionError(CrpError):
    """The present state forbids the operation."""


class LimitExceededError(CrpError):
    """A limit or quota was reached."""


class UnavailableError(CrpError):
    """A backend cannot serve now."""


class DeadlineError(CrpError):
    """The caller's deadline passed before the work was done."""


class ChainBrokenError(CrpError):
    """The stored chain does not verify; the session cannot be continued (SPEC-004 §16.4)."""


class LogInconsistentError(CrpError):
    """The tenant's transparency log and what is known of it disagree: nothing is written or signed (ADR 0099)."""

    @classmethod
    def of(cls, detail: str, **metadata: str) -> "LogInconsistentError":
        """Build the error; ``detail`` says what does not hold, without content."""
        text = f"the tenant's transparency log does not hold together: {detail}; nothing is written to it until it does"
        error = cls(ErrorReason.LOG_INCONSISTENT, text, detail=detail)
        error.metadata = {**error.metadata, **metadata}
        return error


class UnreadableRecordError(ChainBrokenError):
    """A stored record does not parse; whatever does not need this record goes on (ADR 0101).

    Args:
        record_kind: session, window, edge, event, report, leaf, log, fact, ...
        record_id: its id; ``source -> target`` for an edge, the sequence for an event.
        detail: what cannot be read, in words that follow the id; never what stands there.
        session_id: the session that it belongs to, where there is one.
        field: the column; empty when it is not one alone.
    """

    def __init__(self, record_kind: str, record_id: str, detail: str, *, session_id: str = "", field: str = "") -> None:
        super().__init__(
            ErrorReason.RECORD_UNREADABLE,
            f"the stored {record_kind} {record_id} {detail}; keep the evidence and restore it from a backup",
            record_kind=record_kind,
            record_id=record_id,
            session_id=session_id,
            field=field,
        )
        self.record_kind = record_kind
        self.record_id = record_id
        self.detail = detail

    @classmethod
    def of_field(cls, record_kind: str, record_id: str, field: str, *, session_id: str = "") -> "UnreadableRecordError":
        """Build the error for one column of which the value is none that the column can have."""
        detail = f"cannot be read: its {field} holds no value of its kind"
        return cls(record_kind, record_id, detail, session_id=session_id, field=field)

    def while_continuing(self) -> ChainBrokenError:
        """Return the refusal of a step that needed the record: the session cannot be continued (SPEC-004 §16.4)."""
        text = f"the stored {self.record_kind} {self.record_id} {self.detail}; start a new session"
        refusal = ChainBrokenError(ErrorReason.CHAIN_BROKEN, text)
        refusal.metadata |= self.metadata
        return refusal


class StartupError(RuntimeError):
    """The process cannot start as it is set up; the message names the file or setting and what is wrong with it."""
