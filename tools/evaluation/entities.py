"""Entities on Wikigold: exact spans with their kinds, persons, organisations and locations; MISC is left out."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from rich.progress import Progress

from services.common.adapters.spacy.recognizer import open_recognizer
from services.common.ports.recognition import EntityKind
from services.common.settings.inference import InferenceSettings
from tools.evaluation.data import rows
from tools.evaluation.figures import Figure
from tools.evaluation.metrics import SpanCounts
from tools.measure_models import gold_spans

TAGS: Final = {EntityKind.PERSON: "PER", EntityKind.ORGANISATION: "ORG", EntityKind.LOCATION: "LOC"}
BASELINE: Final = "capitalised runs, any kind"
_SLICE: Final = 128

Spans = set[tuple[int, int]]


def capitalised_runs(tokens: Sequence[str]) -> Spans:
    """Return runs of capitalised words but for a lone first word, as offsets in the tokens joined by spaces."""
    spans: list[tuple[int, int]] = []
    start = 0
    open_run = False
    for token in tokens:
        if token[:1].isupper():
            spans = (
                [*spans[:-1], (spans[-1][0], start + len(token))] if open_run else [*spans, (start, start + len(token))]
            )
        open_run = token[:1].isupper()
        start += len(token) + 1
    return {span for span in spans if span != (0, len(tokens[0]))} if tokens else set()


async def measure(data: Path, progress: Progress, limit: int | None) -> list[Figure]:
    """Measure F1 for each kind and for all; ``limit`` bounds the sentences."""
    sentences = rows(data, "ner/wikigold_dev.jsonl.gz")[:limit]
    names = (*TAGS.values(), "all")
    ours = dict.fromkeys(names, SpanCounts())
    baseline = dict.fromkeys(names, SpanCounts())
    task = progress.add_task("Wikigold sentences", total=len(sentences))
    recogniser = await open_recognizer(InferenceSettings())
    try:
        for start in range(0, len(sentences), _SLICE):
            block = sentences[start : start + _SLICE]
            found = await recogniser.recognize([" ".join(row["tokens"]) for row in block])
            for row, entities in zip(block, found, strict=True):
                truth = gold_spans(row["tokens"], row["tags"])
                guess = {(TAGS[one.kind], one.start, one.end) for one in entities if one.kind in TAGS}
                runs = capitalised_runs(row["tokens"])
                for name in names:
                    true = {span for span in truth if name in {"all", span[0]}}
                    ours[name] = ours[name].plus({span for span in guess if name in {"all", span[0]}}, true)
                    baseline[name] = baseline[name].plus(runs, {span[1:] for span in true})
            progress.advance(task, len(block))
    finally:
        await recogniser.close()
    return [
        Figure(
            "entities",
            f"Wikigold {name}",
            ours[name].truths,
            "recogniser",
            "F1",
            ours[name].f1,
            BASELINE,
            baseline[name].f1,
        )
        for name in names
    ]
