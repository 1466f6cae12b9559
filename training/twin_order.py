"""Does an encoder tell a right claim from its twin? ``python -m training.twin_order --checkpoint DIR``.

Measured on the passages of the corpus of our own that are held back from training. A claim or answer stands beside
itself, about two passages that differ in what decides, so that its words say nothing: what knows them alone orders half
of the twins right. One claim in eight stands beside its twin about one passage instead.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from evaluation.metrics import auroc
from evaluation.shares import Share
from services.common.grounding.windows import WindowSettings
from training.encoder import JOINT_OUTPUTS, SUPPORT, PairEncoder, load, load_tokenizer, pad_id
from training.grounding import Example, weakest
from training.joint import entailed, twin_examples
from training.loop import pad
from training.own_corpus import ANSWERS, CORPUS, own_twins

BATCH: Final = 16
PREMISE_TOKENS: Final = 144


def logits_of(model: PairEncoder, rows: Sequence[Example], pad_with: int) -> NDArray[np.float64]:
    """Return of each row the logit of support and that of entailment against the other two, ``(rows, 2)``.

    Args:
        model: a joint encoder on the CPU.
        rows: what it reads; the piece that is supported least speaks for a row.
        pad_with: the token that fills up.
    """
    found = np.zeros((len(rows), 2))
    order = sorted(range(len(rows)), key=lambda row: rows[row].size)
    for start in range(0, len(order), BATCH):
        chosen = order[start : start + BATCH]
        parts = [part for row in chosen for part in rows[row].parts]
        owners = torch.tensor([place for place, row in enumerate(chosen) for _ in rows[row].parts])
        ids, mask = pad([part.ids for part in parts], pad_with, torch.device("cpu"))
        with torch.no_grad():
            logits = model(ids, mask)[0].float()
        for column, said in enumerate((logits[:, SUPPORT], entailed(logits[:, :SUPPORT]))):
            found[chosen, column] = weakest(said, owners, len(chosen)).numpy()
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Print for both parts of the corpus how often the right one lies above its twin."""
    parser = argparse.ArgumentParser(prog="python -m training.twin_order", description=__doc__)
    parser.add_argument("--checkpoint", type=Path, required=True, help="folder of a joint encoder")
    parser.add_argument("--limit", type=int, help="twins of each part at most: the first ones")
    parser.add_argument("--threads", type=int, default=0, help="CPU threads; 0 = PyTorch's choice")
    options = parser.parse_args(arguments)
    if options.threads:
        torch.set_num_threads(options.threads)
    model, tokenizer = load(options.checkpoint).eval(), load_tokenizer(options.checkpoint)
    if (heads := model.head.out_features) != JOINT_OUTPUTS:
        parser.error(f"{options.checkpoint} has {heads} outputs; a joint encoder has {JOINT_OUTPUTS}")
    table = Table(title="Twins of passages that were held back")
    for title in ("part", "output", "right above wrong (95% interval)", "AUROC"):
        table.add_column(title)
    for name, path in (("claims", CORPUS), ("answers", ANSWERS)):
        twins = own_twins(path, held_back=True)[: options.limit]
        pairs = twin_examples(tokenizer, twins, WindowSettings(PREMISE_TOKENS, 1))
        found = logits_of(model, [row for pair in pairs for row in pair], pad_id(tokenizer))
        truth = np.tile([True, False], len(pairs))
        for column, output in enumerate(("support", "entailment")):
            said = found[:, column]
            order = Share.among((said[::2] > said[1::2]).tolist())
            area = auroc(said, truth)
            table.add_row(name, output, str(order), "-" if area is None else f"{area:.3f}")
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
