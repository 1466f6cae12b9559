"""From which probability on a word counts as unsupported: measured where real spans can be had.

One data set (bump) holds each text twice, as it was and with one error put in. The words that differ are the span.
Their ids differ in ``-ref-`` and ``-edit-`` alone.
"""

from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Any, Final

import numpy as np

from services.common.grounding.words import words
from training.combiner_data import Table

_REFERENCE: Final = "-ref-"
_EDITED: Final = "-edit-"
_CUTS: Final = tuple(round(float(cut), 2) for cut in np.arange(0.05, 1.0, 0.05))
_DEFAULT: Final = 0.5
"""Where no pair is to be had: more likely unsupported than not."""


def choose_span_threshold(calibrate: Table, report: Table) -> dict[str, Any]:
    """Return the threshold with the best F1 over words on ``calibrate`` and the figures of both folds there.

    Returns:
        ``threshold``, and ``calibrate`` and ``report``: number of texts and words' precision, recall and F1.
    """
    known = list(_pairs(calibrate))
    if not known:
        return {"threshold": _DEFAULT, "calibrate": None, "report": None}
    threshold = max(_CUTS, key=lambda cut: _figures(known, cut)["f1"])
    new = list(_pairs(report))
    return {
        "threshold": threshold,
        "calibrate": _figures(known, threshold),
        "report": _figures(new, threshold) if new else None,
    }


def changed_words(reference: str, edited: str) -> set[int]:
    """Return where the words of the edited text begin that the reference does not have at that place."""
    before, after = words(reference), words(edited)
    matcher = SequenceMatcher(None, [word.stem for word in before], [word.stem for word in after], autojunk=False)
    return {
        after[number].start
        for tag, _, _, start, end in matcher.get_opcodes()
        if tag != "equal"
        for number in range(start, end)
    }


def _pairs(table: Table) -> Iterator[tuple[set[int], tuple[tuple[int, int, float], ...]]]:
    """Yield for each edited text where its changed words begin, and the doubts about its words."""
    references = {row.id.replace(_REFERENCE, _EDITED): row.claim for row in table.rows if _REFERENCE in row.id}
    for row, doubts in zip(table.rows, table.doubts, strict=True):
        reference = references.get(row.id)
        if _EDITED in row.id and reference is not None:
            changed = changed_words(reference, row.claim)
            if changed:
                yield changed, doubts


def _figures(pairs: list[tuple[set[int], tuple[tuple[int, int, float], ...]]], cut: float) -> dict[str, float]:
    right = flagged = wanted = 0
    for changed, doubts in pairs:
        found = {start for start, _, score in doubts if score >= cut}
        right += len(found & changed)
        flagged += len(found)
        wanted += len(changed)
    return {
        "texts": len(pairs),
        "precision": round(right / flagged, 4) if flagged else 0.0,
        "recall": round(right / wanted, 4) if wanted else 0.0,
        "f1": round(2 * right / (flagged + wanted), 4) if flagged + wanted else 0.0,
    }
