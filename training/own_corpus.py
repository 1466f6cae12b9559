"""The corpus of our own as rows to learn from: passages of contracts, leaflets, manuals and policies with claims.

``train.jsonl`` holds claims in the voice of the passage, ``answers.jsonl`` free rewordings as one person answers
another.
One passage in seven, by its id, is held back from training: what is developed is measured on it. The test part
(``test.jsonl.gz``) is never read here.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

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
    """A claim that its passage bears out, and the nearest that is not borne out: in words, or by the passage alone."""

    supported: GroundingRow
    unsupported: GroundingRow


def own_twins(path: Path = CORPUS, *, held_back: bool = False) -> list[Twin]:
    """Return the twins of the passages to learn from, or of those that are held back.

    A claim stands beside itself: about the passage that bears it out, and about the one that was turned round, so that
    nothing in its style tells the label. Where no passage was turned, a claim of ``train.jsonl`` stands beside its twin
    about the same passage, and an answer is left out, since style tells labels of answers.

    Each row's query is its question, its twin's words and what was changed in the passage, so that the window which is
    cut for it holds what decides, and its choice tells nothing of the label.
    """
    found = []
    for passage in _passages(path, held_back=held_back):
        claims = {claim["id"]: claim for claim in passage["claims"]}
        for claim in passage["claims"]:
            if claim["supported"]:
                found += _twins(passage, claim, claims[claim["twin"]])
    return found


def _twins(passage: Mapping[str, Any], right: Mapping[str, Any], wrong: Mapping[str, Any]) -> list[Twin]:
    edits = right.get("turned", ())
    changed = [text for edit in edits for text in edit]
    for_right, for_wrong = (
        " ".join(filter(None, (right.get("question"), other["claim"], *changed))) for other in (wrong, right)
    )
    kept = Twin(_row(passage, right, for_right), _row(passage, wrong, for_wrong))
    if not edits:
        return [] if "question" in right else [kept]
    there = {**passage, "passage": turned(passage["passage"], edits)}
    now_wrong = replace(_row(there, right, for_right), supported=False, spans=None)
    now_right = replace(_row(there, wrong, for_wrong), supported=True, spans=())
    return [Twin(kept.supported, now_wrong), Twin(now_right, kept.unsupported)]


def turned(passage: str, edits: Iterable[tuple[str, str]]) -> str:
    """Return a passage with each first text of ``edits``, which stands there once, in place of which the second stands.

    Raises:
        ValueError: a text does not stand there once.
    """
    for old, new in edits:
        if (times := passage.count(old)) != 1:
            raise ValueError(f"{old!r} stands {times} times in the passage, not once")
        passage = passage.replace(old, new)
    return passage


def _rows(path: Path, *, held_back: bool) -> Iterator[GroundingRow]:
    for passage in _passages(path, held_back=held_back):
        for claim in passage["claims"]:
            yield _row(passage, claim, claim.get("question"))


def _passages(path: Path, *, held_back: bool) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            passage = json.loads(line)
            if is_held_back(passage["id"]) is held_back:
                yield passage


def _row(passage: Mapping[str, Any], claim: Mapping[str, Any], query: str | None) -> GroundingRow:
    presented = statement(claim["claim"], claim.get("question"))
    moved = presented.claim_start
    spans = tuple((start + moved, end + moved) for start, end in claim["spans"])
    known = () if claim["supported"] else (spans or None)
    premise = f"{passage['title']}\n\n{passage['passage']}"
    return GroundingRow(premise, presented.text, claim["supported"], known, f"own/{claim['kind']}", query)
