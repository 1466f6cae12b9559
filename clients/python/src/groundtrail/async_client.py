"""A server, as a program with an event loop calls it."""

from collections.abc import Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from groundtrail.answers import Answer, Head, answer_of, ask_request
from groundtrail.client import TIMEOUT_S, address_of
from groundtrail.requests import OPTIONS, check_request, metadata_of, told
from groundtrail.results import CheckResult, result_of
from groundtrail.sources import Source

if TYPE_CHECKING:
    import asyncio

    import grpc.aio
    from crp.dpe.v1 import provenance_service_pb2 as checks


class AsyncGroundtrail:
    """A server's services; for one event loop at a time. Arguments and errors as ``Groundtrail``."""

    def __init__(
        self,
        server: str = "",
        api_key: str = "",
        *,
        credentials: "grpc.ChannelCredentials | None" = None,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        self.address = address_of(server)
        self._metadata = metadata_of(api_key)
        self._credentials = credentials
        self._timeout_s = timeout_s
        self._opened: tuple[asyncio.AbstractEventLoop, grpc.aio.Channel] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the channel; calls that run are ended."""
        import asyncio

        opened, self._opened = self._opened, None
        if opened is not None and opened[0] is asyncio.get_running_loop():
            await opened[1].close()

    async def check(
        self, answer: str, facts: Iterable[Source], question: str = "", *, earlier_answers: Iterable[str] = ()
    ) -> CheckResult:
        """Return what is found; files are read in a thread. Arguments and errors as ``groundtrail.check``."""
        import asyncio

        request = await asyncio.to_thread(check_request, answer, facts, question, earlier_answers)
        return result_of(await self.checked(request))

    async def checked(self, request: "checks.CheckRequest") -> "checks.CheckResponse":
        """Call ``ProvenanceService.Check``. Raises as ``check``."""
        from crp.dpe.v1.provenance_service_pb2_grpc import ProvenanceServiceStub

        stub = ProvenanceServiceStub(self._channel())  # type: ignore[no-untyped-call]
        response: checks.CheckResponse = await self._call(stub.Check, request)
        return response

    async def ask(self, question: str, **wishes: Any) -> Answer:
        """Return an answer from the tenant's documents. Arguments and errors as ``Groundtrail.ask``."""
        from crp.gateway.v1.dispatch_service_pb2_grpc import DispatchServiceStub

        stub = DispatchServiceStub(self._channel())  # type: ignore[no-untyped-call]
        return answer_of(await self._call(stub.Dispatch, ask_request(question, wishes)))

    def session(self, token: str = "", continuation_id: str = "") -> "AsyncSession":
        """Return a session: a new one, or one that went on to a token and its continuation id."""
        return AsyncSession(self, token, continuation_id)

    def _channel(self) -> "grpc.aio.Channel":
        import asyncio

        import grpc.aio

        loop = asyncio.get_running_loop()
        if self._opened is None or self._opened[0] is not loop:
            channel = (
                grpc.aio.insecure_channel(self.address, options=OPTIONS)
                if self._credentials is None
                else grpc.aio.secure_channel(self.address, self._credentials, options=OPTIONS)
            )
            self._opened = (loop, channel)
        return self._opened[1]

    async def _call(self, method: Any, request: Any) -> Any:
        import grpc

        try:
            return await method(request, timeout=self._timeout_s, metadata=self._metadata)
        except grpc.RpcError as error:
            raise told(error, self.address) from None


class AsyncSession(Head):
    """A conversation, as ``Session``."""

    def __init__(self, client: AsyncGroundtrail, token: str = "", continuation_id: str = "") -> None:
        super().__init__(token, continuation_id)
        self._client = client

    async def ask(self, question: str, **wishes: Any) -> Answer:
        """Return the next answer. Arguments and errors as ``Session.ask``."""
        return self.moved(await self._client.ask(question, **self.wishes(wishes)))
