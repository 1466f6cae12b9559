"""DispatchBatch between the contract and the app: items that can be asked, results, the worst case on top."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from crp.gateway.v1 import dispatch_service_pb2 as pb

from services.common.errors import CrpError
from services.common.rpc.validation import Violations
from services.common.settings import GatewaySettings
from services.common.taxonomy import PROTOCOL_VERSION
from services.gateway.dispatch.batch import BatchItem
from services.gateway.dispatch.several import CameTo
from services.gateway.domain.worst_case import worst_case
from services.gateway.doors.grpc import convert, validate
from services.gateway.doors.grpc.failures import dispatch_failure, told_headers
from services.gateway.doors.grpc.work import dispatch_units

MAX_ITEMS: Final = 100


def batch_request(request: pb.DispatchBatchRequest) -> None:
    """Check what the items have to be together; each on its own is checked as it is asked.

    Raises:
        InvalidRequestError: INVALID_FIELD with every violation.
    """
    found, items = Violations(), request.dispatches
    found.require(1 <= len(items) <= MAX_ITEMS, "dispatches", f"must hold 1 to {MAX_ITEMS} queries")
    ids = Counter(item.request_id for item in items)
    for index, item in enumerate(items[:MAX_ITEMS]):
        once = not item.request_id or ids[item.request_id] == 1
        found.require(once, f"dispatches[{index}].request_id", "must be of this item alone")
    found.raise_if_any()


def batch_items(request: pb.DispatchBatchRequest, settings: GatewaySettings) -> list[BatchItem]:
    """Return the items of a valid batch, those that cannot be asked with the reason."""
    return [_item(dispatch, settings) for dispatch in request.dispatches]


def batch_response(request: pb.DispatchBatchRequest, came_to: Sequence[CameTo]) -> pb.DispatchBatchResponse:
    """Return the results in the order of the request, with the worst case of their headers."""
    said = [told_headers(one) if isinstance(one, CrpError) else one.headers for one in came_to]
    return pb.DispatchBatchResponse(
        items=[_result(asked, one) for asked, one in zip(request.dispatches, came_to, strict=True)],
        headers=convert.headers(worst_case(said, PROTOCOL_VERSION)),
    )


def _item(request: pb.DispatchRequest, settings: GatewaySettings) -> BatchItem:
    try:
        validate.dispatch_request(request, settings)
    except CrpError as error:
        return BatchItem(error)
    return BatchItem(convert.dispatch_command(request), dispatch_units(request))


def _result(asked: pb.DispatchRequest, came_to: CameTo) -> pb.DispatchBatchItem:
    if isinstance(came_to, CrpError):
        return pb.DispatchBatchItem(request_id=asked.request_id, failure=dispatch_failure(came_to))
    response = convert.dispatch_response(came_to, asked.report_view)
    return pb.DispatchBatchItem(request_id=asked.request_id, response=response)
