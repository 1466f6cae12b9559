"""Score texts with securevector-guardian-model, in an environment of its own, for comparison (ADR 0126).

    python -m venv PEER && PEER/bin/pip install securevector-guardian-model==1.4.0
    PEER/bin/python training/injection/peer.py ROWS

ROWS is what ``python -m training.injection --rows ROWS`` writes, or JSON lines with ``text`` and ``injection``. Prints
the area under the curve and recall at 1% and 5% of the hard benign texts, of both where ROWS has a ``score``. Standard
library alone; nothing of this repository is imported.
"""

import json
import sys
import time
from bisect import bisect_left
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

HARD: Final = ("written", "quoted", "carried")


def auroc(attacks: Sequence[float], benign: Sequence[float]) -> float:
    """Return the probability that an attack scores above a benign text, ties half."""
    ordered = sorted(benign)
    total = sum(bisect_left(ordered, each) + bisect_left(ordered, each + 1e-12) for each in attacks)
    return total / 2 / len(attacks) / len(benign)


def told(rows: Sequence[dict[str, Any]], key: str) -> dict[str, float]:
    """Return the figures of one score."""
    public = [row for row in rows if row.get("part", "").startswith("s-labs")]
    own = [row[key] for row in rows if row["injection"] and row not in public]
    hard = [row[key] for row in rows if not row["injection"] and row.get("part", HARD[0]) in HARD]
    found = {"auroc": auroc(own, hard)}
    if public:
        sides = [[row[key] for row in public if row["injection"] is side] for side in (True, False)]
        found["auroc_s_labs"] = auroc(sides[0], sides[1])
    for allowed in (0.01, 0.05):
        bound = sorted(hard, reverse=True)[int(allowed * len(hard))]
        found[f"recall_at_{allowed:g}"] = sum(each > bound for each in own) / len(own)
    return {name: round(value, 4) for name, value in found.items()}


def main() -> int:
    """Score and print."""
    from svguardian import resolve_runtime  # type: ignore[import-not-found]
    from svguardian.model.pure_infer import PureGuardian  # type: ignore[import-not-found]
    from svguardian.window import predict_windowed  # type: ignore[import-not-found]

    rows = [json.loads(line) for line in Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()]
    guardian = PureGuardian.load(resolve_runtime())
    started = time.perf_counter()
    for row in rows:
        found = predict_windowed(guardian, row["text"])
        row["peer"], row["peer_says"] = found["malicious_score"], found["verdict"] == "malicious"
    seconds = time.perf_counter() - started
    print("peer", json.dumps(told(rows, "peer")), f"{len(rows) / seconds:.0f} texts/s")
    for side, name in ((True, "recall"), (False, "false positives, all benign")):
        said = [row["peer_says"] for row in rows if row["injection"] is side]
        print(f"peer at its own bound: {name} {sum(said) / len(said):.4f}")
    if all("score" in row for row in rows):
        print("ours", json.dumps(told(rows, "score")))
    return 0


if __name__ == "__main__":
    sys.exit(main())
