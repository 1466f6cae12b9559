"""A server, as a program calls it: checks and questions, each a call that waits."""

from collections.abc import Callable, Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from groundtrail.answers import Answer, Head, answer_of, ask_request
from groundtrail.errors import GroundtrailError
from groundtrail.requests import OPTIONS, SERVER_VARIABLE, check_request, metadata_of, server_of, told
from groundtrail.results import CheckResult, result_of
from groundtrail.sources import Source

if TYPE_CHECKING:
    import grpc
    from crp.dpe.v1 import provenance_service_pb2 as checks

ResponseT = TypeVar("ResponseT")
TIMEOUT_S: Final = 120.0
MISSING: Final = f"no server is named: give server= as host:port, or set {SERVER_VARIABLE}"


class Groundtrail:
    """A server's services over one channel; for any number of threads.

    ``with Groundtrail("localhost:50051", api_key) as groundtrail`` closes the channel at its end.

    Args:
        server: ``host:port``; empty = what GROUNDTRAIL_CLIENT__SERVER names.
        api_key: for the server; empty = GROUNDTRAIL_CLIENT__API_KEY.
        credentials: of a TLS channel; ``None`` = without TLS.
        timeout_s: how long a call may take.

    Raises:
        GroundtrailError: NO_SERVER: none is named.
    """

    def __init__(
        self,
        server: str = "",
        api_key: str = "",
        *,
        credentials: "grpc.ChannelCredentials | None" = None,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        import grpc

        self.address = address_of(server)
        self._metadata = metadata_of(api_key)
        self._timeout_s = timeout_s
        self._channel = (
            grpc.insecure_channel(self.address, options=OPTIONS)
            if credentials is None
            else grpc.secure_channel(self.address, credentials, options=OPTIONS)
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the channel; calls that run are ended."""
        self._channel.close()

    def check(
        self, answer: str, facts: Iterable[Source], question: str = "", *, earlier_answers: Iterable[str] = ()
    ) -> CheckResult:
        """Return what is found in an answer. Arguments and errors as ``groundtrail.check``."""
        return result_of(self.checked(check_request(answer, facts, question, earlier_answers)))

    def checked(self, request: "checks.CheckRequest") -> "checks.CheckResponse":
        """Call ``ProvenanceService.Check``. Raises as ``check``."""
        from crp.dpe.v1.provenance_service_pb2_grpc import ProvenanceServiceStub

        stub = ProvenanceServiceStub(self._channel)  # type: ignore[no-untyped-call]
        response: checks.CheckResponse = self._call(stub.Check, request)
        return response

    def ask(self, question: str, **wishes: Any) -> Answer:
        """Return an answer from the tenant's documents, as a session of its own.

        Args:
            question: what is asked.
            **wishes: further fields of ``DispatchRequest`` by their names, e.g. ``safety_policy="halt-on HIGH"``.

        Raises:
            WithheldError: the answer was withheld, or waits for a person.
            GroundtrailError: the server refused or is away, or a wish is wrong.
        """
        from crp.gateway.v1.dispatch_service_pb2_grpc import DispatchServiceStub

        stub = DispatchServiceStub(self._channel)  # type: ignore[no-untyped-call]
        return answer_of(self._call(stub.Dispatch, ask_request(question, wishes)))

    def session(self, token: str = "", continuation_id: str = "") -> "Session":
        """Return a session: a new one, or one that went on to a token and its continuation id."""
        return Session(self, token, continuation_id)

    def _call(self, method: Callable[..., ResponseT], request: Any) -> ResponseT:
        import grpc

        try:
            return method(request, timeout=self._timeout_s, metadata=self._metadata)
        except grpc.RpcError as error:
            raise told(error, self.address) from None


class Session(Head):
    """A conversation: each question continues the one before it; behind a complete session a new one begins.

    Args:
        client: asks.
        token: of an earlier answer; empty = a new session.
        continuation_id: of that answer.
    """

    def __init__(self, client: Groundtrail, token: str = "", continuation_id: str = "") -> None:
        super().__init__(token, continuation_id)
        self._client = client

    def ask(self, question: str, **wishes: Any) -> Answer:
        """Return the next answer. Arguments and errors as ``Groundtrail.ask``; an error changes nothing here."""
        return self.moved(self._client.ask(question, **self.wishes(wishes)))


def address_of(server: str) -> str:
    """Return the address of a server.

    Raises:
        GroundtrailError: NO_SERVER: none is named.
    """
    address = server_of(server)
    if not address:
        raise GroundtrailError("NO_SERVER", MISSING)
    return address
