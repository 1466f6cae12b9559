"""Why one query among several came to nothing, with all that a status and its metadata would say (SPEC-004 §16)."""

from crp.gateway.v1 import dispatch_pb2
from crp.gateway.v1 import dispatch_service_pb2 as pb

from services.common.context import current_call
from services.common.errors import CrpError
from services.common.rpc.protocol_headers import failure_headers
from services.common.rpc.status import told_metadata, told_retry_s
from services.gateway.domain.headers import Header


def dispatch_failure(error: CrpError) -> pb.DispatchFailure:
    """Return the failure of a query of the running call."""
    retry_s = told_retry_s(error)
    return pb.DispatchFailure(
        reason=error.reason.value,
        message=error.message,
        metadata=told_metadata(error, current_call().request_id),
        fields=[pb.FailedField(field=one.field, description=one.description) for one in error.violations],
        retry_after_ms=None if retry_s is None else round(max(0.0, retry_s) * 1_000),
        headers=[dispatch_pb2.CrpHeader(name=name, value=value) for name, value in failure_headers(error)],
    )


def told_headers(error: CrpError) -> tuple[Header, ...]:
    """Return the CRP headers of a failure."""
    return tuple(Header(name, value) for name, value in failure_headers(error))
