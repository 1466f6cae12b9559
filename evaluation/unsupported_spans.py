"""Which part of a claim is not supported: spans that the model marks against spans that people, or a generator, marked.

By characters, as RAGTruth counts: a character is right when it lies in a marked span and in a span found; precision,
recall and F1 are over all characters of a set. By example: a claim is right when it is rightly said to hold something
unsupported, once by the model's verdict and once by whether it marks any span at all.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from evaluation.labelled import LabelledClaim
from evaluation.metrics import SpanCounts
from services.common.ports.grounding import GroundingVerdict

CHARACTERS: Final = "characters"
VERDICTS: Final = "examples, by verdict"
MARKS: Final = "examples, by any span"


@dataclass(frozen=True, slots=True)
class SpanResult:
    """One way of counting on one data set.

    Attributes:
        dataset: the set.
        counted: characters, or examples by one of two rules.
        rows: claims with known spans, among them those of which nothing is unsupported.
        precision: share of what was found that is right.
        recall: share of what there is that was found.
        f1: their harmonic mean.
    """

    dataset: str
    counted: str
    rows: int
    precision: float
    recall: float
    f1: float


def score(judged: Sequence[tuple[LabelledClaim, GroundingVerdict]]) -> tuple[SpanResult, ...]:
    """Score the claims whose unsupported spans are known; others are left out."""
    known = [(claim, claim.spans, verdict) for claim, verdict in judged if claim.spans is not None]
    results: list[SpanResult] = []
    for name in sorted({claim.dataset for claim, _, _ in known}):
        counts = dict.fromkeys((CHARACTERS, VERDICTS, MARKS), SpanCounts())
        rows = [(truth, verdict) for claim, truth, verdict in known if claim.dataset == name]
        for truth, verdict in rows:
            found = [(span.start, span.end) for span in verdict.spans]
            wanting = bool(truth)
            counts[CHARACTERS] = counts[CHARACTERS].plus_characters(found, truth)
            counts[VERDICTS] = counts[VERDICTS].plus_example(guess=not verdict.supported, truth=wanting)
            counts[MARKS] = counts[MARKS].plus_example(guess=bool(found), truth=wanting)
        results += [
            SpanResult(name, counted, len(rows), one.precision, one.recall, one.f1) for counted, one in counts.items()
        ]
    return tuple(results)
