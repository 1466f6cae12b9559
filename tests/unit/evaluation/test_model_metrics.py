"""The measures of make eval-models against values worked out by hand."""

import math

import numpy as np
import pytest

from evaluation.calibration import calibration_of, without_temperature
from evaluation.metrics import (
    ReliabilityBin,
    SpanCounts,
    bootstrap_interval,
    class_recalls,
    confusion,
    equal_mass_bins,
    equal_width_bins,
    expected_calibration_error,
    macro_f1,
    wilson_interval,
)


def scores(*values: float):
    return np.array(values, dtype=np.float64)


def labels(*values: int):
    return np.array(values, dtype=np.bool_)


def classes(*values: int):
    return np.array(values, dtype=np.intp)


class TestClasses:
    # truth 0 twice (once taken for 1), truth 1 once (right), class 2 guessed once for a truth of 1
    TRUTH = classes(0, 0, 1, 1)
    GUESS = classes(0, 1, 1, 2)

    def test_confusion_has_truth_in_rows(self):
        assert confusion(self.TRUTH, self.GUESS, 3).tolist() == [[1, 1, 0], [0, 1, 1], [0, 0, 0]]

    def test_recall_of_a_class_that_does_not_occur_has_no_value(self):
        assert class_recalls(confusion(self.TRUTH, self.GUESS, 3)) == (0.5, 0.5, None)

    def test_macro_f1_is_the_mean_over_the_classes_that_occur(self):
        # class 0: precision 1, recall 1/2; class 1: precision 1/2, recall 1/2
        assert macro_f1(confusion(self.TRUTH, self.GUESS, 3)) == pytest.approx((2 / 3 + 1 / 2) / 2)

    def test_macro_f1_of_nothing_is_an_error(self):
        with pytest.raises(ValueError, match="no row"):
            macro_f1(confusion(classes(), classes(), 3))


class TestIntervals:
    @pytest.mark.parametrize(
        ("hits", "trials", "low", "high"),
        [(5, 10, 0.2366, 0.7634), (0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (81, 263, 0.2553, 0.3662)],
        ids=["half", "none stays above 0", "all stays below 1", "as in Newcombe 1998"],
    )
    def test_wilson(self, hits, trials, low, high):
        assert wilson_interval(hits, trials) == pytest.approx((low, high), abs=5e-5)

    @pytest.mark.parametrize(("hits", "trials"), [(0, 0), (2, 1), (-1, 1)])
    def test_what_is_no_share_is_refused(self, hits, trials):
        with pytest.raises(ValueError, match="is no share"):
            wilson_interval(hits, trials)

    def test_bootstrap_keeps_the_size_of_every_stratum(self):
        strata = classes(0, 0, 0, 1, 1)
        seen = set()

        def measure(rows):
            seen.add(tuple(np.bincount(strata[rows], minlength=2)))
            return 1.0

        assert bootstrap_interval(measure, strata, resamples=20) == (1.0, 1.0)
        assert seen == {(3, 2)}

    def test_bootstrap_of_a_mean_is_about_two_standard_errors_wide_and_the_same_every_time(self):
        values = np.arange(100) % 2 * 1.0
        one_stratum = np.zeros(100, dtype=np.intp)
        found = bootstrap_interval(lambda rows: float(values[rows].mean()), one_stratum, 1_000)
        assert found == bootstrap_interval(lambda rows: float(values[rows].mean()), one_stratum, 1_000)
        assert found == pytest.approx((0.5 - 1.96 * 0.05, 0.5 + 1.96 * 0.05), abs=0.02)

    def test_a_measure_without_a_value_has_no_interval(self):
        assert bootstrap_interval(lambda _: None, classes(0, 1), 9) is None
        assert bootstrap_interval(lambda _: 1.0, classes(), 9) is None


class TestCalibrationError:
    def test_equal_width_bins_hold_their_lower_edge_and_1_lies_in_the_last(self):
        found = equal_width_bins(scores(0.0, 0.49, 0.5, 1.0), labels(0, 1, 1, 1), 2)
        assert found == (ReliabilityBin(2, pytest.approx(0.245), 0.5), ReliabilityBin(2, pytest.approx(0.75), 1.0))

    def test_empty_bins_are_left_out(self):
        assert [one.rows for one in equal_width_bins(scores(0.1, 0.9), labels(0, 1), 10)] == [1, 1]

    def test_equal_mass_bins_hold_as_many_rows_each(self):
        found = equal_mass_bins(scores(0.9, 0.1, 0.8, 0.2), labels(1, 0, 0, 0), 2)
        assert found == (ReliabilityBin(2, pytest.approx(0.15), 0.0), ReliabilityBin(2, pytest.approx(0.85), 0.5))

    def test_rows_of_equal_confidence_stay_in_one_bin_whatever_their_order(self):
        confidence = scores(0.1, 0.5, 0.5, 0.5)
        one = equal_mass_bins(confidence, labels(0, 1, 0, 0), 2)
        assert one == equal_mass_bins(confidence[::-1], labels(0, 0, 1, 0), 2)
        assert [each.rows for each in one] == [4]

    def test_more_bins_than_rows_is_a_bin_for_each_row(self):
        assert [one.rows for one in equal_mass_bins(scores(0.2, 0.4), labels(0, 1), 15)] == [1, 1]

    @pytest.mark.parametrize(
        ("bins", "expected"),
        [
            ((ReliabilityBin(3, 0.9, 0.6), ReliabilityBin(1, 0.2, 0.2)), 0.225),
            ((ReliabilityBin(1, 0.2, 0.6), ReliabilityBin(1, 0.6, 0.2)), 0.4),
            ((ReliabilityBin(7, 0.5, 0.5),), 0.0),
        ],
        ids=["weighted by rows", "errors of either sign do not cancel", "perfect"],
    )
    def test_expected_calibration_error(self, bins, expected):
        assert expected_calibration_error(bins) == pytest.approx(expected)

    def test_no_row_has_no_error(self):
        with pytest.raises(ValueError, match="no row"):
            expected_calibration_error(())

    def test_a_curve_carries_both_errors(self):
        found = calibration_of("x", scores(0.1, 0.4, 0.9, 0.9), labels(0, 0, 1, 1), bins=2)
        assert (found.name, found.rows) == ("x", 4)
        assert found.equal_width == pytest.approx((2 * 0.25 + 2 * 0.1) / 4)
        assert found.equal_mass == pytest.approx((2 * 0.25 + 2 * 0.1) / 4)

    def test_the_temperature_can_be_taken_out_again(self):
        logits = np.array([[2.0, 0.5, -1.0], [0.0, 0.0, 3.0]])

        def softmax(values):
            return np.exp(values) / np.exp(values).sum(axis=1, keepdims=True)

        assert without_temperature(softmax(logits / 1.7), 1.7) == pytest.approx(softmax(logits))

    def test_a_probability_of_0_stays_one(self):
        assert without_temperature(np.array([[1.0, 0.0]]), 2.0) == pytest.approx(np.array([[1.0, 0.0]]))


class TestSpanCounts:
    def test_characters_count_once_however_often_they_are_marked(self):
        # found 0-9, true 5-14: five in common
        counts = SpanCounts().plus_characters([(0, 6), (4, 10)], [(5, 15)])
        assert (counts.hits, counts.guesses, counts.truths) == (5, 10, 10)
        assert (counts.precision, counts.recall, counts.f1) == (0.5, 0.5, 0.5)

    def test_characters_are_summed_over_texts_before_they_are_divided(self):
        counts = SpanCounts().plus_characters([(0, 1)], [(0, 1)]).plus_characters([], [(0, 9)])
        assert (counts.precision, counts.recall) == (1.0, pytest.approx(0.1))
        assert counts.f1 == pytest.approx(2 * 0.1 / 1.1)

    def test_examples(self):
        counts = SpanCounts()
        for guess, truth in [(True, True), (True, False), (False, True), (False, False), (True, True)]:
            counts = counts.plus_example(guess=guess, truth=truth)
        assert (counts.hits, counts.guesses, counts.truths) == (2, 3, 3)
        assert counts.f1 == pytest.approx(2 / 3)

    def test_nothing_found_and_nothing_true_is_0(self):
        assert (SpanCounts().precision, SpanCounts().recall) == (0.0, 0.0)
        assert math.isclose(SpanCounts(0, 3, 0).precision, 0.0)
