"""What is asked of a server, and how a server's refusal reads."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from groundtrail.errors import GroundtrailError
from groundtrail.sources import Document, Fact, Source

if TYPE_CHECKING:
    import grpc
    from crp.dpe.v1 import provenance_service_pb2 as pb

SERVER_VARIABLE: Final = "GROUNDTRAIL_CLIENT__SERVER"
API_KEY_VARIABLE: Final = "GROUNDTRAIL_CLIENT__API_KEY"
OPTIONS: Final = (("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1))
"""Of a channel: the server decides how long a message may be."""


def check_request(
    answer: str, facts: Iterable[Source], question: str = "", earlier_answers: Iterable[str] = ()
) -> "pb.CheckRequest":
    """Return the request of a check; files are read.

    Raises:
        OSError: a file cannot be read.
    """
    from crp.dpe.v1 import provenance_service_pb2 as pb

    request = pb.CheckRequest(answer=answer, question=question, earlier_answers=earlier_answers)
    for source in facts:
        match source:
            case str():
                request.facts.append(pb.CheckFact(content=source))
            case Fact():
                request.facts.append(pb.CheckFact(content=source.text, title=source.title))
            case Document():
                request.documents.append(
                    pb.CheckDocument(name=source.name, content=source.content, media_type=source.media_type)
                )
            case Path():
                request.documents.append(pb.CheckDocument(name=source.name, content=source.read_bytes()))
    return request


def server_of(server: str) -> str:
    """Return the address that is given, else that of the environment; empty for none."""
    return server or os.environ.get(SERVER_VARIABLE, "")


def metadata_of(api_key: str) -> tuple[tuple[str, str], ...]:
    """Return what a call shows: the key that is given, else that of the environment."""
    key = api_key or os.environ.get(API_KEY_VARIABLE, "")
    return (("authorization", f"Bearer {key}"),) if key else ()


def told(error: "grpc.RpcError", address: str) -> GroundtrailError:
    """Return what a server refused, with the reason of its details."""
    from google.rpc import error_details_pb2, status_pb2

    pairs = cast("Iterable[tuple[str, str | bytes]]", error.trailing_metadata() or ())
    trailers = dict(pairs)
    details = trailers.get("grpc-status-details-bin")
    reason = error.code().name
    for detail in status_pb2.Status.FromString(details).details if isinstance(details, bytes) else ():
        info = error_details_pb2.ErrorInfo()
        if detail.Unpack(info):
            reason = info.reason
    return GroundtrailError(reason, f"{address}: {error.details()}")
