"""Known master keys go through a real process; neither they nor what is derived from them comes out anywhere."""

import base64
import json
import subprocess
import sys
import urllib.request

import grpc
import pytest
from crp.dag.v1 import dag_pb2
from crp.dag.v1 import session_service_pb2 as pb
from crp.dag.v1 import session_service_pb2_grpc as pb_grpc

from tests.e2e.processes import command, environment, start
from tests.fakes.dag_world import commit_request, fresh_uuid
from tests.patience import patient
from tests.unit.dag import independent

MASTER = bytes(range(200, 232))
PREVIOUS = bytes(range(100, 132))
KEYS = {
    "GROUNDTRAIL_DAG__MASTER_KEY": MASTER.hex(),
    "GROUNDTRAIL_DAG__MASTER_KEY_VERSION": "2",
    "GROUNDTRAIL_DAG__PREVIOUS_MASTER_KEYS": json.dumps({"1": PREVIOUS.hex()}),
    "GROUNDTRAIL_DAG__MASTER_KEY_ROTATED_AT": "2026-05-01T00:00:00Z",
}


def forms(secret):
    """How a key might be written by accident: whole, and its first half, which a cut line would still hold."""
    for part in (secret, secret[:16]):
        yield part
        for text in (part.hex(), part.hex().upper(), part.hex(":"), repr(part)[2:-1], str(list(part))[1:-1]):
            yield text.encode()
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            for before, unsure in ((0, 0), (1, 2), (2, 3)):  # a key in the middle of what was encoded
                # The first and the last characters also hang on what stands beside the key.
                yield encode(bytes(before) + part).rstrip(b"=")[unsure:-1]
        for encode in (base64.b32encode, base64.b85encode):
            yield encode(part).rstrip(b"=")[:-1]


def leaks(shown, secrets):
    return [(where, name) for where, data in shown.items() for name, secret in secrets.items() if found(data, secret)]


def found(data, secret):
    return any(form in data for form in forms(secret))


@pytest.mark.parametrize("form", range(len(list(forms(MASTER)))))
def test_the_search_finds_every_form(form):
    assert found(b"x" + list(forms(MASTER))[form] + b"y", MASTER)


@pytest.mark.parametrize("before", range(4))
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_the_search_finds_a_key_inside_of_what_was_encoded(encode, before):
    assert found(encode(b"#" * before + MASTER + b"##"), MASTER)


class Drive:
    """Calls every RPC that answers with something of a session, and keeps the bytes of answers and refusals."""

    def __init__(self, address):
        self.channel = grpc.insecure_channel(address)
        self.stub = pb_grpc.SessionServiceStub(self.channel)
        self.shown = {}

    def call(self, rpc, request):
        name = f"{rpc} {len(self.shown)}"
        try:
            answer = getattr(self.stub, rpc)(request, timeout=patient(30))
            answers = [answer] if hasattr(answer, "SerializeToString") else list(answer)
        except grpc.RpcError as error:
            trailers = repr(error.trailing_metadata()).encode()
            self.shown[name] = f"{error.code()} {error.details()}".encode() + trailers
            return None
        self.shown[name] = b"\n".join(part.SerializeToString() + str(part).encode() for part in answers)
        return answers[0]

    def window(self, token=""):
        opened = self.call(
            "OpenWindow",
            pb.OpenWindowRequest(request_id=fresh_uuid(), session_token=token, available_budget_tokens=1000),
        )
        return self.call("CommitWindow", commit_request(opened))

    def everything(self):
        first = self.window()
        second = self.window(first.session_token)
        session = second.session.session_id
        last = second.session_token
        for token in (last[:-2] + "AA", last + "x", "x", first.session_token, last.replace(".", "..")):
            self.call(
                "OpenWindow",
                pb.OpenWindowRequest(request_id=fresh_uuid(), session_token=token, available_budget_tokens=1),
            )
        self.call(
            "AppendEvent",
            pb.AppendEventRequest(
                request_id=fresh_uuid(),
                session_id=session,
                data='{"tool":"search"}',
                event_type=dag_pb2.AUDIT_EVENT_TYPE_TOOL_CALL,
            ),
        )
        window = second.window.window_id
        self.call("GetWindow", pb.GetWindowRequest(session_id=session, window_id=window))
        self.call("GetDag", pb.GetDagRequest(session_id=session))
        self.call("GetLineage", pb.GetLineageRequest(session_id=session, window_id=window))
        self.call("VerifyChain", pb.VerifyChainRequest(session_id=session))
        self.call("ListAuditEvents", pb.ListAuditEventsRequest(session_id=session))
        for form in set(pb.AuditExportFormat.values()) - {0}:
            self.call("ExportAudit", pb.ExportAuditRequest(session_id=session, format=form))
        self.call("GetReport", pb.GetReportRequest(report_id=second.report_id))
        self.call("ListReports", pb.ListReportsRequest(session_id=session))
        self.call(
            "TerminateSession", pb.TerminateSessionRequest(request_id=fresh_uuid(), session_id=session, reason="r")
        )
        self.call("VerifyChain", pb.VerifyChainRequest(session_id="nonsense"))
        return session


def http(port, path):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=patient(10)) as answer:
        return answer.read()


def test_no_key_comes_out_of_a_serving_process(tmp_path):
    env = environment(tmp_path / "data", GROUNDTRAIL_TELEMETRY__LOG_LEVEL="debug", **KEYS)
    server = start(tmp_path, "dag", "dag", "--insecure-local", "--telemetry-port", "0", env=env)
    try:
        drive = Drive(server.address)
        session = drive.everything()
        ready = json.loads(next(tmp_path.glob("*.ready")).read_text())
        shown = drive.shown
        shown |= {path: http(ready["telemetry_port"], path) for path in ("/metrics", "/readyz")}
        doctor = command(tmp_path, "doctor", "--json", env=env)
        shown["doctor"] = (doctor.stdout + doctor.stderr).encode()
    finally:
        server.stop()
    shown["log"] = server.log.read_bytes()
    shown |= {str(path): path.read_bytes() for path in (tmp_path / "data").rglob("*") if path.is_file()}
    secrets = {"master": MASTER, "previous": PREVIOUS}
    for purpose in ("hmac", "sign"):
        secrets[purpose] = independent.session_key(MASTER.hex(), session, purpose)
    assert leaks(shown, secrets) == []
    assert b"master_key" in shown["log"], "the effective configuration is logged"
    assert b"OpenWindow" in shown["log"], "every call is logged"
    assert any(session.encode() in data for where, data in shown.items() if where.endswith(".db"))
    assert len(shown) > 20


@pytest.mark.tenth
@pytest.mark.parametrize(
    "broken",
    [
        pytest.param({"GROUNDTRAIL_DAG__MASTER_KEY": MASTER.hex()[:-1]}, id="a digit is missing"),
        pytest.param({"GROUNDTRAIL_DAG__MASTER_KEY": MASTER.hex() + "zz"}, id="more than a key"),
        pytest.param({"GROUNDTRAIL_DAG__PREVIOUS_MASTER_KEYS": f"{{1: {PREVIOUS.hex()}}}"}, id="no JSON"),
        pytest.param(
            {"GROUNDTRAIL_DAG__PREVIOUS_MASTER_KEYS": json.dumps({"9": PREVIOUS.hex()})}, id="a later version"
        ),
        pytest.param({"GROUNDTRAIL_DAG__MASTER_KEY_VERSION": MASTER.hex()}, id="the key in the wrong variable"),
        pytest.param({"GROUNDTRAIL_DAG__MASTER_KEYS": MASTER.hex()}, id="a misspelt variable"),
    ],
)
def test_a_refused_start_shows_no_key(tmp_path, broken):
    env = environment(tmp_path / "data", **(KEYS | broken))
    dag = [sys.executable, "-m", "services.dag", "--insecure-local", "--port", "0"]
    ended = subprocess.run(dag, cwd=tmp_path, env=env, capture_output=True, timeout=patient(60), check=False)
    said = ended.stdout + ended.stderr
    assert ended.returncode != 0
    assert b"master_key" in said.lower() or b'field "dag"' in said
    assert b"Traceback" not in said
    assert leaks({"said": said}, {"master": MASTER, "previous": PREVIOUS}) == []


def test_rotation_shows_no_key_and_the_next_start_signs_with_the_new_one(tmp_path):
    env = environment(tmp_path / "data")
    folder = tmp_path / "data" / "keys"
    folder.mkdir(parents=True, mode=0o700)
    (folder / "master-1.key").write_text(MASTER.hex())
    (folder / "master-1.key").chmod(0o600)
    said = [command(tmp_path, "keys", "rotate-master", *how, env=env) for how in ((), ("--json",), ("--after", "60"))]
    assert [ended.returncode for ended in said] == [0, 0, 0]
    shown = {str(n): (ended.stdout + ended.stderr).encode() for n, ended in enumerate(said)}
    keys = {path.name: bytes.fromhex(path.read_text().split("\n")[0]) for path in folder.iterdir()}
    assert sorted(keys) == [f"master-{version}.key" for version in (1, 2, 3, 4)]
    assert leaks(shown, keys) == []
    assert [key["version"] for key in json.loads(said[1].stdout)["keys"]] == [1, 2, 3]
    server = start(tmp_path, "dag", "dag", "--insecure-local", env=env)
    try:
        token = Drive(server.address).window().session_token
    finally:
        server.stop()
    body = token.partition(".")[0]
    assert json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))["kv"] == 3


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        pytest.param(KEYS, "GROUNDTRAIL_DAG__MASTER_KEY", id="keys from the environment"),
        pytest.param(
            {"GROUNDTRAIL_DAG__MASTER_KEY_COMMAND": '["kms"]'}, "MASTER_KEY_COMMAND", id="keys from a command"
        ),
        pytest.param({}, "no master-<version>.key", id="no keys yet"),
    ],
)
def test_what_cannot_be_rotated_here(tmp_path, settings, said):
    ended = command(tmp_path, "keys", "rotate-master", env=environment(tmp_path / "data", **settings))
    assert ended.returncode == 2
    assert said in ended.stderr.replace("\n", " ")
    assert not (tmp_path / "data" / "keys").exists()
