"""Real servers: installed once by pins, watched while they start, ended by pid with what they leave behind."""

import hashlib
import os
import re
import socket
import sys
from contextlib import contextmanager
from multiprocessing import shared_memory
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from tools.real_servers import __main__ as command_line
from tools.real_servers import llm, milvus, neo4j, processes, provisioning, triton
from tools.real_servers.processes import ServerProcess, free_ports
from tools.real_servers.provisioning import LOCKS, RealServerError, provisioned

READY = "import pathlib, sys, time; pathlib.Path(sys.argv[1]).touch(); time.sleep(60)"
DEAF = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); " + READY
MAPS_TWO_REGIONS = """
import mmap, pathlib, sys, time
from multiprocessing import resource_tracker, shared_memory
resource_tracker.register = lambda *_: None
regions = [shared_memory.SharedMemory(name) for name in sys.argv[2:]]
pathlib.Path(sys.argv[1]).touch(); time.sleep(60)
"""
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc and /dev/shm")


def started(folder: Path, program: str = READY, *arguments: str, **options) -> tuple[ServerProcess, Path]:
    flag = folder / "ready"
    command = [sys.executable, "-c", program, str(flag), *arguments]
    return ServerProcess(command, environment={"PATH": os.defpath}, log=folder / "server.log", **options), flag


def test_a_server_is_ready_and_ends_on_request(tmp_path):
    process, flag = started(tmp_path)
    process.wait_until(flag.exists, 20)
    assert process.running
    process.stop()
    assert not process.running
    process.stop()  # once more does nothing


def test_a_server_that_ends_at_once_is_told_with_its_log(tmp_path):
    process, flag = started(tmp_path, "import sys; sys.exit('no such model')")
    with pytest.raises(RealServerError, match=r"(?s)ended with status 1.*no such model"):
        process.wait_until(flag.exists, 20)


def test_a_server_that_never_gets_ready_is_killed_at_the_deadline(tmp_path):
    process, _ = started(tmp_path)
    with pytest.raises(RealServerError, match=r"not ready after 0\.2 s"):
        process.wait_until(lambda: False, 0.2)
    assert not process.running


def test_a_server_that_ignores_the_request_is_killed(tmp_path, monkeypatch):
    monkeypatch.setattr(processes, "STOP_DEADLINE_S", 0.2)
    process, flag = started(tmp_path, DEAF)
    process.wait_until(flag.exists, 20)
    process.stop()
    assert not process.running


@linux
@pytest.mark.parametrize("how", ["stop", "kill"])
def test_its_own_shared_memory_is_removed_and_no_one_elses(tmp_path, how):
    names = [f"{kind}_{os.getpid()}_{how}" for kind in ("own", "client")]
    regions = [shared_memory.SharedMemory(name, create=True, size=16) for name in names]
    try:
        process, flag = started(tmp_path, MAPS_TWO_REGIONS, *names, shared_memory=r"own_\w+")
        process.wait_until(flag.exists, 20)
        getattr(process, how)()
        assert [Path(processes.SHARED_MEMORY, name).exists() for name in names] == [False, True]
    finally:
        for region in regions:
            region.close()
        Path(processes.SHARED_MEMORY, names[0]).touch()  # so that its owner can unlink it
        for region in regions:
            region.unlink()


def test_ports_are_distinct_and_free():
    ports = free_ports(5)
    assert len(set(ports)) == 5
    with socket.socket() as one:
        one.bind(("127.0.0.1", ports[0]))


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setattr(provisioning, "CACHE", tmp_path / "cache")
    monkeypatch.setattr(provisioning, "supported", lambda: None)
    return tmp_path / "cache"


def test_an_installation_is_made_once(cache):
    made = []
    folders = [provisioned("x", "triton.lock", lambda folder, _: made.append(folder)) for _ in range(2)]
    assert made == folders[:1]
    assert folders[0] == folders[1]


def test_an_interrupted_installation_is_begun_anew(cache):
    def fail(folder, _pins):
        (folder / "half").touch()
        raise RealServerError("no network")

    with pytest.raises(RealServerError, match="no network"):
        provisioned("x", "triton.lock", fail)
    folder = provisioned("x", "triton.lock", lambda folder, _: (folder / "whole").touch())
    assert sorted(path.name for path in folder.iterdir()) == ["complete", "whole"]


def test_other_pins_are_another_installation(cache):
    one, other = (provisioned("x", lock, lambda *_: None) for lock in ("triton.lock", "perf_analyzer.lock"))
    assert one != other


def test_another_machine_is_told_which_one_it_takes(monkeypatch):
    monkeypatch.setattr(provisioning.platform, "machine", lambda: "arm64")
    assert "Linux on x86_64" in provisioning.supported()
    with pytest.raises(RealServerError, match="for Linux on x86_64"):
        provisioned("x", "triton.lock", lambda *_: None)


@pytest.mark.parametrize("path", sorted(LOCKS.glob("*.lock")), ids=lambda path: path.name)
def test_every_package_is_pinned_with_its_hashes(path):
    blocks = re.split(r"(?m)^(?=\S)", path.read_text(encoding="utf-8"))[1:]
    assert blocks
    for block in blocks:
        assert re.match(r"[\w-]+==[\w.]+ \\\n", block), block
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", block), block


def test_triton_computes_with_the_onnx_runtime_of_the_process():
    def pinned(path):
        return re.search(r"(?m)^onnxruntime==(\S+)", path.read_text(encoding="utf-8")).group(1)

    assert pinned(LOCKS / "triton.lock") == pinned(provisioning.ROOT / "requirements.lock")


def test_encoders_are_the_models_with_an_onnx_backend(tmp_path):
    for name, backend in (("b", "onnxruntime"), ("a", "onnxruntime"), ("c", "python")):
        (tmp_path / name).mkdir()
        tensor = '{ name: "t" data_type: TYPE_INT64 dims: [ -1 ] }'
        (tmp_path / name / "config.pbtxt").write_text(
            f'name: "{name}" backend: "{backend}" input [ {tensor} ] output [ {tensor} ]', encoding="utf-8"
        )
    assert triton.encoders(tmp_path) == ("a", "b")
    assert "embedder" in triton.encoders(triton.MODEL_REPOSITORY)


class Served:
    """Stands for a Triton; remembers what it was asked to serve."""

    def __init__(self, monkeypatch) -> None:
        self.asked = []
        self.stopped = 0
        monkeypatch.setattr(triton, "running", self.running)
        monkeypatch.delenv(triton.VARIABLE, raising=False)

    @contextmanager
    def running(self, repository, models):
        self.asked.append((repository, models))
        yield SimpleNamespace(target="127.0.0.1:1", models=("embedder",), process=None)
        self.stopped += 1


@pytest.fixture
def served(monkeypatch):
    monkeypatch.setattr(command_line, "supported", lambda: None)
    monkeypatch.setattr(command_line.signal, "signal", lambda *_: None)
    return Served(monkeypatch)


def shown(variable: str) -> list[str]:
    return [sys.executable, "-c", f"import os, sys; sys.exit(os.environ.get({variable!r}) != sys.argv[1])"]


def test_a_command_runs_beside_the_server_which_is_stopped_then(served, tmp_path):
    command = [*shown(triton.VARIABLE), "127.0.0.1:1"]
    given = ["triton", "--model-repository", str(tmp_path), "--model", "nli", "--", *command]
    assert command_line.main(given) == 0
    assert (served.asked, served.stopped) == ([(tmp_path, ("nli",))], 1)


def test_its_status_is_the_commands(served):
    assert command_line.main(["triton", "--", sys.executable, "-c", "raise SystemExit(7)"]) == 7
    assert served.stopped == 1


def test_a_triton_that_the_variable_names_is_used_instead(served, monkeypatch):
    monkeypatch.setenv(triton.VARIABLE, "10.0.0.7:8001")
    assert command_line.main(["triton", "--", *shown(triton.VARIABLE), "10.0.0.7:8001"]) == 0
    assert served.asked == []


def test_where_the_recipe_does_not_fit_the_command_runs_alone_if_that_is_allowed(served, monkeypatch, capsys):
    monkeypatch.setattr(command_line, "supported", lambda: "the recipes are for Linux")
    command = [sys.executable, "-c", f"import os; assert {triton.VARIABLE!r} not in os.environ"]
    assert command_line.main(["triton", "--if-possible", "--", *command]) == 0
    assert served.asked == []
    assert "not started: the recipes are for Linux" in capsys.readouterr().err


@pytest.mark.parametrize("pinned", [True, False])
def test_neo4j_is_taken_only_as_its_digests_say(tmp_path, monkeypatch, pinned):
    pins = tmp_path / "neo4j.sha256"
    pins.write_text(f"{hashlib.sha256(b'good').hexdigest()}  neo4j-1.2.3.jar\n", encoding="utf-8")
    folder = tmp_path / "files"
    folder.mkdir()
    monkeypatch.setattr(neo4j, "run_installer", lambda _: (folder / "neo4j-1.2.3.jar").write_bytes(b"good"))
    if not pinned:
        (folder / "stranger.jar").write_bytes(b"good")
        with pytest.raises(RealServerError, match=r"stranger\.jar; 1 files differ"):
            neo4j._copy(folder, pins)
    else:
        neo4j._copy(folder, pins)


def test_every_file_of_neo4j_is_pinned_and_of_the_version_in_the_pom():
    lines = (LOCKS / neo4j.DIGESTS).read_text(encoding="utf-8").splitlines()
    assert all(re.fullmatch(r"[0-9a-f]{64}  [\w.-]+\.jar", line) for line in lines)
    assert f"<version>{neo4j.version()}</version>" in (LOCKS / neo4j.POM).read_text(encoding="utf-8")
    assert neo4j.version() in neo4j.name()


def test_a_command_beside_neo4j_learns_where_it_is_and_its_password(monkeypatch, tmp_path):
    home = neo4j.Neo4jHome(tmp_path, 1, "secret")

    @contextmanager
    def running():
        yield home, None

    monkeypatch.setattr(neo4j, "running", running)
    monkeypatch.setattr(neo4j, "missing", lambda: None)
    monkeypatch.setattr(command_line.signal, "signal", lambda *_: None)
    for variable in home.variables:
        monkeypatch.delenv(variable, raising=False)
    assert command_line.main(["neo4j", "--", *shown(neo4j.VARIABLE), "bolt://127.0.0.1:1"]) == 0
    assert command_line.main(["neo4j", "--", *shown(neo4j.PASSWORD_VARIABLE), "secret"]) == 0


def test_without_java_or_maven_neo4j_is_not_started(monkeypatch, capsys):
    monkeypatch.setattr(neo4j, "supported", lambda: None)
    monkeypatch.setattr(neo4j.shutil, "which", lambda program: None if program == "mvn" else "/bin/java")
    monkeypatch.setattr(command_line.signal, "signal", lambda *_: None)
    assert command_line.main(["neo4j", "--if-possible", "--", sys.executable, "-c", ""]) == 0
    assert "Neo4j is not started: mvn not found" in capsys.readouterr().err
    with pytest.raises(RealServerError, match="install a JDK"):
        neo4j.installation()


def test_a_command_beside_the_language_model_learns_where_it_is(monkeypatch):
    @contextmanager
    def running():
        yield llm.RunningModel("http://127.0.0.1:1/v1", SimpleNamespace(running=True))

    monkeypatch.setattr(llm, "running", running)
    monkeypatch.setattr(llm, "missing", lambda: None)
    monkeypatch.delenv(llm.VARIABLE, raising=False)
    assert command_line.main(["llm", "--", *shown(llm.VARIABLE), "http://127.0.0.1:1/v1"]) == 0


def test_without_a_compiler_the_language_model_is_not_started(monkeypatch, capsys):
    monkeypatch.setattr(llm, "supported", lambda: None)
    monkeypatch.setattr(llm.shutil, "which", lambda program: None if program == "c++" else f"/bin/{program}")
    monkeypatch.delenv(llm.VARIABLE, raising=False)
    assert command_line.main(["llm", "--if-possible", "--", sys.executable, "-c", ""]) == 0
    assert "c++" in capsys.readouterr().err


def test_what_is_compiled_is_installed_last_and_all_else_from_wheels(monkeypatch, tmp_path):
    commands = []
    monkeypatch.setattr(llm, "run_installer", lambda command, **options: commands.append((command, options)))
    llm.install(tmp_path, LOCKS / "llm.lock")
    wheels = (tmp_path / "wheels.txt").read_text(encoding="utf-8")
    pinned = (LOCKS / "llm.lock").read_text(encoding="utf-8")
    packages = re.findall(r"^(\S+)==", pinned, re.MULTILINE)
    assert llm.COMPILED in packages
    assert re.findall(r"^(\S+)==", wheels, re.MULTILINE) == [name for name in packages if name != llm.COMPILED]
    assert wheels.count("--hash") < pinned.count("--hash")
    assert [command[-1] for command, _ in commands[1:]] == ["--only-binary=:all:", "--no-build-isolation"]
    assert all("--require-hashes" in command for command, _ in commands[1:])
    assert commands[2][1] == {"deadline_s": llm.BUILD_DEADLINE_S}


@pytest.mark.parametrize("impatient", [True, False])
def test_a_milvus_is_laid_out_on_ports_of_its_own(tmp_path, monkeypatch, impatient):
    files = tmp_path / "server"
    files.mkdir()
    (files / "glog.conf").touch()
    (files / "config.yaml.template").write_text(
        "etcd:\n  path: {{ etcd_data_dir }}\n  use:\n    embed: true # in the process\n"
        "proxy:\n  timeTickInterval: 200 # ms\n  port: {{ proxy_port(int): 19530 }}\n"
        "rootCoord:\n  port: {{ root_coord_port(int): 53100 }}\n  tlsMode: {{ tls_mode(int): 0 }}\n",
        encoding="utf-8",
    )
    monkeypatch.setattr(milvus, "installation", lambda: files)
    home = milvus.new_home(tmp_path / "home", impatient=impatient)
    laid_out = yaml.safe_load((home.folder / "configs/milvus.yaml").read_text(encoding="utf-8"))
    etcd = yaml.safe_load((home.folder / "configs/etcd.yaml").read_text(encoding="utf-8"))
    assert laid_out["etcd"]["path"] == str(home.folder / "data/etcd")
    assert laid_out["etcd"]["config"]["path"] == str(home.folder / "configs/etcd.yaml")
    assert laid_out["proxy"] == {"timeTickInterval": 20 if impatient else 200, "port": home.port}
    assert laid_out["rootCoord"]["tlsMode"] == 0
    ports = {home.port, home.health_port, laid_out["rootCoord"]["port"]}
    ports |= {int(etcd[name].rsplit(":", 1)[1]) for name in ("listen-client-urls", "listen-peer-urls")}
    assert len(ports) == 5
    assert not {19530, 53100, 2379, 2380} & ports
    assert home.uri == f"http://127.0.0.1:{home.port}"
