"""Bad input from outside, on a real server: status, reason, field; and the state is as it was before."""

import io
import json
import uuid
from datetime import UTC, datetime, timedelta

import grpc
import jwt
import pytest
from crp.ckf.v1 import ckf_pb2, knowledge_service_pb2, knowledge_service_pb2_grpc
from crp.common.v1 import taxonomy_pb2
from crp.dag.v1 import dag_pb2, session_service_pb2, session_service_pb2_grpc
from crp.gateway.v1 import dispatch_service_pb2, dispatch_service_pb2_grpc
from google.rpc import error_details_pb2, status_pb2
from reportlab.pdfgen.canvas import Canvas

from tests.e2e.processes import environment, start
from tests.patience import patient

SECRET = "a secret that only this test knows, 32 bytes"
LIMIT_BYTES = 1024 * 1024
RULES = "# Windows\n\nA broken window must be reported within 7 days. The deductible for glass is 150 EUR.\n"

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]


def token(tenant: str, **claims) -> str:
    now = datetime.now(tz=UTC)
    body = {"sub": "test", "aud": "groundtrail", "tenant": tenant, "roles": ["writer"], "exp": now + timedelta(hours=1)}
    return jwt.encode(body | claims, SECRET, algorithm="HS256")


class Client:
    """Stubs, a credential, and the reading of errors."""

    def __init__(self, address: str, credential: str):
        self.channel = grpc.insecure_channel(address, options=[("grpc.max_send_message_length", -1)])
        self.knowledge = knowledge_service_pb2_grpc.KnowledgeServiceStub(self.channel)
        self.sessions = session_service_pb2_grpc.SessionServiceStub(self.channel)
        self.gateway = dispatch_service_pb2_grpc.DispatchServiceStub(self.channel)
        self.metadata = (("authorization", f"Bearer {credential}"),) if credential else ()

    def call(self, method, request, timeout=patient(60.0)):
        return method(request, metadata=self.metadata, timeout=timeout)

    def refused(self, method, request, timeout=patient(60.0)) -> tuple[str, str, list[str]]:
        """Return status, reason and fields of the refusal that must come."""
        with pytest.raises(grpc.RpcError) as caught:
            self.call(method, request, timeout)
        trailers = dict(caught.value.trailing_metadata())
        info, bad = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest()
        for detail in status_pb2.Status.FromString(trailers["grpc-status-details-bin"]).details:
            detail.Unpack(info)
            detail.Unpack(bad)
        assert info.domain == "groundtrail"
        return caught.value.code().name, info.reason, [v.field for v in bad.field_violations]

    def ask(self, query="When must a broken window be reported?", **fields):
        fields = {"request_id": str(uuid.uuid4()), "strategies": [taxonomy_pb2.DISPATCH_STRATEGY_PUSH]} | fields
        return dispatch_service_pb2.DispatchRequest(query=query, **fields)

    def document(self, content: bytes, media_type="text/markdown", uri="file:rules.md"):
        return knowledge_service_pb2.IngestSourceRequest(
            request_id=str(uuid.uuid4()),
            uri=uri,
            title="rules",
            media_type=media_type,
            source_type=ckf_pb2.SOURCE_TYPE_INTERNAL,
            content=content,
        )

    def state(self) -> dict:
        """Everything of this tenant that a half-written request could have changed."""
        knowledge = self.call(self.knowledge.GetState, knowledge_service_pb2.GetStateRequest())
        sources = self.call(self.knowledge.ListSources, knowledge_service_pb2.ListSourcesRequest(page_size=100))
        reports = self.call(self.sessions.ListReports, session_service_pb2.ListReportsRequest(page_size=100))
        dags = [
            self.call(self.sessions.GetDag, session_service_pb2.GetDagRequest(session_id=session))
            for session in sorted({r.session_id for r in reports.reports})
        ]
        return {
            "knowledge": knowledge.SerializeToString(deterministic=True),
            "sources": [s.SerializeToString(deterministic=True) for s in sources.sources],
            "reports": sorted(r.report_id for r in reports.reports),
            "windows": [(w.window_id, w.status, w.hmac) for dag in dags for w in dag.windows],
        }


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bad-input")
    env = environment(
        folder / "data",
        GROUNDTRAIL_AUTH__JWT__SECRET=SECRET,
        GROUNDTRAIL_AUTH__JWT__AUDIENCE="groundtrail",
        GROUNDTRAIL_SERVER__MAX_MESSAGE_BYTES=str(LIMIT_BYTES),
    )
    running = start(folder, "allinone", env=env)
    yield running
    assert running.stop() == 0


@pytest.fixture(scope="module")
def client(server):
    one = Client(server.address, token("one"))
    one.call(one.knowledge.IngestSource, one.document(RULES.encode()))
    yield one
    one.channel.close()


@pytest.fixture(scope="module")
def answered(client):
    return client.call(client.gateway.Dispatch, client.ask()).answer


@pytest.fixture
def unchanged(client, answered):
    """The state after the test is the state before it."""
    before = client.state()
    yield
    assert client.state() == before


def png() -> bytes:
    return b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4


def pdf_without_text() -> bytes:
    sink = io.BytesIO()
    canvas = Canvas(sink)
    canvas.rect(10, 10, 100, 100)
    canvas.showPage()
    canvas.save()
    return sink.getvalue()


@pytest.mark.usefixtures("unchanged")
class TestRefused:
    def test_empty_query_names_the_field(self, client):
        status, reason, fields = client.refused(client.gateway.Dispatch, client.ask(query=""))
        assert (status, reason, fields) == ("INVALID_ARGUMENT", "INVALID_FIELD", ["query"])

    def test_every_wrong_field_is_named_at_once(self, client):
        request = client.ask(query="  ", request_id="7", temperature=3.5)
        status, reason, fields = client.refused(client.gateway.Dispatch, request)
        assert (status, reason) == ("INVALID_ARGUMENT", "INVALID_FIELD")
        assert sorted(fields) == ["query", "request_id", "temperature"]

    def test_unknown_session(self, client):
        request = session_service_pb2.VerifyChainRequest(session_id="crp_sess_" + "x" * 32)
        assert client.refused(client.sessions.VerifyChain, request)[:2] == ("NOT_FOUND", "SESSION_NOT_FOUND")

    def test_another_tenants_session_is_as_unknown_as_any(self, client, answered, server):
        other = Client(server.address, token("two"))
        request = session_service_pb2.VerifyChainRequest(session_id=answered.session_id)
        assert other.refused(other.sessions.VerifyChain, request)[:2] == ("NOT_FOUND", "SESSION_NOT_FOUND")
        request = session_service_pb2.GetReportRequest(report_id=answered.report.report_id)
        assert other.refused(other.sessions.GetReport, request)[:2] == ("NOT_FOUND", "REPORT_NOT_FOUND")
        other.channel.close()

    def test_another_tenant_cannot_continue_a_session_with_its_token(self, client, answered, server):
        other = Client(server.address, token("two"))
        request = other.ask(session_token=answered.session_token, continuation_ids=[answered.continuation_id])
        status, _, _ = other.refused(other.gateway.Dispatch, request)
        assert status in {"UNAUTHENTICATED", "NOT_FOUND"}
        other.channel.close()

    def test_another_tenant_finds_none_of_the_facts(self, client, server):
        other = Client(server.address, token("two"))
        found = other.call(
            other.knowledge.SearchFacts, knowledge_service_pb2.SearchFactsRequest(query="broken window", limit=10)
        )
        assert list(found.hits) == []
        other.channel.close()

    @pytest.mark.parametrize(
        ("credential", "reason"),
        [
            ("", "CREDENTIAL_MISSING"),
            ("crp_gw_dev_" + "A" * 32, "CREDENTIAL_INVALID"),
            ("nonsense", "CREDENTIAL_INVALID"),
            (jwt.encode({"sub": "x"}, SECRET + "!", algorithm="HS256"), "CREDENTIAL_INVALID"),
            (token("one", exp=datetime(2020, 1, 1, tzinfo=UTC)), "CREDENTIAL_EXPIRED"),
        ],
        ids=["none", "unknown key", "nonsense", "forged jwt", "expired jwt"],
    )
    def test_wrong_key(self, server, credential, reason):
        stranger = Client(server.address, credential)
        assert stranger.refused(stranger.gateway.Dispatch, stranger.ask())[:2] == ("UNAUTHENTICATED", reason)
        stranger.channel.close()

    def test_a_reader_cannot_write(self, server):
        reader = Client(server.address, token("one", roles=["reader"]))
        refused = reader.refused(reader.knowledge.IngestSource, reader.document(RULES.encode()))
        assert refused[:2] == ("PERMISSION_DENIED", "ROLE_MISSING")
        reader.channel.close()

    def test_forged_session_token(self, client, answered):
        body, signature = answered.session_token.split(".")
        forged = f"{body}.{'A' if signature[0] != 'A' else 'B'}{signature[1:]}"
        request = client.ask(session_token=forged, continuation_ids=[answered.continuation_id])
        assert client.refused(client.gateway.Dispatch, request)[:2] == ("UNAUTHENTICATED", "TOKEN_INVALID")

    def test_oversize_message(self, client):
        request = client.document(b"word " * (LIMIT_BYTES // 4))
        status, reason, _ = client.refused(client.knowledge.IngestSource, request)
        assert (status, reason) == ("RESOURCE_EXHAUSTED", "MESSAGE_TOO_LARGE")

    def test_a_file_that_is_not_text(self, client):
        refused = client.refused(client.knowledge.IngestSource, client.document(png(), "", "file:picture.png"))
        assert refused == ("INVALID_ARGUMENT", "UNSUPPORTED_MEDIA", ["content"])

    def test_a_pdf_without_text(self, client):
        request = client.document(pdf_without_text(), "application/pdf", "file:scan.pdf")
        refused = client.refused(client.knowledge.IngestSource, request)
        assert refused == ("INVALID_ARGUMENT", "DOCUMENT_WITHOUT_TEXT", ["content"])

    def test_a_deadline_that_is_too_short(self, client):
        with pytest.raises(grpc.RpcError) as caught:
            client.call(client.gateway.Dispatch, client.ask(), timeout=0.02)
        assert caught.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED


class TestAfterwards:
    def test_no_window_stays_pending(self, client, answered):
        dag = client.call(client.sessions.GetDag, session_service_pb2.GetDagRequest(session_id=answered.session_id))
        assert {w.status for w in dag.windows} == {dag_pb2.WINDOW_STATUS_COMMITTED}

    def test_the_session_goes_on(self, client, answered):
        request = client.ask(
            "What is the deductible for glass?",
            session_token=answered.session_token,
            continuation_ids=[answered.continuation_id],
        )
        first = client.call(client.gateway.Dispatch, request).answer
        assert first.window.window_number == 2
        assert first.chain_integrity == taxonomy_pb2.CHAIN_INTEGRITY_VALID
        again = client.call(client.gateway.Dispatch, request).answer
        assert again.SerializeToString(deterministic=True) == first.SerializeToString(deterministic=True)

    def test_a_spent_token_is_refused(self, client, answered):
        request = client.ask(session_token=answered.session_token, continuation_ids=[answered.continuation_id])
        assert client.refused(client.gateway.Dispatch, request)[:2] == ("UNAUTHENTICATED", "TOKEN_SPENT")


@pytest.mark.whole
def test_a_full_disk_refuses_writes_and_keeps_what_is_there(tmp_path):
    env = environment(
        tmp_path / "data", GROUNDTRAIL_AUTH__JWT__SECRET=SECRET, GROUNDTRAIL_AUTH__JWT__AUDIENCE="groundtrail"
    )
    running = start(tmp_path, "roomy", env=env)
    client = Client(running.address, token("one"))
    client.call(client.knowledge.IngestSource, client.document(RULES.encode()))
    answer = client.call(client.gateway.Dispatch, client.ask()).answer
    before = client.state()
    assert running.stop() == 0
    full = start(tmp_path, "full", env=env | {"GROUNDTRAIL_STORE__DISK_RESERVE_BYTES": str(2**62)})
    client = Client(full.address, token("one"))
    try:
        document = client.document(
            b"# New\n\nA new rule of twelve words is written down here for all.\n", uri="file:new.md"
        )
        status, reason, _ = client.refused(client.knowledge.IngestSource, document)
        assert (status, reason) == ("RESOURCE_EXHAUSTED", "STORAGE_FULL")
        request = client.ask(session_token=answer.session_token, continuation_ids=[answer.continuation_id])
        status, reason, _ = client.refused(client.gateway.Dispatch, request)
        assert (status, reason) == ("RESOURCE_EXHAUSTED", "STORAGE_FULL")
        assert client.state() == before
        verdict = client.call(
            client.sessions.VerifyChain, session_service_pb2.VerifyChainRequest(session_id=answer.session_id)
        )
        assert verdict.windows_verified == verdict.windows_total == 1
    finally:
        assert full.stop() == 0


def test_the_log_holds_no_content_and_no_secret(client, answered, server):
    log = server.log.read_text(encoding="utf-8")
    assert '"rpc"' in log
    for secret in (SECRET, answered.session_token, "broken window", "150 EUR", client.metadata[0][1]):
        assert secret not in log
    assert json.loads(log.splitlines()[-1])
