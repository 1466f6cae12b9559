"""Entities found step by step are those that spaCy's own loop finds, in whatever company a text is read."""

from pathlib import Path

import pytest
import spacy

from services.common.adapters.spacy import decoding
from services.common.adapters.spacy.decoding import MOST_TOKENS, annotate, can_step
from services.common.adapters.spacy.reading import PIECE_TOKENS, SpacyReading

ROOT = Path(__file__).parents[4]
ODD = ["", " ", "\n\n", ".", "5", "Ärzte in Köln", "NASA " * 90, "a", "日本 2024", "x" * 300]


@pytest.fixture(scope="module")
def pipeline():
    return SpacyReading.load(ROOT / "model_repository" / "ner" / "1").pipeline


@pytest.fixture(scope="module")
def texts():
    lines = [line for path in sorted(ROOT.glob("examples/handbook/0*.md")) for line in path.read_text().splitlines()]
    return [*ODD, *lines[:260], *ODD]


def entities(documents):
    return [[(one.label_, one.start_char, one.end_char) for one in document.ents] for document in documents]


@pytest.mark.parametrize("step", [1, 7, 1_000])
def test_they_are_those_of_its_own_loop(pipeline, texts, step):
    chosen = texts if step > 1 else texts[:40]
    expected, found = [], []
    for start in range(0, len(chosen), step):
        some = chosen[start : start + step]
        expected += entities(pipeline.pipe(some))
        documents = [pipeline.make_doc(text) for text in some]
        annotate(pipeline.get_pipe("ner"), documents)
        found += entities(documents)
    assert found == expected
    assert step == 1 or sum(map(len, found)) > 50


def test_no_text_is_lost_where_a_batch_is_cut(pipeline, texts, monkeypatch):
    monkeypatch.setattr(decoding, "MOST_TOKENS", 100)
    documents = [pipeline.make_doc(text) for text in texts]
    watched = Watched(pipeline.get_pipe("ner"))
    annotate(watched, documents)
    read = [length for batch in watched.batches for length in batch]
    assert sorted(filter(None, read)) == sorted(filter(None, map(len, documents)))
    assert all(sum(batch) <= 100 or len(batch) == 1 for batch in watched.batches)
    assert sum(map(len, entities(documents))) > 50


def test_only_a_greedy_recogniser_alone_is_stepped(pipeline):
    assert can_step(pipeline)
    assert not can_step(spacy.blank("en"))
    for component in ("entity_ruler", "beam_ner"):
        other = spacy.blank("en")
        other.add_pipe(component, name="ner")
        assert not can_step(other)


class Watched:
    """The delivered recogniser, noting the tokens of each document of the batches that its model reads."""

    def __init__(self, recognizer):
        self._recognizer = recognizer
        self.moves = recognizer.moves
        self.model = self
        self.batches = []

    def predict(self, documents):
        self.batches.append([len(document) for document in documents])
        return self._recognizer.model.predict(documents)

    def clear_memory(self):
        self._recognizer.model.clear_memory()

    def __getattr__(self, name):
        return getattr(self._recognizer, name)


@pytest.mark.tenth(share=3)
@pytest.mark.parametrize("text", ["1-" * 10_000, "(2) " * 9_000, "a. 3 (b) = " * 4_000])
def test_marks_and_digits_are_read_in_pieces_and_batches_of_bounded_size(pipeline, text, monkeypatch):
    reading = SpacyReading(pipeline)
    watched = Watched(pipeline.get_pipe("ner"))
    monkeypatch.setattr(reading, "_recognizer", watched)
    (entities,) = reading.entities([text])
    assert sum(sum(map(str.isdigit, one.text)) for one in entities) == sum(map(str.isdigit, text))
    assert len(watched.batches) > 1
    assert all(sum(batch) <= MOST_TOKENS for batch in watched.batches)
    assert max(map(max, watched.batches)) <= PIECE_TOKENS * 1.3
