import gzip
import json

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="install the training group")

from evaluation.metrics import auroc
from services.common.grounding.combiner import ENCODER_FEATURES, parse_combiner
from services.common.grounding.signals import SIGNALS
from tests.fakes.tiny_encoders import TinyEncoder, write_repository
from training.combiner import (
    BOTH_FEATURES,
    PEERS_FEATURES,
    SIGNAL_FEATURES,
    combiner,
    fit_both,
    fit_signals,
    main,
    measured,
)
from training.combiner_data import Table, pooled_datasets
from training.combiner_fit import Sample, calibrated, fit_linear, macro_accuracy, macro_threshold, out_of_fold
from training.combiner_spans import changed_words, choose_span_threshold
from training.rows import CheckedText

DATASETS = ("plain", "shifted")


def table(seed, rows=240, encoder=True):
    """Signals that tell a little, an encoder that tells more; half of the rows of each of two sets are supported."""
    generator = np.random.default_rng(seed)
    supported = np.arange(rows) % 2 == 0
    datasets = [DATASETS[number // 2 % 2] for number in range(rows)]
    signals = generator.random((rows, len(SIGNALS)))
    signals[:, SIGNALS.index("weakest_sentence_recall")] = np.clip(generator.normal(0.4 + 0.2 * supported, 0.2), 0, 1)
    outputs = generator.normal(size=(rows, len(ENCODER_FEATURES))) + 2.0 * supported[:, None]
    texts = tuple(
        CheckedText(f"{n}", datasets[n], "claim", (f"context {n // 4}",), f"claim {n}", bool(supported[n]), "calibrate")
        for n in range(rows)
    )
    return Table(texts, signals, outputs if encoder else None, ((),) * rows)


def sample(columns, supported, groups):
    size = len(supported)
    return Sample(columns, np.array(supported), np.array(groups), np.arange(size, dtype=np.intp))


def test_every_group_and_class_weighs_the_same():
    weights = sample({}, [True, True, True, False, True, False], ["a", "a", "a", "a", "b", "b"]).weights
    assert weights == pytest.approx([0.5, 0.5, 0.5, 1.5, 1.5, 1.5])


def test_the_features_that_are_named_exist():
    names = {part for name in (*SIGNAL_FEATURES, *PEERS_FEATURES) for part in name.split("*")}
    assert names <= set(SIGNALS)
    both = {part for some in BOTH_FEATURES.values() for name in some for part in name.split("*")}
    assert both <= {*SIGNALS, *ENCODER_FEATURES, "signals_logit"}
    assert len(PEERS_FEATURES) == 8


def test_the_threshold_is_where_the_mean_over_groups_is_best():
    scores = np.array([0.2, 0.4, 0.6, 0.8] * 2)
    data = sample({}, [False, False, True, True] * 2, ["a"] * 4 + ["b"] * 4)
    threshold = macro_threshold([scores], data)
    assert 0.4 < threshold <= 0.6
    assert macro_accuracy(scores, data, threshold) == 1.0


def test_a_model_that_was_not_fitted_on_a_row_judges_it():
    """A feature that is the row's number tells nothing of rows that are held out; noise must not look like skill."""
    generator = np.random.default_rng(3)
    size = 200
    columns = {f"n{n}": generator.normal(size=size) for n in range(60)}
    data = sample(columns, generator.random(size) < 0.5, ["a"] * size)
    seen = fit_linear(list(columns), data, 10.0).logits(columns)
    held = out_of_fold(list(columns), data, 10.0)
    assert auroc(seen, data.supported) > 0.75
    assert np.mean([auroc(one, data.supported) for one in held]) == pytest.approx(0.5, abs=0.1)


def test_calibration_makes_overconfident_logits_honest():
    generator = np.random.default_rng(5)
    logits = generator.normal(size=4000)
    supported = generator.random(4000) < 1 / (1 + np.exp(-logits))
    data = sample({"x": 4 * logits}, supported, ["a"] * 4000)
    linear = fit_linear(["x"], data, 1e3)
    too_sure = type(linear)(linear.names, linear.means, linear.scales, linear.weights * 4, linear.bias)
    model = calibrated(too_sure, [too_sure.logits(data.columns)], data)
    said = model.support(data.columns)
    high = said > 0.75
    assert supported[high].mean() == pytest.approx(said[high].mean(), abs=0.04)


def test_fitting_all_of_it_gives_a_combiner_that_can_be_read_and_is_better_than_signals(monkeypatch):
    monkeypatch.setattr("training.combiner.STRENGTHS", (0.03, 0.3))
    calibrate, report = table(1), table(2)
    signals = fit_signals(SIGNAL_FEATURES, table(3, encoder=False), calibrate)
    both, how = fit_both(calibrate, signals)
    assert how["features"] in BOTH_FEATURES
    content = combiner(signals, both, 0.5, how)
    made = parse_combiner(json.dumps(content))
    assert report.encoder is not None
    right = (made.support(report.signals, report.encoder) >= made.both.threshold) == report.supported
    alone = (made.support_by_signals(report.signals) >= made.signals.threshold) == report.supported
    assert right.mean() > alone.mean() + 0.1


def test_small_sets_are_pooled():
    rows = [
        CheckedText(str(n), "large" if n < 80 else f"small {n % 2}", "claim", ("c",), "x", n % 2 == 0, "calibrate")
        for n in range(100)
    ]
    found = pooled_datasets(Table(tuple(rows), np.zeros((100, 1)), None, ()))
    assert found == {"large": "large", "small 0": "small sets", "small 1": "small sets"}


def test_the_report_counts_both_kinds_of_error():
    from training.combiner import System

    report = table(4, rows=8)
    scores = np.array([0.9, 0.9, 0.9, 0.1, 0.1, 0.1, 0.9, 0.1])
    found = measured([System("x", scores, scores, 0.5)], report, report)["x"]["sets"]
    assert found["plain"]["confusion"] == {
        "supported_seen": 1,
        "supported_missed": 1,
        "unsupported_missed": 1,
        "unsupported_seen": 1,
    }
    assert found["shifted"]["balanced_accuracy"] == 1.0


def test_changed_words_are_those_of_the_edited_text():
    edited = "Ada Lovelace sang arias in Rome."
    starts = changed_words("Ada Lovelace wrote notes in Rome.", edited)
    assert [edited[start : start + 4] for start in sorted(starts)] == ["sang", "aria"]
    assert changed_words("Same text", "same text") == set()


def test_the_span_threshold_is_the_best_on_calibrate():
    doubts = ((0, 3, 0.3), (4, 8, 0.62))
    rows = (
        CheckedText("bump-1-ref-1", "bump", "response", ("c",), "Ada sang", True, "calibrate"),
        CheckedText("bump-1-edit-1", "bump", "response", ("c",), "Ada fell", False, "calibrate"),
    )
    pairs = Table(rows, np.zeros((2, 1)), np.zeros((2, 4)), ((), doubts))
    found = choose_span_threshold(pairs, pairs)
    assert 0.3 < found["threshold"] <= 0.62
    assert found["report"]["f1"] == 1.0
    empty = Table((), np.zeros((0, 1)), None, ())
    assert choose_span_threshold(empty, empty)["threshold"] == 0.5


def test_the_command_writes_a_combiner_and_measures_every_system(tmp_path, monkeypatch):
    monkeypatch.setattr("training.combiner.STRENGTHS", (0.03,))
    monkeypatch.setattr("training.combiner.BOTH_FEATURES", {"logits": BOTH_FEATURES["logits"]})
    write_repository(tmp_path / "models", TinyEncoder("grounding", "grounding", max_tokens=96))
    generator = np.random.default_rng(1)
    rows = [
        {
            "id": f"{number}",
            "dataset": DATASETS[number % 2],
            "kind": "claim",
            "context": [f"red {number} yes" if supported else f"green {number}"],
            "claim": "red blue" if generator.random() < 0.7 else "green no",
            "supported": supported,
            "fold": ("fit", "calibrate", "report")[number % 3],
        }
        for number, supported in enumerate(generator.random(240) < 0.5)
        for supported in [bool(supported)]
    ]
    (tmp_path / "grounding").mkdir()
    with gzip.open(tmp_path / "grounding" / "dev.jsonl.gz", "wt", encoding="utf-8") as lines:
        lines.writelines(json.dumps(row) + "\n" for row in rows)
    main(["--data", str(tmp_path), "--work", str(tmp_path / "work"), "--repository", str(tmp_path / "models")])
    parse_combiner((tmp_path / "models" / "grounding" / "combiner.json").read_text(encoding="utf-8"))
    found = json.loads((tmp_path / "work" / "combiner_metrics.json").read_text(encoding="utf-8"))["report"]
    assert list(found) == ["peers' eight features", "signals", "signals by kind of text", "encoder", "both"]
    assert found["both"]["mean"]["balanced_accuracy"] > 0.95
