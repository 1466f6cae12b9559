"""Fine-tune the classifier of prompt injection, measure it on styles that it had not seen, and write it (ADR 0227).

    python -m training.injection --data DATA --base BASE
    python tools/update_manifest.py

DATA is the folder of evaluation data (docs/how-to/evaluate.md), BASE that of all-MiniLM-L6-v2 in safetensors (the
card says where to get it). The environment is ``make training``. State is kept every few minutes in an ignored
folder: stop it whenever you like, the same command goes on. On one core with matrix units it takes half an hour.
"""

import argparse
import asyncio
import hashlib
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from evaluation.measured import measured_now
from services.common.calibration import PiecewiseLinearCalibration
from services.common.injection.combining import combined_score
from services.common.injection.searching import find_injections
from services.common.injection_classifier.scores import squashed
from services.common.model_repository import ModelRepository
from training.encoder import PairEncoder, load, save
from training.injection.blocks import Blocks, blocks_of
from training.injection.export import graph_of
from training.injection.grammar import FOLDER
from training.injection.learning import MAX_TOKENS, Recipe, encoded, learn, learnt_of, logits_of, read_tokenizer
from training.injection.measure import Values, at_bound, calibration_error, calibration_of, figures, on_unseen
from training.injection.paired import learnt_before, paired_rows
from training.injection.public import attack_sets, benign_sets, repository_rows
from training.injection.rows import Row, part_of
from training.injection.serving import NAME, scored, served
from training.injection.styled import SHARE, styled_rows
from training.injection.written import written_rows
from training.repository_folder import Delivery, Description, bare_tokenizer, write_folder

SEED: Final = 7
ROUNDS: Final = 4
"""Models that are measured: each had not seen a quarter of the styles, themes and families."""
REPORT: Final = Path("docs/results/injection-classifier-sixth.json")
WORK: Final = Path(".cache/injection")
DESCRIPTION: Final = Path(__file__).resolve().parent.parent / "descriptions" / f"{NAME}.json"
LEAST_CARRIER: Final = 300
OPERATING: Final = 0.7
"""The page's threshold of a combined score."""
THEMED: Final = frozenset({"paired", "hostile_looking", "clean"})
"""Parts of pairs and of what looks like one of them (ADR 0175)."""
ONE_IN: Final = 3
"""Of what is no style, so many are learnt from, and all that was kept of s-labs: styles are to weigh most."""


def rows_of(data: Path) -> tuple[list[Row], list[Row]]:
    """Return the rows to learn from, and those of s-labs' development part, which are only reported on."""
    benign, own = benign_sets(data, SEED), repository_rows()
    documents = [row for row in [*benign, *own] if len(row.text) >= LEAST_CARRIER]
    learnt = [row for row in benign if row.kind != "public.document" or len(row.text) % 2]  # half: reading takes time
    others = learnt_before([*written_rows(SEED, documents), *learnt, *own, *attack_sets(data, "train")])
    again = [row for place, row in enumerate(others) if place % ONE_IN == 0 or row.share.startswith("s-labs")]
    return [*styled_rows(), *paired_rows(SEED), *again], attack_sets(data, "dev")


class Rounds:
    """Fits models that leave parts out, and keeps what each is worth.

    Args:
        blocks: all.
        ids: token ids of each block.
        base: folder of the encoder to start from.
        recipe: how it learns.
        work: folder that keeps states and results.
    """

    def __init__(self, blocks: Blocks, ids: list[list[int]], base: Path, recipe: Recipe, work: Path) -> None:
        self._blocks, self._ids, self._base, self._recipe = blocks, ids, base, recipe
        told = [blocks.texts, blocks.learnt.tolist(), asdict(recipe), ids[:1]]
        key = hashlib.sha256(json.dumps(told).encode("utf-8", "surrogatepass")).hexdigest()[:16]
        self._work = work / key
        self._folds = np.array([row.fold % ROUNDS for row in blocks.rows])

    def left_out(self) -> Values:
        """Return each row's logit by a model that had learnt from none of its round."""
        found = np.zeros(len(self._blocks.texts))
        for number in range(ROUNDS):
            own = self._folds[self._blocks.homes] == number
            path = self._work / f"left-out-{number}.npy"
            if not path.is_file():
                model = self.model(f"round-{number}", self._folds != number)
                np.save(path, logits_of(model, [each for each, mine in zip(self._ids, own, strict=True) if mine]))
            found[own] = np.load(path)
        return self._blocks.worst(found)

    def model(self, name: str, among: Any) -> PairEncoder:
        """Return the model fitted on some rows; one that is kept is read."""
        done = self._work / f"{name}-done"
        if done.is_dir():
            return load(done)
        data = learnt_of(self._blocks, self._ids, among)
        with progress(name) as watch:
            model = learn(self._base, data, self._recipe, self._work / name, watch)
        save(model, read_tokenizer(self._base), done)
        return model


@contextmanager
def progress(name: str) -> Iterator[Callable[[Mapping[str, float]], None]]:
    """Show how far a fit is, on standard error; yields what is to be told of each step."""
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed} steps"))
    with Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True)) as bar:
        task = bar.add_task(name, total=None)

        def watch(told: Mapping[str, float]) -> None:
            bar.update(task, completed=told["step"], description=f"{name}, loss {told['loss']:.3f}")

        yield watch


def report(rows: Sequence[Row], worst: Values, knots: tuple[list[float], list[float]]) -> dict[str, Any]:
    """Return what was learnt from, and the figures of what was left out."""
    probabilities = PiecewiseLinearCalibration(*knots).apply(squashed(worst).astype(np.float32)).astype(np.float64)
    styled = [place for place, row in enumerate(rows) if row.share == SHARE]
    themed = [place for place, row in enumerate(rows) if row.share in THEMED]
    styles = [rows[place] for place in styled]
    return {
        "seed": SEED,
        "rounds": ROUNDS,
        "material_sha256": digest_of(FOLDER),
        "texts": dict(sorted(Counter(part_of(row) for row in rows).items())),
        "left_out_styles": figures(styles, worst[styled]),
        "left_out_styles_with_rules": figures(styles, with_rules(styles, probabilities[styled])),
        "left_out_themes": figures([rows[place] for place in themed], worst[themed]),
        "calibration_error": calibration_error(rows, probabilities),
        f"at_probability_{OPERATING:g}": at_bound(rows, probabilities, OPERATING),
    }


def with_rules(rows: Sequence[Row], probabilities: Values) -> Values:
    """Return the score of each row as it is served: rules raise the odds of the probability."""
    found = [find_injections(row.text) for row in rows]
    return np.array(
        [
            combined_score(one.score, None, float(probability), disguised=one.is_disguised)
            for one, probability in zip(found, probabilities, strict=True)
        ]
    )


def digest_of(folder: Path) -> str:
    """Return the SHA-256 over the files that rows are made of."""
    files = sorted(path for path in folder.iterdir() if path.suffix in {".txt", ".json", ".jsonl"})
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()


def deliver(repository: Path, model: PairEncoder, base: Path, calibration: dict[str, Any]) -> None:
    """Write the model into the repository."""
    write_folder(
        repository,
        Delivery(
            name=NAME,
            kind="injection",
            model=graph_of(model),
            tokenizer=bare_tokenizer((base / "tokenizer.json").read_text(encoding="utf-8")),
            pad_id=int(model.encoder.config.pad_token_id),
            max_tokens=MAX_TOKENS,
            description=Description.model_validate_json(DESCRIPTION.read_text(encoding="utf-8")),
            calibration=calibration,
            golden=False,
        ),
    )


def parser() -> argparse.ArgumentParser:
    """Return the command line's parser."""
    shape = argparse.RawDescriptionHelpFormatter
    found = argparse.ArgumentParser("python -m training.injection", description=__doc__, formatter_class=shape)
    found.add_argument("--data", type=Path, required=True, help="folder of the evaluation data")
    found.add_argument("--base", type=Path, required=True, help="folder of all-MiniLM-L6-v2: safetensors, tokenizer")
    found.add_argument("--repository", type=Path, default=Path("model_repository"), help="where the models lie")
    found.add_argument("--work", type=Path, default=WORK, help=f"keeps states and results; {WORK}")
    found.add_argument("--report", type=Path, default=REPORT, help=f"the figures; {REPORT}")
    found.add_argument("--epochs", type=int, default=Recipe().epochs, help=f"{Recipe().epochs}")
    found.add_argument("--rate", type=float, default=Recipe().rate, help=f"highest learning rate; {Recipe().rate:g}")
    found.add_argument("--threads", type=int, default=1, help="of PyTorch; 1, which is fastest beside other work")
    found.add_argument("--measure", action="store_true", help="measure left-out styles alone; write nothing")
    return found


def main() -> int:
    """Fit, measure, write; prints the figures that matter."""
    options = parser().parse_args()
    torch.set_num_threads(options.threads)
    rows, dev = rows_of(options.data)
    blocks = blocks_of(rows)
    ids = encoded(read_tokenizer(options.base), blocks.texts)
    rounds = Rounds(blocks, ids, options.base, Recipe(options.epochs, options.rate), options.work)
    worst = rounds.left_out()
    knots = calibration_of(blocks.rows, squashed(worst))
    told = report(blocks.rows, worst, knots)
    print("left-out styles", json.dumps({k: v for k, v in told["left_out_styles"].items() if "style" not in k}))
    if options.measure:
        return 0
    model = rounds.model("whole", np.ones(len(blocks.rows), dtype=np.bool_))
    fitted = {"note": f"{len(blocks.rows)} texts, each by one of {ROUNDS} models that had not seen its style or family"}
    calibration = {"raw": knots[0], "calibrated": knots[1], "fitted_on": fitted}
    calibration["measured"] = {"calibration_error": told["calibration_error"]}
    deliver(options.repository, model, options.base, calibration)
    repository = ModelRepository.open(options.repository)
    told["s_labs_dev"] = on_unseen(dev, np.array(asyncio.run(scored(repository, dev))), OPERATING)
    golden, told["speed"] = asyncio.run(served(repository, rows))
    (options.repository / NAME / "golden.json").write_text(json.dumps(golden, indent=1) + "\n", encoding="utf-8")
    kept = {"measured": measured_now(), **told}
    options.report.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    print("s-labs dev", json.dumps(told["s_labs_dev"]))
    print("now: python tools/update_manifest.py")
    return 0


if __name__ == "__main__":
    sys.exit(main())
