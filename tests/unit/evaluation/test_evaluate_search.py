"""``python -m tools.evaluate_search``: which facts answer, ranks, figures that can be worked out, and its page."""

import json
from collections import Counter
from typing import Any, cast

import numpy as np
import pytest

from evaluation.data import EvaluationDataError
from evaluation.kept_vectors import KeptVectors
from evaluation.retrieval_sets import DEVELOPMENT, REPORT, Question, RetrievalSet
from evaluation.search_modes import BY_RANKS, CUT, LIBRARY, LIBRARY_FIELDS, WHOLE, by_library, ranks_of
from evaluation.search_page import interval, rewritten, tables, values
from evaluation.search_sets import (
    CORPORA,
    FILES,
    FOLDER,
    SearchFact,
    SearchQuestion,
    answering,
    corpus,
    of_documents,
    question,
)
from services.common.settings import load_settings
from services.common.taxonomy import RetrievalMode
from tools import evaluate_search
from tools.evaluate_search import read_set, run, save

FACTS = [
    SearchFact("0", "0", "a.md", "Glass: The excess is 250 EUR for each claim.", "# Rules > ## Glass"),
    SearchFact("1", "1", "a.md", "Theft is reported to the police within 24 hours.", "# Rules > ## Theft"),
    SearchFact("2", "2", "a.md", "Plan: Basic; Fee: 10 EUR; Term: a year", "# Rules"),
    SearchFact("3", "3", "b.md", "The excess is 250 EUR for each claim.", ""),
]


def test_a_fact_that_holds_the_words_of_an_answer_answers():
    assert answering("The excess is 250 EUR for each claim.", FACTS[:3]) == ["0"]
    assert answering("- Theft is reported to the police within 24 hours.", FACTS) == ["1"]
    assert answering("| Basic | 10 EUR | a year |", FACTS) == ["2"]
    assert answering("Theft is reported to the police within 24 hours. Whoever forgets pays more.", FACTS) == ["1"]
    assert answering("Nothing of the kind stands here at all.", FACTS) == []
    assert answering("?", FACTS) == []


def test_parts_and_answers_elsewhere():
    row = {
        "question": "q",
        "kind": "compound",
        "document": "a.md",
        "answer": "",
        "parts": [["The excess is 250 EUR for each claim."], ["Theft is reported to the police within 24 hours."]],
        "elsewhere": [{"document": "b.md", "answer": "The excess is 250 EUR for each claim.", "part": 1}],
    }
    assert question(row, DEVELOPMENT, FACTS).wanted == (frozenset({"0", "3"}), frozenset({"1"}))
    plain = {**row, "parts": None, "answer": FACTS[1].content, "also_elsewhere": [["b.md", FACTS[3].content]]}
    assert question(plain, DEVELOPMENT, FACTS).wanted == (frozenset({"1", "3"}),)


def test_ranks_count_each_unit_once():
    asked = SearchQuestion("q", DEVELOPMENT, "compound", (frozenset("bc"), frozenset("x")))
    assert ranks_of(asked, ["a", "a", "b", "c"]) == [2, 0]
    assert ranks_of(asked, [*(f"n{number}" for number in range(10)), "x"]) == [0, 0]


def test_a_library_finds_words_and_headings_where_it_is_given_them():
    asked = [SearchQuestion("police", DEVELOPMENT, "plain", ()), SearchQuestion("glass", DEVELOPMENT, "plain", ())]
    alone = by_library([FACTS[1], FACTS[3]], asked, headings=False)
    assert alone == [["1"], []]
    both = by_library([FACTS[1], SearchFact("9", "9", "", "It is 250 EUR.", "# Glass")], asked, headings=True)
    assert both[1] == ["9"]


def test_the_measures_of_ranks():
    ranks = [[1], [2, 0], [6], [0]]
    assert values(ranks, "hit@1").tolist() == [1.0, 0.0, 0.0, 0.0]
    assert values(ranks, "hit@5").tolist() == [1.0, 0.5, 0.0, 0.0]
    assert values(ranks, "hit@10").tolist() == [1.0, 0.5, 1.0, 0.0]
    assert values(ranks, "MRR@10") == pytest.approx([1.0, 0.25, 1 / 6, 0.0])


def test_the_mean_of_sets_counts_each_set_alike():
    found, strata = np.array([1.0] * 90 + [0.0] * 10), np.array([0] * 90 + [1] * 10)
    assert interval(found, strata) == (pytest.approx(0.5), pytest.approx(0.5))
    with pytest.raises(EvaluationDataError):
        interval(np.array([]))


NAMES = [*(mode.name for mode in RetrievalMode), BY_RANKS, LIBRARY, LIBRARY_FIELDS, WHOLE, CUT]
ONE = {
    "questions": 2,
    "facts": 3,
    "kinds": ["plain", "compound"],
    "ranks": {name: [[2], [0, 1]] for name in NAMES} | {"HYBRID": [[1], [1, 1]], WHOLE: [[0], [1, 0]]},
}


def test_the_tables_say_what_the_ranks_say():
    modes, differences, compound = tables(DEVELOPMENT, {"one": ONE, "two": ONE})
    hybrid = next(row for row in modes.rows if row[2].startswith("hybrid"))
    assert hybrid[:7] == ("one", "2", "hybrid, the default", "1.000", "1.000", "1.000", "1.000")
    assert Counter(row[0] for row in modes.rows) == {"one": 8, "two": 8, "mean of the sets": 8}
    assert differences.rows[0][1].startswith("+0.750")
    assert differences.rows[-1][-1].startswith("+0.500")
    assert compound.rows[0] == ("one", "1", "0.500", "0.500")


def test_a_page_is_written_between_its_markers():
    page = "x\n<!-- begin search-report -->\nold\n<!-- end search-report -->\ny\n"
    assert "Not measured yet." in rewritten(page, {"halves": {}})
    assert "| one |" in rewritten(page, {"halves": {REPORT: {"one": ONE}}})
    with pytest.raises(EvaluationDataError):
        rewritten(page.replace("report", "other"), {"halves": {}})


def test_the_committed_page_is_what_the_committed_ranks_say():
    assert run(["--markdown", "--check"]) == 0


def test_saving_keeps_other_halves_sets_and_modes(tmp_path, monkeypatch):
    monkeypatch.setattr(evaluate_search, "RESULTS", tmp_path / "search.json")
    name = CORPORA[0]
    save({"schema_version": 1, "settings": {}, "halves": {REPORT: {name: ONE}}})
    less = {**ONE, "ranks": {"HYBRID": [[3], [3, 3]]}}
    save({"schema_version": 1, "settings": {}, "halves": {DEVELOPMENT: {name: less}}})
    save({"schema_version": 1, "settings": {}, "halves": {REPORT: {name: less}}})
    whole = json.loads((tmp_path / "search.json").read_text())
    assert set(whole["measured"]) == {REPORT, DEVELOPMENT}
    kept = whole["halves"]
    assert kept[REPORT][name]["ranks"] == {**ONE["ranks"], "HYBRID": [[3], [3, 3]]}
    assert kept[DEVELOPMENT][name]["ranks"] == less["ranks"]
    other = {**less, "facts": 4}
    save({"schema_version": 1, "settings": {}, "halves": {REPORT: {name: other}}})
    assert json.loads((tmp_path / "search.json").read_text())["halves"][REPORT][name] == other


def test_documents_are_judged_where_the_data_say_no_more():
    one = RetrievalSet("S", (("d1", "text"),), (Question("q", REPORT, {"d1": 1.0, "d2": 0.0}),), ())
    found = of_documents(one)
    assert (found.facts[0].unit, found.questions[0].wanted) == ("d1", (frozenset({"d1"}),))


async def test_only_the_wanted_half_is_opened(tmp_path):
    folder = tmp_path / "small"
    (folder / "documents").mkdir(parents=True)
    (folder / "documents" / "a.md").write_text("# Rules\n\nTheft is reported to the police within 24 hours.\n")
    row = {"question": "When?", "kind": "plain", "document": "a.md", "answer": "within 24 hours", "also": []}
    (folder / FILES[DEVELOPMENT]).write_text(json.dumps(row) + "\n")
    found = await corpus("small", (DEVELOPMENT,), tmp_path)
    assert [bool(part) for one in found.questions for part in one.wanted] == [True]
    with pytest.raises(EvaluationDataError):
        await corpus("small", (REPORT,), tmp_path)
    (folder / "documents" / "a.md").unlink()
    with pytest.raises(EvaluationDataError):
        await corpus("small", (DEVELOPMENT,), tmp_path)


@pytest.mark.skipif(not FOLDER.is_dir(), reason="the corpora are not in this package")
@pytest.mark.tenth(share=3)
@pytest.mark.parametrize("name", CORPORA)
async def test_every_question_of_the_corpora_has_its_answer_among_the_facts(name):
    found = await read_set(name, DEVELOPMENT)
    assert found is not None
    assert [one.text for one in found.questions if not all(one.wanted)] == []


async def test_sets_that_are_not_at_hand_are_left_out(monkeypatch):
    monkeypatch.delenv("GROUNDTRAIL_EVAL_DATA", raising=False)
    assert await read_set("Cranfield", DEVELOPMENT) is None
    assert await read_set("handbook", REPORT) is None


async def test_vectors_are_kept_between_runs(tmp_path, progress):
    class Model:
        fingerprint = "m"
        calls = 0

        async def embed(self, texts):
            Model.calls += len(texts)
            return np.array([[len(text), 1.0] for text in texts], dtype=np.float32)

    path = tmp_path / "vectors.npz"
    first = await KeptVectors(path, cast("Any", Model())).of(["a", "bb", "a"], progress, "x")
    again = await KeptVectors(path, cast("Any", Model())).of(["bb", "ccc"], progress, "x")
    assert (Model.calls, first["bb"].tolist(), again["bb"].tolist()) == (3, [2.0, 1.0], [2.0, 1.0])


@pytest.fixture
def progress():
    from rich.progress import Progress

    with Progress(disable=True) as shown:
        yield shown


def test_refusals_are_said(capsys, monkeypatch, tmp_path):
    broken = tmp_path / "search.json"
    broken.write_text("[]")
    monkeypatch.setattr(evaluate_search, "RESULTS", broken)
    assert run(["--markdown"]) == 1
    assert "no results file" in capsys.readouterr().err


def test_the_settings_that_decide_exist():
    settings = load_settings().envelope
    assert all(hasattr(settings, name) for name in evaluate_search._DECISIVE)
