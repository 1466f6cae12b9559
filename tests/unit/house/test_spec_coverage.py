"""docs/spec-coverage.md lists every section of the five documents, and says of none more than the tree can show."""

import json
import re
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.each import each

ROOT = Path(__file__).resolve().parents[3]
SECTIONS: dict[str, dict[str, str]] = json.loads(
    (Path(__file__).parent / "spec_sections.json").read_text(encoding="utf-8")
)
TITLES = {
    "SPEC-003": "CRP-SPEC-003: context envelope and packing",
    "SPEC-004": "CRP-SPEC-004: continuation and DAG",
    "SPEC-005": "CRP-SPEC-005: decision provenance engine",
    "ERCP": "ERCP 1.0",
    "DIRECTOR": "Director-AI architecture page",
}
COUNTS = {"SPEC-003": 62, "SPEC-004": 75, "SPEC-005": 93, "ERCP": 22, "DIRECTOR": 6}
SAME_RULE = {
    ("SPEC-003", "10.2"): "15",
    ("SPEC-003", "13.2"): "13.1",
    ("SPEC-003", "14.3"): "15",
    ("SPEC-005", "16.1"): "7.2",
    ("SPEC-005", "18.3"): "20",
}
"""Sections that repeat a rule of another one of the document; the code cites that one."""
STATES = {"done", "partial", "contract only", "planned", "informative"}


class Row(NamedTuple):
    section: str
    title: str
    state: str
    where: tuple[str, ...]
    proof: tuple[str, ...]
    note: str


def rows(document: str) -> list[Row]:
    page = (ROOT / "docs/spec-coverage.md").read_text(encoding="utf-8")
    table = page.split(f"\n## {TITLES[document]}\n")[1].split("\n## ")[0]
    found = []
    for line in table.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| ") and len(cells) == 6 and cells[0] != "section":
            where, proof = (tuple(re.findall(r"`([^`]+)`", cell)) for cell in cells[3:5])
            found.append(Row(cells[0], cells[1], cells[2], where, proof, cells[5]))
    return found


ALL = [(document, row) for document in SECTIONS for row in rows(document)]


def ids(value) -> str:
    return value if isinstance(value, str) else value.section


@pytest.mark.parametrize("document", SECTIONS)
def test_every_section_stands_once_with_its_title(document):
    assert len(SECTIONS[document]) == COUNTS[document]
    assert [(row.section, row.title) for row in rows(document)] == list(SECTIONS[document].items())


@each(("document", "row"), ALL, ids=ids)
def test_row_says_what_it_must(document, row):
    assert row.state in STATES
    assert [path for path in (*row.where, *row.proof) if not (ROOT / path).exists()] == []
    if row.state == "done":
        assert row.where
        assert row.proof, "done without a test or vector"
    if row.state in {"partial", "contract only"}:
        assert row.where
    if row.state == "partial":
        assert row.note, "partial without what is missing"
    if row.state in {"planned", "informative"}:
        assert not row.where


def cited(document: str, folder: str, patterns: tuple[str, ...]) -> dict[str, set[str]]:
    """Return the sections of a document that files cite, each with the files that do.

    A list such as ``SPEC-004 §9.1, §9.3`` or a range counts for each of its members, and ``SPEC-003 §15, -004 §14``
    cites both documents.
    """
    found: dict[str, set[str]] = {}
    head = re.compile(rf"{document[-4:]} (§[0-9.]+(?:(?:, | and |-|–)§?[0-9.]+)*)")  # noqa: RUF001 - a range's dash
    for pattern in patterns:
        for path in sorted((ROOT / folder).rglob(pattern)):
            text = path.read_text(encoding="utf-8")
            for group in head.findall(text):
                for number in re.findall(r"[0-9]+(?:\.[0-9]+)*", group):
                    found.setdefault(number, set()).add(path.relative_to(ROOT).as_posix())
    return found


def known(document: str, number: str) -> bool:
    """Say whether the number is a section or a numbered step of one (SPEC-004 §7.3.5)."""
    listed = SECTIONS[document]
    return number in listed or (number.count(".") == 2 and number.rpartition(".")[0] in listed)


@pytest.mark.parametrize("document", ["SPEC-003", "SPEC-004", "SPEC-005"])
def test_cited_sections_exist(document):
    citations = cited(document, "services", ("*.py",)) | cited(document, "proto", ("*.proto",))
    assert len(citations) > 10
    assert {number: files for number, files in citations.items() if not known(document, number)} == {}


@pytest.mark.parametrize("document", ["SPEC-003", "SPEC-004", "SPEC-005"])
def test_what_is_done_is_cited_by_the_code_that_does_it(document):
    """A section that is done, or one above or below it, is cited under services/ or proto/."""
    numbers = set(cited(document, "services", ("*.py",))) | set(cited(document, "proto", ("*.proto",)))
    numbers |= {twin for (name, twin), section in SAME_RULE.items() if name == document and section in numbers}
    silent = [
        row.section
        for row in rows(document)
        if row.state == "done"
        and not any(
            number == row.section or number.startswith(f"{row.section}.") or row.section.startswith(f"{number}.")
            for number in numbers
        )
    ]
    assert silent == []


def test_decision_records_that_the_code_cites_exist():
    numbers = {
        number
        for path in (ROOT / "services").rglob("*.py")
        for number in re.findall(r"\bADR (\d{4})\b", path.read_text(encoding="utf-8"))
    }
    assert numbers
    assert [number for number in sorted(numbers) if not list((ROOT / "docs/adr").glob(f"{number}-*.md"))] == []
