"""The protocol's headers over HTTP: requests into their fields, answers out of typed values (CRP-SPEC-002).

One table names the request headers for gRPC and HTTP (``validate.FIELDS_BY_HEADER``), one function makes the response
headers (``domain/headers.py``). A header that is not understood, or that stands twice, is refused: one that was not
read would silently weaken what the caller asked for. No text of an answer gets into a header.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final

from crp.dpe.v1 import report_pb2
from crp.gateway.v1 import dispatch_service_pb2 as pb
from fastapi import Request
from starlette.responses import Response

from services.common.rpc.protocol_headers import RETRY_AFTER
from services.common.rpc.validation import Violations
from services.common.taxonomy import PROTOCOL_VERSION
from services.gateway.clients.provenance import report_summary
from services.gateway.domain.headers import HeaderInputs, PolicyOutcome, response_headers
from services.gateway.domain.outcome import PolicyInForce, retry_condition
from services.gateway.doors.grpc.validate import FIELDS_BY_HEADER, request_headers

VERSION_HEADER: Final = "CRP-Context-Protocol-Version"
HEADER_OF_FIELD: Final = {field: header for header, field in FIELDS_BY_HEADER.items()}
OF_CHECKS: Final = frozenset(
    {
        *("safety_policy", "safety_policy_report_only", "safety_mode", "oversight_mode", "accept_risk"),
        *("stream_safety_mode", "data_residency"),
    }
)
"""What has a meaning for an answer of somebody else's that is checked; everything else needs a dispatch."""


def asked_in_headers(request: Request) -> pb.DispatchRequest:
    """Return what the protocol's headers of a request ask for, in their fields; everything else is unset.

    Raises:
        InvalidRequestError: RESPONSE_ONLY_HEADER, or INVALID_FIELD naming every header that cannot be read.
    """
    asked, found = pb.DispatchRequest(), Violations()
    seen: set[str] = set()
    for name, text in request_headers(request.headers.items()):
        if name in seen:
            found.add(name, "must stand there once")
            continue
        seen.add(name)
        try:
            _set(asked, FIELDS_BY_HEADER[name], text.strip())
        except ValueError as error:
            found.add(name, str(error))
    found.raise_if_any()
    return asked


def refuse_beyond_checks(asked: pb.DispatchRequest) -> None:
    """Refuse headers that only a dispatch can honour.

    Raises:
        InvalidRequestError: INVALID_FIELD naming each.
    """
    found = Violations()
    for field, _ in asked.ListFields():
        if field.name not in OF_CHECKS:
            found.add(HEADER_OF_FIELD[field.name], "is for mode ground; here an answer of your provider is checked")
    found.raise_if_any()


def policy_headers(force: PolicyInForce) -> dict[str, str]:
    """Return what can be said before an answer is judged."""
    return _named(HeaderInputs(strategy=None, policy=PolicyOutcome(force.applied, force.oversight)))


def checked_headers(
    report: report_pb2.DpeReport, force: PolicyInForce, violated: Iterable[str], halt_reason: str
) -> dict[str, str]:
    """Return the headers of an answer that was checked.

    Args:
        report: of the check; it belongs to no session.
        force: the policy.
        violated: directives that do not hold.
        halt_reason: why it is withheld; empty when it is not.
    """
    retry = retry_condition(halt_reason) if halt_reason else ""
    outcome = PolicyOutcome(force.applied, force.oversight, tuple(dict.fromkeys(violated)), retry)
    return _named(HeaderInputs(strategy=None, policy=outcome, report=report_summary(report)))


def withheld_unchecked(force: PolicyInForce) -> dict[str, str]:
    """Return the headers of an answer that is withheld though nothing was judged."""
    return policy_headers(force) | {RETRY_AFTER: retry_condition("NO_SOURCES")}


def dispatched_headers(response: pb.DispatchResponse) -> dict[str, str]:
    """Return the headers of a dispatch, every one of them."""
    return {header.name: header.value for header in response.headers}


def label(response: Response) -> Response:
    """Return a response that says which version of the protocol it speaks, whatever it answers."""
    response.headers.setdefault(VERSION_HEADER, PROTOCOL_VERSION)
    return response


def _named(inputs: HeaderInputs) -> dict[str, str]:
    return {header.name: header.value for header in response_headers(inputs)}


def _set(asked: pb.DispatchRequest, name: str, text: str) -> None:
    """Fill a field from the text of its header.

    Raises:
        ValueError: the text is none that the field can hold.
    """
    field = asked.DESCRIPTOR.fields_by_name[name]
    read: Callable[[str], Any] = _reader(field)
    if field.is_repeated:
        getattr(asked, name).extend(read(part) for part in map(str.strip, text.split(",")))
        return
    value = read(text)
    try:
        setattr(asked, name, value)
    except (ValueError, TypeError):
        raise ValueError("is out of range") from None


def _reader(field: Any) -> Callable[[str], Any]:
    if field.enum_type is not None:
        return lambda text: _member(field.enum_type, text)
    if field.cpp_type == field.CPPTYPE_DOUBLE:
        return _number
    if field.cpp_type == field.CPPTYPE_UINT32:
        return _whole
    return str


def _member(enum: Any, text: str) -> int:
    prefix = enum.values_by_number[0].name.removesuffix("UNSPECIFIED")
    known = {value.name.removeprefix(prefix): number for number, value in enum.values_by_number.items() if number}
    word = text.upper().replace("-", "_")
    if word not in known:
        upper = any(len(name) == 1 or name == "CRITICAL" for name in known)
        names = [name if upper else name.lower().replace("_", "-") for name in known]
        raise ValueError(f"must be {', '.join(names[:-1])} or {names[-1]}")
    return int(known[word])


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError("must be a decimal fraction") from None


def _whole(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise ValueError("must be a whole number")
    return int(text)
