"""The same path in one process and in six, driven by a client that has only the generated stubs."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.processes import ROOT, command, environment, start
from tests.patience import patient

DOCUMENTS = [
    [f"file:{path.name}", "text/markdown" if path.suffix == ".md" else "text/html", path.read_text(encoding="utf-8")]
    for path in sorted((ROOT / "examples" / "handbook").iterdir())
    if path.name.startswith(("02", "03", "08"))
]
QUESTIONS = [
    item["question"]
    for item in json.loads((ROOT / "examples" / "questions.json").read_text(encoding="utf-8"))["questions"]
    if "demo" in item
]
SIX = ("knowledge", "envelope", "dpe", "dag", "gateway", "ercp")
PEERS = ("envelope", "dpe", "dag")
SERVED = {
    "knowledge": {"crp.ckf.v1.KnowledgeService"},
    "envelope": {"crp.ckf.v1.KnowledgeService", "crp.envelope.v1.EnvelopeService"},
    "dpe": {"crp.dpe.v1.GuardService", "crp.dpe.v1.ProvenanceService"},
    "dag": {"crp.dag.v1.SessionService", "crp.dag.v1.TransparencyService", "crp.dag.v1.RetentionService"},
    "gateway": {
        *("crp.gateway.v1.DispatchService", "crp.gateway.v1.AdminService", "crp.gateway.v1.ReviewService"),
        *("crp.gateway.v1.ViolationReportService", "crp.gateway.v1.FeedbackService"),
    },
    "ercp": {"ercp.v1.ErcpService"},
}
ALWAYS = {"grpc.health.v1.Health", "grpc.reflection.v1alpha.ServerReflection"}

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]


def first_key(folder: Path, env: dict[str, str]) -> str:
    made = command(folder, "keys", "create", "--label", "test", "--role", "writer", "--json", env=env)
    assert made.returncode == 0, made.stdout + made.stderr
    return json.loads(made.stdout)["api_key"]


def drive(folder: Path, addresses: dict[str, str], key: str) -> dict:
    """Run the stubs-only client in a process that cannot import the product."""
    order = {
        "addresses": addresses,
        "api_key": key,
        "documents": DOCUMENTS,
        "questions": QUESTIONS,
        "timeout_s": patient(60),
    }
    done = subprocess.run(
        [sys.executable, str(ROOT / "tests" / "e2e" / "stubs_only_client.py")],
        input=json.dumps(order),
        cwd=folder,
        env=environment(folder) | {"PYTHONPATH": str(ROOT / "gen")},
        capture_output=True,
        text=True,
        timeout=patient(240),
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout)


def one_process(folder: Path) -> dict:
    env = environment(folder / "one")
    key = first_key(folder, env)
    server = start(folder, "allinone", env=env)
    try:
        seen = drive(folder, dict.fromkeys(("knowledge", "dag", "gateway", "ercp"), server.address), key)
    finally:
        assert server.stop() == 0
    return seen


def six_processes(folder: Path) -> dict:
    env = environment(folder / "six", GROUNDTRAIL_ENVELOPE__SHARED_STORE="true")  # of knowledge and envelope
    key = first_key(folder, env)
    servers = {}
    try:
        for name in SIX:
            peers = {f"GROUNDTRAIL_PEERS__{n.upper()}": servers[n].address for n in PEERS if n in servers}
            servers[name] = start(folder, name, name, env=env | (peers if name in {"dpe", "gateway", "ercp"} else {}))
        seen = drive(folder, {name: server.address for name, server in servers.items()}, key)
    finally:
        codes = {name: server.stop() for name, server in servers.items()}
    assert codes == dict.fromkeys(SIX, 0)
    return seen


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("processes")
    return {"one": one_process(folder), "six": six_processes(folder)}


ID_OR_TIME = re.compile(
    r"crp_(?:sess|win|cont|trail)_[A-Za-z0-9]+"
    r"|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
    r"|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z"
)
HASHES_OVER_THEM = {"hmac", "report_hash", "response_content_hash", "envelope_etag"}


def without_ids(value):
    """Take out ids, times, and the hashes over them; keep every figure, text, offset and order."""
    if isinstance(value, dict):
        return {k: without_ids(v) for k, v in value.items() if k not in HASHES_OVER_THEM | {"timings"}}
    if isinstance(value, list):
        return [without_ids(item) for item in value]
    return ID_OR_TIME.sub("*", value) if isinstance(value, str) else value


def reports(run: dict) -> list[dict]:
    return [answer["response"]["answer"]["report"] for answer in run["answers"]]


class TestPath:
    @pytest.mark.parametrize("how", ["one", "six"])
    def test_two_windows_are_chained_and_the_chain_verifies(self, runs, how):
        first, second = (answer["response"]["answer"]["window"] for answer in runs[how]["answers"])
        assert second["parent_ids"] == [first["window_id"]]
        assert (first["window_number"], second["window_number"]) == (1, 2)
        verdict = runs[how]["verdict"]
        assert verdict["integrity"] == "CHAIN_INTEGRITY_VALID"
        assert (verdict["windows_verified"], verdict["windows_total"]) == (2, 2)

    @pytest.mark.parametrize("how", ["one", "six"])
    def test_every_factual_claim_has_an_attribution_with_evidence_offsets(self, runs, how):
        for report in reports(runs[how]):
            factual = [c for c in report["claims"] if c["claim_type"] == "CLAIM_TYPE_FACTUAL"]
            assert factual
            for claim in factual:
                assert claim["attribution"]["type"] != "ATTRIBUTION_TYPE_UNSPECIFIED"

    def test_reports_are_equal_byte_for_byte_once_ids_times_and_their_hashes_are_out(self, runs):
        one, six = (json.dumps(without_ids(reports(runs[how])), sort_keys=True).encode() for how in ("one", "six"))
        assert one == six

    def test_answers_are_equal(self, runs):
        one, six = ([a["response"]["answer"]["text"] for a in runs[how]["answers"]] for how in ("one", "six"))
        assert one == six
        assert "7 days" in one[0]

    @pytest.mark.parametrize("how", ["one", "six"])
    def test_headers_travel_as_metadata_too(self, runs, how):
        for answer in runs[how]["answers"]:
            headers = {h["name"].lower(): h["value"] for h in answer["response"]["headers"]}
            assert headers.items() <= answer["metadata"].items()
            assert headers["crp-context-protocol-version"] == "3.0.0"

    def test_chain_integrity_headers(self, runs):
        values = [a["metadata"]["crp-provenance-chain-integrity"] for a in runs["six"]["answers"]]
        assert values == ["UNVERIFIED", "VALID"]


class TestErcp:
    @pytest.mark.parametrize("how", ["one", "six"])
    def test_a_run_over_the_ingested_documents_converges_without_a_language_model(self, runs, how):
        run = runs[how]["run"]
        assert (run["status"], run["proto_version"]) == ("RUN_STATUS_CONVERGED", "ercp-1.0")
        assert "7 days" in run["final_reasoning"]["reasoning_text"]
        assert {claim["source"] for claim in run["final_reasoning"]["claims"]} == {"extractive"}

    def test_traces_are_equal_but_for_ids_times_and_signatures(self, runs):
        one, six = (without_ids(runs[how]["run"]["trace_events"]) for how in ("one", "six"))
        assert [dict(event, node_signature="") for event in one] == [dict(event, node_signature="") for event in six]


class TestContract:
    def test_reflection_lists_what_is_served_in_one_process(self, runs):
        served = set().union(*SERVED.values()) | ALWAYS
        assert set(runs["one"]["reflection"]["gateway"]) == served

    @pytest.mark.parametrize("name", SIX)
    def test_reflection_lists_what_each_process_serves(self, runs, name):
        assert set(runs["six"]["reflection"][name]) == SERVED[name] | ALWAYS

    def test_the_client_had_nothing_of_the_product(self, runs):
        assert runs["one"]["product_modules"] == []
