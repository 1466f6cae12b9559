"""The corpus of our own as rows to learn from: passages of contracts, leaflets, manuals and policies with claims.

One passage in seven, by its id, is held back from training: what is developed is measured on it. The test part
(``test.jsonl.gz``) is never read here.
"""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from services.common.grounding.statements import statement
from training.rows import GroundingRow

CORPUS: Final = Path(__file__).parent / "corpus" / "train.jsonl"
_HELD_BACK: Final = 7


def is_held_back(passage_id: str) -> bool:
    """Say whether a passage is for measuring, not for learning."""
    return hashlib.sha256(passage_id.encode()).digest()[0] % _HELD_BACK == 0


def own_rows(path: Path = CORPUS, *, held_back: bool = False) -> list[GroundingRow]:
    """Return the claims of the passages to learn from, or of those that are held back, twins side by side."""
    return list(_rows(path, held_back=held_back))


def _rows(path: Path, *, held_back: bool) -> Iterator[GroundingRow]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            passage = json.loads(line)
            if is_held_back(passage["id"]) is not held_back:
                continue
            premise = f"{passage['title']}\n\n{passage['passage']}"
            for claim in passage["claims"]:
                presented = statement(claim["claim"], None)
                moved = presented.claim_start
                spans = tuple((start + moved, end + moved) for start, end in claim["spans"])
                known = () if claim["supported"] else (spans or None)
                origin = f"own/{claim['kind']}"
                yield GroundingRow(premise, presented.text, claim["supported"], known, origin, None)
