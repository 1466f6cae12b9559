"""The tables on search of ``docs/retrieval.md``, from docs/results/search.json alone.

The file keeps ranks; every figure, difference and interval is computed from them, so that a page can be written again
without measuring anything. A part of a compound question counts as much as the question has parts.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evaluation.data import EvaluationDataError
from evaluation.metrics import bootstrap_interval
from evaluation.retrieval_sets import HALVES
from evaluation.search_modes import BY_RANKS, COMPOUND, CUT, LIBRARY, LIBRARY_FIELDS, WHOLE
from evaluation.tables import Table
from services.common.taxonomy import RetrievalMode

Values = NDArray[np.float64]

NAMES: Final = {
    LIBRARY: "BM25 (bm25s)",
    LIBRARY_FIELDS: "BM25 (bm25s), with headings",
    RetrievalMode.DENSE.name: "dense, the former default",
    RetrievalMode.TEXT.name: "text",
    BY_RANKS: "both by reciprocal ranks",
    RetrievalMode.HYBRID.name: "hybrid, the default",
    RetrievalMode.RERANKED.name: "reranked",
    RetrievalMode.LATE_INTERACTION.name: "late interaction",
}
ALL: Final = "mean of the sets"
_MEASURES: Final[Mapping[str, Callable[[int], float]]] = {
    "hit@1": lambda rank: float(rank == 1),
    "hit@5": lambda rank: float(0 < rank <= 5),
    "hit@10": lambda rank: float(0 < rank <= 10),
    "MRR@10": lambda rank: 1.0 / rank if rank else 0.0,
}
_LISTS: Final = (RetrievalMode.DENSE.name, RetrievalMode.TEXT.name)
_DEFAULT: Final = RetrievalMode.HYBRID.name
_SECTION: Final = re.compile(
    r"^<!-- begin search-(?P<half>\S+) -->$.*?^<!-- end search-(?P=half) -->$", re.MULTILINE | re.DOTALL
)


def values(ranks: Sequence[Sequence[int]], measure: str) -> Values:
    """Return a measure of each question: the mean over its parts."""
    of_rank = _MEASURES[measure]
    return np.array([float(np.mean([of_rank(rank) for rank in parts])) for parts in ranks])


def interval(found: Values, strata: NDArray[np.intp] | None = None) -> tuple[float, float]:
    """Return the 95% bootstrap interval of the mean over questions; with strata of the mean of the strata's means.

    Raises:
        EvaluationDataError: there is no question.
    """
    groups = np.zeros(len(found), dtype=np.intp) if strata is None else strata
    weights = 1.0 / np.bincount(groups)[groups] / len(np.unique(groups))
    drawn = bootstrap_interval(lambda rows: float((found[rows] * weights[rows]).sum()), groups)
    if drawn is None:
        raise EvaluationDataError("there is no question to measure")
    return drawn


def tables(half: str, kept: Mapping[str, Any]) -> tuple[Table, ...]:
    """Return a half's tables: every mode on every set, the default's differences, compound questions."""
    return (_modes(half, kept), _differences(half, kept), _compound(half, kept))


def _modes(half: str, kept: Mapping[str, Any]) -> Table:
    rows: list[tuple[str, ...]] = []
    for name, one in kept.items():
        for mode in (mode for mode in NAMES if mode in one["ranks"]):
            cells = [f"{values(one['ranks'][mode], measure).mean():.3f}" for measure in _MEASURES]
            low, high = interval(values(one["ranks"][mode], "MRR@10"))
            rows.append((name, str(one["questions"]), NAMES[mode], *cells, f"{low:.3f} to {high:.3f}"))
    for mode in (mode for mode in NAMES if all(mode in one["ranks"] for one in kept.values())):
        each = [[values(one["ranks"][mode], measure).mean() for measure in _MEASURES] for one in kept.values()]
        low, high = interval(*_together(kept, partial(_of_mode, mode)))
        means = [f"{mean:.3f}" for mean in np.mean(each, axis=0)]
        rows.append((ALL, "", NAMES[mode], *means, f"{low:.3f} to {high:.3f}"))
    columns = ("set", "questions", "mode", *_MEASURES, "MRR@10, 95%")
    return Table(f"search-{half}", f"Search, {half}", columns, tuple(rows))


def _of_mode(mode: str, ranks: Mapping[str, Sequence[Sequence[int]]]) -> Values:
    return values(ranks[mode], "MRR@10")


def _differences(half: str, kept: Mapping[str, Any]) -> Table:
    """Return what the default has more than the better of its two lists, and than the former default."""
    rows: list[tuple[str, ...]] = []
    for name, one in kept.items():
        ranks = one["ranks"]
        cells: list[str] = []
        for measure in _MEASURES:
            best = max((values(ranks[each], measure) for each in _LISTS), key=lambda found: float(found.mean()))
            cells.append(_more(values(ranks[_DEFAULT], measure) - best))
        rows.append((name, *cells, _more(_gain(ranks))))
    found, strata = _together(kept, _gain)
    low, high = interval(found, strata)
    mean = float(np.mean([_gain(one["ranks"]).mean() for one in kept.values()]))
    rows.append((ALL, "", "", "", "", f"{mean:+.3f} ({low:+.3f} to {high:+.3f})"))
    columns = ("set", *(f"{measure} against the better list" for measure in _MEASURES), "MRR@10 against dense")
    return Table(f"search-{half}-differences", "The default's differences, 95% paired", columns, tuple(rows))


def _gain(ranks: Mapping[str, Sequence[Sequence[int]]]) -> Values:
    return values(ranks[_DEFAULT], "MRR@10") - values(ranks[RetrievalMode.DENSE.name], "MRR@10")


def _compound(half: str, kept: Mapping[str, Any]) -> Table:
    """Return for which share of the parts of compound questions an answer is a candidate of an envelope."""
    rows: list[tuple[str, ...]] = []
    for name, one in kept.items():
        places = [place for place, kind in enumerate(one["kinds"]) if kind == COMPOUND]
        if places:
            shares = [np.mean([np.mean(one["ranks"][mode][place]) for place in places]) for mode in (WHOLE, CUT)]
            rows.append((name, str(len(places)), *(f"{share:.3f}" for share in shares)))
    columns = ("set", "compound questions", "parts among the candidates, searched whole", "by sub-queries")
    return Table(f"search-{half}-compound", "Compound questions", columns, tuple(rows))


def _together(
    kept: Mapping[str, Any], of_ranks: Callable[[Mapping[str, Any]], Values]
) -> tuple[Values, NDArray[np.intp]]:
    """Return the values of all sets one after the other, and which set each is of."""
    each = [of_ranks(one["ranks"]) for one in kept.values()]
    return np.concatenate(each), np.repeat(np.arange(len(each)), [len(found) for found in each])


def _more(found: Values) -> str:
    low, high = interval(found)
    return f"{found.mean():+.3f} ({low:+.3f} to {high:+.3f})"


def rewritten(page: str, document: Mapping[str, Any]) -> str:
    """Return the page with the tables of both halves between its markers.

    Raises:
        EvaluationDataError: a marker names no half.
    """

    def section(match: re.Match[str]) -> str:
        half = match["half"]
        if half not in HALVES:
            raise EvaluationDataError(f"a marker names {half}; the halves are {', '.join(HALVES)}")
        kept = document["halves"].get(half)
        body = "Not measured yet." if not kept else "\n\n".join(table.markdown() for table in tables(half, kept))
        return f"<!-- begin search-{half} -->\n\n{body}\n\n<!-- end search-{half} -->"

    return _SECTION.sub(section, page)
