"""Fit from which answers of the models on the second detector suspects a constraint (ADR 0117).

    python -m tools.fit_suspicion FILE... [--folds N] [--write]

The files hold constraints as ``tools.evaluate_constraints`` reads them: development data, never a test half. For each
way of asking, the bounds are taken that find most of the broken drafts while at most ``ALLOWED`` of the kept ones are
suspected, the stricter ones first. ``--folds`` draws N times the bounds from the other folds and counts on the one
left out: what to expect of other people's constraints. ``--write`` writes services/ercp/data/suspicion.json.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any, Final

import numpy as np

from services.common.composition import Adapters
from services.common.settings import Settings
from services.ercp.domain import suspecting
from services.ercp.domain.suspecting import SuspicionBounds, Way
from services.ercp.domain.suspecting.asking import Asked, Plan
from services.ercp.domain.suspecting.judging import Answers, answers_of, doubted
from tools.evaluate_constraints import drafts_of, load

DATA: Final = Path(__file__).parent.parent / "services/ercp/data/suspicion.json"
ALLOWED: Final = 0.1
"""Share of the kept drafts of one way that may be suspected; none of words that no rule understands."""
NEVER: Final = SuspicionBounds(
    unsaid_entailed=-2.0,
    unsaid_near=-2.0,
    forbidden=2.0,
    contradicted=2.0,
    denied=2.0,
    absent=-2.0,
    unchosen_entailed=-2.0,
    unchosen_near=-2.0,
    ordered=9.0,
    ordered_margin=9.0,
)
_STEPS: Final = [round(0.02 * step, 2) for step in range(5, 46)]
_GRIDS: Final[dict[Way, dict[str, Sequence[float]]]] = {
    Way.UNSAID: {"unsaid_entailed": _STEPS, "unsaid_near": _STEPS},
    Way.FORBIDDEN: {"forbidden": _STEPS[::-1]},
    Way.CONTRADICTED: {"contradicted": _STEPS[::-1], "absent": _STEPS},
    Way.DENIED: {"denied": _STEPS[::-1]},
    Way.UNCHOSEN: {"unchosen_entailed": [0.2, 0.24, 0.28, 0.32, 0.36], "unchosen_near": [0.3, 0.36, 0.42, 0.46, 0.5]},
    Way.ORDERED: {"ordered": [round(0.4 + step, 2) for step in _STEPS][::-1], "ordered_margin": [0.2, 0.15, 0.1, 0.05]},
}


@dataclass(frozen=True, slots=True)
class Sample:
    """A draft of which the models were asked about its constraint; ``row`` numbers the constraint."""

    row: int
    is_broken: bool
    planned: Plan
    asked: Asked
    answers: Answers


async def samples_of(rows: Iterable[dict[str, Any]]) -> list[Sample]:
    """Return what the models say of every draft whose constraint the rules leave open."""
    found: list[Sample] = []
    async with Adapters(Settings()) as adapters:
        entailment, embedding = await adapters.entailment(), await adapters.embedding()
        if entailment is None:
            raise SystemExit("the model repository holds no entailment model")
        for number, row in enumerate(rows):
            for draft in drafts_of(row):
                planned = suspecting.plan(draft.facts, [draft.constraint], [draft.outcome])
                if not planned.inquiries:
                    continue
                asked = planned.nearest(await embedding.embed(planned.texts), 10_000)
                read = await entailment.classify([pair for each in asked for pair in each.pairs(planned.words)])
                found.append(Sample(number, draft.is_broken, planned, asked[0], answers_of(asked[0], np.asarray(read))))
    return found


def fit(samples: Sequence[Sample]) -> SuspicionBounds:
    """Return the bounds that find most broken drafts and suspect few kept ones."""
    bounds = NEVER
    for way, grid in _GRIDS.items():
        own = [each for each in samples if each.asked.inquiry.way is way]
        kept = sum(not each.is_broken for each in own)
        best: tuple[int, int, SuspicionBounds] = (0, 0, bounds)
        for values in product(*grid.values()):
            tried = replace(bounds, **dict(zip(grid, values, strict=True)))
            broken, wrong = count(own, tried)
            if wrong <= ALLOWED * kept * (way is not Way.DENIED) and (broken, -wrong) > best[:2]:
                best = (broken, -wrong, tried)
        bounds = best[2]
    return bounds


def count(samples: Iterable[Sample], bounds: SuspicionBounds) -> tuple[int, int]:
    """Return how many broken and how many kept drafts are suspected."""
    doubts = [each.is_broken for each in samples if doubted(each.planned, each.asked, each.answers, bounds)]
    return sum(doubts), len(doubts) - sum(doubts)


def report(samples: Sequence[Sample], folds: int) -> list[str]:
    """Return for each way how much is found, with all the data and fold by fold."""
    whole = fit(samples)
    lines = [
        f"{'way':14} {'asked':>6} {'broken found':>13} {'kept suspected':>15} {'in folds: found':>16} {'suspected':>10}"
    ]
    for way in Way:
        own = [each for each in samples if each.asked.inquiry.way is way]
        told = count(own, whole)
        parts = [0, 0]
        for fold in range(folds):
            drawn = fit([each for each in own if each.row % folds != fold])
            counted = count([each for each in own if each.row % folds == fold], drawn)
            parts = [one + other for one, other in zip(parts, counted, strict=True)]
        lines.append(f"{way:14} {len(own):6} {told[0]:13} {told[1]:15} {parts[0]:16} {parts[1]:10}")
    return lines


def main(arguments: Sequence[str]) -> int:
    """Fit the bounds and print what they find."""
    parser = argparse.ArgumentParser(
        "python -m tools.fit_suspicion", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", type=Path, nargs="+", help="constraints of development, one JSON object a line")
    parser.add_argument("--folds", type=int, default=5, help="parts that are left out in turn; default 5")
    parser.add_argument("--write", action="store_true", help="write the bounds")
    options = parser.parse_args(arguments)
    rows = [row for path in options.files for row in load(path)]
    samples = asyncio.run(samples_of(rows))
    print("\n".join(report(samples, options.folds)))
    bounds = fit(samples)
    values = {name: getattr(bounds, name) for name in sorted(SuspicionBounds.__slots__)}
    print(json.dumps(values, indent=2))
    if options.write:
        command = f"python -m tools.fit_suspicion {' '.join(map(str, options.files))} --write"
        DATA.write_text(json.dumps({"made_by": command, "bounds": values}, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
