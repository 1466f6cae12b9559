"""Which models an analysis has: opened side by side, named in the report by role."""

import asyncio
from types import SimpleNamespace

import pytest

from services.common.errors import StartupError
from services.dpe.compose import open_models
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
