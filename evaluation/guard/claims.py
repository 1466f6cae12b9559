"""Measure VerifyClaims beside the engine's own verdicts, the page's count and a rule of ten lines, on the same rows.

    GROUNDTRAIL_EVAL_DATA=DIR python -m evaluation.guard.claims [SET…] [--fold FOLD] [--limit N] [--every N] [--json]

A text counts as supported when every claim of it is SUPPORTED, and there is one; its score is the least support of a
claim. Balanced accuracy and AUROC against people's labels; of WiCE and AttributionBench the fold `report` is measured,
or with --fold calibrate the one for development. VerifyClaims has the sources, the engine the facts that `check` would
cut from them, or the sources themselves where they are facts. The rule's threshold is the best one on the set's
`calibrate`, or on the other documents in five parts. What the encoders said is kept in .cache/evaluation, or in the
file that GROUNDTRAIL_EVAL_MEMORY names.
"""

import argparse
import asyncio
import json
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from evaluation.contexts import document
from evaluation.data import EvaluationDataError, folder
from evaluation.encoder_memory import DEFAULT_FILE, EncoderMemory, RememberingAdapters
from evaluation.guard.claim_rows import CALIBRATE, REPORT, SETS, LabelledText, read_texts
from evaluation.metrics import auroc, balanced_accuracy, best_threshold, bootstrap_interval
from evaluation.pipeline import claim_support
from evaluation.tables import Table
from services.common.adapters.tokens.table import EXTRACTIVE_MODEL
from services.common.clock import SystemClock
from services.common.documents.facts.chunking import chunk
from services.common.errors import CrpError, StartupError
from services.common.ids import RandomIds
from services.common.ports.tokens import TokenCounter
from services.common.settings import Settings, SettingsError, load_settings
from services.common.telemetry import configure_logs
from services.dpe.app import AnalysisConfig, Limits, ProvenanceApp
from services.dpe.compose import open_models, policy_of
from services.dpe.domain.analysis import Analysis, AnalysisInput
from services.dpe.domain.facts import EnvelopeFact
from services.dpe.domain.findings import Verdict
from services.dpe.domain.guard.source_passages import SourceText, facts_of, passages_of
from services.dpe.domain.guard.verification_signals import Signalled, signalled
from services.dpe.domain.guard.verification_votes import ClaimVerdict, VerificationPolicy, by_count, decide
from services.dpe.gazetteer import load_gazetteer
from services.dpe.guard.compose import verification_policy

MEMORY: Final = "GROUNDTRAIL_EVAL_MEMORY"
PARTS: Final = 5
AT_ONCE: Final = 16
WIDTH: Final = 170
Scores = NDArray[np.float64]
SHIPPED: Final = "VerifyClaims"
COUNTED: Final = "page's count"
ENGINE: Final = "engine's verdicts"
RECALL: Final = "token recall"
SYSTEMS: Final = (SHIPPED, COUNTED, ENGINE, RECALL)


@dataclass(frozen=True, slots=True)
class Verified:
    """A text with its claims and signals, and what the engine itself says of it over the facts that ``check`` cuts."""

    text: LabelledText
    claims: tuple[Signalled, ...]
    engine_supports: bool
    engine_support: float


class Verifying:
    """Verifies texts by the app's own steps, and gives them to the engine over facts as ``check`` cuts them."""

    def __init__(self, app: ProvenanceApp, counter: TokenCounter, policy: VerificationPolicy) -> None:
        self._app = app
        self._counter = counter
        self._policy = policy

    async def one(self, text: LabelledText) -> Verified:
        """Return what both say of a text."""
        sources = [SourceText(f"s{number}", content) for number, content in enumerate(text.sources)]
        facts = facts_of(passages_of(sources), sources)
        judged = await self._judged(text, facts)
        checked = await self._judged(text, self._cut(text))
        own = list(checked.outputs.fidelity.judgements.values())
        return Verified(
            text,
            tuple(signalled(judged, self._policy.limits)),
            bool(own) and all(item.verdict is Verdict.SUPPORTED for item in own),
            min(map(claim_support, own), default=0.0),
        )

    async def _judged(self, text: LabelledText, facts: tuple[EnvelopeFact, ...]) -> Analysis:
        return (await self._app.judge_together([AnalysisInput("", "", 1, text.question, text.text, facts)]))[0]

    def _cut(self, text: LabelledText) -> tuple[EnvelopeFact, ...]:
        contents = list(text.facts)
        if not contents:
            drafts = chunk(
                document(text.paragraphs or text.sources), lambda each: self._counter.count([each], EXTRACTIVE_MODEL)[0]
            )
            contents = [draft.content for draft in drafts]
        return tuple(EnvelopeFact(f"f{number}", content) for number, content in enumerate(contents, start=1))


async def verify_all(settings: Settings, memory: Path | str, texts: Sequence[LabelledText]) -> list[Verified]:
    """Verify the texts, several together, so that the encoders batch over them."""
    known = EncoderMemory(memory)
    policy = verification_policy(settings.guard.verification)
    found: list[Verified] = []
    try:
        async with RememberingAdapters(settings, known) as adapters:
            models, counter = await open_models(adapters, asks=False), await adapters.tokens()
            place = AnalysisConfig(policy_of(settings.dpe), load_gazetteer(), Limits(), SystemClock(), RandomIds())
            verifying = Verifying(ProvenanceApp(models, place), counter, policy)
            for start in range(0, len(texts), AT_ONCE):
                found += await asyncio.gather(*map(verifying.one, texts[start : start + AT_ONCE]))
    finally:
        known.close()
    return found


def outcome(claims: Sequence[Signalled], policy: VerificationPolicy) -> tuple[bool, float]:
    """Return whether all claims are SUPPORTED, and the least support of one; 0 without any."""
    decisions = [decide(claim, policy) for claim in claims]
    supported = bool(decisions) and all(one.verdict is ClaimVerdict.SUPPORTED for one in decisions)
    return supported, min((one.support or 0.0 for one in decisions), default=0.0)


def counted(claims: Sequence[Signalled], policy: VerificationPolicy) -> tuple[bool, float]:
    """Return the same by the page's count; the score is the least share of supporting votes."""
    decisions = [by_count(claim.signals, policy.min_confidence) for claim in claims]
    supported = bool(decisions) and all(one.verdict is ClaimVerdict.SUPPORTED for one in decisions)
    signed = {ClaimVerdict.SUPPORTED: 1.0}
    return supported, min((one.confidence * signed.get(one.verdict, -1.0) for one in decisions), default=-1.0)


def parts_of(texts: Sequence[LabelledText]) -> list[int]:
    """Return the part of each text: 0 where its set has folds, else one of five that its document was dealt to."""
    documents = sorted({(text.dataset, text.document) for text in texts if not text.fold})
    dealt = {key: 1 + number % PARTS for number, key in enumerate(documents)}
    return [0 if text.fold else dealt[text.dataset, text.document] for text in texts]


def predictions(
    rows: Sequence[Verified], policy: VerificationPolicy, known: Sequence[LabelledText]
) -> dict[str, list[tuple[bool, float]]]:
    """Return for each system whether it takes each row for supported, and its score.

    Args:
        rows: the rows.
        policy: as shipped.
        known: all texts; the rule's threshold on a set with folds is that of its ``calibrate``.
    """
    found: dict[str, list[tuple[bool, float]]] = {
        SHIPPED: [outcome(row.claims, policy) for row in rows],
        COUNTED: [counted(row.claims, policy) for row in rows],
        ENGINE: [(row.engine_supports, row.engine_support) for row in rows],
        RECALL: [(False, 0.0)] * len(rows),
    }
    parts = parts_of([row.text for row in rows])
    for part in sorted(set(parts)):
        # Of a set with folds the rule has ``calibrate`` alone, of the others the parts that it is not tried on.
        others = [row.text for row, own in zip(rows, parts, strict=True) if own not in {0, part}]
        fitting = others + [text for text in known if text.fold == CALIBRATE]
        thresholds = {name: _recalled(fitting, name) for name in SETS} if fitting else {}
        for place, (row, own) in enumerate(zip(rows, parts, strict=True)):
            if own == part and thresholds:
                found[RECALL][place] = row.text.recall >= thresholds[row.text.dataset], row.text.recall
    return found


def _recalled(texts: Sequence[LabelledText], dataset: str) -> float:
    """Return the best threshold of the rule on the texts of a set, or on all where there are none of both labels."""
    own = [text for text in texts if text.dataset == dataset]
    if len({text.supported for text in own}) < len({True, False}):
        own = list(texts)
    return best_threshold(np.array([text.recall for text in own]), np.array([text.supported for text in own]))


def figures(
    rows: Sequence[Verified], policy: VerificationPolicy, known: Sequence[LabelledText]
) -> list[dict[str, Any]]:
    """Return balanced accuracy and AUROC of each system on each set; arguments as ``predictions``."""
    predicted = predictions(rows, policy, known)
    documents: list[dict[str, Any]] = []
    for name in SETS:
        places = [at for at, row in enumerate(rows) if row.text.dataset == name]
        labels = np.array([rows[at].text.supported for at in places], dtype=np.bool_)
        if not len(labels) or labels.all() or not labels.any():
            continue
        systems = {}
        for system in SYSTEMS:
            taken = np.array([float(predicted[system][at][0]) for at in places])
            scores = np.array([predicted[system][at][1] for at in places])
            systems[system] = {
                "balanced_accuracy": balanced_accuracy(taken, labels, 0.5),
                "auroc": auroc(scores, labels),
            }
        decided = {one: np.array([float(predicted[one][at][0]) for at in places]) for one in (SHIPPED, ENGINE)}
        documents.append(
            {
                "set": name,
                "texts": len(places),
                "supported": int(labels.sum()),
                "systems": systems,
                "against_engine": against_engine(decided[SHIPPED], decided[ENGINE], labels),
            }
        )
    return documents


def against_engine(own: Scores, engine: Scores, labels: NDArray[np.bool_]) -> dict[str, float]:
    """Return by how much the balanced accuracy is above the engine's, with the paired bootstrap's 95% interval.

    Raises:
        ValueError: all claims are true, or none is: there is nothing to balance.
    """
    if np.unique(labels).size != _CLASSES:
        raise ValueError("a balanced accuracy needs claims that are true and claims that are not")
    rights = [np.where(labels, taken > 0.5, taken <= 0.5) for taken in (own, engine)]
    gained = rights[0].astype(np.float64) - rights[1]

    def difference(rows: NDArray[np.intp]) -> float:
        drawn, true = gained[rows], labels[rows]
        return float((drawn[true].mean() + drawn[~true].mean()) / 2)

    interval = bootstrap_interval(difference, labels.astype(np.intp))
    assert interval is not None  # the measure has a value on every draw, for each draw has both classes
    return {"difference": difference(np.arange(labels.size)), "low": interval[0], "high": interval[1]}


_CLASSES: Final = 2


def table_of(found: Sequence[Mapping[str, Any]]) -> Table:
    """Return the figures as a table."""
    rows = tuple(
        (
            one["set"],
            f"{one['texts']:,}",
            *(_shown(one["systems"][system]["balanced_accuracy"]) for system in SYSTEMS),
            *(_shown(one["systems"][system]["auroc"]) for system in SYSTEMS),
            "{difference:+.3f} ({low:+.3f} to {high:+.3f})".format(**one["against_engine"]),
        )
        for one in found
    )
    columns = (
        "set",
        "texts",
        *(f"bal. acc., {name}" for name in SYSTEMS),
        *(f"AUROC, {name}" for name in SYSTEMS),
        "against the engine",
    )
    return Table("claims", "VerifyClaims beside the engine, the page's count and a rule", columns, rows)


def _shown(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def parser() -> argparse.ArgumentParser:
    """Return the command line's parser."""
    shape = argparse.RawDescriptionHelpFormatter
    found = argparse.ArgumentParser("python -m evaluation.guard.claims", description=__doc__, formatter_class=shape)
    found.add_argument("sets", nargs="*", metavar="SET", help=f"{', '.join(SETS)}; none = all")
    found.add_argument("--limit", type=int, metavar="N", help="the first N texts of each set and fold")
    found.add_argument("--every", type=int, default=1, metavar="N", help="of our passages every N-th document; 1")
    found.add_argument("--fold", choices=(REPORT, CALIBRATE), default=REPORT, help="of sets with folds; report")
    found.add_argument("--json", action="store_true", help="print one JSON document on stdout")
    found.add_argument("--fresh", action="store_true", help="ask the encoders anew; remember nothing")
    return found


def run(arguments: Sequence[str]) -> int:
    """Do what the command line says and return the exit status."""
    options = parser().parse_args(arguments)
    unknown = sorted(set(options.sets) - set(SETS))
    if unknown:
        parser().error(f"{', '.join(unknown)}: the sets are {', '.join(SETS)}")
    started = time.monotonic()
    memory: Path | str = ":memory:" if options.fresh else Path(os.environ.get(MEMORY) or DEFAULT_FILE)
    try:
        texts = _first(read_texts(folder(os.environ), options.sets or SETS, options.every), options.limit)
        settings = load_settings()
        configure_logs(settings.telemetry.model_copy(update={"log_level": "warning"}))
        asked = [text for text in texts if text.fold in {"", options.fold}]
        rows = asyncio.run(verify_all(settings, memory, asked))
    except (EvaluationDataError, SettingsError, StartupError, CrpError) as error:
        print(error, file=sys.stderr)
        return 1
    policy = verification_policy(settings.guard.verification)
    found = figures(rows, policy, texts)
    if options.json:
        print(json.dumps({"figures": found}, indent=1))
        return 0
    table_of(found).show(Console(width=WIDTH))
    print(f"{time.monotonic() - started:.0f} s")
    return 0


def _first(texts: Sequence[LabelledText], limit: int | None) -> list[LabelledText]:
    if limit is None:
        return list(texts)
    key: Callable[[LabelledText], tuple[str, str]] = lambda one: (one.dataset, one.fold)  # noqa: E731 - a key
    groups: dict[tuple[str, str], list[LabelledText]] = {}
    for one in texts:
        groups.setdefault(key(one), []).append(one)
    return [one for some in groups.values() for one in some[:limit]]


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
