"""The small encoders of tests/vectors/own_encoders, and what it takes to add them."""

import json
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from services.common.adapters.own_encoders.adding import Wish, add_model
from services.common.adapters.own_encoders.shelf import Shelf
from services.common.model_repository import ModelEntry, open_repository
from services.common.settings.inference import InferenceSettings

FOLDER = Path(__file__).resolve().parents[1] / "vectors" / "own_encoders"
DELIVERED = open_repository(InferenceSettings())


@dataclass(frozen=True)
class Fixture:
    """One of them: what it is added as, and what a person has to say."""

    name: str
    role: str
    labels: tuple[str, ...]
    readout: str
    said: dict[str, Any] = field(default_factory=dict)

    @property
    def source(self) -> Path:
        return FOLDER / self.name

    @property
    def expected(self) -> dict[str, Any]:
        return json.loads((self.source / "expected.json").read_text(encoding="utf-8"))

    def wish(self, **changes: Any) -> Wish:
        template = {"template": self.expected["template"]} if self.expected["template"] else {}
        return Wish(**({"role": self.role, "name": self.name} | template | self.said | changes))


NLI = ("contradiction", "entailment", "neutral")
SUPPORT = ("unsupported", "supported")
FIXTURES = (
    Fixture("bert", "entailment", NLI, "pair"),
    Fixture("roberta", "entailment", NLI, "pair"),
    Fixture("roberta-template", "grounding", SUPPORT, "pair", {"labels": "unsupported=0,supported=1"}),
    Fixture("deberta-v3", "entailment", NLI, "pair"),
    Fixture("mpnet", "grounding", SUPPORT, "pair"),
    Fixture("modernbert", "grounding", SUPPORT, "pair"),
    Fixture("modernbert-tokens", "spans", ("supported", "unsupported"), "tokens"),
    Fixture("t5", "grounding", SUPPORT, "pair"),
    Fixture("t5-first-token", "grounding", SUPPORT, "first-token", {"readout": "first-token"}),
)
BY_NAME = {fixture.name: fixture for fixture in FIXTURES}


def added(root: Path, name: str, **changes: Any) -> tuple[Shelf, ModelEntry]:
    """Add a fixture to a folder of models and return both."""
    shelf = Shelf(root / "models")
    fixture = BY_NAME[name]
    return shelf, add_model(fixture.source, fixture.wish(**changes), shelf, DELIVERED)


def copied(root: Path, name: str) -> Path:
    """Return a copy of a fixture's folder that a test may spoil."""
    return Path(shutil.copytree(FOLDER / name, root / "hub"))


def settings(shelf: Shelf, **changes: Any) -> InferenceSettings:
    return InferenceSettings(own_models=shelf.root, intra_op_threads=1, **changes)
