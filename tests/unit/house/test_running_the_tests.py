"""How a run of the tests keeps byte code, where it measures coverage, and which cases it takes."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests import covering, memory_folder, tenth

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


def test_every_file_of_tests_belongs_to_one_of_the_two_runs():
    """ADR 0159: what the run without the tracer leaves out is what the run with it takes, and all of it is there."""
    told = subprocess.run(["make", "-n", "test"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    untraced, traced = (line.split() for line in told.splitlines() if "pytest" in line)
    assert {"tests", "clients"} <= set(untraced)
    left_out = {word.removeprefix("--ignore=") for word in untraced if word.startswith("--ignore=")}
    assert {word for word in traced if word.startswith("tests/")} == left_out
    assert [place for place in left_out if not (ROOT / place).exists()] == []
    assert "--cov" in traced
    assert "--cov" not in untraced
