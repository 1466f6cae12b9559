"""What the documents point at exists: links, files, settings, command lines, make targets, RPCs, metrics."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
from google.protobuf import descriptor_pool

from services.cli.app import app
from services.common.errors import ErrorReason
from services.common.settings import Settings, known_variables
from services.common.settings.environment import secret_variables
from tests.each import each

ROOT = Path(__file__).resolve().parents[3]
PAGES = sorted(path for path in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")) if ".venv" not in path.parts)
TOP = (
    "bench",
    "clients",
    "deploy",
    "docs",
    "evaluation",
    "examples",
    "gen",
    "model_repository",
    "proto",
    "services",
    "tests",
    "third_party",
    "tools",
)
ELSEWHERE = re.compile(r"^(https?|mailto):")


def ids(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def prose(text: str) -> str:
    """Return the page without its fenced blocks."""
    return re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


def anchors(path: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", prose(path.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@each("page", PAGES, ids=ids)
def test_links_lead_somewhere(page):
    dead = []
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(page.read_text(encoding="utf-8"))):
        if ELSEWHERE.match(target):
            continue
        name, _, anchor = target.partition("#")
        file = (page.parent / name).resolve() if name else page
        if not file.exists() or (anchor and anchor not in anchors(file)):
            dead.append(target)
    assert dead == []


@each("page", PAGES, ids=ids)
def test_cited_files_exist(page):
    text = page.read_text(encoding="utf-8")
    cited = {
        word.rstrip("/.,") for word in re.findall(r"`([\w./-]+)`", text) if word.split("/")[0] in TOP and "/" in word
    }
    assert sorted(name for name in cited if not (ROOT / name).exists()) == []


def test_the_file_form_of_every_secret_is_documented():
    text = (ROOT / "docs/operations.md").read_text(encoding="utf-8")
    assert [name for name in secret_variables(Settings) if f"`{name}_FILE`" not in text] == []


@each("page", PAGES, ids=ids)
def test_named_settings_exist(page):
    named = set(re.findall(r"\bGROUNDTRAIL_[A-Z0-9_]*[A-Z0-9]\b", page.read_text(encoding="utf-8")))
    sections = {name.split("__")[0] for name in known_variables(Settings)}
    files = {f"{name}_FILE" for name in secret_variables(Settings)}
    known = (
        set(known_variables(Settings))
        | files
        | sections
        | {"GROUNDTRAIL_EVAL_DATA", "GROUNDTRAIL_EVAL_MEMORY", "GROUNDTRAIL"}
    )
    assert sorted(name for name in named if name not in known and not name.startswith("GROUNDTRAIL_TEST_")) == []


def command_lines(page: Path) -> Iterator[list[str]]:
    """Yield each command of the page's console blocks, continued lines joined, arguments split."""
    for block in re.findall(r"^```console\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        for line in re.sub(r"\\\n\s*", "", block).splitlines():
            if line.startswith("$ "):
                yield shlex.split(line[2:])


def options(command) -> set[str]:
    return {name for parameter in command.params for name in getattr(parameter, "opts", [])}


def make_targets() -> set[str]:
    return set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


OTHER_TOOLS = {"cp", "docker", "export", "grpcurl", "kubectl", "make", "pip", "sqlite3"}


def fault_of(words: list[str]) -> str | None:
    """Return what is wrong with a command line, or nothing."""
    program, *rest = words
    if program == "make":
        return next((f"no target {word}" for word in rest if word not in make_targets()), None)
    if program.endswith("groundtrail"):
        command = typer.main.get_command(app)
        while rest and not rest[0].startswith("-") and hasattr(command, "commands"):
            name = rest.pop(0)
            if name not in command.commands:
                return f"no command {name}"
            command = command.commands[name]
        known = options(command) | {"--help"}
        return next((f"no option {word}" for word in rest if word.startswith("--") and word not in known), None)
    if program in OTHER_TOOLS or (ROOT / program).exists() or program.startswith(".venv/bin/"):
        return None
    return f"no program {program}"


@each("page", PAGES, ids=ids)
def test_command_lines_exist(page):
    faults = [f"{shlex.join(words)}: {fault}" for words in command_lines(page) if (fault := fault_of(words))]
    assert faults == []


def test_the_check_of_command_lines_can_fail():
    assert fault_of(["make", "coffee"]) == "no target coffee"
    assert fault_of(["groundtrail", "brew"]) == "no command brew"
    assert fault_of(["groundtrail", "ask", "x", "--louder"]) == "no option --louder"
    assert fault_of(["groundtrail", "keys", "create", "--label", "x", "--role", "admin"]) is None


def test_readme_lists_every_command():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = set(typer.main.get_command(app).commands)
    assert set(re.findall(r"^\| `groundtrail ([\w-]+)", readme, re.MULTILINE)) == commands


def test_errors_page_has_every_reason():
    page = (ROOT / "docs/errors.md").read_text(encoding="utf-8")
    assert [reason for reason in ErrorReason if f"`{reason}`" not in page] == []


def rpc_paths(text: str) -> set[str]:
    return set(re.findall(r"\b((?:crp|ercp)(?:\.\w+)*\.v1\.\w+Service)/(\w+)", text))


@pytest.mark.parametrize("page", [page for page in PAGES if rpc_paths(page.read_text(encoding="utf-8"))], ids=ids)
def test_named_rpcs_exist(page):
    import crp.ckf.v1.knowledge_service_pb2
    import crp.dag.v1.session_service_pb2
    import crp.dag.v1.transparency_service_pb2
    import crp.dpe.v1.guard_service_pb2
    import crp.envelope.v1.envelope_service_pb2
    import crp.gateway.v1.admin_service_pb2
    import crp.gateway.v1.dispatch_service_pb2  # noqa: F401 - registers the services
    import ercp.v1.ercp_service_pb2  # noqa: F401 - registers the services

    pool = descriptor_pool.Default()
    for service, method in rpc_paths(page.read_text(encoding="utf-8")):
        assert method in pool.FindServiceByName(service).methods_by_name


def python_blocks(page: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def test_python_of_the_how_to_compiles_and_names_real_fields():
    from crp.ckf.v1 import knowledge_service_pb2
    from crp.dag.v1 import session_service_pb2
    from crp.gateway.v1 import dispatch_service_pb2

    (block,) = python_blocks(ROOT / "docs/how-to/call-from-python.md")
    compile(block, "call-from-python.md", "exec")
    stubs = {
        "knowledge_service_pb2": knowledge_service_pb2,
        "session_service_pb2": session_service_pb2,
        "dispatch_service_pb2": dispatch_service_pb2,
    }
    calls = re.findall(r"(\w+_pb2)\.(\w+Request)\((.*?)\)[,;\n]", block, re.DOTALL)
    assert len(calls) == 3
    for module, message, arguments in calls:
        fields = getattr(stubs[module], message).DESCRIPTOR.fields_by_name
        assert set(re.findall(r"\b(\w+)=", arguments)) <= set(fields), message
