"""The formulas of DetectInjection against their vectors, each threshold on both sides (Director-AI page; ADR 0125)."""

import json
from pathlib import Path

import numpy as np
import pytest

from services.common.injection.combining import combined_score, is_detected
from services.common.reading.text_types import Claim, ClaimType
from services.dpe.domain.guard.intent_divergence import (
    PREMISE_CHARS,
    ClaimVerdict,
    Thresholds,
    calibrated,
    questions_of,
    raw_divergence,
    risk_of,
    verdict_of,
)

VECTORS = json.loads((Path(__file__).parents[3] / "vectors/guard/injection.json").read_text(encoding="utf-8"))[
    "vectors"
]


def of(kind):
    return [pytest.param(one["input"], one["expected"], id=one["test_id"]) for one in VECTORS if one["kind"] == kind]


@pytest.mark.parametrize(("given", "expected"), of("raw"))
def test_the_divergence_of_a_pair(given, expected):
    assert raw_divergence(np.array(given["row"], dtype=np.float32)) == pytest.approx(expected["divergence"])


@pytest.mark.parametrize(("given", "expected"), of("claim"))
def test_the_verdict_on_a_claim(given, expected):
    divergence = calibrated(given["forward"], given["reverse"])
    assert divergence == pytest.approx(expected["divergence"], abs=1e-6)
    assert verdict_of(round(divergence, 9), given["traceability"], Thresholds()) == expected["verdict"]


@pytest.mark.parametrize(("given", "expected"), of("risk"))
def test_the_risk_of_an_answer(given, expected):
    risk = risk_of([ClaimVerdict(one) for one in given["verdicts"]])
    assert risk == (None if expected["risk"] is None else pytest.approx(expected["risk"]))


@pytest.mark.parametrize(("given", "expected"), of("combined"))
def test_one_score_of_three_stages(given, expected):
    score = combined_score(
        given["pattern"], given["risk"], given["probability"], disguised=given.get("disguised", False)
    )
    assert score == pytest.approx(expected["score"])
    assert is_detected(score, given["pattern"], given["threshold"]) is expected["detected"]


def claim(text):
    return Claim("c1", text, 0, len(text), 0, ClaimType.FACTUAL, 0.5)


def test_words_of_intent_and_input_can_be_traced():
    (one,) = questions_of([claim("The fee for hail is 5 euros.")], "Answer about the fee.", "What of hail?")
    assert one.traceability == pytest.approx(2 / 3)
    assert one.pairs == ((one.premise, "The fee for hail is 5 euros."), ("The fee for hail is 5 euros.", one.premise))
    (bare,) = questions_of([claim("It is 5.")], "Answer about the fee.", "")
    assert bare.traceability == 1.0


def test_of_a_long_intent_the_nearest_sentences_are_read():
    filler = "Be polite to everybody who asks about anything at all. " * 60
    intent = f"{filler}Fees for hail are never named. {filler}"
    (one,) = questions_of([claim("The fee for hail is 5 euros.")], intent, "")
    assert "Fees for hail are never named." in one.premise
    assert len(one.premise) <= PREMISE_CHARS
