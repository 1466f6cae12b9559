"""OpenTelemetry traces: RPC → stage → inference call, with W3C ``traceparent`` between processes.

Without an OTLP endpoint nothing is made and nothing is sent; a ``traceparent`` that came in is passed on as it was.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from services.common.settings.environment import SettingsError
from services.common.settings.telemetry import TelemetrySettings, header_pairs

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SpanExporter

TRACE_KEYS: Final = ("traceparent", "tracestate")
_TRACES_PATH: Final = "/v1/traces"
_PROPAGATOR: Final = TraceContextTextMapPropagator()

_tracer: ContextVar[trace.Tracer | None] = ContextVar("groundtrail_tracer", default=None)
_received: ContextVar[Mapping[str, str] | None] = ContextVar("groundtrail_received_trace", default=None)
_outer: ContextVar[Mapping[str, str] | None] = ContextVar("groundtrail_outer_trace", default=None)


def open_tracing(settings: TelemetrySettings, service: str, version: str) -> "TracerProvider | None":
    """Return a provider that exports to the OTLP endpoint, or ``None`` when none is set.

    Raises:
        SettingsError: the file of trusted certificates cannot be read.
    """
    if not settings.otlp_endpoint:
        return None
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
    from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased

    exporter = _http_exporter(settings) if settings.otlp_protocol == "http/protobuf" else _grpc_exporter(settings)
    provider = TracerProvider(
        resource=Resource.create({"service.name": f"groundtrail-{service}", "service.version": version}),
        sampler=ParentBased(TraceIdRatioBased(settings.trace_ratio)),
        shutdown_on_exit=False,
    )
    provider.add_span_processor(BatchSpanProcessor(exporter))
    return provider


def _grpc_exporter(settings: TelemetrySettings) -> "SpanExporter":
    import grpc
    from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter

    trusted = None
    if settings.otlp_ca_file is not None:
        trusted = grpc.ssl_channel_credentials(_pem(settings.otlp_ca_file))
    return OTLPSpanExporter(
        endpoint=settings.otlp_endpoint,
        insecure=settings.otlp_insecure,
        credentials=trusted,
        headers=tuple(header_pairs(settings.otlp_headers.get_secret_value()).items()),
    )


def _http_exporter(settings: TelemetrySettings) -> "SpanExporter":
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from requests import Session

    address = settings.otlp_endpoint
    if urlsplit(address).path in {"", "/"}:
        address = address.rstrip("/") + _TRACES_PATH
    session, trusted = Session(), None
    if settings.otlp_ca_file is not None:
        _pem(settings.otlp_ca_file)
        trusted = str(settings.otlp_ca_file)
        session.trust_env = False  # REQUESTS_CA_BUNDLE would win over the setting
    headers = header_pairs(settings.otlp_headers.get_secret_value())
    return OTLPSpanExporter(endpoint=address, certificate_file=trusted, headers=headers, session=session)


def _pem(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        text = f"GROUNDTRAIL_TELEMETRY__OTLP_CA_FILE: {path} cannot be read: {error.strerror}"
        raise SettingsError([text]) from None


def begin_server_span(tracer: trace.Tracer, rpc: str, received: Mapping[str, str]) -> trace.Span:
    """Start the span of an RPC as a child of the caller's, and make it the running task's.

    The task is the RPC's own and ends with it, so nothing has to be put back.
    """
    parent = _PROPAGATOR.extract(received, otel_context.Context())
    service, _, method = rpc.removeprefix("/").partition("/")
    server_span = tracer.start_span(
        rpc.removeprefix("/"),
        context=parent,
        kind=trace.SpanKind.SERVER,
        attributes={"rpc.system": "grpc", "rpc.service": service, "rpc.method": method},
    )
    _tracer.set(tracer)
    otel_context.attach(trace.set_span_in_context(server_span, parent))
    return server_span


def end_server_span(server_span: trace.Span, code: str, code_number: int, reason: str) -> None:
    """Close the span of an RPC with its status."""
    server_span.set_attribute("rpc.grpc.status_code", code_number)
    if code != "OK":
        server_span.set_status(trace.Status(trace.StatusCode.ERROR, code))
        server_span.set_attribute("groundtrail.reason", reason)
    server_span.end()


def keep_received(received: Mapping[str, str]) -> None:
    """Remember the caller's trace headers so that an untraced process passes them on."""
    _received.set(received)


def follow_trace(received: Mapping[str, str]) -> None:
    """Make the caller's trace headers those that spans of the running task belong to, outside of an RPC."""
    _outer.set({name: received[name] for name in TRACE_KEYS if name in received})


def outgoing_context() -> otel_context.Context:
    """Return what the span of an outgoing call belongs to: the running span, else the caller's trace, else nothing."""
    running = otel_context.get_current()
    if trace.get_current_span(running).get_span_context().is_valid:
        return running
    return _PROPAGATOR.extract(_outer.get() or {}, otel_context.Context())


def inject_trace() -> dict[str, str]:
    """Return the trace headers that an outgoing call carries: of the running span, or else as received."""
    if _tracer.get() is None:
        return dict(_received.get() or {})
    carrier: dict[str, str] = {}
    _PROPAGATOR.inject(carrier)
    return carrier


@contextmanager
def span(name: str, **attributes: str | float | bool) -> Iterator[None]:
    """Time a stage or an inference call as a child of the running RPC; free when nothing is traced.

    Attributes are ids, counts and digests; text only through ``content``.
    """
    tracer = _tracer.get()
    if tracer is None:
        yield
        return
    # An exception's text may hold content: its class is enough here, the log has the rest.
    with tracer.start_as_current_span(
        name, attributes=attributes, record_exception=False, set_status_on_exception=False
    ) as current:
        try:
            yield
        except Exception as error:
            current.set_status(trace.Status(trace.StatusCode.ERROR, type(error).__name__))
            raise
