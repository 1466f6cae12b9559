"""``crp.envelope.v1`` requests to and from ``EnvelopeRequest``, for who asks and for who answers."""

from crp.envelope.v1 import envelope_service_pb2 as pb

from services.common.envelope_request import (
    CARRIED_IMPORTANCE,
    TOOL_IMPORTANCE,
    CarriedText,
    EnvelopeRequest,
    ToolText,
)
from services.common.rpc.by_name import fill_by_name, read_by_name


def build_message(request: EnvelopeRequest) -> pb.BuildEnvelopeRequest:
    """Return the message that asks for a build; embeddings only where a window is built for, which is then analysed."""
    message = fill_by_name(pb.BuildEnvelopeRequest(include_embeddings=bool(request.window_id)), request)
    message.carried_facts.extend(fill_by_name(pb.CarriedFact(), text) for text in request.carried)
    message.tool_facts.extend(fill_by_name(pb.ToolFact(), text) for text in request.told)
    return message


def read_build(message: pb.BuildEnvelopeRequest) -> EnvelopeRequest:
    """Read a validated BuildEnvelopeRequest."""
    carried = tuple(_carried(each) for each in message.carried_facts)
    return read_by_name(
        message, EnvelopeRequest, carried=carried, told=tuple(_told(each) for each in message.tool_facts)
    )


def read_preview(message: pb.PreviewEnvelopeRequest) -> EnvelopeRequest:
    """Read a validated PreviewEnvelopeRequest."""
    return read_by_name(message, EnvelopeRequest)


def _carried(message: pb.CarriedFact) -> CarriedText:
    weight = message.importance_weight if message.HasField("importance_weight") else CARRIED_IMPORTANCE
    return CarriedText(message.content.strip(), message.source_window_id, message.transfer_type, weight)


def _told(message: pb.ToolFact) -> ToolText:
    weight = message.importance_weight if message.HasField("importance_weight") else TOOL_IMPORTANCE
    return ToolText(message.content.strip(), message.tool, weight)
