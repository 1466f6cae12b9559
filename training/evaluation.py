"""Accuracy of a checkpoint on development rows, for a look after training; ``make eval-models`` measures what ships."""

from collections.abc import Sequence

import torch
from tokenizers import Tokenizer

from training.encoder import PairEncoder, pad_id
from training.loop import pad
from training.rows import CONTRADICTION, NliRow

MAX_TOKENS = 256


def accuracy_by_origin(
    model: PairEncoder, tokenizer: Tokenizer, rows: Sequence[NliRow], device: torch.device, *, limit: int | None
) -> dict[str, dict[str, float]]:
    """Return accuracy and number of rows per origin; a row without a neutral class counts contradiction or not."""
    chosen: list[NliRow] = []
    for origin in sorted({row.origin for row in rows}):
        chosen += [row for row in rows if row.origin == origin][:limit]
    tokenizer.enable_truncation(MAX_TOKENS, strategy="longest_first")
    ids = [encoding.ids for encoding in tokenizer.encode_batch([(row.premise, row.hypothesis) for row in chosen])]
    tokenizer.no_truncation()
    predicted = [0] * len(chosen)
    order = sorted(range(len(chosen)), key=lambda row: len(ids[row]))
    precise = model.to(torch.bfloat16).eval()
    with torch.no_grad():
        for start in range(0, len(order), 48):
            batch = order[start : start + 48]
            tokens, mask = pad([ids[row] for row in batch], pad_id(tokenizer), device)
            for row, label in zip(batch, precise(tokens, mask)[0].argmax(-1).tolist(), strict=True):
                predicted[row] = label
    model.float()
    found: dict[str, dict[str, float]] = {}
    for origin in sorted({row.origin for row in chosen}):
        at = [index for index, row in enumerate(chosen) if row.origin == origin]
        right = sum(
            (predicted[index] != CONTRADICTION) if chosen[index].label < 0 else predicted[index] == chosen[index].label
            for index in at
        )
        found[origin] = {"accuracy": round(right / len(at), 4), "rows": float(len(at))}
    return found
