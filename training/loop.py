"""The training loop: bfloat16 or float32 arithmetic over float32 master weights, deterministic by seed, resumable.

One step's randomness (batch, dropout) depends on the seed and the step alone, so that a run that was stopped and taken
up again makes the same steps. The same code runs on a CPU and on a GPU.
"""

import math
import os
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

import torch
from torch import Tensor

from training.encoder import PairEncoder

POOL_BATCHES: Final = 50
"""Rows of so many batches are sorted by length together, so that a batch is padded little."""
STATE: Final = "state.pt"
PRECISIONS: Final[Mapping[str, torch.dtype]] = {"bfloat16": torch.bfloat16, "float32": torch.float32}
"""Arithmetic by its name on the command line."""
BatchT = TypeVar("BatchT", bound=Sized)


@dataclass(frozen=True, slots=True)
class Schedule:
    """How long and how fast to learn.

    Attributes:
        steps: optimiser steps of the whole run.
        peak_rate: learning rate after the warm-up; it then falls linearly to 0.
        warmup_steps: steps to get there.
        weight_decay: AdamW's.
        seed: of everything random.
        save_every_s: seconds between two saved states.
    """

    steps: int
    peak_rate: float
    warmup_steps: int
    weight_decay: float = 0.01
    seed: int = 1
    save_every_s: float = 240.0

    def rate(self, step: int) -> float:
        """Return the learning rate of a step, counted from 0."""
        if step < self.warmup_steps:
            return self.peak_rate * (step + 1) / self.warmup_steps
        return self.peak_rate * max(0.0, (self.steps - step) / max(1, self.steps - self.warmup_steps))


def batches(lengths: Sequence[int], budget: int, seed: int) -> Iterator[list[int]]:
    """Yield batches of row numbers without end: each epoch shuffled anew, rows of like length together.

    Args:
        lengths: tokens of each row.
        budget: tokens of a batch, padding included.
        seed: decides the order.
    """
    for epoch in range(1_000_000):
        generator = random.Random(f"{seed}:{epoch}")  # noqa: S311 - not for secrets
        order = list(range(len(lengths)))
        generator.shuffle(order)
        typical = max(1, sum(lengths) // len(lengths))
        pool = max(1, budget // typical) * POOL_BATCHES
        for start in range(0, len(order), pool):
            cut = _cut(sorted(order[start : start + pool], key=lambda row: lengths[row]), lengths, budget)
            generator.shuffle(cut)
            yield from cut


def _cut(ordered: Sequence[int], lengths: Sequence[int], budget: int) -> list[list[int]]:
    found: list[list[int]] = []
    batch: list[int] = []
    for row in ordered:  # ascending, so that the newest row is the widest
        if batch and lengths[row] * (len(batch) + 1) > budget:
            found.append(batch)
            batch = []
        batch.append(row)
    return [*found, batch] if batch else found


def pad(items: Sequence[Sequence[int]], pad_id: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Return ids and attention mask, ``(batch, longest)``, int64."""
    width = max(map(len, items))
    ids = torch.full((len(items), width), pad_id, dtype=torch.int64)
    mask = torch.zeros((len(items), width), dtype=torch.int64)
    for row, item in enumerate(items):
        ids[row, : len(item)] = torch.tensor(item, dtype=torch.int64)
        mask[row, : len(item)] = 1
    return ids.to(device), mask.to(device)


class Trainer:
    """Runs a schedule over a model and keeps its state in a folder.

    Args:
        model: float32; its word embeddings are not trained.
        schedule: how long and how fast.
        folder: where the state is kept; a state found there is taken up.
        device: where to compute.
        precision: of the arithmetic; weights are kept in float32. Processors without matrix units for bfloat16 multiply
            it at half the speed of float32.
    """

    def __init__(
        self,
        model: PairEncoder,
        schedule: Schedule,
        folder: Path,
        device: torch.device,
        precision: torch.dtype = torch.bfloat16,
    ) -> None:
        self._schedule = schedule
        self._folder = folder
        self._device = device
        self._model: PairEncoder = model.to(device)
        self._model.encoder.embeddings.requires_grad_(requires_grad=False)
        self._master = {n: p.detach().float().clone() for n, p in model.named_parameters() if p.requires_grad}
        self._frozen = {n: p.detach().float().clone() for n, p in model.named_parameters() if not p.requires_grad}
        decayed = [w for w in self._master.values() if w.dim() > 1]
        others = [w for w in self._master.values() if w.dim() <= 1]
        groups = [{"params": decayed, "weight_decay": schedule.weight_decay}, {"params": others, "weight_decay": 0.0}]
        self._optimizer = torch.optim.AdamW(groups, lr=schedule.peak_rate, fused=True)
        self._model.to(precision)
        self.step = self._resume()

    def run(
        self,
        rows: Iterator[BatchT],
        loss_of: Callable[[PairEncoder, BatchT], Tensor],
        watch: Callable[[Mapping[str, float]], None],
        *,
        until_s: float = math.inf,
    ) -> bool:
        """Make the remaining steps; return whether all were made before ``until_s`` seconds had passed."""
        started = saved = time.monotonic()
        running: float | None = None
        for _ in range(self.step):
            next(rows)
        self._model.train()
        while self.step < self._schedule.steps and time.monotonic() - started < until_s:
            batch = next(rows)
            torch.manual_seed(self._schedule.seed * 1_000_003 + self.step)
            loss = loss_of(self._model, batch)
            value = float(loss.detach())
            if not math.isfinite(value):
                msg = f"step {self.step}: the loss is {value}; start again from the last state with a lower rate"
                raise ArithmeticError(msg)
            loss.backward()
            self._update()
            self.step += 1
            running = value if running is None else 0.98 * running + 0.02 * value
            watch({"step": self.step, "loss": running, "rate": self._schedule.rate(self.step), "rows": len(batch)})
            if time.monotonic() - saved > self._schedule.save_every_s:
                self.save()
                saved = time.monotonic()
        self.save()
        return self.step >= self._schedule.steps

    def trained(self) -> PairEncoder:
        """Return the model with its float32 weights, ready to be saved."""
        self._model.float().eval()
        with torch.no_grad():
            for name, parameter in self._model.named_parameters():
                parameter.copy_(self._master[name] if name in self._master else self._frozen[name])
        return self._model

    def save(self) -> None:
        """Keep the state; a run that is killed meanwhile leaves the one before it."""
        self._folder.mkdir(parents=True, exist_ok=True)
        state: dict[str, Any] = {"step": self.step, "master": self._master, "optimizer": self._optimizer.state_dict()}
        partial = self._folder / f"{STATE}.partial"
        torch.save(state, partial)
        os.replace(partial, self._folder / STATE)  # noqa: PTH105 - atomic on every platform

    def _update(self) -> None:
        for name, parameter in self._model.named_parameters():
            if name in self._master:
                self._master[name].grad = None if parameter.grad is None else parameter.grad.float()
                parameter.grad = None
        torch.nn.utils.clip_grad_norm_(list(self._master.values()), 1.0)
        for group in self._optimizer.param_groups:
            group["lr"] = self._schedule.rate(self.step)
        self._optimizer.step()
        self._copy_to_model()

    def _copy_to_model(self) -> None:
        with torch.no_grad():
            for name, parameter in self._model.named_parameters():
                if name in self._master:
                    parameter.copy_(self._master[name])

    def _resume(self) -> int:
        path = self._folder / STATE
        if not path.is_file():
            return 0
        state = torch.load(path, map_location=self._device, weights_only=True)
        with torch.no_grad():
            for name, weight in self._master.items():
                weight.copy_(state["master"][name])
        self._optimizer.load_state_dict(state["optimizer"])
        self._copy_to_model()
        return int(state["step"])
