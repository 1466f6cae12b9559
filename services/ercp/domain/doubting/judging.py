"""What the models' answers on two statements mean: an error, a doubt, or nothing (ADR 0179).

An error is what a rule and a model see alike, and surely; a doubt is what neither can rule out. A doubt is no error of
ERCP 1.0 §4.2 and no constraint comes of it by itself; while one is open, nothing has converged.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from services.common.ports.entailment import CONTRADICTION
from services.ercp.domain.doubting.planning import Pair, Statements
from services.ercp.domain.faults import CONFIRMED_BY_MODEL, MAX_EXCERPT_CHARS, Suspicion
from services.ercp.domain.identifiers import derived_uuid
from services.ercp.domain.records import Doubt, Evidence, Fault
from services.ercp.domain.vocabulary import Detector, ErrorType

PASSAGE_ERROR: Final = (0.5, 0.5)
"""From this probability of contradiction (the mean of both ways) and this cosine on, another amount than a passage's is
an error; all pairs of bounds were taken from open problems (ADR 0179)."""
PASSAGE_DOUBT: Final = (0.0, 0.45)
AMOUNT_ERROR: Final = (0.55, 0.65)
"""The same for two amounts of one draft."""
AMOUNT_DOUBT: Final = (0.4, 0.6)
DENIAL_DOUBT: Final = (0.55, 0.5)
"""The same for two sentences of one draft of which one denies."""
MOST_SURE: Final = 0.59
"""A doubt is less sure than what is reported as an error (§7)."""


def judge(
    pairs: Sequence[Pair],
    draft: Statements,
    passages: Sequence[Statements],
    contradicted: Sequence[float],
    alike: Sequence[float],
) -> tuple[list[Suspicion], list[Doubt]]:
    """Return the errors and the doubts, in the order of the pairs.

    Args:
        pairs: as planned.
        draft: that they are of.
        passages: that they are of, where ``passage`` is no ``None``.
        contradicted: P(contradiction) of each pair, the mean of both ways.
        alike: cosine of the two sentences of each.
    """
    errors, doubts = list[Suspicion](), list[Doubt]()
    for pair, score, cosine in zip(pairs, contradicted, alike, strict=True):
        sure, open_from = _bounds(pair)
        home = draft if pair.passage is None else passages[pair.passage]
        if sure is not None and _reaches(score, cosine, sure):
            errors.append(_error(pair, draft, home, score))
        elif _reaches(score, cosine, open_from):
            doubts.append(_doubt(pair, draft, home, score))
    return errors, doubts


def texts_of(pairs: Sequence[Pair], draft: Statements, passages: Sequence[Statements]) -> list[tuple[str, str]]:
    """Return what the models read of each pair: both sentences, pronouns spelled out."""
    return [
        (
            draft.topics[each.at].resolved,
            (draft if each.passage is None else passages[each.passage]).topics[each.other].resolved,
        )
        for each in pairs
    ]


def scores_of(rows: NDArray[np.float32]) -> list[float]:
    """Return P(contradiction) of each pair from the rows of both ways, shape ``(2n, 3)``: their mean."""
    return [float(value) for value in rows[:, CONTRADICTION].reshape(-1, 2).mean(axis=1)]


def doubted(doubts: Sequence[Doubt], name: str) -> tuple[Fault, ...]:
    """Return doubts in the form of errors, for constraints to be derived from; the ids follow from ``name``."""
    return tuple(
        Fault(
            error_id=derived_uuid(name, "doubt", str(number)),
            type=each.type,
            confidence=each.confidence,
            detected_by=(Detector.NLI,),
            evidence=(Evidence(each.source or Detector.NLI.value, each.confidence, each.against),),
            span=each.span,
            excerpt=each.excerpt,
        )
        for number, each in enumerate(doubts)
    )


def _bounds(pair: Pair) -> tuple[tuple[float, float] | None, tuple[float, float]]:
    if pair.passage is not None:
        return PASSAGE_ERROR, PASSAGE_DOUBT
    return (AMOUNT_ERROR, AMOUNT_DOUBT) if pair.kind else (None, DENIAL_DOUBT)


def _reaches(score: float, cosine: float, least: tuple[float, float]) -> bool:
    return score >= least[0] and cosine >= least[1]


def _error(pair: Pair, draft: Statements, home: Statements, score: float) -> Suspicion:
    mine, theirs = draft.sentences[pair.at], home.sentences[pair.other]
    is_passage = pair.passage is not None
    kind = ErrorType.FACTUAL_INCORRECT if is_passage else ErrorType.CONTRADICTION
    source = home.source if is_passage else Detector.NLI.value
    evidence = Evidence(source, round(score, 6), theirs.text[:MAX_EXCERPT_CHARS])
    detector = Detector.FACT_CHECK if is_passage else Detector.NLI
    return Suspicion(kind, detector, CONFIRMED_BY_MODEL, (evidence,), (mine.start, mine.end))


def _doubt(pair: Pair, draft: Statements, home: Statements, score: float) -> Doubt:
    mine, theirs = draft.sentences[pair.at], home.sentences[pair.other]
    what = "they give other amounts" if pair.kind else "one of them denies"
    where = "what a passage says" if pair.passage is not None else "what the draft says elsewhere"
    return Doubt(
        type=ErrorType.FACTUAL_INCORRECT if pair.passage is not None else ErrorType.CONTRADICTION,
        confidence=round(min(MOST_SURE, score), 6),
        span=(mine.start, mine.end),
        excerpt=mine.text[:MAX_EXCERPT_CHARS],
        source=home.source if pair.passage is not None else "",
        against=theirs.text[:MAX_EXCERPT_CHARS],
        why=f"this and {where} may be of one thing, and {what}",
    )
