import json
import math

import numpy as np
import pytest

from services.common.grounding.combiner import (
    ENCODER_FEATURES,
    LARGEST_LOGIT,
    CombinerError,
    features,
    logistic,
    parse_combiner,
)
from services.common.grounding.signals import SIGNALS
from services.common.grounding.windows import WindowSettings
from tests.each import each
from tests.fakes.combiners import tiny_combiner


def changed(path, value):
    data = tiny_combiner()
    place = data
    for key in path[:-1]:
        place = place[key]
    if value is KeyError:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return json.dumps(data)


def rows(*recalls):
    matrix = np.zeros((len(recalls), len(SIGNALS)))
    matrix[:, SIGNALS.index("token_recall")] = recalls
    return matrix


def encoder(*supports):
    matrix = np.zeros((len(supports), len(ENCODER_FEATURES)))
    matrix[:, 0] = supports
    return matrix


def test_support_by_signals():
    combiner = parse_combiner(json.dumps(tiny_combiner()))
    expected = [1 / (1 + math.e), 0.5, math.e / (1 + math.e)]
    assert combiner.support_by_signals(rows(0.0, 0.5, 1.0)) == pytest.approx(expected, abs=1e-6)


def test_support_by_both():
    combiner = parse_combiner(json.dumps(tiny_combiner()))
    found = combiner.support(rows(1.0, 0.0), encoder(2.0, 0.5))
    assert found == pytest.approx([1 / (1 + math.exp(-2.5)), 0.5], abs=1e-6)
    assert combiner.windows == WindowSettings(32, 2)


def test_calibration_is_applied():
    text = changed(("both", "calibration"), {"raw": [0.0, 0.5, 1.0], "calibrated": [0.0, 0.2, 1.0]})
    assert parse_combiner(text).support(rows(0.5), encoder(0.0)) == pytest.approx([0.2])


def test_a_claim_has_the_same_support_alone_and_among_others():
    combiner = parse_combiner(json.dumps(tiny_combiner()))
    generator = np.random.default_rng(7)
    signals, outputs = generator.random((33, len(SIGNALS))), generator.normal(size=(33, len(ENCODER_FEATURES)))
    together = combiner.support(signals, outputs)
    alone = [float(combiner.support(signals[n : n + 1], outputs[n : n + 1])[0]) for n in range(33)]
    assert together.tolist() == alone


def test_overconfident_logits_are_cut_off():
    combiner = parse_combiner(json.dumps(tiny_combiner()))
    assert combiner.support(rows(0.5), encoder(1e9)) == combiner.support(rows(0.5), encoder(LARGEST_LOGIT))


def test_a_feature_may_be_a_product():
    columns = {"a": np.array([2.0, 3.0]), "b": np.array([5.0, 7.0])}
    assert features(["a*b", "b"], columns).tolist() == [[10.0, 5.0], [21.0, 7.0]]


def test_logistic_does_not_overflow():
    assert logistic(np.array([-1e9, 0.0, 1e9])).tolist() == [0.0, 0.5, 1.0]


@each(
    ("path", "value", "message"),
    [
        (("schema_version",), 2, "schema_version is 2"),
        (("both",), KeyError, "the file: both is missing"),
        (("extra",), 1, "the file: extra is unknown"),
        (("signals", "weights"), KeyError, "signals: weights is missing"),
        (("signals", "weights"), [1.0, 2.0], "signals.weights must be a list of 1"),
        (("signals", "weights"), ["1"], "no number"),
        (("signals", "weights"), [True], "no number"),
        (("signals", "weights"), [float("nan")], "not finite"),
        (("signals", "scales"), [0.0], "above 0"),
        (("signals", "bias"), float("inf"), "not finite"),
        (("signals", "names"), [], "list of names"),
        (("signals", "names"), ["token_recal"], "token_recal is no feature"),
        (("signals", "names"), ["encoder_support"], "encoder_support is no feature"),
        (("both", "names"), ["a*b", "signals_logit"], "is no feature"),
        (("both", "names"), ["names*names*names", "signals_logit"], "is no feature"),
        (("both", "names"), ["signals_logit", "signals_logit"], "one twice"),
        (("both", "threshold"), 1.0, "between 0 and 1"),
        (("both", "calibration", "raw"), [0.0, 0.9], "from 0 to 1"),
        (("both", "calibration", "raw"), "0, 1", "calibration"),
        (("spans", "threshold"), 0, "between 0 and 1"),
        (("windows", "max_windows"), 0, "at least 1"),
        (("windows", "premise_tokens"), 16.5, "an integer"),
        (("windows",), [], "must be an object"),
    ],
)
def test_a_file_that_is_not_strictly_right_is_refused(path, value, message):
    with pytest.raises(CombinerError, match=message.replace("(", r"\(")):
        parse_combiner(changed(path, value))


def test_broken_json_names_the_line():
    with pytest.raises(CombinerError, match="line 2"):
        parse_combiner('{\n"schema_version": }')
