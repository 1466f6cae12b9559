"""What retrieval is measured on: Cranfield, and the articles that WiCE's claims cite.

Each set has two halves. Whatever is chosen (depths, models, weights) is chosen on ``development``; ``report`` is read
afterwards. Cranfield is halved by the place of its queries, WiCE by the folds of its rows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from evaluation.data import EvaluationDataError, rows
from evaluation.retrieval import facts_of

DEVELOPMENT: Final = "development"
REPORT: Final = "report"
HALVES: Final = (DEVELOPMENT, REPORT)
CRANFIELD: Final = "Cranfield"
WICE: Final = "WiCE"
CRANFIELD_DOCUMENTS: Final = "retrieval/cranfield_docs.jsonl.gz"
CRANFIELD_QUERIES: Final = "retrieval/cranfield_queries.jsonl.gz"
GROUNDING: Final = "grounding/dev.jsonl.gz"


@dataclass(frozen=True, slots=True)
class Question:
    """A query with what is relevant to it.

    Attributes:
        relevant: documents by id, each with its grade, higher is better.
    """

    text: str
    half: str
    relevant: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class RetrievalSet:
    """A corpus and queries.

    Attributes:
        facts: (document, fact) in reading order, no fact twice in a document.
        files: of the data folder, that it was read from.
    """

    name: str
    facts: tuple[tuple[str, str], ...]
    questions: tuple[Question, ...]
    files: tuple[str, ...]

    def of_half(self, half: str, limit: int | None) -> tuple[Question, ...]:
        """Return the questions of a half, at most ``limit``."""
        return tuple(one for one in self.questions if one.half == half)[:limit]


async def cranfield(data: Path) -> RetrievalSet:
    """Return Cranfield: abstracts cut into facts by the product's chunker, queries with graded relevance.

    Raises:
        EvaluationDataError: a file is not there.
    """
    queries = rows(data, CRANFIELD_QUERIES)
    facts = await facts_of(rows(data, CRANFIELD_DOCUMENTS))
    questions = (
        Question(query["text"], HALVES[place % 2], query["relevant"])
        for place, query in enumerate(queries)
        if query["relevant"]
    )
    return RetrievalSet(CRANFIELD, _once(facts), tuple(questions), (CRANFIELD_DOCUMENTS, CRANFIELD_QUERIES))


async def wice(data: Path) -> RetrievalSet:
    """Return WiCE: every sentence of every cited article is a fact; a claim is to find the article that it cites.

    The rows say which article, not which of its sentences, so that an article ranks by its best sentence. Claims that
    their article does not bear out at all are left out.

    Raises:
        EvaluationDataError: the file is not there, or holds no row of the data set.
    """
    found = [row for row in rows(data, GROUNDING) if row["dataset"] == "wice"]
    if not found:
        raise EvaluationDataError(f"{data / GROUNDING} holds no row of the data set wice")
    return wice_set(found)


def wice_set(found: Sequence[Mapping[str, Any]]) -> RetrievalSet:
    """Return the set of these rows."""
    articles: dict[tuple[str, ...], str] = {}
    for row in found:
        articles.setdefault(tuple(row["context"]), f"article-{len(articles)}")
    facts = [(name, sentence.strip()) for context, name in articles.items() for sentence in context if sentence.strip()]
    questions = (
        Question(
            row["claim"],
            DEVELOPMENT if row.get("fold") in {"fit", "calibrate"} else REPORT,
            {articles[tuple(row["context"])]: 1.0},
        )
        for row in found
        if row.get("detail") != "not_supported"
    )
    return RetrievalSet(WICE, _once(facts), tuple(questions), (GROUNDING,))


def _once(facts: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    return tuple(dict.fromkeys(facts))
