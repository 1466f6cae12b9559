"""Fit the grounding model's combiner: ``python -m training.combiner --data DIR --work DIR [--repository FOLDER]``.

The model of the signals is fitted on the fold ``fit``. The encoder has learnt from that fold and does not read it here;
it reads the others once. The model of both is fitted on ``calibrate``, where the encoder's outputs are honest, by
cross-validation and with few features. All thresholds and calibrations come from ``calibrate``; ``report`` is only
measured (ADR 0034). ``--signals-only`` needs no encoder: it measures the signals and writes no combiner.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from services.common.adapters.encoders.grounding import COMBINER_FILE
from services.common.adapters.own_encoders.fitting import undecided_bounds
from services.common.grounding.combiner import (
    SIGNALS_LOGIT,
    LogisticModel,
    encoder_columns,
    parse_combiner,
    signal_columns,
)
from services.common.grounding.windows import WindowSettings
from services.common.model_repository import ModelRepository
from tools.update_manifest import describe, dump
from training.combiner_data import Table, pooled_datasets, tabulate
from training.combiner_fit import (
    Linear,
    Sample,
    calibrated,
    fit_linear,
    macro_accuracy,
    macro_auroc,
    out_of_fold,
    plain,
)
from training.combiner_report import System, measured, show
from training.combiner_spans import choose_span_threshold
from training.rows import read_grounding

Values = NDArray[np.float64]

SURFACE: Final = "signals"
PEERS: Final = "peers' eight features"
BY_KIND: Final = "signals by kind of text"
ENCODER: Final = "encoder"
BOTH: Final = "both"

PEERS_FEATURES: Final = (
    "token_recall",
    "idf_recall",
    "sentence_recall",
    "bigram_recall",
    "novel_numbers",
    "novel_names",
    "negation_mismatch",
    "claim_length",
)
"""What a first short run worked with, and what lexical baselines are made of."""
SIGNAL_FEATURES: Final = (
    "weakest_sentence_recall",
    "character_recall",
    "answer_recall",
    "longest_run",
    "novel_numbers",
    "many_novel_names",
    "novel_days",
    "pairs_apart",
    "numbers*long_context",
    "dangling_in_several*several_sentences",
    "names_elsewhere*several_sentences",
    "negation_mismatch*brief_context",
    "anchors_together*brief_context",
    "numbers_elsewhere*sentence_answer",
    "opposites*sentence_answer",
)
"""Chosen by forward selection under cross-validation within ``fit``."""
BOTH_FEATURES: Final[Mapping[str, tuple[str, ...]]] = {
    "logits": (SIGNALS_LOGIT, "encoder_support"),
    "logits and spans": (SIGNALS_LOGIT, "encoder_support", "encoder_composed", "unsupported_peak", "unsupported_mean"),
    "logits by briefness": (
        SIGNALS_LOGIT,
        "encoder_support",
        "brief_context",
        f"{SIGNALS_LOGIT}*brief_context",
        "encoder_support*brief_context",
    ),
    "logits and spans by briefness": (
        SIGNALS_LOGIT,
        "encoder_support",
        "encoder_composed",
        "unsupported_peak",
        "unsupported_mean",
        "brief_context",
        f"{SIGNALS_LOGIT}*brief_context",
        "encoder_support*brief_context",
    ),
    "by kind of text": (
        SIGNALS_LOGIT,
        "encoder_support",
        "encoder_composed",
        "unsupported_peak",
        "unsupported_mean",
        "short_answer",
        "sentence_answer",
        "long_context",
        "several_sentences",
    ),
    "weights by kind of text": (
        SIGNALS_LOGIT,
        "encoder_support",
        "encoder_composed",
        "unsupported_peak",
        "unsupported_mean",
        "short_answer",
        "sentence_answer",
        "long_context",
        "several_sentences",
        "encoder_support*short_answer",
        "encoder_support*long_context",
        "encoder_support*several_sentences",
        f"{SIGNALS_LOGIT}*short_answer",
        f"{SIGNALS_LOGIT}*long_context",
        f"{SIGNALS_LOGIT}*several_sentences",
    ),
}
"""What ``both`` may be made of; cross-validation within ``calibrate`` chooses."""
BY_KIND_FEATURES: Final[Mapping[str, tuple[str, ...]]] = {
    "by kind of text": (SIGNALS_LOGIT, "short_answer", "sentence_answer", "long_context", "several_sentences")
}
"""``both`` without the encoder: shows what is due to fitting on ``calibrate`` alone."""
STRENGTHS: Final = (0.003, 0.01, 0.03, 0.1, 0.3)
SIGNALS_STRENGTH: Final = 0.03
DIGITS: Final = 4


def main(arguments: Sequence[str] | None = None) -> None:
    """Fit, report, write."""
    options = _options(arguments)
    console = Console(stderr=True)
    options.work.mkdir(parents=True, exist_ok=True)
    repository = None if options.signals_only else ModelRepository.open(options.repository)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as progress:
        cache = options.work / "encoder_outputs.jsonl"
        rows = read_grounding(options.data)
        fit = tabulate([row for row in rows if row.fold == "fit"], None, options.model, cache, progress)
        unseen = [row for row in rows if row.fold != "fit"]
        table = tabulate(unseen, repository, options.model, cache, progress)
    calibrate, report = (table.fold(name) for name in ("calibrate", "report"))
    signals = fit_signals(SIGNAL_FEATURES, fit, calibrate)
    peers = fit_signals(PEERS_FEATURES, fit, calibrate)
    by_kind, _ = fit_both(calibrate, signals, BY_KIND_FEATURES)
    systems = [
        _scored(PEERS, peers, calibrate, report),
        _scored(SURFACE, signals, calibrate, report),
        _scored(BY_KIND, by_kind, calibrate, report, signals),
    ]
    metrics: dict[str, Any] = {}
    if repository is not None:
        both, how = fit_both(calibrate, signals)
        if options.threshold is not None:
            both = replace(both, threshold=options.threshold)
            how["threshold"] = "given"
        encoder = fit_encoder(calibrate)
        systems += [
            _scored(ENCODER, encoder, calibrate, report, signals),
            _scored(BOTH, both, calibrate, report, signals),
        ]
        spans = choose_span_threshold(calibrate, report)
        metrics = {"both": how, "spans": spans}
        written = combiner(
            signals, both, spans["threshold"], {**how, "encoder": repository.entry(options.model).version}
        )
        text = json.dumps(written, indent=2) + "\n"
        parse_combiner(text)
        (options.repository / options.model / COMBINER_FILE).write_text(text, encoding="utf-8")
        pin(options.repository, options.model)
    metrics["report"] = measured(systems, calibrate, report)
    show(console, metrics["report"])
    (options.work / "combiner_metrics.json").write_text(json.dumps(metrics, indent=2) + "\n", encoding="utf-8")


def pin(root: Path, name: str) -> None:
    """Write the model's digests into MANIFEST.json, and its new fingerprint into its golden vectors, if it has any."""
    _write_digests(root, name)
    golden = root / name / "golden.json"
    if not golden.is_file():
        return
    vectors = json.loads(golden.read_text(encoding="utf-8"))
    vectors["model"] = ModelRepository.open(root).entry(name).fingerprint
    golden.write_text(json.dumps(vectors) + "\n", encoding="utf-8")
    _write_digests(root, name)  # the golden vectors are pinned, too


def _write_digests(root: Path, name: str) -> None:
    path = root / "MANIFEST.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    next(model for model in manifest["models"] if model["name"] == name)["files"] = describe(root / name)
    path.write_text(dump(manifest), encoding="utf-8")


def fit_signals(names: Sequence[str], fit: Table, calibrate: Table) -> LogisticModel:
    """Fit a model of signals on ``fit``; calibrate it on ``calibrate``, which it has not seen."""
    linear = fit_linear(names, _sample(fit), SIGNALS_STRENGTH)
    sample = _sample(calibrate)
    return calibrated(linear, [linear.logits(sample.columns)], sample)


def fit_encoder(calibrate: Table) -> LogisticModel:
    """Return the encoder's own verdict with a calibration and a threshold; its order is left as it is."""
    one = np.ones(1)
    linear = Linear(("encoder_support",), np.zeros(1), one, one, 0.0)
    sample = _sample(calibrate)
    return calibrated(linear, [linear.logits(sample.columns)], sample)


def fit_both(
    calibrate: Table, signals: LogisticModel, options: Mapping[str, tuple[str, ...]] = BOTH_FEATURES
) -> tuple[LogisticModel, dict[str, Any]]:
    """Choose features and penalty by cross-validation, fit on all of ``calibrate``.

    Threshold and calibration come from the rows that each of the cross-validated models has not seen.
    """
    sample = _sample(calibrate, signals)
    tried = []
    for label, names in options.items():
        for strength in STRENGTHS:
            logits = out_of_fold(names, sample, strength)
            model = calibrated(fit_linear(names, sample, strength), logits, sample)
            quality = [
                (macro_accuracy(score, sample, model.threshold) + macro_auroc(score, sample)) / 2
                for score in (_probabilities(model, one) for one in logits)
            ]
            low = undecided_from(model, logits, sample)
            tried.append((float(np.mean(quality)), label, strength, model, low))
    best = max(tried, key=lambda one: one[0])
    return best[3], {
        "undecided_from": best[4],
        "features": best[1],
        "strength": best[2],
        "cross_validated": round(best[0], DIGITS),
        "tried": {f"{label}, {strength}": round(quality, DIGITS) for quality, label, strength, *_ in tried},
    }


def undecided_from(model: LogisticModel, logits: Sequence[Values], sample: Sample) -> float:
    """Return the probability from which up to the threshold a claim is undecided (ADR 0151).

    Below it "not supported" is right often enough, or the share of claims that may be undecided is used up; over the
    rows that each of the cross-validated models has not seen.
    """
    scores = np.concatenate([_probabilities(model, one) for one in logits])
    low, _ = undecided_bounds(scores, np.tile(sample.supported, len(logits)), model.threshold)
    return low


def combiner(signals: LogisticModel, both: LogisticModel, spans: float, how: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of ``combiner.json``."""
    windows = WindowSettings()
    return {
        "schema_version": 1,
        "windows": {"premise_tokens": windows.premise_tokens, "max_windows": windows.max_windows},
        "spans": {"threshold": spans},
        "undecided": {"low": how["undecided_from"], "high": both.threshold},
        "signals": plain(signals),
        "both": plain(both),
        "fitted_on": {
            "tool": "training.combiner",
            "data": "grounding/dev",
            "signals": "fold fit; calibration and threshold: calibrate",
            "both": "fold calibrate, cross-validated",
            **{name: value for name, value in how.items() if name not in {"tried", "undecided_from"}},
        },
    }


def _sample(table: Table, signals: LogisticModel | None = None) -> Sample:
    columns = signal_columns(table.signals)
    if signals is not None:
        columns[SIGNALS_LOGIT] = signals.logits(columns)
    if table.encoder is not None:
        columns |= encoder_columns(table.encoder)
    groups = pooled_datasets(table)
    return Sample(columns, table.supported, np.array([groups[name] for name in table.datasets]), table.contexts)


def _scored(
    name: str, model: LogisticModel, calibrate: Table, report: Table, signals: LogisticModel | None = None
) -> System:
    known, new = (model.support(_sample(table, signals).columns) for table in (calibrate, report))
    return System(name, known, new, model.threshold)


def _probabilities(model: LogisticModel, logits: Values) -> Values:
    return model.calibration.apply((1 / (1 + np.exp(-logits))).astype(np.float32)).astype(np.float64)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m training.combiner", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with grounding/dev.jsonl.gz")
    parser.add_argument("--work", type=Path, required=True, help="where encoder outputs and metrics are kept")
    parser.add_argument("--repository", type=Path, default=Path("model_repository"))
    parser.add_argument("--model", default="grounding", help="name of the grounding model in the repository")
    parser.add_argument(
        "--threshold",
        type=float,
        help="of the verdict, where other development data has to say in it as well (ADR 0150)",
    )
    parser.add_argument("--signals-only", action="store_true", help="measure the signals; needs no encoder")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
