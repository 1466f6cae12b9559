"""What is laid out for the wheels imports only what they install, and the client stands alone (ADR 0138)."""

import ast
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.speed import slowness
from tools import build_wheels

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def staged(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stage")
    names = [name for name in ("groundtrail", "groundtrail-server") for _ in build_wheels.stage(folder, name)]
    return {name: folder / name for name in names}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("from services.dpe.app import A", "from groundtrail_server.dpe.app import A"),
        ("    from crp.dpe.v1 import claim_pb2", "    from groundtrail.proto.crp.dpe.v1 import claim_pb2"),
        ("from ercp.v1 import ercp_pb2 as e", "from groundtrail.proto.ercp.v1 import ercp_pb2 as e"),
        ('Later(f"services.cli.commands.{name}")', 'Later(f"groundtrail_server.cli.commands.{name}")'),
        ('NAME = "crp.dag.v1.SessionService"', 'NAME = "crp.dag.v1.SessionService"'),
        ("services.append(one)", "services.append(one)"),
        ('channels.to("ercp")', 'channels.to("ercp")'),
        ('M = "services/_resources/BUILD.json"', 'M = "groundtrail_server/_resources/BUILD.json"'),
    ],
)
def test_names_of_packages_change_and_names_of_the_contract_stay(before, after):
    assert build_wheels.renamed(before) == after


def test_a_module_that_still_imports_the_checkout_stops_the_build(tmp_path):
    (tmp_path / "from").mkdir()
    (tmp_path / "from" / "a.py").write_text("import services\n")
    with pytest.raises(ValueError, match="still imports services"):
        build_wheels.copy_tree(tmp_path / "from", tmp_path / "to")


@pytest.mark.whole
def test_a_literal_that_is_gone_stops_the_build(tmp_path, monkeypatch):
    monkeypatch.setitem(build_wheels.ONCE, "no such literal", "x")
    with pytest.raises(ValueError, match="no such literal"):
        build_wheels.stage_server(tmp_path)


@pytest.mark.whole
def test_everything_parses_and_nothing_names_the_checkout(staged):
    modules = [path for place in staged.values() for path in place.rglob("*.py")]
    assert len(modules) > 700
    for path in modules:
        text = path.read_text(encoding="utf-8")
        ast.parse(text)
        assert not build_wheels.imported(text) & build_wheels.FORBIDDEN, path


def python(staged, code: str, *others: str) -> subprocess.CompletedProcess:
    """Run code with the staged client alone, besides the packages of this environment, the checkout's left out."""
    checkout = {str(ROOT), str(ROOT / "gen"), str(ROOT / "clients/python/src")}
    head = (
        f"import sys; sys.path[:] = [{str(staged['groundtrail'])!r}, *(p for p in sys.path if p not in {checkout!r})]; "
    )
    return subprocess.run(
        [sys.executable, "-c", head + code, *others],
        cwd=staged["groundtrail"].parent,
        env={"PATH": os.defpath},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_client_without_services_says_what_is_missing(staged):
    done = python(staged, "from groundtrail import check; check('a', ['b'])")
    assert done.returncode == 1
    assert "GroundtrailError: there is nothing to ask" in done.stderr
    assert 'pip install "groundtrail[embedded]"' in done.stderr
    done = python(staged, "from groundtrail.__main__ import main; main()")
    assert (done.returncode, done.stderr) == (
        1,
        'groundtrail: the command comes with the services: pip install "groundtrail[embedded]"\n',
    )


@pytest.mark.timed
def test_importing_the_client_is_quick_and_loads_nothing_heavy(staged):
    code = (
        "import time; began = time.process_time(); import groundtrail; spent = time.process_time() - began; "
        "print(spent, sorted(sys.modules.keys() & {'grpc', 'numpy', 'asyncio', 'google.protobuf'}))"
    )
    spent, heavy = min(python(staged, code).stdout.strip().split(" ", 1) for _ in range(3))
    assert heavy == "[]"
    assert float(spent) < 0.3 * slowness()


def test_stubs_are_typed_and_whole(staged):
    code = (
        "from groundtrail.proto.crp.gateway.v1 import dispatch_service_pb2_grpc as g, dispatch_service_pb2 as m;"
        "from groundtrail.proto.ercp.v1 import ercp_service_pb2_grpc as e;"
        "print(g.DispatchServiceStub.__name__, e.ErcpServiceStub.__name__, m.DispatchRequest.DESCRIPTOR.full_name)"
    )
    done = python(staged, code)
    assert done.stdout.split() == ["DispatchServiceStub", "ErcpServiceStub", "crp.gateway.v1.DispatchRequest"], (
        done.stderr
    )
    package = staged["groundtrail"] / "groundtrail"
    assert (package / "py.typed").exists()
    assert (package / "proto/crp/py.typed").exists()
    assert (package / "proto/crp/dpe/v1/provenance_service_pb2.pyi").exists()


def test_one_version_and_the_services_own_dependencies(staged):
    projects = {
        name: tomllib.loads((place / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        for name, place in staged.items()
    }
    root = build_wheels.root_project()
    assert {project["version"] for project in projects.values()} == {root["version"]}
    assert projects["groundtrail-server"]["dependencies"] == [f"groundtrail=={root['version']}", *root["dependencies"]]
    assert projects["groundtrail-server"]["optional-dependencies"] == root["optional-dependencies"]
    assert len(projects["groundtrail"]["dependencies"]) == 3
    embedded = {f"{name}=={root['version']}" for name in ("groundtrail-models", "groundtrail-server")}
    assert set(projects["groundtrail"]["optional-dependencies"]["embedded"]) == embedded


def test_every_model_is_in_one_part():
    held = [model for _, models in build_wheels.MODELS.values() for model in models]
    assert sorted(held) == sorted(path.name for path in (ROOT / "model_repository").iterdir() if path.is_dir())
