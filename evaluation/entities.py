"""Entities on Wikigold: exact spans with their kinds, persons, organisations and locations; MISC is left out."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Final

from rich.progress import Progress

from evaluation.data import rows
from evaluation.figures import Figure
from evaluation.metrics import SpanCounts
from services.common.adapters.spacy.recognizer import open_recognizer
from services.common.ports.recognition import EntityKind
from services.common.settings.inference import InferenceSettings

TAGS: Final = {EntityKind.PERSON: "PER", EntityKind.ORGANISATION: "ORG", EntityKind.LOCATION: "LOC"}
ALL: Final = "all"
KINDS_IGNORED: Final = "all, kinds ignored"
PARTS: Final = (*TAGS.values(), ALL, KINDS_IGNORED)
BASELINE: Final = "capitalised runs, any kind"
_SLICE: Final = 128

Spans = set[tuple[int, int]]
TypedSpan = tuple[str, int, int]


def gold_spans(tokens: list[str], tags: list[str]) -> set[tuple[str, int, int]]:
    """Return (kind, start, end) in the text of tokens joined by spaces; MISC left out."""
    spans: list[tuple[str, int, int]] = []
    start, previous = 0, "O"
    for token, tag in zip(tokens, tags, strict=True):
        kind = tag.split("-")[-1]
        if kind == "O" or tag.startswith("B-") or kind != previous:
            if kind != "O":
                spans.append((kind, start, start + len(token)))
        else:
            spans[-1] = (kind, spans[-1][1], start + len(token))
        previous = kind
        start += len(token) + 1
    return {span for span in spans if span[0] in TAGS.values()}


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


def chosen(spans: Collection[TypedSpan], part: str) -> set[TypedSpan]:
    """Return the spans of one kind, all of them, or all with their kinds taken away."""
    if part == KINDS_IGNORED:
        return {("", start, end) for _, start, end in spans}
    return {span for span in spans if part in {ALL, span[0]}}


async def measure(data: Path, progress: Progress, limit: int | None) -> list[Figure]:
    """Measure F1 for each kind, for all, and for all with kinds ignored; ``limit`` bounds the sentences."""
    sentences = rows(data, "ner/wikigold_dev.jsonl.gz")[:limit]
    ours = dict.fromkeys(PARTS, SpanCounts())
    baseline = dict.fromkeys(PARTS, SpanCounts())
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
                for part in PARTS:
                    true = chosen(truth, part)
                    ours[part] = ours[part].plus(chosen(guess, part), true)
                    baseline[part] = baseline[part].plus(runs, {span[1:] for span in true})
            progress.advance(task, len(block))
    finally:
        await recogniser.close()
    return [_figure(part, ours[part], baseline[part]) for part in PARTS]


def _figure(part: str, ours: SpanCounts, baseline: SpanCounts) -> Figure:
    return Figure("entities", f"Wikigold {part}", ours.truths, "recogniser", "F1", ours.f1, BASELINE, baseline.f1)
