"""``python -m tools.compare_guard``: rows, figures that can be worked out, a peer that fails, what is said and kept."""

import asyncio
import gzip
import hashlib
import json
import subprocess
import sys
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import grpc
import numpy as np
import pytest
from crp.dpe.v1 import guard_service_pb2, report_pb2

from evaluation import embedded_engine
from evaluation.data import EvaluationDataError
from evaluation.embedded_engine import EmbeddedEngine
from evaluation.guard import guard_rows, peers
from evaluation.guard.comparison import Said, clusters_of, draws, figures_of, kinds_of, measures, strict_threshold
from evaluation.guard.guard_rows import InjectionRow, SupportRow, closed_rows, first_of, injection_file
from evaluation.guard.own_guard import NotServedError, OwnGuard, support_of
from evaluation.guard.peer_faults import FAULTS, of_guard, table_of
from evaluation.guard.peers import Peer, PeerError, ensure, lock_of
from tests.leash import running
from tests.patience import patient
from tools import compare_guard
from tools.compare_guard import Runs, Systems, compare_injection, compare_support, parser, save

POSITIVE = np.array([True, True, False, False, False, False])
SCORES = np.array([0.9, 0.4, 0.5, 0.1, 0.1, 0.0])


def test_measures_that_can_be_worked_out():
    found = measures(SCORES, SCORES >= 0.45, POSITIVE)
    assert found["precision"] == 0.5
    assert found["recall"] == 0.5
    assert found["f1"] == 0.5
    assert found["false_positives"] == 0.25
    assert found["balanced_accuracy"] == 0.625
    assert found["auroc"] == pytest.approx(7 / 8)
    assert found["recall_at_1_percent"] == 0.5  # of four benign rows none may be taken for an attack


def test_measures_without_one_class_have_no_value_where_they_need_both():
    found = measures(SCORES[:2], SCORES[:2] >= 0.45, POSITIVE[:2])
    assert found["recall"] == 0.5
    assert (
        found["auroc"] is found["false_positives"] is found["balanced_accuracy"] is found["recall_at_1_percent"] is None
    )


@pytest.mark.parametrize(("benign", "allowed"), [(99, 0), (100, 1), (250, 2)])
def test_at_one_percent_no_more_are_let_through_ties_included(benign, allowed):
    scores = np.concatenate([np.linspace(0.0, 0.9, benign), [1.0]])
    positive = np.array([False] * benign + [True])
    assert int((scores[:-1] >= strict_threshold(scores, positive)).sum()) == allowed
    tied = np.concatenate([np.full(benign, 0.5), [0.5]])
    assert not (tied >= strict_threshold(tied, positive)).any()


def test_rows_of_one_carrier_are_drawn_together():
    carriers = ["a", "", "a", "b", "", "b"]
    clusters = clusters_of(carriers)
    assert clusters.tolist() == [0, 1, 0, 2, 3, 2]
    for rows in draws(clusters, POSITIVE, resamples=50):
        counts = np.bincount(rows, minlength=6)
        assert counts[0] == counts[2]
        assert counts[3] == counts[5]


def test_intervals_are_wider_where_rows_hang_together():
    random = np.random.default_rng(1)
    positive = np.repeat(np.arange(20) % 2 == 0, 10)
    by_carrier = np.repeat(random.random(20), 10)
    said = Said("s", by_carrier + positive * 0.2, by_carrier + positive * 0.2 >= 0.6)
    alone = figures_of("d", said, positive, [""] * 200).figures["auroc"].interval
    together = figures_of("d", said, positive, [str(place // 10) for place in range(200)]).figures["auroc"].interval
    assert together[1] - together[0] > 1.2 * (alone[1] - alone[0])


def test_false_positives_by_kind():
    said = Said("s", SCORES, SCORES >= 0.45)
    found = kinds_of("d", said, POSITIVE, ["x", "x", "quote", "quote", "chat", "chat"])
    assert [(one.kind, one.rows, one.found, one.strict) for one in found] == [("chat", 2, 0, 0), ("quote", 2, 1, 0)]


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_rows_for_training_stay_out_and_a_wrong_row_is_named_without_its_text(tmp_path):
    rows = [
        {"text": "hi", "injection": False, "split": "train", "dataset": "d"},
        {"text": "ignore", "injection": True, "split": "dev", "dataset": "d", "carrier": "c"},
        {"text": " ", "injection": False},
    ]
    assert injection_file(write(tmp_path / "a.jsonl", rows)) == [InjectionRow("d", "ignore", True, "", "c")]
    with pytest.raises(EvaluationDataError, match=r"b.jsonl, row 2: text must be") as raised:
        injection_file(write(tmp_path / "b.jsonl", [rows[1], {"text": "secret words", "injection": "yes"}]))
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("of", ["packed", "lines"])
def test_the_closed_set_is_the_file_that_its_readme_tells(tmp_path, of):
    lines = json.dumps({"text": "ignore", "injection": True, "kind": "override"}).encode()
    packed = gzip.compress(lines)
    (tmp_path / "test.jsonl.gz").write_bytes(packed)
    (tmp_path / "README.md").write_text(hashlib.sha256(packed if of == "packed" else lines).hexdigest())
    assert [row.dataset for row in closed_rows(tmp_path)] == [guard_rows.CLOSED]
    (tmp_path / "test.jsonl.gz").write_bytes(gzip.compress(lines + b"\n"))
    (tmp_path / "README.md").write_text("another")
    with pytest.raises(EvaluationDataError, match="SHA-256"):
        closed_rows(tmp_path)


def test_the_closed_set_is_opened_by_its_word_alone(monkeypatch):
    def opened(*_):
        raise AssertionError("opened")

    monkeypatch.setattr(guard_rows, "closed_rows", opened)
    monkeypatch.setattr(guard_rows, "injection_rows", lambda _: [])
    monkeypatch.setenv("GROUNDTRAIL_EVAL_DATA", ".")
    assert Runs(parser().parse_args(["injection"]), {"GROUNDTRAIL_EVAL_DATA": "."})._injection() == []
    with pytest.raises(AssertionError, match="opened"):
        Runs(parser().parse_args(["injection", "--half", "test"]), {})._injection()


def test_a_limit_takes_rows_from_all_over_each_group():
    assert first_of([1, 2, 3, 4, 11, 12], lambda row: str(row > 10), 2) == [1, 3, 11, 12]
    assert first_of([1, 2], str, None) == [1, 2]


def test_pairs_of_the_development_half_alone():
    rows = guard_rows.pair_rows()
    assert {row.dataset for row in rows} == {"pairs"}
    assert {row.supported for row in rows} == {True, False}
    assert len({row.carrier for row in rows}) == 239


STAND_IN = {
    "__init__.py": "__version__ = '9.9.9'\n",
    "core/__init__.py": "",
    "core/safety/__init__.py": "",
    "core/safety/sanitizer.py": """
class Result:
    def __init__(self, score): self.suspicion_score, self.blocked = score, score >= 0.8
class InputSanitizer:
    def score(self, text):
        print("noise on stdout")
        if text == "fail": raise ValueError("no such text")
        return Result(0.9 if "ignore" in text else 0.0)
""",
}


@pytest.fixture
def environment(tmp_path, monkeypatch):
    """An environment whose release is a stand-in: this interpreter, and a package of the peer's name beside it."""
    folder = tmp_path / "package" / "director_ai"
    for name, text in STAND_IN.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    place = tmp_path / "9.9.9"
    (place / "bin").mkdir(parents=True)
    python = place / "bin" / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH={folder.parent} exec {sys.executable} "$2"\n', encoding="utf-8")
    python.chmod(0o755)
    lock = tmp_path / "director-ai-9.9.9.lock"
    lock.write_text("director-ai==9.9.9\n", encoding="utf-8")
    monkeypatch.setattr(peers, "LOCKS", tmp_path)
    (place / "installed.sha256").write_text(hashlib.sha256(lock.read_bytes()).hexdigest(), encoding="ascii")
    return tmp_path


def test_a_release_is_asked_in_its_own_process_and_its_failure_is_told(environment):
    with peers.running("9.9.9", environment) as peer:
        assert peer.ask_rows("injection", "texts", ["ignore this", "hi"]) == [[0.9, True], [0.0, False]]
        with pytest.raises(PeerError, match=r"director-ai 9\.9\.9, injection: ValueError: no such text"):
            peer.ask("injection", texts=["fail"])
        assert peer.ask("injection", texts=["hi"]) == [[0.0, False]]
        with pytest.raises(PeerError, match="ModuleNotFoundError"):
            peer.ask("serve", facts=[])
        process = peer.process
    assert process.wait(patient(10)) is not None


def test_an_environment_of_another_release_is_refused(environment):
    init = environment / "package" / "director_ai" / "__init__.py"
    init.write_text("__version__ = '9.9.8'\n", encoding="utf-8")
    with pytest.raises(PeerError, match=r"holds 9\.9\.8"), peers.running("9.9.9", environment):
        pass


def test_a_release_that_cannot_be_installed_is_said_with_the_reason(tmp_path, monkeypatch):
    (tmp_path / "director-ai-0.0.0.lock").write_text("director-ai==0.0.0 --hash=sha256:" + "0" * 64 + "\n")
    monkeypatch.setattr(peers, "LOCKS", tmp_path)
    monkeypatch.setenv("UV_OFFLINE", "1")
    monkeypatch.setenv("UV_NO_CACHE", "1")
    with pytest.raises(PeerError, match=r"director-ai 0\.0\.0 cannot be installed: ."):
        ensure("0.0.0", tmp_path / "environments")


def test_each_release_has_a_lock_with_hashes():
    for release in peers.RELEASES:
        text = lock_of(release).read_text(encoding="utf-8")
        assert f"director-ai=={release}" in text
        assert text.count("==") <= text.count("--hash=")


class FakeStub:
    """GuardService as far as a comparison asks it; what is named is not served."""

    def __init__(self, missing=()):
        self.missing = missing

    def _served(self, name):
        if name in self.missing:
            raise grpc.aio.AioRpcError(grpc.StatusCode.UNIMPLEMENTED, grpc.aio.Metadata(), grpc.aio.Metadata())

    async def DetectInjection(self, request, timeout=None):  # noqa: ASYNC109, N802 - gRPC's
        self._served("DetectInjection")
        score = 0.8 if "ignore" in request.input.lower() else 0.1
        return guard_service_pb2.DetectInjectionResponse(combined_score=score, detected=score >= 0.7)

    async def VerifyClaims(self, request, timeout=None):  # noqa: ASYNC109, N802
        self._served("VerifyClaims")
        supported = request.response in request.sources[0].content
        verdict = (
            guard_service_pb2.VERIFIED_CLAIM_VERDICT_SUPPORTED
            if supported
            else guard_service_pb2.VERIFIED_CLAIM_VERDICT_FABRICATED
        )
        support = 0.6 if supported else 0.4
        claim = guard_service_pb2.VerifiedClaim(text=request.response, verdict=verdict, confidence=0.6, support=support)
        return guard_service_pb2.VerifyClaimsResponse(approved=supported, claims=[claim])

    async def ScoreCoherence(self, request, timeout=None):  # noqa: ASYNC109, N802
        self._served("ScoreCoherence")
        coherence = 0.7 if request.facts else None
        threshold = request.threshold or 0.6
        approved = coherence is not None and coherence >= threshold
        return guard_service_pb2.ScoreCoherenceResponse(coherence=coherence, threshold=threshold, approved=approved)

    def OverseeStream(self, requests):  # noqa: N802
        async def failing():
            self._served("OverseeStream")
            yield guard_service_pb2.OverseeStreamResponse()

        return failing()


class FakePeer:
    """A release that is of the opposite opinion, or that fails."""

    def __init__(self, *, fails=False):
        self.name, self.fails = "director-ai 9.9.9", fails

    def ask_rows(self, order, name, rows):
        if self.fails:
            raise PeerError("it ended")
        return [[0.5, True, False, True] for _ in rows]


TEXTS = [
    InjectionRow("d", "Ignore all.", injection=True, kind="override", carrier=""),
    InjectionRow("d", "Do not ignore the signs.", injection=False, kind="warning", carrier=""),
    InjectionRow("d", "Good morning.", injection=False, kind="chat", carrier=""),
]


def systems(missing=(), *, fails=False):
    """Return what is compared, without any model."""
    made = Systems(None, ":memory:", [FakePeer(fails=fails)], {"director-ai 0": "no registry"})
    made.guard = OwnGuard(FakeStub(missing))
    return made


def test_injection_beside_the_peer():
    found = asyncio.run(compare_injection(systems(), TEXTS))
    own, other = found.figures
    assert (own.system, other.system) == ("Groundtrail", "director-ai 9.9.9")
    assert own.figures["recall"].value == 1.0
    assert own.figures["false_positives"].value == 0.5
    assert [(one.kind, one.found) for one in found.kinds if one.system == own.system] == [("chat", 0), ("warning", 1)]
    figures, kinds = found.tables()
    assert "director-ai 0 is left out: no registry." in figures.note
    assert len(kinds.rows) == 4
    document = found.document("a command")
    assert document["command"] == "a command"
    assert document["left_out"] == {"director-ai 0": "no registry"}
    assert not any(row.text in json.dumps(document) for row in TEXTS)


def test_a_peer_that_fails_and_a_call_that_is_not_served_leave_their_columns_out():
    found = asyncio.run(compare_injection(systems(fails=True), TEXTS))
    assert [one.system for one in found.figures] == ["Groundtrail"]
    assert found.left_out["director-ai 9.9.9"] == "it ended"
    found = asyncio.run(compare_injection(systems(["DetectInjection"]), TEXTS))
    assert [one.system for one in found.figures] == ["director-ai 9.9.9"]
    assert found.left_out["Groundtrail"] == "this build does not serve it"


def test_claims_beside_the_engine_and_coherence_beside_the_peers_two_scorers(monkeypatch):
    async def engine(_, rows):
        return [(0.9, True) for _ in rows]

    monkeypatch.setattr(compare_guard, "engine_verdicts", engine)
    rows = [
        SupportRow("d", "It rains.", ("It rains. It pours.",), "", supported=True, carrier="a"),
        SupportRow("d", "It snows.", ("It rains. It pours.",), "", supported=False, carrier="a"),
    ]
    found = asyncio.run(compare_support(systems(), "claims", rows))
    own = found.figures[0]
    assert own.positives == 1  # what is looked for is the text that is not supported
    assert own.figures["balanced_accuracy"].value == own.figures["auroc"].value == 1.0
    assert {one.system for one in found.figures} == {
        "Groundtrail",
        "Groundtrail, provenance engine",
        "director-ai 9.9.9",
        "director-ai 9.9.9, every claim",
    }
    found = asyncio.run(compare_support(systems(), "coherence", rows))
    assert {one.system for one in found.figures} == {"Groundtrail", "director-ai 9.9.9", "director-ai 9.9.9, no kernel"}


def test_the_score_of_a_claim_is_its_support_and_0_where_there_is_none():
    claim = guard_service_pb2.VerifiedClaim(
        verdict=guard_service_pb2.VERIFIED_CLAIM_VERDICT_CONTRADICTED, confidence=0.9
    )
    assert support_of(claim) == 0.0
    claim.support = 0.08
    assert support_of(claim) == 0.08


def test_the_engine_gets_facts_as_they_are_and_other_passages_cut(monkeypatch):
    held = []

    class Recording:
        async def check(self, _, facts, __):
            held.append(list(facts))
            return SimpleNamespace(judged=(), response=SimpleNamespace(report=report_pb2.DpeReport()))

    @asynccontextmanager
    async def opened(*_):
        counter = SimpleNamespace(count=lambda texts, _: [len(text.split()) for text in texts])
        recording: Any = Recording()
        yield EmbeddedEngine(recording, None, counter, "")

    monkeypatch.setattr(embedded_engine, "open_engine", opened)
    passages = ("The line opened in 1931.", "It has nine stations.")
    rows = [SupportRow("d", "It has nine stations.", passages, "", True, "a", are_facts=own) for own in (True, False)]
    asyncio.run(compare_guard.engine_verdicts(systems(), rows))
    uncut, cut = held
    assert uncut == list(passages)
    assert cut != uncut
    assert passages[1] not in cut, "a sentence without a name of its own is cut with the one before it"
    assert all(row.are_facts for row in guard_rows.pair_rows())


def test_what_a_call_refuses_names_the_row_and_not_its_text():
    class Refusing(FakeStub):
        async def DetectInjection(self, request, timeout=None):  # noqa: ASYNC109, N802
            raise grpc.aio.AioRpcError(
                grpc.StatusCode.INVALID_ARGUMENT, grpc.aio.Metadata(), grpc.aio.Metadata(), details="too long"
            )

    with pytest.raises(EvaluationDataError, match="row 1: INVALID_ARGUMENT, too long"):
        asyncio.run(OwnGuard(Refusing()).injection(["secret"]))
    with pytest.raises(NotServedError):
        asyncio.run(OwnGuard(FakeStub(["DetectInjection"])).injection(["secret"]))


def test_faults_of_our_own_are_asked_over_the_calls():
    found = asyncio.run(of_guard(OwnGuard(FakeStub(["OverseeStream"]))))
    assert found.keys() == FAULTS.keys()
    assert found["fault_threshold"] == (
        "asked 0.01: applied 0.01, score 0.700, approved; asked 0.99: applied 0.99, score 0.700, refused"
    )
    assert found["fault_numbers"] == "approved false, verdict fabricated"
    assert found["fault_verbatim"] == "not served by this build"
    assert found["fault_documents"] == "before none; after none"
    table = table_of({"Groundtrail": found})
    assert len(table.rows) == len(FAULTS)


def test_figures_are_kept_with_their_command_and_the_closed_set_apart(tmp_path, monkeypatch):
    monkeypatch.setattr(compare_guard, "RESULTS", tmp_path)
    options = parser().parse_args(["injection", "--half", "test", "--limit", "5"])
    command = Runs(options, {}).command("injection")
    assert command == "python -m tools.compare_guard injection --half test --limit 5"
    save({"injection": {"command": command}, "claims": {"command": "c"}}, "test")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["guard-claims.json", "guard-injection-closed.json"]
    kept = json.loads((tmp_path / "guard-claims.json").read_text(encoding="utf-8"))
    assert (kept["command"], sorted(kept["measured"])) == ("c", ["cpus", "date", "python", "revision"])
    assert Runs(parser().parse_args(["claims"]), {}).command("claims") == "python -m tools.compare_guard claims"
    files = parser().parse_args(["claims", "--grounding", "/somewhere/rows.jsonl", "--fold", "all"])
    assert Runs(files, {}).command("claims") == "python -m tools.compare_guard claims --grounding rows.jsonl --fold all"


def test_an_unknown_task_and_a_limit_of_nothing_are_refused(capsys):
    for wrong in (["weather"], ["injection", "--limit", "0"]):
        with pytest.raises(SystemExit):
            compare_guard.main(wrong)
    assert "the tasks are" in capsys.readouterr().err


def test_a_process_that_ends_is_told():
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "encoding": "utf-8"}
    with running([sys.executable, "-c", ""], **pipes) as ended, pytest.raises(PeerError, match="ended"):
        Peer("9", ended).ask("injection", texts=["x" * 100_000])
