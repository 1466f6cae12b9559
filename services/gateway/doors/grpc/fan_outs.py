"""FanOut between the contract and the app: what a task in parts must look like, and its events."""

import hashlib
from dataclasses import replace
from typing import Final

from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.gateway.v1 import dispatch_service_pb2 as pb

from services.common.errors import CrpError, InvalidRequestError
from services.common.rpc.validation import Violations
from services.common.settings import GatewaySettings
from services.gateway.dispatch.fanning import FEWEST, Child, FanEvent, Opened
from services.gateway.domain.command import DispatchCommand
from services.gateway.doors.grpc import convert, validate
from services.gateway.doors.grpc.failures import dispatch_failure

MAX_QUERIES: Final = 50
"""As many windows as a session has at most, whatever its max_fan_out."""


def fan_out_request(request: pb.FanOutRequest, settings: GatewaySettings) -> None:
    """Check a request; fields are named as in ``dispatch``.

    Raises:
        InvalidRequestError: INVALID_FIELD with every violation.
    """
    found, queries, most = Violations(), list(request.queries), settings.max_query_chars
    asked = request.dispatch
    found.require(len(queries) != 1, "queries", f"must hold {FEWEST} or more, or none: then the query is taken apart")
    found.require(len(queries) <= MAX_QUERIES, "queries", f"must hold at most {MAX_QUERIES} queries")
    found.require(len(set(queries)) == len(queries), "queries", "must not hold a query twice")
    for index, query in enumerate(queries[:MAX_QUERIES]):
        sound = query.strip() and len(query) <= most
        found.require(sound, f"queries[{index}]", f"must have 1 to {most} characters")
    found.require(
        len(asked.continuation_ids) <= 1, "continuation_ids", "must hold one id at most: a fan-out has one parent"
    )
    fan_out = {taxonomy.DISPATCH_STRATEGY_FAN_OUT}
    found.require(set(asked.strategies) <= fan_out, "strategies", "must be empty, or fan-out alone")
    wish = asked.agent_dispatch_strategy
    found.require(not wish or wish in fan_out, "agent_dispatch_strategy", "must be unset, or fan-out")
    try:
        validate.dispatch_request(asked, settings)
    except InvalidRequestError as error:
        raise InvalidRequestError.of(*found.found, *error.violations) from None
    found.raise_if_any()


def fan_out_command(request: pb.FanOutRequest) -> DispatchCommand:
    """Return the task of a valid request; its digest covers the parts as well."""
    command = convert.dispatch_command(request.dispatch)
    body = "\n".join((command.body_hash, *(hashlib.sha256(query.encode()).hexdigest() for query in request.queries)))
    return replace(command, body_hash=hashlib.sha256(body.encode()).hexdigest())


def fan_out_event(event: FanEvent, view: int) -> pb.FanOutResponse:
    """Return an event as a message, its reports in the view that was asked for."""
    if isinstance(event, Child):
        child = pb.FanOutChild(index=event.index, query=event.query)
        if isinstance(event.came_to, CrpError):
            child.failure.CopyFrom(dispatch_failure(event.came_to))
        else:
            child.response.CopyFrom(convert.dispatch_response(event.came_to, view))
        return pb.FanOutResponse(child=child)
    response = convert.dispatch_response(event.result, view)
    return pb.FanOutResponse(parent=response) if isinstance(event, Opened) else pb.FanOutResponse(fan_in=response)
