"""The measures of make eval against values worked out by hand, and the messages when there are no data."""

import gzip
import json
import math

import numpy as np
import pytest

from evaluation.data import EvaluationDataError, folder, rows
from evaluation.entities import ALL, KINDS_IGNORED, capitalised_runs, chosen
from evaluation.figures import Figure, as_json
from evaluation.metrics import SpanCounts, auroc, balanced_accuracy, best_threshold, ndcg, recall
from evaluation.retrieval import by_overlap
from evaluation.words import token_recall


def scores(*values: float):
    return np.array(values, dtype=np.float64)


def labels(*values: int):
    return np.array(values, dtype=np.bool_)


GRADES = {"a": 3.0, "b": 1.0}


class TestRanking:
    @pytest.mark.parametrize(
        ("ranking", "expected"),
        [
            (["a", "b"], 1.0),
            (["x", "y"], 0.0),
            (["b", "a"], (1 + 3 / math.log2(3)) / (3 + 1 / math.log2(3))),
            (["x", "a", "b"], (3 / math.log2(3)) / (3 + 1 / math.log2(3))),
        ],
        ids=["ideal", "nothing", "swapped", "the third is below the depth"],
    )
    def test_ndcg_at_2(self, ranking, expected):
        assert ndcg(ranking, GRADES, 2) == pytest.approx(expected)

    def test_recall_counts_each_relevant_document_once(self):
        assert recall(["a", "a", "x", "b"], {"a", "b"}, 3) == 0.5

    def test_nothing_relevant_has_no_value(self):
        with pytest.raises(ValueError, match="nothing is relevant"):
            ndcg(["a"], {"a": 0.0}, 10)
        with pytest.raises(ValueError, match="nothing is relevant"):
            recall(["a"], set(), 10)

    def test_overlap_ranks_by_distinct_query_words_then_by_id(self):
        bags = {"1": {"wing"}, "2": {"wing", "flow"}, "3": {"wing"}}
        assert by_overlap("Wing wing flow?", bags) == ["2", "1", "3"]


class TestSeparation:
    @pytest.mark.parametrize(
        ("values", "expected"),
        [((0.9, 0.8, 0.1), 1.0), ((0.1, 0.2, 0.9), 0.0), ((0.5, 0.5, 0.5), 0.5), ((0.9, 0.1, 0.5), 0.5)],
        ids=["apart", "reversed", "ties", "mixed"],
    )
    def test_auroc(self, values, expected):
        assert auroc(scores(*values), labels(1, 1, 0)) == expected

    def test_one_class_alone_has_no_value(self):
        assert auroc(scores(0.1, 0.2), labels(1, 1)) is None
        assert balanced_accuracy(scores(0.1, 0.2), labels(0, 0), 0.5) is None

    def test_balanced_accuracy_weighs_classes_alike_and_counts_the_threshold_as_positive(self):
        assert balanced_accuracy(scores(0.75, 0.6, 0.9, 0.1), labels(1, 0, 0, 0), 0.75) == pytest.approx(
            (1 + 2 / 3) / 2
        )

    def test_best_threshold_is_the_lowest_of_the_best(self):
        assert best_threshold(scores(0.2, 0.4, 0.6, 0.8), labels(0, 0, 1, 1)) == 0.6
        with pytest.raises(ValueError, match="both classes"):
            best_threshold(scores(0.2), labels(1))

    def test_token_recall_ignores_case_and_punctuation(self):
        assert token_recall("The Wing, bent!", ["a wing", "the flow"]) == pytest.approx(2 / 3)
        assert token_recall("?!", ["a"]) == 0.0


class TestSpans:
    def test_f1_of_exact_spans(self):
        counts = SpanCounts().plus({(0, 3), (5, 9)}, {(0, 3), (5, 8), (9, 12)})
        assert (counts.hits, counts.guesses, counts.truths) == (1, 2, 3)
        assert counts.f1 == pytest.approx(2 * (1 / 2) * (1 / 3) / (1 / 2 + 1 / 3))

    def test_f1_without_a_hit_is_0(self):
        assert SpanCounts().plus({(0, 1)}, {(2, 3)}).f1 == 0.0
        assert SpanCounts().f1 == 0.0

    @pytest.mark.parametrize(
        ("text", "runs"),
        [
            ("The team met Gregg Brandon in Ohio .", {"Gregg Brandon", "Ohio"}),
            ("Gregg Brandon left .", {"Gregg Brandon"}),
            ("It rained .", set()),
        ],
    )
    def test_capitalised_runs(self, text, runs):
        assert {text[start:end] for start, end in capitalised_runs(text.split())} == runs

    @pytest.mark.parametrize(
        ("part", "expected"),
        [
            ("PER", {("PER", 0, 3)}),
            (ALL, {("PER", 0, 3), ("LOC", 5, 9)}),
            (KINDS_IGNORED, {("", 0, 3), ("", 5, 9)}),
        ],
    )
    def test_chosen_spans(self, part, expected):
        assert chosen({("PER", 0, 3), ("LOC", 5, 9)}, part) == expected


class TestData:
    def test_unset_variable_says_what_to_do(self):
        with pytest.raises(EvaluationDataError, match=r"GROUNDTRAIL_EVAL_DATA is not set.*evaluate\.md"):
            folder({})

    def test_a_folder_that_is_not_there_is_named(self, tmp_path):
        with pytest.raises(EvaluationDataError, match="is no folder"):
            folder({"GROUNDTRAIL_EVAL_DATA": str(tmp_path / "x")})

    def test_rows_reads_gzip_json_lines_and_names_a_missing_file(self, tmp_path):
        with gzip.open(tmp_path / "a.jsonl.gz", "wt", encoding="utf-8") as sink:
            sink.write('{"x": 1}\n{"x": 2}\n')
        assert rows(tmp_path, "a.jsonl.gz") == [{"x": 1}, {"x": 2}]
        with pytest.raises(EvaluationDataError, match=r"b\.jsonl\.gz is not there"):
            rows(tmp_path, "b.jsonl.gz")

    def test_json_holds_figures_and_a_missing_value_as_null(self):
        figure = Figure("entities", "x", 3, "recogniser", "F1", None, "runs", 0.25)
        document = json.loads(as_json([figure], {"limit": "none"}))
        assert document["limit"] == "none"
        assert document["figures"][0]["value"] is None
        assert document["figures"][0]["baseline_value"] == 0.25
