"""Models whose answers outlast a run: what was asked of the same weights before is read from a file.

A rule is tried many times on the same texts; only the first run asks the encoders. The file holds answers of models by
fingerprint and question, nothing else; it lies in ``.cache`` and can be deleted at any time.
"""

import pickle
from collections.abc import Awaitable, Callable, Hashable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from services.dpe.ports import AnalysisModels

FILE: Final = Path(".cache/evaluation/answers.pickle")


class Answers:
    """What models said, by fingerprint and question."""

    def __init__(self, path: Path = FILE) -> None:
        self._path = path
        self._known: dict[tuple[str, Hashable], Any] = {}
        self._asked = 0
        if path.is_file():
            self._known = pickle.loads(path.read_bytes())  # noqa: S301 - a file that this class wrote

    async def of(
        self, fingerprint: str, asked: Sequence[Hashable], ask: Callable[[list[Any]], Awaitable[Sequence[Any]]]
    ) -> list[Any]:
        """Return an answer for each question, asking only what is not known."""
        keys = [(fingerprint, question) for question in asked]
        missing = [key for key in dict.fromkeys(keys) if key not in self._known]
        if missing:
            answers = await ask([question for _, question in missing])
            self._known.update(zip(missing, answers, strict=True))
            self._asked += len(missing)
        return [self._known[key] for key in keys]

    def save(self) -> None:
        """Write what is new."""
        if self._asked:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._path.write_bytes(pickle.dumps(self._known))


class _Remembered:
    """A model in front of which its answers are remembered; everything else is the model's own."""

    def __init__(self, model: Any, answers: Answers) -> None:
        self._model = model
        self._answers = answers

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    async def embed(self, texts: Sequence[str]) -> Any:
        return np.stack(await self._answers.of(self._model.fingerprint, texts, self._model.embed))

    async def classify(self, pairs: Sequence[tuple[str, str]]) -> Any:
        return np.stack(await self._answers.of(self._model.fingerprint, pairs, self._model.classify))

    async def judge(self, requests: Sequence[Any]) -> list[Any]:
        return await self._answers.of(self._model.fingerprint, requests, self._model.judge)

    async def recognize(self, texts: Sequence[str]) -> list[Any]:
        return await self._answers.of(self._model.fingerprint, texts, self._model.recognize)


def remembered(models: AnalysisModels, answers: Answers) -> AnalysisModels:
    """Return the models with a memory; the detector of personal data is left out, for no verdict depends on it."""
    return replace(
        models,
        embedding=_Remembered(models.embedding, answers),
        entity_recognizer=_Remembered(models.entity_recognizer, answers),
        entailment=models.entailment and _Remembered(models.entailment, answers),
        grounding=models.grounding and _Remembered(models.grounding, answers),
        personal_data=None,
    )
