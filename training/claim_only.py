"""What can be guessed from the claim alone: a baseline for every set, and the rows that teach little else.

A set whose wording gives its labels away teaches an encoder to judge the wording. ``guesses`` says for each row how
likely its true label is to a reader who sees only the claim: logistic regression on words and pairs of words, fitted on
the other rows of the set, never on a row with the same context.

    python -m training.claim_only [--data DIR]

prints the area under the curve of that reader for every set, the baseline that belongs beside every figure: for our own
corpus, and with a folder for the public sets.
"""

import argparse
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold

from training.own_corpus import ANSWERS, CORPUS, own_rows, own_twins
from training.rows import CheckedText, GroundingRow, read_more

FOLDS: Final = 5
MIN_ROWS: Final = 50
"""A set of fewer rows, or of one class, has no such reader: every label is as likely as not."""
UNKNOWN: Final = 0.5


def guesses(rows: Sequence[CheckedText]) -> NDArray[np.float64]:
    """Return for each row how likely its own label is by the claim alone, ``(rows,)``, 0 to 1.

    Args:
        rows: of any sets; each set is judged by itself.
    """
    found = np.full(len(rows), UNKNOWN)
    for places in _by_set(rows).values():
        labels = np.array([rows[place].supported for place in places], dtype=np.int64)
        contexts = _groups([rows[place] for place in places])
        if len(places) < MIN_ROWS or len(set(contexts)) < FOLDS or not _both_classes(labels, contexts):
            continue
        supported = _supported([rows[place].claim for place in places], labels, contexts)
        found[places] = np.where(labels == 1, supported, 1.0 - supported)
    return found


def areas(rows: Sequence[CheckedText]) -> dict[str, float]:
    """Return for each set the area under the curve of a reader of the claims alone; 0.5 where there is none."""
    own = guesses(rows)
    result: dict[str, float] = {}
    for name, places in _by_set(rows).items():
        labels = [rows[place].supported for place in places]
        supported = [own[place] if rows[place].supported else 1.0 - own[place] for place in places]
        result[name] = float(roc_auc_score(labels, supported)) if len(set(labels)) > 1 else UNKNOWN
    return result


def _supported(claims: Sequence[str], labels: NDArray[np.int64], contexts: Sequence[int]) -> NDArray[np.float64]:
    found = np.zeros(len(claims))
    for fitted, judged in GroupKFold(FOLDS).split(claims, labels, contexts):
        words = TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True)
        reader = LogisticRegression(C=4.0, max_iter=300, class_weight="balanced")
        reader.fit(words.fit_transform([claims[place] for place in fitted]), labels[fitted])
        found[judged] = reader.predict_proba(words.transform([claims[place] for place in judged]))[:, 1]
    return found


def _both_classes(labels: NDArray[np.int64], contexts: Sequence[int]) -> bool:
    """Say whether every part that is fitted on has both classes."""
    parts = GroupKFold(FOLDS).split(labels, labels, contexts)
    return all(len(set(labels[fitted].tolist())) > 1 for fitted, _ in parts)


def _groups(rows: Sequence[CheckedText]) -> list[int]:
    numbers: dict[tuple[str, ...], int] = {}
    return [numbers.setdefault(row.context, len(numbers)) for row in rows]


def _by_set(rows: Sequence[CheckedText]) -> Mapping[str, list[int]]:
    found: dict[str, list[int]] = defaultdict(list)
    for place, row in enumerate(rows):
        found[row.dataset].append(place)
    return found


def own_sets() -> list[CheckedText]:
    """Return claims and answers of the corpus of our own, and the answers beside the passages that were turned, too.

    Rows that rest on one passage, turned or not, have its text as their context.
    """
    found = [
        _own(f"own {path.stem}, as written", row.premise, row)
        for path in (CORPUS, ANSWERS)
        for row in own_rows(path) + own_rows(path, held_back=True)
    ]
    twins = own_twins(ANSWERS) + own_twins(ANSWERS, held_back=True)
    for first, second in zip(twins[::2], twins[1::2], strict=True):
        written = first.supported.premise
        found += [_own("own answers, turned too", written, row) for row in (*first, *second)]
    return found


def _own(dataset: str, written: str, row: GroundingRow) -> CheckedText:
    return CheckedText(
        "", dataset, "claim", (written,), row.claim, row.supported, "fit", row.query, None, None, clear=True
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the baseline of every set."""
    parser = argparse.ArgumentParser(prog="python -m training.claim_only", description=__doc__)
    parser.add_argument("--data", type=Path, help="folder with grounding/more.jsonl.gz; without it our own sets alone")
    options = parser.parse_args(arguments)
    rows = own_sets() + (read_more(options.data) if options.data else [])
    sizes = {name: len(places) for name, places in _by_set(rows).items()}
    print(f"{'set':<28}{'rows':>7}{'AUROC, claim only':>20}")
    for name, area in sorted(areas(rows).items(), key=lambda item: -item[1]):
        print(f"{name:<28}{sizes[name]:>7}{area:>20.3f}")


if __name__ == "__main__":
    main()
