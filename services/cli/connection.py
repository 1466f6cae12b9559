"""The suite as a command sees it: stubs of a running server, or of the whole suite started inside the process."""

from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import grpc

from services.cli.local_state import LocalState
from services.common.errors import CrpError, FieldViolation, InvalidRequestError
from services.common.rpc.status import from_wire
from services.common.settings import Settings

if TYPE_CHECKING:  # generated code and services: loaded by the command that asks them
    from crp.ckf.v1 import knowledge_service_pb2_grpc as knowledge
    from crp.dag.v1 import retention_service_pb2_grpc as retention
    from crp.dag.v1 import session_service_pb2_grpc as sessions
    from crp.dag.v1 import transparency_service_pb2_grpc as transparency
    from crp.dpe.v1 import provenance_service_pb2_grpc as provenance
    from crp.envelope.v1 import envelope_service_pb2_grpc as envelopes
    from crp.gateway.v1 import admin_service_pb2_grpc as admin
    from crp.gateway.v1 import dispatch_service_pb2_grpc as dispatch
    from crp.gateway.v1 import feedback_service_pb2_grpc as feedback
    from crp.gateway.v1 import review_service_pb2_grpc as reviews
    from crp.gateway.v1 import violation_report_service_pb2_grpc as violation_reports
    from ercp.v1 import ercp_service_pb2_grpc as ercp

    from services.allinone.parts import Part

CALL_TIMEOUT_S: Final = 120.0
"""How long a command waits for one call; a PDF of hundreds of pages takes most of it on two cores."""

_NOT_GRPC: Final = "Failed parsing HTTP/2"
"""Words of gRPC's own, which has no code for it."""

ResponseT = TypeVar("ResponseT")


class Suite:
    """Stubs of the services that commands use, each made when it is first used, and the credential they present.

    They may all stand on one address or, behind a proxy, on several.

    Args:
        address: that the channel leads to, for messages.
        api_key: the credential.
        channel: leads to the services.
    """

    def __init__(self, address: str, api_key: str, channel: grpc.aio.Channel) -> None:
        self.address = address
        self.api_key = api_key
        self._channel = channel

    @cached_property
    def knowledge(self) -> "knowledge.KnowledgeServiceStub":
        """Facts and sources."""
        from crp.ckf.v1.knowledge_service_pb2_grpc import KnowledgeServiceStub

        return KnowledgeServiceStub(self._channel)  # type: ignore[no-untyped-call]

    @cached_property
    def envelopes(self) -> "envelopes.EnvelopeServiceStub":
        """What a model gets to see."""
        from crp.envelope.v1.envelope_service_pb2_grpc import EnvelopeServiceStub

        return EnvelopeServiceStub(self._channel)  # type: ignore[no-untyped-call]

    @cached_property
    def provenance(self) -> "provenance.ProvenanceServiceStub":
        """Analyses and checks."""
        from crp.dpe.v1.provenance_service_pb2_grpc import ProvenanceServiceStub

        return ProvenanceServiceStub(self._channel)  # type: ignore[no-untyped-call]

    @cached_property
    def sessions(self) -> "sessions.SessionServiceStub":
        """Sessions, windows, reports."""
        from crp.dag.v1.session_service_pb2_grpc import SessionServiceStub

        return SessionServiceStub(self._channel)  # type: ignore[no-untyped-call]

    @cached_property
    def transparency(self) -> "transparency.TransparencyServiceStub":
        """The log."""
        from crp.dag.v1.transparency_service_pb2_grpc import TransparencyServiceStub

        return TransparencyServiceStub(self._channel)  # type: ignore[no-untyped-call]

    @cached_property
    def retention(self) -> "retention.RetentionServiceStub":
        """How long sessions stay."""
        from crp.dag.v1.retention_service_pb2_grpc import RetentionServiceStub

        return RetentionServiceStub(self._channel)  # type: ignore[no-untyped-call]

    @cached_property
    def admin(self) -> "admin.AdminServiceStub":
        """Keys, AI systems, policies."""
        from crp.gateway.v1.admin_service_pb2_grpc import AdminServiceStub

        return AdminServiceStub(self._channel)  # type: ignore[no-untyped-call]

    @cached_property
    def dispatch(self) -> "dispatch.DispatchServiceStub":
        """Questions and their checked answers."""
        from crp.gateway.v1.dispatch_service_pb2_grpc import DispatchServiceStub

        return DispatchServiceStub(self._channel)  # type: ignore[no-untyped-call]

    @cached_property
    def reviews(self) -> "reviews.ReviewServiceStub":
        """Answers that wait for a person."""
        from crp.gateway.v1.review_service_pb2_grpc import ReviewServiceStub

        return ReviewServiceStub(self._channel)  # type: ignore[no-untyped-call]

    @cached_property
    def violation_reports(self) -> "violation_reports.ViolationReportServiceStub":
        """Reports that no endpoint took."""
        from crp.gateway.v1.violation_report_service_pb2_grpc import ViolationReportServiceStub

        return ViolationReportServiceStub(self._channel)  # type: ignore[no-untyped-call]

    @cached_property
    def feedback(self) -> "feedback.FeedbackServiceStub":
        """What people say about verdicts."""
        from crp.gateway.v1.feedback_service_pb2_grpc import FeedbackServiceStub

        return FeedbackServiceStub(self._channel)  # type: ignore[no-untyped-call]

    @cached_property
    def ercp(self) -> "ercp.ErcpServiceStub":
        """The constraint loop."""
        from ercp.v1.ercp_service_pb2_grpc import ErcpServiceStub

        return ErcpServiceStub(self._channel)  # type: ignore[no-untyped-call]

    def acting(self, api_key: str) -> "Suite":
        """Return the suite as the holder of another credential sees it; none is shown when it is empty."""
        return Suite(self.address, api_key, self._channel)

    async def call(self, method: Any, request: Any, *, timeout_s: float = CALL_TIMEOUT_S) -> Any:
        """Call one RPC and return its response.

        Raises:
            CrpError: what the server refused or could not do.
        """
        pending: Awaitable[Any] = method(request, timeout=timeout_s, metadata=self._credential())
        try:
            return await pending
        except grpc.aio.AioRpcError as error:
            raise self._error(error) from None

    async def stream(self, method: Any, request: Any) -> AsyncIterator[Any]:
        """Call a server-streaming RPC and yield its responses. Raises as ``call``."""
        try:
            async for response in method(request, metadata=self._credential()):
                yield response
        except grpc.aio.AioRpcError as error:
            raise self._error(error) from None

    def _credential(self) -> tuple[tuple[str, str], ...]:
        """Return the credential as metadata; none for a server that asks for none."""
        return (("authorization", f"Bearer {self.api_key}"),) if self.api_key else ()

    def _error(self, error: grpc.aio.AioRpcError) -> CrpError:
        details = dict(error.trailing_metadata() or ()).get("grpc-status-details-bin")
        if details is None and error.code() is grpc.StatusCode.UNAVAILABLE:
            _check_address(self.address, error.details() or "")
        return from_wire(error.code(), error.details() or "", _as_bytes(details), self.address)


def _check_address(address: str, said: str) -> None:
    """Look into what gRPC says of a server that it did not reach: another port is nothing that waiting mends.

    Raises:
        InvalidRequestError: INVALID_FIELD: the port speaks something else.
    """
    if _NOT_GRPC in said:
        text = (
            f"{address} does not speak gRPC but, as far as can be told, HTTP: name the server's gRPC port, 50051 "
            "unless it was started with --port"
        )
        raise InvalidRequestError.of(FieldViolation("GROUNDTRAIL_CLIENT__SERVER", text))


def _as_bytes(value: str | bytes | None) -> bytes | None:
    return value.encode() if isinstance(value, str) else value


@asynccontextmanager
async def connect(settings: Settings, *parts: "Part") -> AsyncIterator[Suite]:
    """Give the suite: the server that ``GROUNDTRAIL_CLIENT__SERVER`` names, or one inside this process.

    The in-process suite keeps its data and its API key under the data directory, so that the next command finds the
    same sessions.

    Args:
        settings: of the command.
        parts: what the command asks; a server inside this process is started with these alone, with everything when
            none is named.
    """
    if settings.client.server:
        async with _open(settings.client.server, settings) as channel:
            yield Suite(settings.client.server, settings.client.api_key.get_secret_value(), channel)
        return
    from services.allinone.embedded import embedded

    async with embedded(settings, parts=parts) as system:
        state = LocalState(Path(settings.store.data_dir))
        key = state.api_key()
        if not key or not await system.accepts(key):
            key = await system.issue_key("groundtrail command line")
            state.keep_api_key(key)
        async with _open(system.address, settings) as channel:
            yield Suite(system.address, key, channel)


@asynccontextmanager
async def _open(address: str, settings: Settings) -> AsyncIterator[grpc.aio.Channel]:
    client = settings.client
    limit = settings.server.max_message_bytes
    options = (("grpc.max_receive_message_length", limit), ("grpc.max_send_message_length", -1))
    if client.server and client.ca_file is not None:
        credentials = grpc.ssl_channel_credentials(
            root_certificates=client.ca_file.read_bytes(),
            private_key=client.key_file.read_bytes() if client.key_file else None,
            certificate_chain=client.certificate_file.read_bytes() if client.certificate_file else None,
        )
        async with grpc.aio.secure_channel(address, credentials, options=options) as channel:
            yield channel
        return
    async with grpc.aio.insecure_channel(address, options=options) as channel:
        yield channel
