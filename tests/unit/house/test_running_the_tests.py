"""How a run of the tests keeps byte code, where it measures coverage, and which cases it takes."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests import beginnings, covering, memory_folder, tenth

ROOT = Path(__file__).resolve().parents[3]
TOLD = "import os, sys; from tests import bytecode; bytecode.keep(); print(sys.dont_write_bytecode, sys.pycache_prefix)"


@pytest.mark.parametrize(
    ("variables", "told"),
    [
        ({"PYTHONDONTWRITEBYTECODE": "1"}, f"False {ROOT / '.cache' / 'bytecode'}"),
        ({"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPYCACHEPREFIX": "/elsewhere"}, "False /elsewhere"),
        ({}, "False None"),
    ],
    ids=["none in the tree", "a folder of one's own", "as Python does it"],
)
def test_byte_code_is_kept_outside_the_tree_where_none_is_wanted_in_it(variables, told):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    command = [sys.executable, "-S", "-c", TOLD]
    done = subprocess.run(command, cwd=ROOT, env=kept | variables, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == told


def test_what_is_measured_is_what_coverage_is_told_to_measure():
    sources = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["coverage"]["run"]["source"]
    folders = {folder.relative_to(ROOT).as_posix() for pattern in covering.MEASURED for folder in ROOT.glob(pattern)}
    assert folders == set(sources)
    assert "services.dag.domain.chain" in covering.measured_modules()


def test_a_smaller_share_is_part_of_the_tenth():
    every = [f"case-{number}" for number in range(400)]
    large, small = (tenth._chosen("an example", every, str, share) for share in (10, 40))
    assert set(small) < set(large)
    assert tenth._chosen("an example", every[:1], str, 40) == every[:1]


@pytest.mark.parametrize(
    ("variables", "chosen"),
    [({}, True), ({"GROUNDTRAIL_TEST_ON_DISK": "1"}, False), ({"PYTEST_DEBUG_TEMPROOT": "/elsewhere"}, False)],
)
def test_files_lie_in_memory_where_nobody_chose_another_place(monkeypatch, tmp_path, variables, chosen):
    for name in (memory_folder.VARIABLE, memory_folder.ROOT_VARIABLE):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(memory_folder, "LEAST_BYTES", 1)
    assert memory_folder.choose(tmp_path) is chosen
    assert (os.environ.get(memory_folder.ROOT_VARIABLE) == str(tmp_path)) is chosen


def test_a_folder_without_room_or_that_is_none_is_not_chosen(monkeypatch, tmp_path):
    for name in (memory_folder.VARIABLE, memory_folder.ROOT_VARIABLE):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(memory_folder, "LEAST_BYTES", 1 << 62)
    assert not memory_folder.choose(tmp_path)
    assert not memory_folder.choose(tmp_path / "nothing")


def test_one_run_takes_every_file_and_traces_what_is_there():
    """ADR 0198: what covers pure code is traced, everything is run, and the floor is looked at."""
    told = subprocess.run(["make", "-n", "test"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    (words,) = (line.split() for line in told.splitlines() if "pytest" in line)
    assert {"tests", "clients", "--cov"} <= set(words)
    traced = [word.removeprefix("--traced=") for word in words if word.startswith("--traced=")]
    assert "tests/unit/dag" in traced
    untraced = [word.removeprefix("--untraced=") for word in words if word.startswith("--untraced=")]
    assert [place for place in traced + untraced if not (ROOT / place).exists()] == []
    assert [file for file in untraced if not any(file.startswith(f"{place}/") for place in traced)] == []
    assert not any(word.startswith(("--ignore", "-k", "-m")) for word in words)
    assert "tools/coverage_floor.py" in told


class Controller:
    """What pytest-cov has to start and stop."""

    def __init__(self):
        self.started = True

    def resume(self):
        self.started = True

    def pause(self):
        self.started = False


class Run:
    """As much of a run as ``Covering`` asks for."""

    def __init__(self, traced, untraced=()):
        self.controller = Controller()
        self.pluginmanager = self
        config: Any = self
        self.covering = covering.Covering(config, traced, untraced)

    def hasplugin(self, _name):
        return False

    def getplugin(self, _name):
        return SimpleNamespace(cov_controller=self.controller)

    def seen(self, *files):
        """Return which tests run, in their order, and whether they are traced."""
        items: list[Any] = [SimpleNamespace(nodeid=f"{file}::test_a") for file in files]
        self.covering.pytest_collection_modifyitems(items)
        seen = []
        for item in items:
            running = self.covering.pytest_runtest_protocol(item)
            next(running)
            seen.append((item.nodeid.partition("::")[0], self.controller.started))
            running.close()
        return seen


def test_what_is_traced_runs_first_and_nothing_is_traced_behind_it():
    run = Run(["tests/b/", "tests/c/test_two.py"], ["tests/b/test_a.py"])
    files = ("tests/a.py", "tests/b/test_a.py", "tests/b/test_x.py", "tests/bb/test_x.py", "tests/c/test_two.py")
    assert run.seen(*files) == [
        ("tests/b/test_x.py", True),
        ("tests/c/test_two.py", True),
        ("tests/a.py", False),
        ("tests/b/test_a.py", False),
        ("tests/bb/test_x.py", False),
    ]


def test_everything_is_traced_where_nothing_is_named():
    assert Run([]).seen("tests/b.py", "tests/a.py") == [("tests/b.py", True), ("tests/a.py", True)]


def test_processes_begin_to_collect_at_places_of_their_own_and_collect_the_same():
    places = beginnings.parts(ROOT / "tests")
    found = [path for place in map(Path, places) for path in ([place] if place.is_file() else place.rglob("test_*.py"))]
    assert sorted(found) == sorted((ROOT / "tests").rglob("test_*.py"))
    rings = [beginnings.rotated(places, number / 3) for number in range(3)]
    assert len({ring[0] for ring in rings}) == 3
    assert rings[0] == places
    assert [sorted(ring) for ring in rings] == [sorted(places)] * 3


def test_tests_of_every_beginning_are_in_the_order_of_their_files():
    files = ("tests/unit/a/test_b.py", "tests/unit/a_b/test_a.py", "tests/unit/test_c.py", "clients/test_a.py")
    given: list[Any] = [SimpleNamespace(nodeid=f"{file}::test_{name}") for file in files for name in "ba"]
    beginnings.put_in_order(given)
    assert [item.nodeid.partition("::")[0] for item in given[::2]] == [files[3], *files[:3]]
    assert [item.nodeid[-1] for item in given] == ["b", "a"] * 4


CONFTEST = """
from tests import covering

covering.measured_modules = list

def pytest_addoption(parser):
    covering.add_option(parser)

def pytest_configure(config):
    config.pluginmanager.register(covering.Covering(config, config.getoption("--traced")))
"""
TRACED = """
import sys

def test_whether_it_is_traced():
    assert (sys.gettrace() is not None) is {is_traced}
"""


@pytest.mark.parametrize("several", [[], ["-n", "1"]], ids=["one process", "a worker"])
def test_nothing_traces_behind_what_is_traced(tmp_path, several):
    """pytest-cov begins a tracer in each process of several before it knows its part, and a second one above it."""
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_a.py").write_text(TRACED.format(is_traced=False))
    (tmp_path / "test_b.py").write_text(TRACED.format(is_traced=True))
    plugins = ["-p", "xdist", "-p", "pytest_cov", "-p", "no:cacheprovider"]
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("COV_", "PYTEST_XDIST"))}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *plugins, *several, "--cov=conftest", "--cov-report=",
         "--traced=test_b.py"],
        cwd=tmp_path, env=kept | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
