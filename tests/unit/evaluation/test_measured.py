"""What stands beside saved figures: day, revision, interpreter and processors, and nothing else of the machine."""

import platform
import re
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

import evaluation.measured
from evaluation import ercp_tables, results
from evaluation.measured import CHANGED, measured_now, revision_of
from services.common.settings.server import processors

IDENTITY = ("-c", "user.name=somebody", "-c", "user.email=somebody@example.org", "-c", "commit.gpgsign=false")


def git(folder, *arguments):
    subprocess.run(["git", "-C", str(folder), *IDENTITY, *arguments], check=True, capture_output=True)


@pytest.fixture
def checkout(tmp_path):
    folder = tmp_path / "checkout"
    (folder / "docs").mkdir(parents=True)
    (folder / "code.py").write_text("1\n", encoding="utf-8")
    (folder / "docs" / "page.md").write_text("a\n", encoding="utf-8")
    git(tmp_path, "init", "-q", str(folder))
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "first")
    return folder


def test_a_clean_checkout_is_named_by_its_commit_and_by_its_tag(checkout):
    assert re.fullmatch(r"[0-9a-f]{12}", revision_of(checkout))
    git(checkout, "tag", "v1.2.3")
    assert revision_of(checkout) == "v1.2.3"


@pytest.mark.parametrize("name", ["code.py", "new.py"])
def test_a_file_that_is_changed_or_new_is_told(checkout, name):
    before = revision_of(checkout)
    (checkout / name).write_text("2\n", encoding="utf-8")
    assert revision_of(checkout) == before + CHANGED


def test_a_checkout_whose_state_cannot_be_told_counts_as_changed(checkout, monkeypatch):
    before, asked = revision_of(checkout), evaluation.measured._git
    monkeypatch.setattr(
        evaluation.measured, "_git", lambda root, *given: None if "status" in given else asked(root, *given)
    )
    assert revision_of(checkout) == before + CHANGED


def test_what_a_hook_says_of_its_own_repository_does_not_count(checkout, tmp_path, monkeypatch):
    before = revision_of(checkout)
    git(tmp_path, "init", "-q", str(tmp_path / "other"))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other" / ".git"))
    assert revision_of(checkout) == before


def test_pages_and_kept_figures_are_no_change_of_the_code(checkout):
    before = revision_of(checkout)
    (checkout / "docs" / "page.md").write_text("b\n", encoding="utf-8")
    assert revision_of(checkout) == before


def test_outside_a_checkout_of_its_own_there_is_no_revision(checkout, tmp_path, monkeypatch):
    assert revision_of(tmp_path) is None
    assert revision_of(checkout / "docs") is None, "a folder inside somebody else's repository"
    monkeypatch.setattr(evaluation.measured, "_GIT", str(tmp_path / "no-git"))
    assert revision_of(checkout) is None


def test_what_is_kept_is_day_revision_interpreter_and_processors_alone(checkout):
    found = measured_now(checkout)
    assert found == {
        "date": datetime.now(UTC).date().isoformat(),
        "revision": revision_of(checkout),
        "python": platform.python_version(),
        "cpus": processors(),
    }


def test_every_model_and_set_has_its_own_and_others_keep_theirs(tmp_path, monkeypatch):
    days = iter(("2026-01-02", "2026-03-04", "2026-05-06", "2026-07-08"))
    now = lambda: {"date": next(days), "revision": None, "python": "3.11.7", "cpus": 2}  # noqa: E731 - a stand-in
    for module, save in ((results, results.save), (ercp_tables, ercp_tables.save)):
        monkeypatch.setattr(module, "measured_now", now)
        path = tmp_path / f"{module.__name__}.json"
        save(path, {"one": {"kind": "a"}})
        save(path, {"two": {"kind": "b"}})
    models = results.load(tmp_path / "evaluation.results.json")["models"]
    assert {name: model["measured"]["date"] for name, model in models.items()} == {
        "one": "2026-01-02",
        "two": "2026-03-04",
    }
    sets = ercp_tables.load(tmp_path / "evaluation.ercp_tables.json")
    assert [one["measured"]["date"] for one in sets.values()] == ["2026-05-06", "2026-07-08"]


SAVING = re.compile(r"add_argument\(\s*\"--(?:save|report)\"")


def test_every_command_that_saves_figures_says_when_they_were_measured():
    root = Path(evaluation.measured.__file__).parents[1]
    pages = {"evaluate_rules.py"}  # it writes tables into a page, no results file
    kept_by = {"evaluate_models.py": "results.save", "evaluate_ercp.py": "ercp_tables.save"}
    files = [path for folder in ("tools", "evaluation", "training") for path in (root / folder).rglob("*.py")]
    saving = [path for path in files if SAVING.search(path.read_text(encoding="utf-8")) and path.name not in pages]
    assert len(saving) > len(kept_by)
    silent = [
        path.name for path in saving if kept_by.get(path.name, "measured_now") not in path.read_text(encoding="utf-8")
    ]
    assert silent == []
