"""What search is measured on: three corpora with questions by other hands, the handbook, Cranfield and WiCE.

Each set has two halves. What is chosen is chosen on ``development``; ``report`` is opened for the last run. A question
names what answers it: facts of a corpus, which hold the words that its writer copied from the document, or documents,
where the data judge no more. Of a compound question each part is looked for by itself.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from evaluation.data import EvaluationDataError, read_rows
from evaluation.retrieval_sets import DEVELOPMENT, HALVES, REPORT, Question, RetrievalSet
from services.common.adapters.tokens.counter import open_token_counter
from services.common.adapters.tokens.table import EXTRACTIVE_MODEL
from services.common.documents.facts.chunking import chunk
from services.common.documents.reading import ReadingLimits, read_document
from services.common.settings.inference import InferenceSettings

CORPORA: Final = ("postgresql", "aiohttp", "policies")
HANDBOOK: Final = "handbook"
FOLDER: Final = Path("tests/vectors/search")
HANDBOOK_DOCUMENTS: Final = Path("examples/handbook")
HANDBOOK_QUESTIONS: Final = Path("tests/vectors/dpe/questions/development-questions.jsonl")
FILES: Final = {DEVELOPMENT: "development.jsonl", REPORT: "report.jsonl.gz"}
_LIMITS: Final = ReadingLimits(32 * 1024 * 1024, 2_000, 20_000_000)
_HELD: Final = 0.8
"""Share of an answer's words that a fact holds which answers."""
_PART: Final = 0.4
"""The same for a fact that is itself nothing but a part of the answer."""
_INSIDE: Final = 0.9
_NEAREST: Final = 0.5
"""Where no fact holds an answer so well, those that hold most of it answer, if it is this much."""
_MARKER: Final = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")
_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class SearchFact:
    """One fact of a set.

    Attributes:
        unit: what a ranking is judged by: the fact itself, or its document.
        location: where it stands in its document, as ingestion writes it.
    """

    key: str
    unit: str
    document: str
    content: str
    location: str


@dataclass(frozen=True, slots=True)
class SearchQuestion:
    """A question.

    Attributes:
        wanted: for each part of it the units that answer it; an empty part is answered by no fact.
    """

    text: str
    half: str
    kind: str
    wanted: tuple[frozenset[str], ...]


@dataclass(frozen=True, slots=True)
class SearchSet:
    """Facts and questions."""

    name: str
    facts: tuple[SearchFact, ...]
    questions: tuple[SearchQuestion, ...]

    def of_half(self, half: str) -> tuple[SearchQuestion, ...]:
        """Return the questions of a half."""
        return tuple(one for one in self.questions if one.half == half)


async def corpus(name: str, halves: Sequence[str], root: Path = FOLDER) -> SearchSet:
    """Return a corpus with the questions of these halves; no other file of questions is opened.

    Raises:
        EvaluationDataError: a file is not there.
    """
    facts = await facts_of(root / name / "documents", name)
    questions = [
        question(row, half, facts) for half in HALVES if half in halves for row in read_rows(root / name / FILES[half])
    ]
    return SearchSet(name, facts, tuple(questions))


async def handbook() -> SearchSet:
    """Return the example's handbook with those of its questions that need no conversation; half ``development``."""
    facts = await facts_of(HANDBOOK_DOCUMENTS, HANDBOOK)
    rows = [row for row in read_rows(HANDBOOK_QUESTIONS) if not row["conversation"]]
    asked = [{**row, "answer": row["quote"], "also": [], "kind": "plain"} for row in rows]
    return SearchSet(HANDBOOK, facts, tuple(question(row, DEVELOPMENT, facts) for row in asked))


def of_documents(one: RetrievalSet) -> SearchSet:
    """Return a set whose data say which documents are relevant, not which facts."""
    facts = tuple(
        SearchFact(f"{one.name} {place}", document, document, content, "")
        for place, (document, content) in enumerate(one.facts)
    )
    return SearchSet(one.name, facts, tuple(map(_of_documents, one.questions)))


def _of_documents(question: Question) -> SearchQuestion:
    relevant = frozenset(name for name, grade in question.relevant.items() if grade > 0)
    return SearchQuestion(question.text, question.half, "plain", (relevant,))


async def facts_of(folder: Path, name: str) -> tuple[SearchFact, ...]:
    """Return the facts that the product makes of a folder's documents.

    Raises:
        EvaluationDataError: there is no document.
    """
    counter = await open_token_counter(InferenceSettings())

    def count(text: str) -> int:
        return counter.count([text], EXTRACTIVE_MODEL)[0]

    found: list[SearchFact] = []
    for path in sorted(folder.glob("*.md")):  # noqa: ASYNC240 - nothing else runs
        document = read_document(path.read_bytes(), "", path.name, _LIMITS)
        for draft in chunk(document, count):
            key = f"{name} {len(found)}"
            found.append(SearchFact(key, key, path.name, draft.content, draft.location))
    if not found:
        raise EvaluationDataError(f"{folder} holds no document")
    return tuple(found)


def question(row: Mapping[str, Any], half: str, facts: Iterable[SearchFact]) -> SearchQuestion:
    """Return a question with the facts that answer its parts."""
    parts: list[list[str]] = row.get("parts") or [[row["answer"], *row.get("also", [])]]
    elsewhere = [_elsewhere(each) for each in (*row.get("elsewhere", ()), *row.get("also_elsewhere", ()))]
    by_document: dict[str, list[SearchFact]] = {}
    for fact in facts:
        by_document.setdefault(fact.document, []).append(fact)
    wanted = []
    for number, texts in enumerate(parts, start=1):
        places = [(row["document"], text) for text in texts]
        places += [(document, text) for document, text, part in elsewhere if part == number]
        wanted.append(
            frozenset(key for document, text in places for key in answering(text, by_document.get(document, ())))
        )
    return SearchQuestion(row["question"], half, row["kind"], tuple(wanted))


def _elsewhere(entry: Mapping[str, Any] | Sequence[str]) -> tuple[str, str, int]:
    """Return document, answer and part."""
    if isinstance(entry, Mapping):
        return entry["document"], entry["answer"], int(entry.get("part", 1))
    return entry[0], entry[1], 1


def answering(answer: str, facts: Iterable[SearchFact]) -> list[str]:
    """Return the facts that hold an answer: most of its words in its order, or a good part of it and nothing else.

    The words of a table's row are compared without their order: a fact names the columns between them.
    """
    measured = _pairs if not answer.lstrip().startswith("|") else _words
    wanted = measured(_MARKER.sub("", answer))
    total = wanted.total()
    if not total:
        return []
    shares = []
    for fact in facts:
        own = measured(fact.content)
        both = (wanted & own).total()
        shares.append((both / total, both / max(own.total(), 1), fact.key))
    found = [key for held, inside, key in shares if held >= _HELD or (held >= _PART and inside >= _INSIDE)]
    most = max((held for held, _, _ in shares), default=0.0)
    return found or [key for held, _, key in shares if held == most >= _NEAREST]


def _words(text: str) -> "Counter[tuple[str, ...]]":
    return Counter((word,) for word in _WORD.findall(text.casefold()))


def _pairs(text: str) -> "Counter[tuple[str, ...]]":
    words = _WORD.findall(text.casefold())
    return Counter(pairwise(words)) if len(words) > 1 else _words(text)
