"""Sizes, names and what must not stand in tracked files (docs/architecture.md, CONTRIBUTING.md)."""

import ast
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
MAX_MODULE_LINES = 500
MAX_FUNCTION_LINES = 60
MAX_PARAMETERS = 6
LONG_MODULES: dict[str, str] = {}
"""Modules over the limit, each with the reason why it may be."""
FORBIDDEN_NAMES = {"util", "utils", "helper", "helpers", "manager", "base", "misc", "common_utils"}
TEXT = {
    ".cfg", ".html", ".in", ".ini", ".json", ".lock", ".md", ".pbtxt", ".proto", ".py", ".pyi", ".sh", ".toml", ".txt",
    ".yaml", ".yml", "",
}  # fmt: skip
SECRETS = {
    "private key": re.compile(r"-----BEGIN (?:RSA |EC |OPENSSH )?PRIVATE KEY-----\n[A-Za-z0-9+/=]{32}"),
    "API key of ours": re.compile(r"crp_gw_(?:live|staging)_[A-Za-z0-9]{32}"),
    "API key of a provider": re.compile(r"\bsk-[A-Za-z0-9_-]{32,}"),
    "cloud key": re.compile(r"\bAKIA[0-9A-Z]{16}\b"),
}
HOME = re.compile(r"(?<![\w.$~-])/(?:home|Users|root|work|mnt|scratch)/[\w.-]+")
INDEX = re.compile(r"--(?:extra-)?index-url|--find-links|--trusted-host|^index-url\s*=", re.MULTILINE)
ALLOWED_HOME = {
    "tests/unit/house/test_house_rules.py",
}
OF_OTHERS = ("tests/documents/dev/", "tests/documents/probes/", "tests/vectors/search/")
"""Documents as they were written: their examples name paths of nobody's machine here."""


@cache
def tracked() -> tuple[Path, ...]:
    """Return what is committed or staged."""
    command = ["git", "ls-files", "--cached"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip("not a git checkout")
    return tuple(path for name in done.stdout.splitlines() if (path := ROOT / name).is_file())


def modules() -> list[Path]:
    folders = ("services", "evaluation", "tools", "training", "bench")
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def functions(path: Path) -> tuple[ast.FunctionDef | ast.AsyncFunctionDef, ...]:
    return tuple(node for node in statements(tree(path)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the statements within one, and not their expressions, which are nine nodes in ten."""
    for name in ("body", "orelse", "handlers", "finalbody", "cases"):
        for one in getattr(node, name, ()) if not isinstance(node, ast.expr) else ():
            yield one
            yield from statements(one)


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def body_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Count lines from the signature to the end, without the docstring."""
    length = (node.end_lineno or node.lineno) - node.lineno + 1
    first = node.body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        length -= (first.end_lineno or first.lineno) - first.lineno + 1
    return length


def test_there_are_modules_to_look_at():
    assert len(modules()) > 50


def test_modules_are_short():
    lengths = {name_of(path): len(path.read_text(encoding="utf-8").splitlines()) for path in modules()}
    assert {name: n for name, n in lengths.items() if n > MAX_MODULE_LINES and name not in LONG_MODULES} == {}
    assert {name for name in LONG_MODULES if lengths.get(name, 0) <= MAX_MODULE_LINES} == set()


def test_functions_are_short():
    long = [
        f"{name_of(path)}:{node.lineno} {node.name} has {body_lines(node)} lines"
        for path in modules()
        for node in functions(path)
        if body_lines(node) > MAX_FUNCTION_LINES
    ]
    assert long == []


def test_functions_take_few_parameters():
    wide = []
    for path in modules():
        if name_of(path).startswith("services/cli/"):
            continue  # typer reads a command's options from its parameters
        for node in functions(path):
            arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            count = len([a for a in arguments if a.arg not in {"self", "cls"}])
            if count > MAX_PARAMETERS and node.name != "__init__":
                wide.append(f"{name_of(path)}:{node.lineno} {node.name} takes {count}")
    assert wide == []


def test_no_module_has_a_name_that_says_nothing():
    parts = {name_of(path): set(path.relative_to(ROOT).with_suffix("").parts) for path in modules()}
    assert {name: sorted(found & FORBIDDEN_NAMES) for name, found in parts.items() if found & FORBIDDEN_NAMES} == {}


def test_every_module_says_what_it_is_for():
    silent = [
        name_of(path)
        for path in modules()
        if path.read_text(encoding="utf-8").strip() and not ast.get_docstring(tree(path))
    ]
    assert silent == []


def test_no_work_is_left_undone_in_the_code():
    pattern = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b|raise NotImplementedError")
    marked = [
        f"{name_of(path)}:{number}"
        for path in modules()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if pattern.search(line)
    ]
    assert marked == []


def test_only_settings_read_the_environment():
    readers = {
        name_of(path)
        for path in modules()
        if name_of(path).startswith("services/")
        and re.search(r"\bos\.(environ|getenv)\b|\bfrom os import .*environ", path.read_text(encoding="utf-8"))
    }
    keeps_a_library_from_it = "services/common/adapters/milvus/environment.py"
    tells_a_library_that_is_not_loaded_yet = "services/common/blas.py"
    assert readers == {
        "services/common/settings/environment.py",
        keeps_a_library_from_it,
        tells_a_library_that_is_not_loaded_yet,
    }


def test_processes_of_tests_are_on_the_leash():
    starts = re.compile(r"\bsubprocess\.Popen\(|\bcreate_subprocess_(?:exec|shell)\(|\bos\.spawn")
    # what the second hands on is started by a command that is on the leash
    own = {"tests/leash.py", "tests/forked_workers.py", name_of(Path(__file__))}
    tests = {name_of(path): path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py")}
    assert sorted(name for name, text in tests.items() if name not in own and starts.search(text)) == []


def test_no_test_fails_by_a_clock_that_runs_on_while_others_have_the_processor():
    """Processor time says what the code costs; where time passes for everybody, the limit is a patient one."""
    own = name_of(Path(__file__))
    hasty = [
        f"{name_of(path)}:{number}"
        for path in (ROOT / "tests").rglob("*.py")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if re.search(r"assert .*\b(?:monotonic|perf_counter|time\.time)\(\) - .*<", line)
        and not re.search(r"patient\(|_S\b", line)
        and name_of(path) != own
    ]
    assert hasty == []


def test_what_compares_times_is_marked_so():
    """A disturbed clock is no fault: such a test is tried again (ADR 0228)."""
    clocks = re.compile(r"\b(?:processor_time_below|process_time|thread_time)\(")
    unmarked = []
    for path in (ROOT / "tests").rglob("test_*.py"):
        text = path.read_text(encoding="utf-8")
        if not clocks.search(text) or path == Path(__file__) or "pytestmark = pytest.mark.timed" in text:
            continue
        tests = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
        own = [ast.unparse(node) for node in tests if node.name.startswith("test_")]
        unmarked += [f"{name_of(path)}: {one[:80]}" for one in own if clocks.search(one) and ".timed" not in one]
        if not any(".timed" in one for one in own):
            unmarked.append(name_of(path))
    assert unmarked == []


def text_of(path: Path) -> str:
    """Return a tracked text file; what is binary has nothing to search."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""


def test_tracked_text_holds_no_secret_and_no_machine():
    searched = [path for path in tracked() if path.suffix in TEXT and path.name != "LICENSE"]
    assert len(searched) > 100
    found = []
    for path in searched:
        text = text_of(path)
        sample = name_of(path).startswith("tests/")  # tests show keys that open nothing
        found += [
            f"{name_of(path)}: {label}" for label, pattern in SECRETS.items() if pattern.search(text) and not sample
        ]
        if name_of(path) not in ALLOWED_HOME and not name_of(path).startswith(OF_OTHERS):
            found += [f"{name_of(path)}: machine path {match}" for match in HOME.findall(text)]
            found += [f"{name_of(path)}: package index {match}" for match in INDEX.findall(text)]
    assert found == []


def test_no_environment_file_or_key_is_tracked():
    suspicious = [
        name_of(path)
        for path in tracked()
        if path.name == ".env" or path.suffix in {".pem", ".key", ".p12", ".db", ".sqlite"}
    ]
    assert suspicious == []


THREADS = {
    "services/cli/": "one command, one caller",
    "services/allinone/check.py": "reads the caller's own files, in the caller's own process",
    "services/common/adapters/": "vendors' clients, files and models, each bounded by its own settings",
    "services/common/composition.py": "the start",
    "services/common/encoder_models.py": "the start",
    "services/common/answering.py": "the start, and `doctor`",
    "services/common/rpc/http_endpoint.py": "waits for its thread to end, when the process does",
    "services/dag/publishing/targets.py": "appends to a file in the background, for no caller",
    "services/witness/": "the last head, a few hundred bytes: it must be on the disk before anybody is answered",
    "services/envelope/communit": "in the background, for no caller in particular",
    "services/common/documents/cutting.py": "for tests and measurements; a deployment reads documents apart",
    "services/envelope/state_hashes.py": "changes an index that is kept: it must come to its end",
    "services/ercp/deciding.py": "waits for Z3, which has a thread of its own and is interrupted",
    "services/gateway/doors/http/calls.py": "reads a body, in one call into C",
}
"""Where work leaves the event loop otherwise than by ``compute``, which is ended with its caller (ADR 0087)."""


def test_what_is_computed_for_a_caller_can_be_ended():
    found = {
        name_of(path)
        for path in (ROOT / "services").rglob("*.py")
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Attribute) and node.attr in {"to_thread", "run_in_executor"}
    }
    assert sorted(name for name in found if not name.startswith(tuple(THREADS))) == []
    assert [where for where in THREADS if not any(name.startswith(where) for name in found)] == []


def test_no_module_but_its_adapter_names_a_vector_engine():
    """A new engine is a module, an extra and a row of the contract suite; nothing else knows it (ADR 0129)."""
    folder = ROOT / "services" / "common" / "adapters" / "vector_engines"
    engines = {path.stem for path in folder.glob("*.py")} - {"__init__", "failures"}
    assert len(engines) >= 3
    named = re.compile("|".join(engines), re.IGNORECASE)
    adapters = {folder / f"{engine}.py" for engine in engines}
    others = [path for path in (ROOT / "services").rglob("*.py") if path not in adapters]
    assert [path for path in others if named.search(path.read_text())] == []
