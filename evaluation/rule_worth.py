"""What the engine says of minimal pairs, kind by kind and rule by rule (SPEC-005 §5.3, §8.2; ADR 0095).

An answer counts as supported when every claim in it that gets a verdict is SUPPORTED; one without such a claim does
not. A rule's precision is the share of false answers among those that it finds something in. Sentences that differ in
product, year, version, group, scope or condition are put into two windows, and so are planted contradictions.
"""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from evaluation.remembered import Answers, remembered
from evaluation.tables import Table
from services.common.clock import SystemClock
from services.common.composition import Adapters
from services.common.ids import RandomIds
from services.common.settings import Settings
from services.dpe.app import AnalysisConfig, Limits, ProvenanceApp
from services.dpe.compose import open_models, policy_of
from services.dpe.domain.analysis import AnalysisInput
from services.dpe.domain.facts import EnvelopeFact
from services.dpe.domain.findings import Rule, Verdict
from services.dpe.domain.prior_texts import PriorWindow
from services.dpe.domain.results import Outputs
from services.dpe.domain.verdicts import DECIDING
from services.dpe.gazetteer import load_gazetteer

FOLDER: Final = Path(__file__).resolve().parents[1] / "tests" / "vectors" / "dpe" / "pairs"
EXACT: Final = ("value", "unit", "bound", "date", "sum", "share", "negation", "name")
_AT_ONCE: Final = 16
_NONE: Final = "-"


@dataclass(frozen=True, slots=True)
class Judged:
    """An answer with what the engine says of it."""

    kind: str
    is_true: bool
    is_supported: bool
    rules: frozenset[Rule]


@dataclass(frozen=True, slots=True)
class Compared:
    """Two sentences in two windows."""

    kind: str
    contradict: bool
    found: bool


async def judge() -> tuple[list[Judged], list[Compared]]:
    """Run the engine over the development pairs and over the neighbours."""
    pairs, neighbours = _read("development.jsonl"), _read("neighbours.jsonl")
    answers, settings = Answers(), Settings()
    async with Adapters(settings) as adapters:
        models = remembered(await open_models(adapters), answers)
        workplace = AnalysisConfig(policy_of(settings.dpe), load_gazetteer(), Limits(), SystemClock(), RandomIds())
        app, limit = ProvenanceApp(models, workplace), asyncio.Semaphore(_AT_ONCE)

        async def outputs(given: AnalysisInput) -> Outputs:
            async with limit:
                return (await app.analyze(given)).analysis.outputs

        asked = [(pair, key) for pair in pairs for key in ("true_answer", "false_answer") if pair[key]]
        said = await asyncio.gather(*(outputs(_answer(pair, key)) for pair, key in asked))
        beside = await asyncio.gather(*(outputs(_windows(item)) for item in neighbours))
    answers.save()
    judged = [
        _judged(pair["kind"], key == "true_answer", found) for (pair, key), found in zip(asked, said, strict=True)
    ]
    compared = [
        Compared(item["kind"], item["contradict"], bool(found.coherence.found))
        for item, found in zip(neighbours, beside, strict=True)
    ]
    return judged, compared


def kinds_table(judged: Sequence[Judged]) -> Table:
    """Return a row for each kind, the exact ones first, and one for each group."""
    kinds = sorted({one.kind for one in judged}, key=lambda kind: (kind not in EXACT, kind))
    rows = [_kind_row(kind, [one for one in judged if one.kind == kind]) for kind in kinds]
    both = {one.kind for one in judged if not one.is_true}
    exact = [one for one in judged if one.kind in EXACT]
    others = [one for one in judged if one.kind in both and one.kind not in EXACT]
    rows += [_kind_row("exact kinds", exact), _kind_row("other kinds with both answers", others)]
    columns = (
        "kind",
        "false answers",
        "of them SUPPORTED",
        "true answers",
        "of them not SUPPORTED",
        "balanced accuracy",
    )
    return Table("pairs", "Minimal pairs, development part", columns, tuple(rows))


def rules_table(judged: Sequence[Judged]) -> Table:
    """Return a row for each rule: how often it is right, how much it covers, and whether it decides."""
    false = sum(1 for one in judged if not one.is_true)
    rows: list[tuple[str, ...]] = []
    for rule in Rule:
        fired = [one for one in judged if rule in one.rules]
        right = sum(1 for one in fired if not one.is_true)
        precision = f"{right / len(fired):.3f}" if fired else _NONE
        says = "decides where its source is repeated" if rule in DECIDING else "one signal"
        overrules = "every probability" if rule in DECIDING else "the grounding model's support"
        rows.append((rule, str(len(fired)), precision, f"{right / false:.3f}", says, overrules))
    columns = (
        "rule",
        "answers with a finding",
        "precision",
        "share of false answers found",
        "role",
        "what it overrules",
    )
    return Table("rules", "Rules of stage 3b on the development pairs", columns, tuple(rows))


def neighbours_table(compared: Sequence[Compared]) -> Table:
    """Return how many sentences about different things are called contradictory, and how many planted are found."""
    rows: list[tuple[str, ...]] = []
    for kind in sorted({one.kind for one in compared}):
        for contradict in (False, True):
            listed = [one for one in compared if one.kind == kind and one.contradict is contradict]
            if listed:
                what = "contradict" if contradict else "both true"
                rows.append((kind, what, str(len(listed)), str(sum(one.found for one in listed))))
    columns = ("differs in", "the two sentences", "pairs", "called contradictory")
    return Table("neighbours", "Sentences in two windows", columns, tuple(rows))


def _kind_row(name: str, listed: Sequence[Judged]) -> tuple[str, ...]:
    false, true = [one for one in listed if not one.is_true], [one for one in listed if one.is_true]
    passed, refused = sum(one.is_supported for one in false), sum(not one.is_supported for one in true)
    balanced = f"{1 - (passed / len(false) + refused / len(true)) / 2:.3f}" if false and true else _NONE
    return name, str(len(false)), str(passed), str(len(true)), str(refused), balanced


def _judged(kind: str, is_true: bool, outputs: Outputs) -> Judged:
    verdicts = list(outputs.fidelity.verdicts.values())
    supported = bool(verdicts) and all(one is Verdict.SUPPORTED for one in verdicts)
    return Judged(kind, is_true, supported, frozenset(item.rule for item in outputs.distortion.found or ()))


def _answer(pair: dict[str, Any], key: str) -> AnalysisInput:
    facts = tuple(EnvelopeFact(f"f{number}", text) for number, text in enumerate(pair["facts"]))
    return AnalysisInput("pairs", pair["id"], 1, pair["question"] or pair[key], pair[key], facts)


def _windows(item: dict[str, Any]) -> AnalysisInput:
    earlier = (PriorWindow("w1", 1, item["first"]),)
    return AnalysisInput("pairs", item["id"], 2, item["second"], item["second"], (), prior_windows=earlier)


def _read(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()]
