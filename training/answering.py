"""Fit the two linear models that choose the answer without a language model, ``weights.json`` of the answerer.

    python -m training.answering [--write | --kept]

Fitted on the questions for development alone: those of ``tests/vectors/questions``, the development half of
``tests/vectors/dpe/questions`` and the half ``fit`` of ``…/natural`` beside it; what was kept aside is not read. Prints
what the models get right of the questions that they were not fitted on, eight folds by conversation. ``--kept`` prints
instead what the delivered models, and the rules over words alone, get right of the half that was kept aside.
"""

import argparse
import asyncio
import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from crp.ckf.v1 import ckf_pb2
from crp.envelope.v1 import envelope_service_pb2 as envelopes
from numpy.typing import NDArray
from scipy.optimize import minimize  # type: ignore[import-untyped]

from evaluation.asked_questions import FOLDER, HANDBOOK, AskedQuestion, hit, read_questions
from evaluation.embedded_suite import KnownSuite, open_suite
from evaluation.encoder_memory import DEFAULT_FILE, EncoderMemory, RememberingAdapters
from services.allinone.parts import Part
from services.common.extractive.candidates import SIGNS, Candidate
from services.common.extractive.composing import Asked, ExtractLimits, Source, extract
from services.common.extractive.selecting import AnswerSelector, Considered
from services.common.extractive.weighing import TOLD, WEIGHTS, Linear, Weights, chosen, quoted, told_of, weights
from services.common.questions.following import joined, leaned_on
from services.common.settings import load_settings

Rows = NDArray[np.float64]
NATURAL: Final = FOLDER / "natural"
OWN: Final = FOLDER.parents[1] / "questions" / "handbook.json"
LIMITS: Final = ExtractLimits(5, 0.3)
FOLDS: Final = 8
PENALTY: Final = 3.0
REFUSED_WEIGHT: Final = 1.0
"""What a question without an answer counts beside one that has an answer."""
FIRST_RULES_WEIGHT: Final = 0.3
"""What a question with an answer counts that was written with the first rules: in the handbook's words."""
LEAST: Final = 0.42
SECOND: Final = 1.0


@dataclass(frozen=True, slots=True)
class Row:
    """A question with what was considered for each of its parts; ``group`` is its conversation's first question."""

    asked: AskedQuestion
    query: Asked
    sources: tuple[Source, ...]
    considered: tuple[Considered, ...]

    @property
    def group(self) -> str:
        """The conversation, which stands in one fold."""
        return (*self.asked.before, self.asked.question)[0]

    @property
    def worth(self) -> float:
        """What it counts."""
        if not self.asked.answerable:
            return REFUSED_WEIGHT
        return FIRST_RULES_WEIGHT if self.asked.id.startswith("question-") else 1.0

    def right(self, text: str) -> bool:
        """Say whether a text holds what it must and nothing that it must not."""
        asked = self.asked
        held = bool(asked.must) and all(hit(text, group) for group in asked.must)
        return held and not any(hit(text, (words,)) for words in asked.must_not)


def own_questions() -> list[AskedQuestion]:
    """Return the questions that were written with the first rules (ADR 0096)."""
    sessions: dict[str, list[str]] = {}
    found = []
    for item in json.loads(OWN.read_text(encoding="utf-8"))["questions"]:
        earlier = sessions.setdefault(item["session"], [])
        must = tuple((span,) for span in item.get("must", ()))
        must_not = tuple(item.get("must_not", ()))
        answerable = not item.get("unanswerable", False)
        found.append(AskedQuestion(item["test_id"], item["question"], tuple(earlier), must, must_not, answerable))
        earlier.append(item["question"])
    return found


async def considered_rows(questions: Sequence[AskedQuestion], known: KnownSuite, selector: AnswerSelector) -> list[Row]:
    """Return what is considered for each question, from the envelope that the suite builds for it."""
    found = []
    for asked in questions:
        leans_on = leaned_on(asked.question, asked.before)
        model = known.settings.gateway.extractive_model
        request = envelopes.BuildEnvelopeRequest(query=joined(asked.question, leans_on), model=model)
        built = await known.suite.call(known.suite.envelopes.BuildEnvelope, request)
        sources = tuple(
            Source(
                fact.fact_id,
                fact.content,
                fact.relevance_score,
                fact.status == ckf_pb2.FACT_STATUS_STALE,
                fact.source_location,
            )
            for fact in built.envelope.facts
        )
        query = Asked(asked.question, leans_on)
        found.append(Row(asked, query, sources, tuple(await selector.consider(query, sources, LIMITS))))
    return found


async def gathered(parts: Sequence[tuple[Sequence[Path], Sequence[AskedQuestion]]]) -> list[Row]:
    """Return the rows of questions over the documents of some folders."""
    settings, memory = load_settings(), EncoderMemory(DEFAULT_FILE)
    found: list[Row] = []
    async with RememberingAdapters(settings, memory) as adapters:
        selector = AnswerSelector(await adapters.embedding(), await adapters.entailment())
        for folders, questions in parts:
            async with open_suite(settings, DEFAULT_FILE, folders, [Part.KNOWLEDGE]) as known:
                found += await considered_rows(questions, known, selector)
    return found


def questions_by_documents(half: str) -> list[tuple[list[Path], list[AskedQuestion]]]:
    """Return a half of the natural questions by the documents that they are about: the handbook's, and the others'."""
    about = {}
    for name in ("questions", "unanswerable"):
        for line in (NATURAL / f"{half}-{name}.jsonl").read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            about[row["id"]] = row["document"]
    asked = read_questions(half, NATURAL)
    handbook = [one for one in asked if about[one.id] == "handbook"]
    return [([HANDBOOK], handbook), ([NATURAL / "documents"], [one for one in asked if about[one.id] != "handbook"])]


def fit_order(rows: Sequence[Row], penalty: float = PENALTY) -> Linear:
    """Fit the order: of one question's passages, those that hold the answer come first (a softmax over them)."""
    tasks = []
    for row in rows:
        for considered in row.considered:
            right = np.array([row.right(each.unit.passage.text) for each in considered.candidates], dtype=bool)
            if right.any() and not right.all():
                tasks.append((np.stack([each.row() for each in considered.candidates]), right, row.worth))
    every = np.concatenate([signs for signs, _, _ in tasks])
    mean, spread = every.mean(axis=0), np.maximum(every.std(axis=0), 1e-3)

    def loss(weights: Rows) -> tuple[float, Rows]:
        value, slope = penalty * float(weights @ weights), 2 * penalty * weights
        for signs, right, worth in tasks:
            scaled = (signs - mean) / spread
            orders = scaled @ weights
            shares = np.exp(orders - orders.max())
            shares /= shares.sum()
            held = shares[right].sum()
            value -= worth * float(np.log(held + 1e-12))
            slope = slope + worth * ((shares - np.where(right, shares / held, 0.0)) @ scaled)
        return value, slope

    found = minimize(loss, np.zeros(len(SIGNS)), jac=True, method="L-BFGS-B").x
    return Linear(0.0, found, mean, spread)


def fit_accept(rows: Sequence[Row], order: Linear, penalty: float = PENALTY) -> Linear:
    """Fit whether the first passage answers: a logistic model over what is told of it."""
    told, right, worth = [], [], []
    for row in rows:
        for considered in row.considered:
            if considered.candidates:
                ranked, places = ordered(considered.candidates, order)
                told.append(told_of(considered.need, ranked, places))
                right.append(row.right(ranked[0].unit.passage.text))
                worth.append(row.worth)
    every, truth, weight = np.stack(told), np.array(right, dtype=float), np.array(worth)
    mean, spread = every.mean(axis=0), np.maximum(every.std(axis=0), 1e-3)
    scaled = np.hstack([(every - mean) / spread, np.ones((len(every), 1))])

    def loss(weights: Rows) -> tuple[float, Rows]:
        logits = scaled @ weights
        value = float((weight * (np.logaddexp(0, logits) - truth * logits)).sum())
        slope = (weight * (1 / (1 + np.exp(-logits)) - truth)) @ scaled
        free = np.append(np.ones(len(TOLD)), 0.0)
        return value + penalty * float((free * weights) @ weights), slope + 2 * penalty * free * weights

    found = minimize(loss, np.zeros(len(TOLD) + 1), jac=True, method="L-BFGS-B").x
    return Linear(float(found[-1]), found[:-1], mean, spread)


def ordered(candidates: Sequence[Candidate], order: Linear) -> tuple[list[Candidate], list[float]]:
    """Return the passages in order, and each one's place on its scale."""
    orders = order.of(np.stack([each.row() for each in candidates]))
    ranks = np.argsort(-orders, kind="stable")
    return [candidates[at] for at in ranks], [float(orders[at]) for at in ranks]


def fitted(rows: Sequence[Row], least: float = LEAST, second: float = SECOND) -> Weights:
    """Fit both models."""
    order = fit_order(rows)
    return Weights(order, fit_accept(rows, order), least, second)


def outcome(row: Row, models: Weights) -> str:
    """Return how a question is answered: right, wrong or refused."""
    found = [chosen(each.need, each.candidates, models) for each in row.considered]
    given = quoted(row.query, row.sources, LIMITS, found, models)
    if not given.passages:
        return "refused"
    return "right" if row.right(given.text) else "wrong"


def counted(rows: Sequence[Row], outcomes: Sequence[str]) -> dict[str, int]:
    """Return how often each outcome was met, of questions with and without an answer."""
    pairs = zip(rows, outcomes, strict=True)
    return dict(sorted(Counter(f"{'answer' if row.asked.answerable else 'none'}: {one}" for row, one in pairs).items()))


def cross_validated(rows: Sequence[Row], least: float = LEAST, second: float = SECOND) -> list[str]:
    """Return the outcome of each question under models that were fitted without its fold."""
    groups = {group: at for at, group in enumerate(dict.fromkeys(row.group for row in rows))}
    folds = [groups[row.group] % FOLDS for row in rows]
    found = [""] * len(rows)
    for fold in range(FOLDS):
        models = fitted([row for row, own in zip(rows, folds, strict=True) if own != fold], least, second)
        for at, row in enumerate(rows):
            if folds[at] == fold:
                found[at] = outcome(row, models)
    return found


def document(models: Weights) -> dict[str, Any]:
    """Return the models as they are kept: weight, mean and spread of each sign."""

    def plain(model: Linear, names: Sequence[str]) -> dict[str, Any]:
        columns = zip(model.weights, model.mean, model.spread, strict=True)
        signs = {name: [round(float(one), 5) for one in each] for name, each in zip(names, columns, strict=True)}
        return {"bias": round(model.bias, 5), "signs": signs}

    return {
        "order": plain(models.order, SIGNS),
        "accept": plain(models.accept, TOLD),
        "least": models.least,
        "second": models.second,
    }


def by_rules(row: Row) -> str:
    """Return how the rules over words alone answer a question: right, wrong or refused."""
    given = extract(row.query, row.sources, LIMITS)
    if not given.passages:
        return "refused"
    return "right" if row.right(given.text) else "wrong"


async def main(*, write: bool, kept: bool) -> int:
    """Fit, say how good it is, and keep it; or say how good what is kept is."""
    if kept:
        rows = await gathered(questions_by_documents("kept"))
        outcomes = counted(rows, [outcome(row, weights()) for row in rows])
        rules = counted(rows, [by_rules(row) for row in rows])
        print(json.dumps({"questions": len(rows), "outcomes": outcomes, "by rules over words": rules}))
        return 0
    parts = [([HANDBOOK], own_questions()), ([HANDBOOK], read_questions("development")), *questions_by_documents("fit")]
    rows = await gathered(parts)
    print(json.dumps({"questions": len(rows), "outcomes": counted(rows, cross_validated(rows))}))
    if write:
        text = json.dumps(document(fitted(rows)), indent=1, ensure_ascii=False)
        WEIGHTS.write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    described = argparse.ArgumentParser("python -m training.answering", description=__doc__)
    described.add_argument("--write", action="store_true", help="write the weights where the suite reads them")
    described.add_argument("--kept", action="store_true", help="measure the delivered weights on what was kept aside")
    given = described.parse_args()
    sys.exit(asyncio.run(main(write=given.write, kept=given.kept)))
