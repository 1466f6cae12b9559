"""Measure the blocking rule of stage 6 on public contradictions (SPEC-005 §8.2; ADR 0037).

python -m tools.measure_pairing     needs GROUNDTRAIL_EVAL_DATA, the folder with nli/dev.jsonl.gz

Contradictions of people's making are put into sessions of 100: the premises are what earlier windows said, the
hypotheses are the answer. Printed for each origin: which share of the true pairs the rule keeps, and which of all.
Nothing was tuned on these rows. Names count by their words alone; no model runs.
"""

import os
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from evaluation.data import EvaluationDataError, folder, rows
from services.common.reading.text_types import Claim, ClaimType
from services.common.reading.values import scan_values
from services.dpe.domain.pairing import related
from services.dpe.domain.statements import Statement, read_statement

SESSION: Final = 100


def statement(text: str) -> Statement:
    """Read a text as one claim."""
    return read_statement(Claim("c1", text, 0, len(text), 0, ClaimType.FACTUAL, 0.0, values=scan_values(text)))


def contradictions(data: Path) -> dict[str, list[tuple[str, str]]]:
    """Return (hypothesis, premise) of every contradiction by origin, in file order."""
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for row in rows(data, "nli/dev.jsonl.gz"):
        if row["label"] == "contradiction":
            found[row["origin"]].append((row["hypothesis"], row["premise"]))
    return dict(found)


def kept(listed: list[tuple[str, str]]) -> tuple[int, int, int, int]:
    """Return true pairs kept, true pairs, all pairs kept, all pairs; an incomplete last session is left out."""
    true_kept = true_pairs = all_kept = all_pairs = 0
    for session in _sessions(listed):
        current = [statement(hypothesis) for hypothesis, _ in session]
        earlier = [statement(premise) for _, premise in session]
        pairs = related(current, earlier)
        true_kept += int((pairs[:, 0] == pairs[:, 1]).sum())
        true_pairs += len(session)
        all_kept += len(pairs)
        all_pairs += len(session) ** 2
    return true_kept, true_pairs, all_kept, all_pairs


def _sessions(listed: list[tuple[str, str]]) -> Iterator[list[tuple[str, str]]]:
    for start in range(0, len(listed) - SESSION + 1, SESSION):
        yield listed[start : start + SESSION]


def main() -> int:
    """Print the table."""
    try:
        found = contradictions(folder(os.environ))
    except EvaluationDataError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    totals = [0, 0, 0, 0]
    print("origin | true pairs | kept | all pairs | kept")
    for origin, listed in sorted(found.items()):
        counts = kept(listed)
        if counts[1]:
            _print(origin, counts)
            totals = [total + count for total, count in zip(totals, counts, strict=True)]
    _print("all", (totals[0], totals[1], totals[2], totals[3]))
    return 0


def _print(name: str, counts: tuple[int, int, int, int]) -> None:
    true_kept, true_pairs, all_kept, all_pairs = counts
    print(f"{name} | {true_pairs} | {true_kept / true_pairs:.3f} | {all_pairs} | {all_kept / all_pairs:.4f}")


if __name__ == "__main__":
    sys.exit(main())
