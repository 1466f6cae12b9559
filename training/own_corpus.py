"""The corpus of our own as rows to learn from: passages of contracts, leaflets, manuals and policies with claims.

``train.jsonl`` holds claims in the voice of the passage, ``answers.jsonl`` free rewordings as one person answers
another.
One passage in seven, by its id, is held back from training: what is developed is measured on it. The test part
(``test.jsonl.gz``) is never read here.
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from services.common.grounding.statements import statement
from training.rows import GroundingRow

CORPUS: Final = Path(__file__).parent / "corpus" / "train.jsonl"
ANSWERS: Final = CORPUS.with_name("answers.jsonl")
_HELD_BACK: Final = 7


def is_held_back(passage_id: str) -> bool:
    """Say whether a passage is for measuring, not for learning."""
    return hashlib.sha256(passage_id.encode()).digest()[0] % _HELD_BACK == 0


def own_rows(path: Path = CORPUS, *, held_back: bool = False) -> list[GroundingRow]:
    """Return the claims of the passages to learn from, or of those that are held back, twins side by side."""
    return list(_rows(path, held_back=held_back))


class Twin(NamedTuple):
    """Two claims about one passage in nearly the same words."""

    supported: GroundingRow
    unsupported: GroundingRow


def own_twins(path: Path = CORPUS, *, held_back: bool = False) -> list[Twin]:
    """Return the twins of the passages to learn from, or of those that are held back.

    Each row's query is its question and its twin's words, so that the window which is cut for it tells nothing of the
    label: it is the same for both wherever the passage is longer than one.
    """
    known: dict[str, GroundingRow] = {}
    found = []
    for name, twin, row in _claims(path, held_back=held_back):
        known[name] = row
        if (other := known.get(twin)) is None or other.supported is row.supported:
            continue
        pair = (other, row) if other.supported else (row, other)
        found.append(Twin(*(_with_words(one, of) for one, of in zip(pair, reversed(pair), strict=True))))
    return found


def _with_words(row: GroundingRow, twin: GroundingRow) -> GroundingRow:
    return replace(row, query=" ".join(filter(None, (row.query, twin.claim))))


def _rows(path: Path, *, held_back: bool) -> Iterator[GroundingRow]:
    for _, _, row in _claims(path, held_back=held_back):
        yield row


def _claims(path: Path, *, held_back: bool) -> Iterator[tuple[str, str, GroundingRow]]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            passage = json.loads(line)
            if is_held_back(passage["id"]) is not held_back:
                continue
            premise = f"{passage['title']}\n\n{passage['passage']}"
            for claim in passage["claims"]:
                question = claim.get("question")
                presented = statement(claim["claim"], question)
                moved = presented.claim_start
                spans = tuple((start + moved, end + moved) for start, end in claim["spans"])
                known = () if claim["supported"] else (spans or None)
                origin = f"own/{claim['kind']}"
                row = GroundingRow(premise, presented.text, claim["supported"], known, origin, question)
                yield claim["id"], claim["twin"], row
