"""Which models an analysis has: opened side by side, named in the report by role."""

import asyncio
from dataclasses import fields
from types import SimpleNamespace

import pytest

from services.common import composition
from services.common.errors import StartupError
from services.common.ports.grounding import GroundingRequest
from services.dpe.compose import open_models
from services.dpe.domain.models import ASKED_MODELS, ModelAnswers, ModelRole, Requests
from services.dpe.ports import AnalysisModels


def model(name):
    return SimpleNamespace(fingerprint=f"{name}@1+sha256:{'0' * 16}")


@pytest.mark.parametrize(
    ("entailment", "grounding", "roles"),
    [
        (None, None, ["embedding", "entity_recognizer"]),
        ("nli", None, ["embedding", "entity_recognizer", "entailment"]),
        ("nli", "grounding", ["embedding", "entity_recognizer", "entailment", "grounding"]),
    ],
    ids=["the least", "with entailment", "all"],
)
def test_fingerprints_by_role(entailment, grounding, roles):
    optional = {"entailment": entailment, "grounding": grounding}
    models = AnalysisModels(
        model("embedder"), model("ner"), **{role: model(name) if name else None for role, name in optional.items()}
    )
    assert [role for role, _ in models.fingerprints()] == roles
    assert dict(models.fingerprints()).get("grounding") == (model("grounding").fingerprint if grounding else None)


class Adapters:
    """Opens models that wait for one another, so that one after the other would never end."""

    def __init__(self, **failures):
        self.failures = failures
        self.all_open = asyncio.Barrier(5)
        self.ended = []

    async def _open(self, role):
        await self.all_open.wait()
        await asyncio.sleep(0.001 * len(role))
        self.ended.append(role)
        if role in self.failures:
            raise self.failures[role]
        return None if role == "grounding" else model(role)

    def embedding(self):
        return self._open("embedding")

    def entity_recognizer(self):
        return self._open("entity_recognizer")

    def entailment(self):
        return self._open("entailment")

    def grounding(self):
        return self._open("grounding")

    def personal_data(self):
        return self._open("personal_data")

    async def second_opinion(self):
        return None


async def test_models_are_opened_side_by_side():
    models = await open_models(Adapters())
    assert [role for role, _ in models.fingerprints()] == [
        "embedding",
        "entity_recognizer",
        "entailment",
        "personal_data",
    ]


async def test_the_first_failure_is_raised_when_all_have_ended():
    adapters = Adapters(grounding=StartupError("second"), embedding=StartupError("first"))
    with pytest.raises(StartupError, match="first"):
        await open_models(adapters)
    assert sorted(adapters.ended) == ["embedding", "entailment", "entity_recognizer", "grounding", "personal_data"]


def test_every_model_has_one_row_which_names_what_is_there():
    names = {
        "requests": {one.name for one in fields(Requests)},
        "answers": {one.name for one in fields(ModelAnswers)} - {"entailment_tokens", "fingerprints"},
        "role": {one.name for one in fields(AnalysisModels)} - {"second_opinion"},
    }
    for column, declared in names.items():
        assert sorted(getattr(model, column) for model in ASKED_MODELS) == sorted(declared), column
    assert all(callable(getattr(composition.Adapters, model.role)) for model in ASKED_MODELS)
    assert [model.role for model in ASKED_MODELS] == [role for role in ModelRole if role != "second_opinion"]
    assert len({model.failed for model in ASKED_MODELS}) == len(ASKED_MODELS)


def test_what_is_asked_beyond_what_is_known_and_what_it_has_each_model_read():
    known = Requests(embed=("a",), classify=(("p", "h"),))
    asked = Requests(embed=("a", "bc"), classify=(("p", "h"), ("long", "er")), judge=(GroundingRequest("x", ("yz",)),))
    rest = asked.beyond(known)
    assert rest == Requests(embed=("bc",), classify=(("long", "er"),), judge=asked.judge)
    assert {str(role): count for role, count in rest.chars().items() if count} == {
        "embedding": 3,
        "entailment": 7,
        "grounding": 4,
    }
