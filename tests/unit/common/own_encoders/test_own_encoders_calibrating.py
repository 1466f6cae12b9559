"""Fits, folds, bounds and baselines: on made-up scores whose truth is known, and through a whole model."""

import json

import numpy as np
import pytest

from services.common.adapters.own_encoders.calibrating import (
    at_temperature,
    fit_support,
    fit_temperature,
    measure_support,
    measure_temperature,
)
from services.common.adapters.own_encoders.claim_only import claim_only_scores
from services.common.adapters.own_encoders.fitting import (
    MOST_UNDECIDED,
    PRECISION_OF_NOT,
    best_threshold,
    fit_logistic,
    fit_platt,
    folds,
    splits,
    undecided_bounds,
)
from services.common.adapters.own_encoders.pairs_file import read_pairs
from services.common.adapters.own_encoders.refusals import OwnModelError, Refusal
from services.common.adapters.own_encoders.workshop import calibrate
from services.common.grounding.combiner import logistic
from services.common.measures import auroc
from services.common.model_repository import open_repository
from tests.fakes.own_encoders import added, settings

CHANCE = np.random.default_rng(3)
COLUMNS = ("signals_logit", "encoder_support", "encoder_composed")
ENCODER = ("encoder_support",)


def rows(count=400, noise=1.0):
    labels = CHANCE.random(count) < 0.5
    truth = np.where(labels, 1.0, -1.0)
    columns = {
        "signals_logit": truth * 0.5 + noise * CHANCE.normal(size=count),
        "encoder_support": 4.0 * (truth + noise * CHANCE.normal(size=count)) + 3.0,  # over-confident, and off by 3
        "encoder_composed": noise * CHANCE.normal(size=count),
    }
    return columns, labels, np.arange(count, dtype=np.int64) // 2


def test_a_premises_rows_share_a_fold_and_classes_are_spread():
    groups = np.repeat(np.arange(60), 3)
    labels = (np.arange(180) % 3 == 0).astype(np.int64)
    fold = folds(groups, labels)
    assert all(len(set(fold[groups == group])) == 1 for group in range(60))
    shares = [labels[fold == number].mean() for number in range(5)]
    sizes = [(fold == number).sum() for number in range(5)]
    assert max(shares) - min(shares) < 0.05
    assert max(sizes) - min(sizes) <= 6
    assert sorted(place for _, held in splits(fold) for place in held) == list(range(180))


def test_logistic_regression_finds_what_separates():
    features = CHANCE.normal(size=(600, 3))
    labels = CHANCE.random(600) < logistic(2.0 * features[:, 0] - 1.0 * features[:, 1])
    means, scales, weights, _ = fit_logistic(features, labels)
    assert means == pytest.approx(features.mean(axis=0))
    assert weights[0] / scales[0] == pytest.approx(2.0, abs=0.4)
    assert weights[1] / scales[1] == pytest.approx(-1.0, abs=0.3)
    assert abs(weights[2]) < 0.3


def test_logistic_regression_stays_finite_where_classes_are_apart():
    labels = np.arange(50) < 25
    _, _, weights, bias = fit_logistic(np.where(labels, 1e6, -1e6)[:, None], labels)
    assert np.isfinite([*weights, bias]).all()


@pytest.mark.parametrize(("slope", "offset"), [(1.0, 0.0), (0.25, -0.8), (3.0, 1.0)])
def test_platt_undoes_what_was_done_to_the_odds(slope, offset):
    truth = CHANCE.normal(size=4_000) * 2.0
    labels = CHANCE.random(4_000) < logistic(truth)
    found = fit_platt((truth - offset) / slope, labels)
    assert found[0] == pytest.approx(slope, rel=0.15)
    assert found[1] == pytest.approx(offset, abs=0.2)


def test_platt_never_turns_the_order_round():
    labels = np.arange(100) < 50
    assert fit_platt(np.where(labels, -2.0, 2.0), labels)[0] > 0.0


def test_bounds_leave_little_undecided_and_make_not_supported_right():
    scores = CHANCE.random(2_000)
    labels = CHANCE.random(2_000) < scores
    threshold = best_threshold(scores, labels)
    low, high = undecided_bounds(scores, labels, threshold)
    between = (scores >= low) & (scores < high)
    assert low <= threshold <= high
    assert 0.0 < between.mean() <= MOST_UNDECIDED + 1e-9
    before, after = (~labels[scores < threshold]).mean(), (~labels[scores < low]).mean()
    assert after > before
    sure = undecided_bounds(np.where(labels, 0.9, 0.1), labels, 0.5)
    assert sure[0] == 0.5
    assert (~labels[np.where(labels, 0.9, 0.1) < sure[0]]).mean() >= PRECISION_OF_NOT


def test_the_fit_is_calibrated_and_its_threshold_is_where_classes_part():
    columns, labels, groups = rows()
    fitted = fit_support(columns, labels, groups, [ENCODER, COLUMNS])
    fresh, truth, _ = rows(3_000)
    support = fitted.model.support(fresh)
    for low in (0.1, 0.4, 0.7):
        near = (support >= low) & (support < low + 0.2)
        assert truth[near].mean() == pytest.approx(support[near].mean(), abs=0.1)
    assert auroc(support, truth) > auroc(fresh["encoder_support"], truth) - 0.005
    assert ((support >= fitted.model.threshold) == truth).mean() > 0.82


def test_what_is_reported_was_held_out():
    """Features that say nothing must come out as nothing, whatever a fit on all rows makes of them."""
    count = 120
    labels = np.arange(count) % 2 == 0
    noise = {name: CHANCE.normal(size=count) for name in COLUMNS}
    measured = measure_support(noise, labels, np.arange(count), [ENCODER, COLUMNS])
    assert 0.3 < measured.after.auroc < 0.65
    columns, labels, groups = rows()
    measured = measure_support(columns, labels, groups, [ENCODER, COLUMNS])
    assert measured.rows == 400
    assert measured.after.calibration_error < measured.before.calibration_error
    assert measured.after.balanced_accuracy > measured.before.balanced_accuracy
    assert measured.undecided <= 0.25
    assert measured.right_when_not_supported > 0.75


def test_the_temperature_is_found_and_its_error_measured_on_other_rows():
    logits = CHANCE.normal(size=(900, 3)) * 2.0
    even = at_temperature(np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True), 1.0)
    labels = np.array([CHANCE.choice(3, p=row) for row in even])
    sharp = at_temperature(even, 1 / 3)
    assert fit_temperature(sharp, labels) == pytest.approx(3.0, rel=0.25)
    measured = measure_temperature(sharp, labels, np.arange(900))
    assert measured["expected_calibration_error_after"] < measured["expected_calibration_error_before"] / 2


def test_claims_that_give_their_label_away_are_found_out():
    labels = np.arange(200) % 2 == 0
    fold = folds(np.arange(200), labels.astype(np.int64))
    telling = [f"claim {number} is {'surely' if label else 'never'} so" for number, label in enumerate(labels)]
    silent = [f"claim {CHANCE.integers(5)} of page {CHANCE.integers(5)}" for _ in labels]
    assert auroc(claim_only_scores(telling, labels, fold), labels) > 0.95
    assert 0.3 < auroc(claim_only_scores(silent, labels, fold), labels) < 0.7


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "no JSON object"),
        ("[]", "no JSON object"),
        ('{"premise": 1, "hypothesis": "a", "label": true}', "as texts"),
        ('{"premise": "a", "hypothesis": " ", "label": true}', "as texts"),
        ('{"premise": "a", "hypothesis": "b"}', "must be one of"),
        ('{"premise": "a", "hypothesis": "b", "label": 7}', "must be one of"),
        ('{"premise": "a", "hypothesis": "b", "label": ["x"]}', "must be one of"),
        ('{"premise": "a", "hypothesis": "b", "label": 0.5}', "must be one of"),
    ],
)
def test_rows_that_say_nothing_are_refused_with_their_line(tmp_path, line, said):
    path = tmp_path / "pairs.jsonl"
    path.write_text('{"premise": "a", "hypothesis": "b", "label": "supported"}\n\n' + line + "\n", encoding="utf-8")
    with pytest.raises(OwnModelError, match=rf"line 3.*{said}") as caught:
        read_pairs(path, three_way=False)
    assert caught.value.reason is Refusal.ROWS_INVALID


def test_labels_are_read_as_people_write_them(tmp_path):
    path = tmp_path / "pairs.jsonl"
    said = [True, False, 1, 0, "Supported", "not_supported", "entailment", "neutral"]
    path.write_text(
        "".join(
            json.dumps({"premise": f"p{n % 2}", "hypothesis": "h", "label": label}) + "\n"
            for n, label in enumerate(said)
        ),
        encoding="utf-8",
    )
    pairs = read_pairs(path, three_way=False)
    assert pairs.labels.tolist() == [1, 0, 1, 0, 1, 0, 1, 0]
    assert pairs.groups.tolist() == [0, 1] * 4


def some_pairs(path, labels):
    """Write pairs of which the encoder's own answers are the labels' truth as little as those of chance."""
    lines = [
        {
            "premise": f"Rule {n // 2}: the fee is {n} EUR for guests.",
            "hypothesis": f"Guests pay {n + n % 2} EUR.",
            "label": label,
        }
        for n, label in enumerate(labels)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


async def test_a_calibration_is_kept_beside_the_model_and_named_in_its_fingerprint(tmp_path):
    shelf, entry = added(tmp_path, "mpnet")
    path = some_pairs(tmp_path / "pairs.jsonl", [n % 2 == 0 for n in range(80)])
    done: list[int] = []
    found = await calibrate(
        settings(shelf), shelf, entry.name, read_pairs(path, three_way=False), path.name, done.append
    )
    assert sum(done) == 80
    now = open_repository(settings(shelf)).verified(entry.name)
    assert now == found.entry
    assert now.calibrated
    assert now.fingerprint != entry.fingerprint
    assert now.version.startswith("1-calibrated-")
    (combiner,) = [file for file in now.files if file.role == "combiner"]
    content = json.loads((shelf.root / entry.name / combiner.path).read_text(encoding="utf-8"))
    assert content["fitted_on"]["rows"] == 80
    assert 0.0 <= content["undecided"]["low"] <= content["both"]["threshold"] <= content["undecided"]["high"] <= 1.0
    assert not (shelf.root / entry.name / "combiner.json").exists()
    assert found.measured["rows"] == 80
    again = await calibrate(
        settings(shelf), shelf, entry.name, read_pairs(path, three_way=False), path.name, done.append
    )
    assert again.entry.fingerprint == now.fingerprint


async def test_a_crash_before_the_manifest_leaves_the_model_as_it_was(tmp_path, monkeypatch):
    shelf, entry = added(tmp_path, "mpnet")
    path = some_pairs(tmp_path / "pairs.jsonl", [n % 2 == 0 for n in range(80)])
    monkeypatch.setattr(type(shelf), "list_anew", lambda *_: (_ for _ in ()).throw(OSError("no space")))
    with pytest.raises(OSError, match="no space"):
        await calibrate(
            settings(shelf), shelf, entry.name, read_pairs(path, three_way=False), path.name, lambda _: None
        )
    monkeypatch.undo()
    assert open_repository(settings(shelf)).verified(entry.name) == entry


async def test_an_entailment_model_gets_a_temperature(tmp_path):
    shelf, entry = added(tmp_path, "bert")
    path = some_pairs(tmp_path / "pairs.jsonl", [("entailment", "neutral", "contradiction")[n % 3] for n in range(90)])
    found = await calibrate(
        settings(shelf), shelf, entry.name, read_pairs(path, three_way=True), path.name, lambda _: None
    )
    now = open_repository(settings(shelf)).verified(entry.name)
    assert now.calibrated
    assert now.softmax.labels == entry.softmax.labels
    assert now.softmax.temperature > 1.0  # labels of chance: less sure is better
    assert found.measured["expected_calibration_error_after"] < found.measured["expected_calibration_error_before"]


async def test_too_few_pairs_calibrate_nothing(tmp_path):
    shelf, entry = added(tmp_path, "mpnet")
    path = some_pairs(tmp_path / "pairs.jsonl", [True] * 70)
    with pytest.raises(OwnModelError) as caught:
        await calibrate(settings(shelf), shelf, entry.name, read_pairs(path, three_way=False), "f", lambda _: None)
    assert caught.value.reason is Refusal.ROWS_TOO_FEW
    assert open_repository(settings(shelf)).entry(entry.name) == entry
