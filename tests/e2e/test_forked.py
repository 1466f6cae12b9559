"""What is forked for a test is what it would be had it been started by its name (tests/forked.py)."""

import json
import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import grpc
import pytest
from crp.ckf.v1.ckf_pb2 import SourceType
from crp.ckf.v1.knowledge_service_pb2 import IngestSourceRequest
from crp.ckf.v1.knowledge_service_pb2_grpc import KnowledgeServiceStub

from tests.e2e.processes import command, environment, start
from tests.forked import ForkedProcess, can_fork
from tests.patience import patient

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]


def by_name(folder, *arguments, env):
    given = [sys.executable, "-m", "services.cli", *arguments]
    return subprocess.run(
        given,
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        timeout=patient(60),
        check=False,
        stdin=subprocess.DEVNULL,
    )


@pytest.mark.tenth
@pytest.mark.parametrize(
    "arguments",
    [("--version",), ("nonsense",), ("verify", "crp_sess_0123456789abcdef"), ("keys", "list", "--json")],
    ids=lambda arguments: arguments[0],
)
def test_it_says_the_same_and_ends_the_same(tmp_path, arguments):
    env = environment(tmp_path / "data")
    forked, named = command(tmp_path, *arguments, env=env), by_name(tmp_path, *arguments, env=env)
    assert (forked.returncode, forked.stdout) == (named.returncode, named.stdout)
    assert forked.stderr == named.stderr


def test_it_has_its_own_folder_settings_and_nothing_of_the_one_before(tmp_path):
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        done = command(folder, "keys", "create", "--label", name, env=environment(folder / "data"))
        assert done.returncode == 0, done.stderr
        assert (folder / "data").is_dir()
    done = command(tmp_path, "version", env=environment(tmp_path, GROUNDTRAIL_STORE__DATADIR="x"))
    assert (done.returncode, "GROUNDTRAIL_STORE__DATA_DIR" in done.stderr) == (2, True)


def test_a_server_leads_its_group_and_ends_as_it_is_told(tmp_path):
    env = environment(tmp_path / "data")
    server = start(tmp_path, "dag", "dag", "--insecure-local", env=env)
    assert isinstance(server.process, ForkedProcess)
    assert os.getpgid(server.process.pid) == server.process.pid
    assert server.process.poll() is None
    with pytest.raises(subprocess.TimeoutExpired):
        server.process.wait(0.05)
    assert server.stop() == 0
    second = start(tmp_path, "again", "dag", "--insecure-local", env=env)
    second.kill()
    assert second.process.returncode == -signal.SIGKILL


@pytest.mark.parametrize("name", ["PYTHONHASHSEED", "PYTHONPATH", "TERM", "NO_COLOR"])
def test_what_python_and_libraries_read_early_is_read_by_a_process_of_its_own(tmp_path, name):
    assert can_fork(environment(tmp_path) | {"COLUMNS": "40", "PYTEST_CURRENT_TEST": "an earlier one"})
    assert not can_fork(environment(tmp_path) | {name: "another value"})


@pytest.mark.whole
def test_its_workers_are_forked_children_that_find_what_others_find_and_end_with_it(tmp_path):
    (tmp_path / "fees.md").write_text("# Fees\n\nThe deposit is 120 EUR. Anna Smith of Berlin pays it.\n")
    told = []
    for name, run in (("forked", command), ("named", by_name)):
        env = environment(tmp_path / name)
        done = run(tmp_path, "ingest", "fees.md", "--json", env=env)
        assert done.returncode == 0, done.stderr
        (document,) = json.loads(done.stdout)["documents"]
        told.append({key: value for key, value in document.items() if key != "source_id"})
    assert told[0] == told[1]
    server = start(tmp_path, "envelope", "envelope", "--insecure-local", env=environment(tmp_path / "served"))
    with grpc.insecure_channel(server.address) as channel:
        request = IngestSourceRequest(request_id=str(uuid.uuid4()), uri="a", content=b"Anna Smith pays 120 EUR.")
        request.source_type, request.media_type = SourceType.SOURCE_TYPE_INTERNAL, "text/plain"
        KnowledgeServiceStub(channel).IngestSource(request, timeout=patient(60))
    children = children_of(server.process.pid)
    workers = [pid for pid in children if os.getsid(pid) == pid]
    assert len(workers) >= 2  # one for texts, one for documents
    server.kill()
    until = time.monotonic() + patient(5)
    while any(Path(f"/proc/{pid}").exists() for pid in children) and time.monotonic() < until:
        time.sleep(0.02)
    assert not [pid for pid in children if Path(f"/proc/{pid}").exists()]


def children_of(pid):
    """Return the ids of a process's children."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return [int(child) for task in tasks for child in (task / "children").read_text(encoding="ascii").split()]
