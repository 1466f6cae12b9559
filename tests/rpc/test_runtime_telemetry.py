"""Access lines, what is never in them, and traces across two servers."""

import io
import json
import logging
import ssl
from itertools import pairwise

import pytest
import structlog
from google.protobuf.wrappers_pb2 import StringValue
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from prometheus_client import CollectorRegistry

from services.common.errors import ErrorReason, PreconditionError
from services.common.rpc.client import open_channel
from services.common.settings import SettingsError, TelemetrySettings
from services.common.telemetry import (
    RpcMetrics,
    Telemetry,
    configure_logs,
    content,
    note,
    open_tracing,
    scrub,
    span,
)
from tests.fakes.certificates import own_certificate
from tests.fakes.runtime_probe import KEYS, SERVICE, key_record, probe, probe_settings
from tests.rpc.test_runtime_errors import failure

JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbGljZSJ9.c2lnbmF0dXJl"
SESSION_TOKEN = "eyJ2IjozLCJzaWQiOiJjcnBfc2Vzc18xIn0.c2lnbmF0dXJlc2lnbmF0dXJl"
TRACE_ID = "0af7651916cd43dd8448eb211c80319c"


@pytest.fixture
def lines():
    """Configure logs as a process does; return a function that reads the lines so far."""
    stream = io.StringIO()
    before = structlog.get_config()
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    configure_logs(TelemetrySettings(log_level="debug"), stream)
    yield lambda: [json.loads(line) for line in stream.getvalue().splitlines()]
    structlog.configure(**before)
    root.handlers[:], root.level = handlers, level
    configure_content(False)


def configure_content(on):
    before = structlog.get_config()
    configure_logs(TelemetrySettings(log_content=on), io.StringIO())
    structlog.configure(**before)
    logging.getLogger().handlers[:] = []


def access(lines):
    return [line for line in lines() if line["event"] == "rpc"]


async def test_one_access_line_per_call(lines):
    async def work(request, context):
        note(session_id="crp_sess_1", window_id="crp_win_1")
        if request.value == "fail":
            raise PreconditionError(ErrorReason.SESSION_CLOSED, "closed")
        return request

    async with probe({"Work": work}) as p:
        await p.call("Work", metadata=(("x-request-id", "r-1"),))
        await failure(p.call("Work", "fail", metadata=(("x-request-id", "r-2"),)))
        await failure(p.call("Work", key="", metadata=(("x-request-id", "r-3"),)))
    found = access(lines)
    durations = [line.pop("duration_ms") for line in found]
    assert all(0 < duration < 5000 for duration in durations)
    for line in found:
        assert line.pop("timestamp").endswith("Z")
    common = {"event": "rpc", "level": "info", "rpc": f"/{SERVICE}/Work"}
    about = {"tenant": "tenant-1", "session_id": "crp_sess_1", "window_id": "crp_win_1"}
    assert found == [
        common | about | {"code": "OK", "reason": "", "request_id": "r-1"},
        common | about | {"code": "FAILED_PRECONDITION", "reason": "SESSION_CLOSED", "request_id": "r-2"},
        common | {"code": "UNAUTHENTICATED", "reason": "CREDENTIAL_MISSING", "request_id": "r-3", "tenant": ""},
    ]


async def test_lines_written_during_a_call_name_it(lines):
    async def work(request, context):
        note(session_id="crp_sess_2")
        structlog.get_logger("x").warning("odd", count=3)
        logging.getLogger("library").warning("from a library")
        return request

    async with probe({"Work": work}) as p:
        await p.call("Work", metadata=(("x-request-id", "r-9"),))
    odd, library = (line for line in lines() if line["event"] in {"odd", "from a library"})
    for line in (odd, library):
        assert (line["request_id"], line["tenant"], line["session_id"]) == ("r-9", "tenant-1", "crp_sess_2")
    assert odd["count"] == 3


async def test_calls_do_not_share_notes(lines):
    async def work(request, context):
        if request.value == "first":
            note(session_id="crp_sess_first")
        return request

    async with probe({"Work": work}) as p:
        await p.call("Work", "first")
        await p.call("Work", "second")
    assert ["session_id" in line for line in access(lines)] == [True, False]


async def test_access_lines_can_be_turned_off(lines):
    settings = probe_settings().model_copy(update={"telemetry": TelemetrySettings(log_calls=False)})
    async with probe(settings=settings) as p:
        await p.call()
    assert access(lines) == []


@pytest.mark.parametrize("secret", [*KEYS.values(), JWT, SESSION_TOKEN, f"Bearer {JWT}", "Bearer {opaque-credential}"])
async def test_credentials_are_in_no_line_whatever_is_logged(lines, secret):
    async def careless(request, context):
        log, text = structlog.get_logger("careless"), "got " + secret
        log.warning(text, authorization=secret, token=secret, where={"nested": [secret]})
        logging.getLogger("library").error("calling with %s", secret)
        raise RuntimeError(f"failed with {secret}")

    async with probe({"Careless": careless}) as p:
        await failure(p.call("Careless", metadata=(("x-request-id", secret.removeprefix("Bearer ")),)))
        await failure(p.call("Careless", key=secret.removeprefix("Bearer ") + "x"))
    written = "".join(json.dumps(line) for line in lines())
    assert "careless" in written.lower()
    assert "RuntimeError" in written
    assert secret[-12:] not in written


def test_a_keys_prefix_may_stay_its_secret_may_not():
    key = "crp_gw_live_" + "aB3" * 10 + "zz"
    assert scrub(f"key {key} used") == "key crp_gw_live_aB3aB3aB[hidden] used"
    assert scrub("nothing here") == "nothing here"
    assert scrub("crp_cont_" + "x" * 32) == "[hidden]"


def test_content_shows_only_when_the_setting_allows_it():
    configure_content(False)
    assert content("the whole prompt") == "[16 characters]"
    configure_content(True)
    assert content("the whole prompt") == "the whole prompt"
    configure_content(False)


def test_console_format_is_scrubbed_too(lines):
    stream = io.StringIO()
    configure_logs(TelemetrySettings(log_format="console"), stream)
    structlog.get_logger("x").info("got " + KEYS["writer"], n=1)
    assert "W" * 32 not in stream.getvalue()
    assert "[hidden]" in stream.getvalue()


@pytest.mark.parametrize("form", ["json", "console"])
def test_a_lone_surrogate_of_a_hostile_text_breaks_no_stream(lines, form):
    stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="strict")
    configure_logs(TelemetrySettings(log_format=form), stream)
    structlog.get_logger("x").error("odd \ud800 text", exc_info=ValueError("caf\u00e9 \ud800"))
    stream.flush()
    text = stream.buffer.getvalue().decode("utf-8")
    assert "odd \\ud800 text" in text
    assert "caf\u00e9 \\ud800" in text


def test_levels_below_the_setting_are_not_written(lines):
    stream = io.StringIO()
    configure_logs(TelemetrySettings(log_level="warning"), stream)
    structlog.get_logger("x").info("quiet")
    structlog.get_logger("x").warning("loud")
    assert [json.loads(line)["event"] for line in stream.getvalue().splitlines()] == ["loud"]


class Traced:
    """A telemetry whose spans are kept for the test."""

    def __init__(self, monkeypatch):
        self.exporter = InMemorySpanExporter()
        provider = TracerProvider(shutdown_on_exit=False)
        provider.add_span_processor(SimpleSpanProcessor(self.exporter))

        def opened(settings, service, version):
            registry = CollectorRegistry()
            return Telemetry(registry, RpcMetrics(registry), provider=provider)

        monkeypatch.setattr("tests.fakes.runtime_probe.open_telemetry", opened)

    def spans(self):
        return {finished.name: finished for finished in self.exporter.get_finished_spans()}


async def test_spans_lead_from_the_caller_through_both_servers_to_the_stage(monkeypatch):
    traced = Traced(monkeypatch)

    async def back(request, context):
        with span("stage 2", facts=3):
            pass
        return request

    async with probe({"Back": back}) as second:

        async def front(request, context):
            rpc = channel.unary_unary(f"/{SERVICE}/Back", StringValue.SerializeToString, StringValue.FromString)
            with span("orchestrate"):
                return await rpc(request)

        async with open_channel(second.server.address, second.settings) as channel, probe({"Front": front}) as p:
            await p.call("Front", metadata=(("traceparent", f"00-{TRACE_ID}-b7ad6b7169203331-01"),))
            await p.channel.channel_ready()
            spans = traced.spans()
    names = [f"{SERVICE}/Front", "orchestrate", f"{SERVICE}/Back", "stage 2"]
    assert sorted(spans) == sorted(names)
    assert {f"{finished.context.trace_id:032x}" for finished in spans.values()} == {TRACE_ID}
    assert f"{spans[names[0]].parent.span_id:016x}" == "b7ad6b7169203331"
    for above, below in pairwise(names):
        assert spans[below].parent.span_id == spans[above].context.span_id
    attributes = {"rpc.system": "grpc", "rpc.service": SERVICE, "rpc.method": "Back", "rpc.grpc.status_code": 0}
    assert dict(spans[names[2]].attributes) == attributes
    assert dict(spans["stage 2"].attributes) == {"facts": 3}


async def test_failed_calls_mark_their_spans_and_health_makes_none(monkeypatch):
    traced = Traced(monkeypatch)

    async def fail(request, context):
        with span("stage"):
            raise RuntimeError("text with content")

    async with probe({"Fail": fail}) as p:
        await failure(p.call("Fail"))
        from tests.rpc.test_runtime_serving import SERVING, health

        assert await health(p) == SERVING
        spans = traced.spans()
    assert sorted(spans) == sorted([f"{SERVICE}/Fail", "stage"])
    top = spans[f"{SERVICE}/Fail"]
    assert (top.status.description, top.attributes["groundtrail.reason"]) == ("INTERNAL", "INTERNAL")
    assert spans["stage"].status.description == "RuntimeError"
    assert "content" not in top.to_json() + spans["stage"].to_json()


def test_no_endpoint_no_traces():
    assert open_tracing(TelemetrySettings(), "dpe", "0") is None


def test_an_endpoint_opens_an_exporter():
    settings = TelemetrySettings(otlp_endpoint="127.0.0.1:4317", otlp_insecure=True)
    provider = open_tracing(settings, "dpe", "1.2")
    assert provider.resource.attributes["service.name"] == "groundtrail-dpe"
    assert provider.resource.attributes["service.version"] == "1.2"
    provider.shutdown()


async def test_spans_are_exported_to_the_collector_of_the_setting():
    from concurrent import futures

    import grpc
    from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc

    received = []

    class Collector(trace_service_pb2_grpc.TraceServiceServicer):
        def Export(self, request, context):  # noqa: N802 - gRPC's name
            received.append(request)
            return trace_service_pb2.ExportTraceServiceResponse()

    collector = grpc.server(futures.ThreadPoolExecutor(1))
    trace_service_pb2_grpc.add_TraceServiceServicer_to_server(Collector(), collector)
    port = collector.add_insecure_port("127.0.0.1:0")
    collector.start()
    telemetry = TelemetrySettings(otlp_endpoint=f"127.0.0.1:{port}", otlp_insecure=True)
    async with probe(settings=probe_settings().model_copy(update={"telemetry": telemetry})) as p:
        await p.call()
    collector.stop(0).wait()
    spans = [one for request in received for group in request.resource_spans for one in group.scope_spans[0].spans]
    assert [one.name for one in spans] == [f"{SERVICE}/Echo"]


class HttpCollector:
    """Takes OTLP over HTTP, with TLS where it is given a certificate; keeps paths, headers and spans."""

    def __init__(self, certificate=None):
        from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
        from threading import Thread

        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

        self.paths, self.headers, self.spans = [], [], []
        kept = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                kept.paths.append(self.path)
                kept.headers.append({key.lower(): value for key, value in self.headers.items()})
                for group in ExportTraceServiceRequest.FromString(body).resource_spans:
                    kept.spans.extend(one.name for one in group.scope_spans[0].spans)
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.port = self.server.server_address[1]
        self._thread = Thread(target=self.server.serve_forever, daemon=True)
        self._thread.start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self._thread.join()


async def test_spans_go_over_http_with_the_headers_of_the_setting():
    collector = HttpCollector()
    telemetry = TelemetrySettings(
        otlp_protocol="http/protobuf",
        otlp_endpoint=f"http://127.0.0.1:{collector.port}",
        otlp_headers="Authorization=Basic%20cHVibGljOnNlY3JldA%3D%3D, x-project=groundtrail",
    )
    try:
        async with probe(settings=probe_settings().model_copy(update={"telemetry": telemetry})) as p:
            await p.call()
    finally:
        collector.close()
    assert (collector.paths, collector.spans) == (["/v1/traces"], [f"{SERVICE}/Echo"])
    (headers,) = collector.headers
    assert headers["authorization"] == "Basic cHVibGljOnNlY3JldA=="
    assert headers["x-project"] == "groundtrail"
    assert headers["content-type"] == "application/x-protobuf"
    assert "secret" not in str(telemetry)
    assert "cHVibGlj" not in telemetry.model_dump_json()


def test_a_collector_with_tls_is_trusted_by_the_file_of_the_setting(tmp_path, monkeypatch):
    monkeypatch.setenv(
        "REQUESTS_CA_BUNDLE", str(tmp_path / "absent.pem")
    )  # of the environment; the setting says otherwise
    certificate = own_certificate(tmp_path)
    collector = HttpCollector(certificate)
    telemetry = TelemetrySettings(
        otlp_protocol="http/protobuf",
        otlp_endpoint=f"https://127.0.0.1:{collector.port}/otel/v1/traces",
        otlp_headers="x-key=k",
        otlp_ca_file=certificate[0],
    )
    try:
        provider = open_tracing(telemetry, "dpe", "0")
        with provider.get_tracer("t").start_as_current_span("one"):
            pass
        provider.shutdown()
    finally:
        collector.close()
    assert (collector.paths, collector.spans) == (["/otel/v1/traces"], ["one"])


async def test_a_grpc_collector_gets_the_headers_too():
    from concurrent import futures

    import grpc
    from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc

    seen = []

    class Collector(trace_service_pb2_grpc.TraceServiceServicer):
        def Export(self, request, context):  # noqa: N802 - gRPC's name
            seen.append(dict(context.invocation_metadata()))
            return trace_service_pb2.ExportTraceServiceResponse()

    collector = grpc.server(futures.ThreadPoolExecutor(1))
    trace_service_pb2_grpc.add_TraceServiceServicer_to_server(Collector(), collector)
    port = collector.add_insecure_port("127.0.0.1:0")
    collector.start()
    settings = TelemetrySettings(otlp_endpoint=f"127.0.0.1:{port}", otlp_insecure=True, otlp_headers="X-Key=a%2Cb")
    provider = open_tracing(settings, "dpe", "0")
    with provider.get_tracer("t").start_as_current_span("one"):
        pass
    provider.shutdown()
    collector.stop(0).wait()
    assert [metadata["x-key"] for metadata in seen] == ["a,b"]


def test_a_file_of_trusted_certificates_that_is_not_there_stops_the_start(tmp_path):
    for protocol, endpoint in (("grpc", "127.0.0.1:4317"), ("http/protobuf", "https://127.0.0.1:4318")):
        settings = TelemetrySettings(
            otlp_protocol=protocol, otlp_endpoint=endpoint, otlp_ca_file=tmp_path / "absent.pem"
        )
        with pytest.raises(SettingsError, match="OTLP_CA_FILE"):
            open_tracing(settings, "dpe", "0")


async def test_access_lines_stay_json_whatever_is_noted(lines):
    hostile = 'a"b\\c\nd'

    async def work(request, context):
        note(session_id=hostile)
        return request

    async with probe({"Work": work}) as p:
        p.store._keys.clear()
        await p.store.put_key(key_record("writer", tenant=hostile))
        await p.call("Work")
    assert [(line["tenant"], line["session_id"]) for line in access(lines)] == [(hostile, hostile)]


async def test_console_and_json_access_lines_say_the_same(lines, capsys):
    configure_logs(TelemetrySettings(log_format="console"))
    async with probe() as p:
        await p.call(metadata=(("x-request-id", "r-5"),))
    written = capsys.readouterr().err
    for part in (f"/{SERVICE}/Echo", "OK", "r-5", "tenant-1", "duration_ms"):
        assert part in written
