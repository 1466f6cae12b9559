"""The committed vectors of SPEC-005: every one against its JSON Schema, and against the code."""

import json
from pathlib import Path

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from services.common.adapters.memory.embedding import IdentityCalibration
from services.common.reading.values import scan_values
from services.common.taxonomy import RiskLevel
from services.dpe.domain.policy import Amplifiers, Weights
from services.dpe.domain.risk import amplified, base_score, classified, level_of
from tests.each import each
from tests.fakes.dpe_world import analyse, app, models

FOLDER = Path(__file__).parents[2] / "vectors" / "dpe"
TOPICS = sorted(path.stem for path in FOLDER.glob("*.json") if path.stem != "schema")


def vectors(topic):
    document = json.loads((FOLDER / f"{topic}.json").read_text(encoding="utf-8"))
    return [pytest.param(item["input"], item["expected"], id=item["test_id"]) for item in document["vectors"]]


@each("topic", TOPICS)
def test_the_file_fits_its_schema(topic):
    schema = json.loads((FOLDER / "schema.json").read_text(encoding="utf-8"))
    document = json.loads((FOLDER / f"{topic}.json").read_text(encoding="utf-8"))
    Draft202012Validator(schema).validate(document)
    assert document["topic"] == topic
    ids = [item["test_id"] for item in document["vectors"]]
    assert ids == [f"{topic}-{number:03d}" for number in range(1, len(ids) + 1)]


@each(("given", "expected"), vectors("values"))
def test_values(given, expected):
    found = scan_values(given["text"])
    assert [[str(value.kind), value.normal] for value in found] == expected["values"]
    assert all(given["text"][value.start : value.end] == value.text for value in found)


@each(("given", "expected"), vectors("fabrication"))
async def test_fabrication(given, expected):
    finished = await analyse(given["answer"], *given["facts"], query=given["query"])
    found = finished.analysis.outputs.fabrication.found
    assert [item.entity.text for item in found] == expected["fabrications"]
    assert all(given["answer"][item.entity.start : item.entity.end] == item.entity.text for item in found)


class EverythingNear(IdentityCalibration):
    """Every claim is grounded in its nearest fact, so that stage 3b looks at each."""

    def apply(self, cosine):
        return np.where(cosine > 0.05, 0.9, 0.0).astype(np.float32)


@each(("given", "expected"), vectors("distortion"))
async def test_distortion(given, expected):
    parts = models()
    parts.embedding._calibration = EverythingNear()
    finished = await analyse(given["answer"], *given["facts"], using=app(embedding=parts.embedding))
    outputs = finished.analysis.outputs
    assert [str(item.type) for item in outputs.distortion.found] == expected["types"]
    for item in outputs.distortion.found:
        fact = next(fact for fact in finished.analysis.input.facts if fact.fact_id == item.fact_id)
        assert given["answer"][item.answer_span.start : item.answer_span.end].strip()
        assert fact.content[item.fact_span.start : item.fact_span.end].strip()


@pytest.mark.parametrize(("given", "expected"), vectors("contradiction"))
async def test_contradiction(given, expected):
    finished = await analyse(given["answer"])
    found = finished.analysis.outputs.contradiction.found
    assert [[item.first.claim_id, item.second.claim_id, str(item.severity)] for item in found] == expected[
        "contradictions"
    ]


@each(("given", "expected"), vectors("risk"))
def test_risk(given, expected):
    composite = amplified(base_score(given["signals"], Weights()), given["amplifiers"], Amplifiers())
    if expected["composite"] is None:
        assert composite is None
    else:
        assert composite == pytest.approx(expected["composite"], abs=5e-5)
    own, level = classified(composite), level_of(classified(composite), map(RiskLevel, given["floors"]))
    assert (own and str(own), str(level)) == (expected["composite_level"], expected["level"])


@pytest.mark.parametrize(("given", "expected"), vectors("similarity"))
def test_similarity(given, expected):
    from services.common.reading.text_types import Claim, ClaimType
    from services.dpe.domain.stages.s02_attribution import _type

    claim = Claim("c1", "x", 0, 1, 0, ClaimType.FACTUAL, given["specificity"])
    assert str(_type(claim, given["similarity"])) == expected["type"]


FORMULAS = (
    "3.2 4.3 4.4 4.5 5.2 5.3 5.4 5.5 6.2 7.2 7.3 7.4 8.1 8.2 8.3 9.2 9.3 10.2 10.3 11.2 11.3 11.4 11.5 12.2 13.2 13.3 "
    "14.2 14.3 16.1 17 18.2 18.4 18.5 19.1"
)
"""Sections of §3-§19 that state a formula, a threshold, a table or a trigger; §3.3 has its labelled sentences."""


def test_every_section_with_a_formula_or_a_threshold_has_a_vector():
    documents = [json.loads((FOLDER / f"{topic}.json").read_text(encoding="utf-8")) for topic in TOPICS]
    held = {item["section"].rpartition("§")[2] for document in documents for item in document["vectors"]}
    assert set(FORMULAS.split()) <= held
