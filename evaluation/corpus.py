"""The corpus of passages as users have them, as pairs: a claim that a passage bears out and its twin that it does not.

Each passage is checked as a document, as users give one (training/corpus). Of the train part alone: the test part stays
closed until encoders have learnt from the other.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from evaluation.data import read_rows
from evaluation.held_back import require_digest
from evaluation.pairs import PairRecord

TRAIN: Final = Path(__file__).resolve().parents[1] / "training" / "corpus" / "train.jsonl"


def read_corpus(path: Path = TRAIN, chosen: Callable[[str], bool] | None = None) -> list[PairRecord]:
    """Return every pair of twins, of the kind that the wrong one has.

    Args:
        path: a file of the corpus.
        chosen: says by its id which passage is taken; ``None`` = every one.

    Raises:
        EvaluationDataError: no such file, or another SHA-256 than the README's.
    """
    rows = read_rows(path)
    require_digest(path, path.read_bytes())
    return [record for row in rows if chosen is None or chosen(row["id"]) for record in _pairs(row)]


def _pairs(row: Mapping[str, Any]) -> Iterator[PairRecord]:
    claims = {claim["id"]: claim for claim in row["claims"]}
    for claim in row["claims"]:
        if not claim["supported"]:
            true, asked = claims[claim["twin"]]["claim"], claim.get("question") or ""
            yield PairRecord(
                claim["id"], claim["kind"], (row["passage"],), asked, true, claim["claim"], title=row["title"]
            )
