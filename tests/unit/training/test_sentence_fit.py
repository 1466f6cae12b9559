"""Fitting heads: what is told apart, domains that are left out, bounds from what was not seen (ADR 0118)."""

import json

import numpy as np
import pytest

from services.common.sentence_heads.features import bag, entailments, marks, overlaps, pair_marks, words
from services.common.sentence_heads.model import SentenceHeadsError, logistic, parse_heads
from training.sentence_fit import (
    RIDGE,
    Bounds,
    Rows,
    Scale,
    bounds_of,
    duals,
    fitted,
    folds_of,
    measured,
    out_of_fold,
    weights_of,
)
from training.sentence_heads import SentenceDataError, read_rows

DOMAINS = ("legal", "plan", "chat", "maths", "api", "essay", "lab")


def rows(count=210, seed=5):
    """Rows whose first number tells the first head, and a mark the second; the third is chance."""
    random = np.random.default_rng(seed)
    numbers = random.normal(size=(count, 6))
    told = random.random(count) < 0.3
    found = [frozenset({"hence"} if each else {"the"}) | {f"w{at % 17}"} for at, each in enumerate(told)]
    truth = np.stack([numbers[:, 0] > 0.6, told, random.random(count) < 0.3], axis=1)
    return Rows(numbers, (2, 4), found, [DOMAINS[at % 7] for at in range(count)]), truth


def test_a_domain_stands_in_one_fold():
    given, _ = rows()
    folds = folds_of(given.domains)
    assert len({*folds}) == 7
    assert all(len({*folds[np.array(given.domains) == each]}) == 1 for each in DOMAINS)


def test_heads_find_what_numbers_and_marks_tell_and_chance_stays_chance():
    given, truth = rows()
    found = out_of_fold(given, truth)
    figures = [measured(truth[:, at], found[:, at], bounds_of(truth[:, at], found[:, at])) for at in range(3)]
    assert figures[0]["average_precision"] > 0.95
    assert figures[1]["average_precision"] > 0.99
    assert figures[2]["average_precision"] < 0.55


def test_the_fit_reaches_the_least_of_its_loss():
    given, truth = rows(140)
    scale = Scale.of(given)
    numbers, marked, biases = weights_of(scale, given, duals(scale.likeness(given), truth))
    features = np.hstack([scale.dense(given), bag(given.marks, scale.places)])
    weights = np.vstack([numbers, marked])
    pull = (truth - logistic(features @ weights + biases)) / RIDGE
    assert np.abs(features.T @ pull - weights).max() < 0.1 * np.abs(weights).max()
    assert np.abs(pull.mean(axis=0) * RIDGE).max() < 0.01  # what is promised on the whole comes true


def test_bounds_are_where_precision_holds_and_where_little_is_missed():
    truth = np.array([True] * 60 + [False] * 140)
    probabilities = np.concatenate([np.linspace(0.99, 0.3, 60), np.linspace(0.5, 0.01, 140)])
    found = bounds_of(truth, probabilities)
    said = probabilities >= found.yes_from
    assert truth[said].mean() >= 0.90
    assert truth[probabilities >= found.yes_from - 0.05].mean() < 0.90
    assert truth[probabilities < found.no_below].sum() <= 3


def test_a_head_that_is_never_sure_is_left_out():
    given, truth = rows()
    group = fitted(("first", "second", "chance"), given, truth, out_of_fold(given, truth))
    assert [*group["heads"]] == ["first", "second"]
    assert not Bounds(None, 0.1).is_worth


def test_what_is_written_scores_as_what_was_fitted():
    given, truth = rows()
    names = ("first", "second")
    group = fitted(names, given, truth, out_of_fold(given, truth))
    none = {"means": [], "scales": [], "marks": [], "heads": {}}
    content = {"schema_version": 1, "version": "1", "encoder": "nli@1", "width": 6, "states": ["inner"]}
    content |= {"kinds": group, "relations": none, "fitted_on": {}}
    heads = parse_heads(json.dumps(content))
    scale = Scale.of(given)
    wanted = logistic(scale.likeness(given) @ duals(scale.likeness(given), truth[:, :1]))[:, 0]
    got = heads.kinds.probabilities(given.numbers, given.marks)
    assert np.abs(got[:, 0] - wanted).max() < 0.01
    alone = heads.kinds.probabilities(given.numbers[7:8], given.marks[7:8])
    assert np.array_equal(alone[0], got[7])  # the same bits alone and among others
    assert heads.relations.probabilities(np.zeros((2, 0)), [frozenset(), frozenset()]).shape == (2, 0)
    head = heads.kinds.heads[0]
    assert (head.verdict(1.0), head.verdict(0.0), head.verdict(head.yes_from)) == (True, False, True)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"schema_version": 2}, "schema_version"),
        ({"states": None, "extra": 1}, "extra is unknown"),
        ({"kinds": {"means": [0.0], "scales": [0.0], "marks": [], "heads": {}}}, "above 0"),
        ({"kinds": {"means": [], "scales": [], "marks": [], "heads": {"order": {}}}}, "bias is missing"),
        ({"kinds": {"means": ["x"], "scales": [1.0], "marks": [], "heads": {}}}, "numbers only"),
        ({"kinds": []}, "kinds is no object"),
    ],
)
def test_a_file_that_is_none_says_why(change, says):
    none = {"means": [], "scales": [], "marks": [], "heads": {}}
    content = {"schema_version": 1, "version": "1", "encoder": "nli@1", "width": 6, "states": [], "kinds": none}
    content |= {"relations": none, "fitted_on": {}}
    with pytest.raises(SentenceHeadsError, match=says):
        parse_heads(json.dumps(content | change))
    with pytest.raises(SentenceHeadsError, match="no JSON"):
        parse_heads("{")


@pytest.mark.parametrize(
    ("head", "says"),
    [
        ({"weights": [1.0, 2.0]}, "a weight for each"),
        ({"yes_from": 0.2, "no_below": 0.4}, "no_below must not be above"),
    ],
)
def test_a_head_whose_parts_do_not_fit_is_refused(head, says):
    plain = {"weights": [1.0], "mark_weights": [0.5], "bias": 0.0, "yes_from": None, "no_below": None, "measured": {}}
    group = {"means": [0.0], "scales": [1.0], "marks": ["hence"], "heads": {"order": plain | head}}
    none = {"means": [], "scales": [], "marks": [], "heads": {}}
    content = {"schema_version": 1, "version": "1", "encoder": "nli@1", "width": 1, "states": [], "kinds": group}
    content |= {"relations": none, "fitted_on": {}}
    with pytest.raises(SentenceHeadsError, match=says):
        parse_heads(json.dumps(content))


def test_words_and_their_rows():
    assert words("Don\u2019t stop at 4.5 km!") == ["don't", "stop", "at", "4.5", "km", "!"]
    found = marks("Stop at 45.")
    assert {"stop", "at #", "stop at #", "^stop", "^stop at", "#", "."} <= found
    assert {"1stop", "2go", "1^stop", "2^go"} <= pair_marks("Stop", "Go")
    assert marks("") == frozenset()
    row = bag([frozenset({"a", "b", "new"}), frozenset()], {"a": 0, "b": 1})
    assert row[0] == pytest.approx([0.5**0.5] * 2)
    assert not row[1].any()


def test_overlaps_name_what_is_shared_denied_and_counted():
    found = overlaps("The tank holds 3 litres.", "The tank does not hold 5 litres.", 0.25)
    assert found[3:6] == [1.0, 1.0, 0.0]
    assert found[7] == 0.25
    assert overlaps("", "", 0.0)[:3] == [0.0, 0.0, 0.0]
    both = entailments(np.array([[2.0, 0.0, 0.0, 0.0, 0.0, 2.0]]))
    assert both[0, 6:9].sum() == pytest.approx(1.0)
    assert both[0, 6] == pytest.approx(both[0, 11])


def test_rows_are_read_and_a_wrong_line_is_named(tmp_path):
    path = tmp_path / "singles.jsonl"
    path.write_text('{"text": "A\u2028b", "kinds": ["order"], "domain": "plan"}\n', encoding="utf-8")
    singles, couples = read_rows([path])
    assert ([each.kinds for each in singles], couples) == ([("order",)], [])
    path.write_text('{"first": "A", "second": "B", "relation": "loves", "domain": "plan"}\n', encoding="utf-8")
    with pytest.raises(SentenceDataError, match=r"line 1: .*loves"):
        read_rows([path])
