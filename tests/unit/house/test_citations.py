"""What code, contract and documents cite is in the repository: a decision is named by its record."""

import re

import pytest

from tests.unit.house.test_house_rules import OF_OTHERS, ROOT, name_of, text_of, tracked

NOWHERE = re.compile(
    r"\bdecisions? \d+(?! of \[?ADR)|\barchitecture(?:\.md)? §\d|\bissue \d|\bthis issue\b", re.IGNORECASE
)
"""Numbers of lists that no reader has: a decision of a record names the record, ``decision 4 of ADR 0107``."""
RECORD = re.compile(r"\bADR ((?:\d{4}(?:, |-| and )?)+)")
SUFFIXES = {".md", ".proto", ".py", ".toml", ".yaml"}
ELSEWHERE = (
    *OF_OTHERS,
    "tests/vectors/",
    "training/",
    "model_repository/",
    "examples/",
    "tests/unit/house/test_citations.py",
)


def searched():
    return [path for path in tracked() if path.suffix in SUFFIXES and not name_of(path).startswith(ELSEWHERE)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("(decision 12, ADR 0041)", True),
        ("Architecture decisions 12 and 15", True),
        ("see architecture §4", True),
        ("Issue 5, delivery 4", True),
        ("Adds to decision 4 of [ADR 0107](x.md)", False),
        ("a decision of 2024, issued 3 times", False),
    ],
)
def test_the_search_finds_what_leads_nowhere(text, found):
    assert bool(NOWHERE.search(text)) is found


def test_no_citation_leads_nowhere():
    assert len(searched()) > 1000
    found = [
        f"{name_of(path)}:{number}: {line.strip()}"
        for path in searched()
        for number, line in enumerate(text_of(path).splitlines(), start=1)
        if NOWHERE.search(line)
    ]
    assert found == []


def test_every_cited_record_exists():
    records = {path.name[:4] for path in (ROOT / "docs" / "adr").glob("[0-9]*.md")}
    cited = {
        (number, name_of(path))
        for path in searched()
        for listed in RECORD.findall(text_of(path))
        for number in re.findall(r"\d{4}", listed)
    }
    assert len(cited) > 300
    assert sorted(pair for pair in cited if pair[0] not in records) == []
