"""``python -m tools.evaluate_retrieval``: sets, figures that can be worked out, table, picture, and what it refuses."""

import gzip
import json
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from evaluation.data import VARIABLE, EvaluationDataError
from evaluation.retrieval_modes import NDCG, RECALL, Measured, results
from evaluation.retrieval_page import picture, rewritten, table
from evaluation.retrieval_sets import DEVELOPMENT, REPORT, cranfield, wice, wice_set
from services.common.settings import Settings
from services.common.taxonomy import RetrievalMode
from tools import evaluate_retrieval
from tools.evaluate_retrieval import run

TOPICS = ("wing flutter at high speed", "heat transfer in a boundary layer", "buckling of thin cylindrical shells")
DOCUMENTS = [
    {"id": str(number), "title": topic, "text": f"a study of {topic} . results for {topic} are given ."}
    for number, topic in enumerate(TOPICS, start=1)
]
QUERIES = [
    {"id": str(number), "text": f"what is known of {topic}", "relevant": {str(number): 3}}
    for number, topic in enumerate(TOPICS, start=1)
]


def row(number, detail, fold):
    topic = TOPICS[number % 3]
    return {
        "id": f"wice-{number}",
        "dataset": "wice",
        "kind": "claim",
        "context": [f"TITLE {number}", f"Something on {topic}.", "Cookies.", "Cookies.", " "],
        "claim": f"There is something on {topic}.",
        "supported": detail == "supported",
        "detail": detail,
        "fold": fold,
    }


ROWS = [
    row(0, "supported", "fit"),
    row(1, "partially_supported", "report"),
    row(2, "not_supported", "report"),
    row(3, "supported", "calibrate"),
    {**row(4, "supported", "report"), "dataset": "another"},
]


@pytest.fixture
def data(tmp_path):
    def write(name, rows):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        with gzip.open(path, "wt", encoding="utf-8") as lines:
            lines.writelines(json.dumps(each) + "\n" for each in rows)

    write("retrieval/cranfield_docs.jsonl.gz", DOCUMENTS)
    write("retrieval/cranfield_queries.jsonl.gz", QUERIES)
    write("grounding/dev.jsonl.gz", ROWS)
    return tmp_path


async def test_cranfield_is_halved_by_place(data):
    found = await cranfield(data)
    assert [question.half for question in found.questions] == [DEVELOPMENT, REPORT, DEVELOPMENT]
    assert {source for source, _ in found.facts} == {"1", "2", "3"}
    assert found.questions[0].relevant == {"1": 3}
    assert len(found.of_half(DEVELOPMENT, 1)) == 1


async def test_a_wice_claim_looks_for_the_article_that_it_cites(data):
    found = await wice(data)
    assert [(question.half, dict(question.relevant)) for question in found.questions] == [
        (DEVELOPMENT, {"article-0": 1.0}),
        (REPORT, {"article-1": 1.0}),
        (DEVELOPMENT, {"article-3": 1.0}),
    ]
    assert [fact for fact in found.facts if fact[0] == "article-2"] == [
        ("article-2", "TITLE 2"),
        ("article-2", f"Something on {TOPICS[2]}."),
        ("article-2", "Cookies."),
    ]


def test_rows_without_a_fold_are_reported_whole():
    rows = [{name: value for name, value in one.items() if name != "fold"} for one in ROWS[:2]]
    assert {question.half for question in wice_set(rows).questions} == {REPORT}


async def test_a_file_without_wice_is_said(data):
    with gzip.open(data / "grounding/dev.jsonl.gz", "wt", encoding="utf-8") as lines:
        lines.write(json.dumps(ROWS[-1]) + "\n")
    with pytest.raises(EvaluationDataError, match="no row of the data set wice"):
        await wice(data)


def measured(ndcg, recall):
    return Measured({NDCG: np.array(ndcg), RECALL: np.array(recall)}, np.array([1.0, 2.0, 9.0, 4.0]))


KEPT = results(
    {
        RetrievalMode.DENSE: measured([0.2, 0.4, 0.6, 0.8], [1.0, 1.0, 1.0, 1.0]),
        RetrievalMode.TEXT: measured([0.6, 0.6, 0.6, 0.6], [0.5, 0.5, 0.5, 0.5]),
        RetrievalMode.HYBRID: measured([0.7, 0.7, 0.7, 0.7], [1.0, 1.0, 1.0, 1.0]),
        RetrievalMode.RERANKED: measured([0.1, 0.1, 0.1, 0.1], [1.0, 1.0, 1.0, 1.0]),
        RetrievalMode.LATE_INTERACTION: measured([0.8, 0.6, 0.7, 0.7], [1.0, 1.0, 1.0, 1.0]),
    }
)
SETS = {"Cranfield": {"queries": 4, "facts": 9, "modes": KEPT}}


def test_means_intervals_and_the_difference_to_the_better_single_ranking():
    hybrid, dense = KEPT["HYBRID"], KEPT["DENSE"]
    assert (hybrid[NDCG]["value"], hybrid[NDCG]["gain"], hybrid[NDCG]["gain_interval"]) == (0.7, 0.1, [0.1, 0.1])
    assert (dense[NDCG]["value"], dense[NDCG]["gain"]) == (0.5, -0.1)
    low, high = dense[NDCG]["interval"]
    assert 0.2 <= low < 0.5 < high <= 0.8
    assert (hybrid[RECALL]["gain"], KEPT["TEXT"][RECALL]["gain"]) == (0.0, -0.5)
    assert hybrid["median_ms"] == 3.0


def test_the_table_has_a_row_for_every_mode():
    shown = table(REPORT, SETS)
    assert [cells[2] for cells in shown.rows] == ["dense", "BM25", "hybrid", "reranked", "late interaction"]
    assert shown.rows[2][3:7] == ("0.700", "0.700 to 0.700", "+0.100", "+0.100 to +0.100")
    assert {len(cells) for cells in shown.rows} == {len(shown.columns)}


def test_the_page_is_written_between_its_markers_and_nowhere_else():
    markers = [f"<!-- begin {half} -->\nold\n<!-- end {half} -->\n" for half in (REPORT, DEVELOPMENT)]
    page = "# Page\n" + "\n".join(markers)
    once = rewritten(page, {"halves": {REPORT: SETS}})
    assert "| Cranfield | 4 | hybrid |" in once
    assert "old" not in once
    assert "Not measured yet." in once
    assert rewritten(once, {"halves": {REPORT: SETS}}) == once
    with pytest.raises(EvaluationDataError, match="a marker names other"):
        rewritten("<!-- begin other -->\n<!-- end other -->", {"halves": {}})


def test_the_picture_shows_both_metrics_of_every_mode():
    drawn = picture(REPORT, SETS)
    root = ET.fromstring(drawn)
    circles = root.findall(".//{http://www.w3.org/2000/svg}circle")
    assert len(circles) == 2 * len(RetrievalMode)
    assert drawn == picture(REPORT, SETS)


def test_without_the_variable_it_says_so(monkeypatch, capsys):
    monkeypatch.delenv(VARIABLE, raising=False)
    assert run([]) == 1
    assert VARIABLE in capsys.readouterr().err


def test_it_measures_every_mode_through_the_products_own_path_and_keeps_the_figures(
    data, tmp_path, monkeypatch, capsys
):
    page = tmp_path / "retrieval.md"
    page.write_text("<!-- begin report -->\n<!-- end report -->\n", encoding="utf-8")
    for name, path in (("RESULTS", "retrieval.json"), ("PAGE", "retrieval.md"), ("PICTURE", "retrieval.svg")):
        monkeypatch.setattr(evaluate_retrieval, name, tmp_path / path)
    monkeypatch.setattr(evaluate_retrieval, "load_settings", Settings)
    monkeypatch.setenv(VARIABLE, str(data))
    assert run(["--json", "--save"]) == 0
    document = json.loads(capsys.readouterr().out.partition("\n}\n")[0] + "\n}")
    assert list(document["halves"]) == [REPORT]
    modes = document["halves"][REPORT]["Cranfield"]["modes"]
    assert list(modes) == [mode.name for mode in RetrievalMode]
    assert {modes[mode.name][NDCG]["value"] for mode in RetrievalMode} == {1.0}
    assert "| WiCE | 1 | late interaction |" in page.read_text(encoding="utf-8")
    assert run(["--markdown", "--check"]) == 0
    kept = json.loads((tmp_path / "retrieval.json").read_text(encoding="utf-8"))
    assert run(["--half", "development", "--modes", "HYBRID", "--json", "--save"]) == 0
    more = json.loads((tmp_path / "retrieval.json").read_text(encoding="utf-8"))
    assert list(more["halves"][DEVELOPMENT]["Cranfield"]["modes"]) == ["DENSE", "TEXT", "HYBRID"]
    assert more["halves"][REPORT] == kept["halves"][REPORT]
    assert set(more["measured"]) == {DEVELOPMENT, REPORT}
    assert more["measured"][REPORT] == kept["measured"][REPORT]
    page.write_text(page.read_text(encoding="utf-8").replace("late interaction", "late"), encoding="utf-8")
    assert run(["--markdown", "--check"]) == 1
    assert "stale" in capsys.readouterr().out
