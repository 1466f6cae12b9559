"""The temperature is found again when it is known, and is measured on rows that it was not fitted on."""

import numpy as np
import pytest

from training.rows import NliRow
from training.temperature import at_temperature, best_temperature, chosen_rows, softmax_entry


def softmax(logits):
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


@pytest.fixture(scope="module")
def drawn():
    """Labels drawn from probabilities, and the same probabilities made twice as sure as they should be."""
    chance = np.random.default_rng(4)
    logits = chance.normal(0, 1.5, (6000, 3))
    labels = np.array([chance.choice(3, p=row) for row in softmax(logits)])
    return softmax(2 * logits), labels


def test_the_temperature_that_was_put_in_comes_out(drawn):
    even, labels = drawn
    assert best_temperature(even, labels) == pytest.approx(2.0, abs=0.15)


def test_at_temperature_is_softmax_of_divided_logits():
    logits = np.array([[3.0, 1.0, -2.0]])
    assert at_temperature(softmax(logits), 2.0) == pytest.approx(softmax(logits / 2.0))


def test_calibration_gets_better_on_rows_that_were_not_fitted(drawn):
    even, labels = drawn
    rows = [NliRow(f"p{n}", f"h{n}", int(label), "snli", clear=True) for n, label in enumerate(labels)]
    entry = softmax_entry(even, rows)
    assert entry["fitted_on"]["rows"] == entry["measured"]["rows"] == 3000
    assert entry["measured"]["expected_calibration_error_before"] > 0.05
    assert entry["measured"]["expected_calibration_error_after"] < 0.03


def test_only_origins_with_three_classes_and_enough_rows_are_used():
    def of(origin, labels):
        return [NliRow(f"{origin} {n}", "h", label, origin, clear=True) for n, label in enumerate(labels)]

    rows = of("three", [0, 1, 2, 0, 1, 2]) + of("two", [0, 2, 0, 2, 0, 2]) + of("few", [0, 1, 2])
    chosen = chosen_rows(rows, 4)
    assert {row.origin for row in chosen} == {"three"}
    assert len(chosen) == 4
    assert chosen == chosen_rows(list(reversed(rows)), 4)
