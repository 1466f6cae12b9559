"""The verifier is one file that knows nothing of the product: no import of it, no line of it; Python 3.10 is enough."""

import ast
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.patience import patient

ROOT = Path(__file__).resolve().parents[3]
FILE = ROOT / "clients" / "verifier" / "groundtrail_verify.py"
TREE = ast.parse(FILE.read_text(encoding="utf-8"), feature_version=(3, 10))
WINDOW = 4
"""So many lines in a row that say the same are a copy; fewer are how a thing is said in Python."""
NEWER = {"tomllib", "StrEnum", "Self", "assert_never", "ExceptionGroup", "TaskGroup", "batched", "UTC"}


def imported():
    for node in ast.walk(TREE):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level
            yield node.module


def lines_of(path):
    """What a file says, without what any file says: comments, docstrings, blank lines, imports, lone brackets."""
    text = re.sub(r'"""(?:.|\n)*?"""', "", path.read_text(encoding="utf-8"))
    found = [re.sub(r"\s+", " ", line.split("  # ")[0]).strip() for line in text.splitlines()]
    return [line for line in found if len(line) > 8 and not line.startswith(("#", "import ", "from ", "return None"))]


def runs(lines):
    return {tuple(lines[place : place + WINDOW]) for place in range(len(lines) - WINDOW + 1)}


def test_it_imports_the_standard_library_and_one_package():
    packages = {name.split(".")[0] for name in imported()}
    assert packages - sys.stdlib_module_names == {"cryptography"}
    source = FILE.read_text(encoding="utf-8")
    assert not re.search(r"__import__|importlib|exec\(|eval\(|\bservices\b|groundtrail\.", source)


def test_it_is_one_file_that_python_3_10_reads():
    names = {node.id for node in ast.walk(TREE) if isinstance(node, ast.Name)}
    names |= {node.attr for node in ast.walk(TREE) if isinstance(node, ast.Attribute)}
    assert not names & NEWER
    assert not [node for node in ast.walk(TREE) if isinstance(node, ast.TryStar)]
    assert sorted(path.name for path in FILE.parent.glob("*.py")) == [FILE.name, f"test_{FILE.name}"]


def test_it_copies_nothing_of_the_product():
    own = runs(lines_of(FILE))
    folders = ("services", "evaluation", "bench", "tools")
    product = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    assert len(product) > 300
    copied = {str(path.relative_to(ROOT)): found for path in product if (found := own & runs(lines_of(path)))}
    assert copied == {}


def test_the_search_for_copies_can_find_one():
    merkle = lines_of(ROOT / "services" / "common" / "merkle.py")
    assert runs(["before", *merkle[20:30], "after"]) & runs(merkle)


def test_a_copy_of_the_file_is_enough(tmp_path):
    vectors = ROOT / "tests" / "vectors" / "wire"
    export = json.loads((vectors / "wire.json").read_text(encoding="utf-8"))["exports"]["fan_in"]
    program = shutil.copy(FILE, tmp_path)
    command = [
        sys.executable,
        "-I",
        program,
        "export",
        str(vectors / export["file"]),
        "--key",
        export["public_keys"][0],
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, timeout=patient(30))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("VALID: ")
