"""Scoring how documents are read: what is right counts, what is wrong is named."""

import json

import pytest

from evaluation.document_labels import read_labelled
from evaluation.documents import APART, CELLS, COUNTS, HIDDEN, ORDER, SHARES, TOGETHER
from evaluation.fact_labels import plain
from tools.evaluate_documents import as_json, measure, table_of

PAGE = """# Rates

| Region | Base | Extra |
|---|---|---|
| North | 12 EUR | 3 EUR |
| South | 13 EUR | 4 EUR |

Every rate holds from January. Old rates end in December.
"""
LABEL = {
    "document": "rates.md",
    "origin": "made",
    "licence": "CC0",
    "what": "a table",
    "pages": None,
    "tables": [
        {
            "where": "Rates",
            "caption": None,
            "header_rows": 1,
            "header_columns": 0,
            "grid": [["Region", "Base", "Extra"], ["North", "12 EUR", "3 EUR"], ["South", "13 EUR", "4 EUR"]],
        }
    ],
    "order": ["Rates", "Every rate holds from January", "Old rates end in December"],
    "headings": [[1, "Rates"]],
    "hidden": ["Nobody sees this sentence here"],
    "furniture": [],
    "together": [["North", "Base", "12 EUR"]],
    "apart": [["North", "13 EUR"], ["North", "Base", "3 EUR"], ["South", "3 EUR"]],
}


def words(text):
    return len(text.split())


@pytest.fixture
def scored(tmp_path):
    def score(page, label):
        (tmp_path / "rates.md").write_text(page, encoding="utf-8")
        (tmp_path / "rates.md.label.json").write_text(json.dumps(label), encoding="utf-8")
        return measure(list(read_labelled(tmp_path)), words)[0]["rates.md"]

    return score


def test_what_is_read_right_has_no_misses(scored):
    score = scored(PAGE, LABEL)
    assert score.misses == []
    assert {name: score.share(name) for name in (*SHARES, *COUNTS) if score.wholes[name]} == {
        name: 1.0 for name in (*SHARES, *COUNTS) if name != "furniture"
    }


@pytest.mark.parametrize(
    ("page", "measured", "wrong"),
    [
        pytest.param(PAGE.replace("| 12 EUR | 3 EUR |", "| 3 EUR | 12 EUR |"), CELLS, 2, id="cells in other columns"),
        pytest.param(PAGE.replace("| 12 EUR", "| 3 EUR"), APART, 1, id="a value under another name"),
        pytest.param(PAGE.replace("12 EUR", "13 EUR"), APART, 1, id="a value of another row"),
        pytest.param(PAGE.replace("12 EUR", "112 EUR"), TOGETHER, 1, id="a figure is no part of a longer one"),
        pytest.param(f"{PAGE}\nNobody sees this sentence here.\n", HIDDEN, 1, id="hidden text in a fact"),
        pytest.param(
            PAGE.replace("Every rate holds from January. Old rates end in December.", "Old rates end in December.")
            + "\nEvery rate holds from January.\n",
            ORDER,
            1,
            id="another order",
        ),
    ],
)
def test_what_is_read_wrong_is_counted(scored, page, measured, wrong):
    assert scored(page, LABEL).wrong(measured) == wrong


def test_what_cannot_be_read_has_nothing_right(scored):
    score = scored("\x00" * 100, LABEL)
    assert (score.unread, score.rights[CELLS], score.rights[TOGETHER]) == (1, 0, 0)


def test_documents_add_up(tmp_path):
    for name in ("one", "two"):
        (tmp_path / f"{name}.md").write_text(PAGE, encoding="utf-8")
        (tmp_path / f"{name}.md.label.json").write_text(json.dumps(LABEL), encoding="utf-8")
    each, groups = measure(list(read_labelled(tmp_path)), words)
    assert set(groups) == {"*.md", "made", "all"}
    assert as_json(groups["all"])["of"][CELLS] == 18
    assert [row[0] for row in table_of(each, "Documents").rows] == ["one.md", "two.md"]


def test_texts_are_alike_that_people_write_in_several_ways():
    assert plain("10\u2076\u00a0kg \u2212 30 m\u00b2") == plain("10^6 KG  - 30 m^2")
    assert plain("106 kg") != plain("10\u2076 kg")
