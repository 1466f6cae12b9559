"""Texts with their sources and people's labels, for ``claims``: WiCE, AttributionBench, pairs and passages of our own.

Of the first two the folds ``calibrate``, for development, and ``report``; the encoders have learnt from ``fit``. The
pairs are the development half, the passages the train part: whoever wrote the rules has seen them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from evaluation import corpus, pairs
from evaluation.contexts import sources
from evaluation.data import rows
from evaluation.words import token_recall

SETS: Final = ("wice", "attributionbench", "pairs", "corpus")
CALIBRATE: Final = "calibrate"
REPORT: Final = "report"
_OPENING_CHARS: Final = 200


@dataclass(frozen=True, slots=True)
class LabelledText:
    """A text to verify.

    Attributes:
        dataset: one of ``SETS``.
        fold: ``calibrate`` or ``report``; empty where the set has none.
        document: what the sources are of; texts of one document share it.
        sources: what it is held against.
        facts: the sources as ``check`` gets them, where they are facts; empty: it cuts the paragraphs into facts.
        supported: what people say.
        paragraphs: of the document that ``check`` cuts; empty: the sources.
    """

    id: str
    dataset: str
    fold: str
    document: str
    sources: tuple[str, ...] = field(repr=False)
    text: str = field(repr=False)
    question: str = field(repr=False)
    supported: bool
    facts: tuple[str, ...] = field(default=(), repr=False)
    paragraphs: tuple[str, ...] = field(default=(), repr=False)

    @property
    def recall(self) -> float:
        """The rule of ten lines: the share of the text's words that stand in the sources."""
        return token_recall(self.text, self.sources)


def read_texts(data: Path, sets: Sequence[str], every: int = 1) -> list[LabelledText]:
    """Return the texts of some sets, in a fixed order.

    Args:
        data: folder of the evaluation data.
        sets: of ``SETS``.
        every: of the passages of our own so many documents are taken one; they are many.

    Raises:
        EvaluationDataError: a file is not there, or another than the README's.
    """
    wanted = set(sets)
    found = [one for one in _public(data) if one.dataset in wanted] if wanted & {"wice", "attributionbench"} else []
    if "pairs" in wanted:
        found += _twins("pairs", pairs.read_part(pairs.Part.DEVELOPMENT))
    if "corpus" in wanted:
        records = corpus.read_corpus()
        titles = sorted({one.title for one in records})[::every]
        found += _twins("corpus", [one for one in records if one.title in set(titles)])
    return found


def _public(data: Path) -> Iterator[LabelledText]:
    for row in rows(data, "grounding/dev.jsonl.gz"):
        if row["fold"] in {CALIBRATE, REPORT}:
            context = tuple(row["context"])
            yield LabelledText(
                row["id"],
                row["dataset"],
                row["fold"],
                context[0][:_OPENING_CHARS],
                sources(row["dataset"], context),
                row["claim"],
                row.get("query") or "",
                bool(row["supported"]),
                paragraphs=context,
            )


def _twins(dataset: str, records: Sequence[pairs.PairRecord]) -> Iterator[LabelledText]:
    for record in records:
        given = tuple(f"# {record.title}\n\n{fact}" if record.title else fact for fact in record.facts)
        for answer, true in ((record.true_answer, True), (record.false_answer, False)):
            if answer:
                suffix = "true" if true else "false"
                yield LabelledText(
                    f"{record.id}-{suffix}",
                    dataset,
                    "",
                    record.facts[0][:_OPENING_CHARS],
                    given,
                    answer,
                    record.question,
                    true,
                    () if record.title else record.facts,
                )
