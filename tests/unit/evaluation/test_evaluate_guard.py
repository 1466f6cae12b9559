"""The guard's evaluation: parts that are there, rows that are chosen, figures that are reckoned."""

import pytest

from evaluation.guard.coherence import ScoredRow, chosen, figures, run, table_of
from evaluation.labelled import LabelledClaim
from tools import evaluate_guard


def claim(number, dataset="halueval_qa", fold="report", supported=True):
    return LabelledClaim(str(number), dataset, ("A fact.",), "An answer.", "What?", supported, fold, None)


def scored(coherence, *, supported, dataset="begin"):
    value = coherence or 0.0
    return ScoredRow("x", dataset, supported, value >= 0.6, coherence, 1 - value, 1 - value, "")


def test_a_part_is_a_module_of_its_own():
    assert "coherence" in evaluate_guard.parts()


@pytest.mark.parametrize(("arguments", "status"), [([], 2), (["--help"], 0), (["no-such-part"], 2)])
def test_without_a_part_the_parts_are_told(capsys, arguments, status):
    assert evaluate_guard.run(arguments) == status
    told = capsys.readouterr()
    assert "coherence" in told.out + told.err


def test_rows_are_those_of_the_fold_and_sets():
    rows = [
        claim(1),
        claim(2, "begin_wow"),
        claim(3, "wice"),
        claim(4, fold="fit"),
        claim(5, supported=False),
        claim(6),
        claim(7, "begin_tc"),
    ]
    assert [one.id for one in chosen(rows, "report", None)] == ["1", "2", "5", "6", "7"]
    assert [one.id for one in chosen(rows, "report", 1)] == ["1", "2", "5"]


def test_figures():
    rows = [
        scored(0.9, supported=True),
        scored(0.5, supported=True),
        scored(0.7, supported=False),
        scored(None, supported=False),
    ]
    (found,) = figures(rows, 0.6)
    assert (found.supported, found.unsupported, found.auroc, found.balanced_accuracy) == (2, 2, 0.75, 0.5)
    assert (found.approved_supported, found.approved_unsupported) == (0.5, 0.5)
    assert "0.750" in table_of([found], "report", 0.6).markdown()


def test_without_data_the_variable_is_named(monkeypatch, capsys):
    monkeypatch.delenv("GROUNDTRAIL_EVAL_DATA", raising=False)
    assert run([]) == 1
    assert "GROUNDTRAIL_EVAL_DATA" in capsys.readouterr().err
