"""What decides a verdict, and what stands in whose place (ADR 0041, 0045)."""

import json
from pathlib import Path

import pytest

from tests.each import each
from tests.fakes.dpe_world import TableEntailment, TableGrounding, analyse, app, models
from tests.unit.dpe.test_dpe_vectors import EverythingNear

VERDICTS = json.loads((Path(__file__).parents[2] / "vectors/dpe/verdict.json").read_text(encoding="utf-8"))["vectors"]


def near_models(entailment, support):
    parts = models()
    parts.embedding._calibration = EverythingNear()
    return app(
        embedding=parts.embedding,
        entailment=TableEntailment(lambda *_: entailment),
        grounding=TableGrounding(lambda _: support),
    )


@each("vector", VERDICTS, ids=[vector["test_id"] for vector in VERDICTS])
async def test_the_firmest_basis_decides(vector):
    given, expected = vector["input"], vector["expected"]
    using = near_models(given["entailment"], given["support"])
    outputs = (await analyse(given["answer"], *given["facts"], using=using)).analysis.outputs
    assert (str(outputs.fidelity.judgements["c1"].verdict), str(outputs.fidelity.judgements["c1"].basis)) == (
        expected["verdict"],
        expected["basis"],
    ), vector["source"]
    assert outputs.fidelity.verdicts["c1"] is outputs.fidelity.judgements["c1"].verdict


async def distortions(answer, fact):
    using = near_models((0.2, 0.7, 0.1), 0.3)
    outputs = (await analyse(answer, fact, using=using)).analysis.outputs
    return [str(item.type) for item in outputs.distortion.found]


@pytest.mark.parametrize(
    ("answer", "fact", "found"),
    [
        (
            "The clerk was found guilty of 27 counts of fraud.",
            "The clerk, 28, was found guilty of fraud by the court.",
            [],
        ),
        (
            "The clerk, 27, was found guilty of fraud by the court.",
            "The clerk, 28, was found guilty of fraud by the court.",
            ["NUMBER_CHANGED"],
        ),
        (
            "The clerk was found guilty of 27 counts of fraud.",
            "The clerk faced 20 years after being found guilty of fraud by the court.",
            [],
        ),
        (
            "The clerk was given 27 for his fraud by the court.",
            "The clerk was given 20 years for his fraud by the court.",
            ["NUMBER_CHANGED"],
        ),
        (
            "With 31 the skater won five medals in the winter games of the city.",
            "The skater won two medals in the winter games of the city.",
            [],
        ),
        (
            "At 31 the skater won five medals in the winter games of the city.",
            "The skater won two medals in the winter games of the city.",
            ["NUMBER_CHANGED"],
        ),
        (
            "The skater won five medals in the winter games of the city.",
            "The skater won two medals in the winter games of the city.",
            ["NUMBER_CHANGED"],
        ),
        (
            "The number of cases in the city has doubled.",
            "Of the number of cases 60% of them were in the city.",
            [],
        ),
        (
            "The number of cases in the city has doubled.",
            "The number of cases in the city has risen by 60%.",
            ["MAGNITUDE_ALTERED"],
        ),
        (
            "However, the north bridge stays closed in winter storms.",
            "NIST says that the north bridge stays closed in winter storms.",
            [],
        ),
    ],
    ids=[
        "age",
        "two ages",
        "what is counted",
        "a bare number",
        "two for one place",
        "an age beside it",
        "one for one place",
        "share of",
        "risen by",
        "no name",
    ],
)
async def test_what_stands_in_whose_place(answer, fact, found):
    assert await distortions(answer, fact) == found


async def test_the_grounding_model_reads_one_window():
    grounding = TableGrounding(lambda _: 0.9)
    await analyse("For late reports the fee is 5 euros.", "The fee is 5 euros.", using=app(grounding=grounding))
    assert [request.max_windows for call in grounding.calls for request in call] == [1]
