"""What is asked of a server, and how a server's refusal reads."""

import os
from collections.abc import Iterable, Mapping
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
        GroundtrailError: INVALID_FIELD: something is not of the kind that is asked for; the message names it.
        OSError: a file cannot be read.
    """
    from crp.dpe.v1 import provenance_service_pb2 as pb

    request = pb.CheckRequest(answer=_text("answer", answer), question=_text("question", question))
    for number, earlier in enumerate(_several("earlier_answers", earlier_answers)):
        request.earlier_answers.append(_text(f"earlier_answers[{number}]", earlier))
    for number, source in enumerate(_several("facts", facts)):
        match source:
            case str():
                request.facts.append(pb.CheckFact(content=_text(f"facts[{number}]", source)))
            case Fact():
                request.facts.append(pb.CheckFact(content=source.text, title=source.title))
            case Document():
                request.documents.append(
                    pb.CheckDocument(name=source.name, content=source.content, media_type=source.media_type)
                )
            case Path():
                request.documents.append(pb.CheckDocument(name=source.name, content=source.read_bytes()))
            case _:
                raise _wrong(f"facts[{number}]", f"must be a text, a Fact, a Document or a Path, not {_kind(source)}")
    return request


def _text(name: str, given: object) -> str:
    if not isinstance(given, str):
        raise _wrong(name, f"must be a text, not {_kind(given)}")
    try:
        given.encode()
    except UnicodeEncodeError:
        raise _wrong(name, "must be Unicode text; it holds half of a surrogate pair") from None
    return given


def _several(name: str, given: object) -> Iterable[object]:
    """Return what is several; a text alone is several characters to Python, and one thing to whoever gave it."""
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise _wrong(name, f"must be a list, not {_kind(given)}")
    return given


def _kind(given: object) -> str:
    return type(given).__name__


def _wrong(name: str, text: str) -> GroundtrailError:
    return GroundtrailError("INVALID_FIELD", f"{name}: {text}")


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
