"""Build the distributions: groundtrail, groundtrail-server, groundtrail-models and its parts (ADR 0138).

    python -m tools.build_wheels -o dist            all wheels
    python -m tools.build_wheels -o dist --only groundtrail
    python -m tools.build_wheels --stage FOLDER     only lay out the trees that the wheels are built from

In a checkout the services are the package ``services`` and the stubs ``crp`` and ``ercp``. No wheel installs such a
name: here they become ``groundtrail_server``, ``groundtrail.proto.crp`` and ``groundtrail.proto.ercp``, in the text of
the modules, before the wheel is built. Nothing is renamed when it runs.
"""

import argparse
import ast
import importlib.util
import json
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
TEMPLATES: Final = ROOT / "deploy" / "wheels"
SERVER: Final = "groundtrail_server"
PROTO: Final = "groundtrail.proto"
FORBIDDEN: Final = frozenset({"services", "crp", "ercp"})
"""Names that no wheel may install or import."""
MODELS: Final = {
    "groundtrail-models": ("embedder, names, injection", ("embedder", "injection", "ner")),
    "groundtrail-models-grounding": ("grounding", ("grounding",)),
    "groundtrail-models-entailment": ("entailment", ("nli",)),
}
"""The parts of the models: what they hold, and which folders of model_repository; each below 100 MB."""
_PARTS: Final = "|".join(sorted(path.name for path in (ROOT / "services").iterdir() if (path / "__init__.py").exists()))
_RULES: Final = (
    (re.compile(rf"\bservices\.(?=(?:{_PARTS})\b)"), f"{SERVER}."),
    (re.compile(r"\bservices/_resources\b"), f"{SERVER}/_resources"),
    (re.compile(r"^(\s*(?:from|import) )(crp|ercp)(?=[. ])", re.MULTILINE), rf"\1{PROTO}.\2"),
)
ONCE: Final = {
    '("services", "crp", "ercp")': f'("{SERVER}", "groundtrail")',
    'installed_roots()["services"]': f'installed_roots()["{SERVER}"]',
}
"""Literals that name the packages; each stands exactly once in the services, or the build stops."""


def renamed(text: str) -> str:
    """Return the text of a module with the names that are installed."""
    for pattern, put in _RULES:
        text = pattern.sub(put, text)
    return text


def imported(text: str) -> set[str]:
    """Return the first parts of all names that a module imports absolutely."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found.add(node.module.partition(".")[0])
    return found


def copy_tree(source: Path, target: Path, change: Callable[[str], str] = renamed) -> None:
    """Copy a package without byte code; the text of modules and stubs is changed.

    Raises:
        ValueError: a module still imports a name that no wheel installs.
    """
    for path in sorted(source.rglob("*")):
        if path.is_dir() or "__pycache__" in path.parts:
            continue
        place = target / path.relative_to(source)
        place.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix not in {".py", ".pyi"}:
            shutil.copyfile(path, place)
            continue
        text = change(path.read_text(encoding="utf-8"))
        if left := imported(text) & FORBIDDEN:
            raise ValueError(f"{path}: still imports {', '.join(sorted(left))}")
        place.write_text(text, encoding="utf-8")


def stage_client(folder: Path) -> None:
    """Lay out the distribution ``groundtrail``."""
    client = ROOT / "clients" / "python"
    copy_tree(client / "src" / "groundtrail", folder / "groundtrail")
    proto = folder / "groundtrail" / "proto"
    for package in ("crp", "ercp"):
        copy_tree(ROOT / "gen" / package, proto / package)
    (proto / "__init__.py").write_text('"""The generated stubs of the contract."""\n', encoding="utf-8")
    shutil.copyfile(client / "README.md", folder / "README.md")
    shutil.copyfile(client / "pyproject.toml", folder / "pyproject.toml")


def stage_server(folder: Path) -> None:
    """Lay out the distribution ``groundtrail-server``.

    Raises:
        ValueError: a literal that names the packages does not stand exactly once.
    """
    seen = dict.fromkeys(ONCE, 0)

    def change(text: str) -> str:
        for literal, put in ONCE.items():
            seen[literal] += text.count(literal)
            text = text.replace(literal, put)
        return renamed(text)

    copy_tree(ROOT / "services", folder / SERVER, change)
    if wrong := {literal: count for literal, count in seen.items() if count != 1}:
        raise ValueError(f"these name the packages and must stand exactly once in services/: {wrong}")
    (folder / SERVER / "py.typed").touch()
    resources = folder / SERVER / "_resources" / "examples"
    shutil.copytree(ROOT / "examples" / "handbook", resources / "handbook")
    shutil.copyfile(ROOT / "examples" / "questions.json", resources / "questions.json")
    project = root_project()
    needed = [f"groundtrail=={project['version']}", *project["dependencies"]]
    extras = "\n".join(f"{name} = {json.dumps(held)}" for name, held in project["optional-dependencies"].items())
    _fill("server.toml", folder, {"VERSION": project["version"], "DEPENDENCIES": json.dumps(needed), "EXTRAS": extras})
    _readme(folder, "groundtrail-server", "the services and the `groundtrail` command")


def stage_models(folder: Path, name: str) -> None:
    """Lay out one of the distributions with weights; the first brings the package itself, and the others with it."""
    what, models = MODELS[name]
    first = name == next(iter(MODELS))
    repository, target = ROOT / "model_repository", folder / "groundtrail_models" / "model_repository"
    for model in models:
        shutil.copytree(repository / model, target / model)
    version = root_project()["version"]
    if first:
        shutil.copyfile(repository / "MANIFEST.json", target / "MANIFEST.json")
        (target.parent / "__init__.py").write_text('"""Model weights of Groundtrail; not a public API."""\n')
    needed = [f"{other}=={version}" for other in MODELS if first and other != name]
    values = {"NAME": name, "WHAT": what, "VERSION": version, "DEPENDENCIES": json.dumps(needed)}
    _fill("models.toml", folder, values)
    _readme(folder, name, f"model weights ({what}), each with a card that names its licence and data")


def root_project() -> dict[str, Any]:
    """Return the table ``project`` of the root's pyproject.toml."""
    project: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return project


def _fill(template: str, folder: Path, values: Mapping[str, str]) -> None:
    text = (TEMPLATES / template).read_text(encoding="utf-8")
    for name, value in values.items():
        text = text.replace(f"@{name}@", value)
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")


def _readme(folder: Path, name: str, what: str) -> None:
    text = f'# {name}\n\nPart of Groundtrail: {what}.\n\n    pip install "groundtrail[embedded]"\n\nbrings all parts.\n'
    (folder / "README.md").write_text(text, encoding="utf-8")


def stage(folder: Path, only: str | None = None) -> Iterator[tuple[str, Path]]:
    """Lay out each distribution below ``folder``; yield its name and place."""
    stages: dict[str, Callable[[Path], None]] = {"groundtrail": stage_client, "groundtrail-server": stage_server}
    stages |= {name: partial(stage_models, name=name) for name in MODELS}
    for name, lay_out in stages.items():
        if only in {None, name}:
            place = folder / name
            place.mkdir(parents=True)
            lay_out(place)
            for file in ("LICENSE", "NOTICE"):
                shutil.copyfile(ROOT / file, place / file)
            yield name, place


def build(place: Path, out: Path) -> None:
    """Build the wheel of a tree: with hatchling where it is installed, else with uv, which fetches it."""
    if importlib.util.find_spec("hatchling") is not None:
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)]
    else:
        command = [str(Path(sys.executable).with_name("uv")), "build", "--quiet", "--wheel", "--out-dir", str(out)]
    subprocess.run(command, cwd=place, check=True)


def main() -> None:
    """Parse the command line and build."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, default=Path("dist"), help="where the wheels go")
    parser.add_argument("--only", choices=("groundtrail", "groundtrail-server", *MODELS), help="this one alone")
    parser.add_argument("--stage", type=Path, help="lay out the trees there and build nothing")
    given = parser.parse_args()
    if given.stage is not None:
        for name, place in stage(given.stage, given.only):
            print(f"{name}: {place}")
        return
    given.output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for name, place in stage(Path(folder), given.only):
            build(place, given.output.resolve())
            print(f"{name}: built into {given.output}")


if __name__ == "__main__":
    main()
