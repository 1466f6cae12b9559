"""Heads over the inner states of the delivered NLI encoder (ADR 0118)."""

import json

import numpy as np
import pytest

from services.common.adapters.encoders.sentence_heads import (
    GOLDEN_FILE,
    HEADS_FILE,
    open_sentence_heads,
    read_heads,
)
from services.common.model_repository import ModelRepository, ModelRepositoryError, open_repository
from services.common.settings.inference import InferenceSettings

SETTINGS = InferenceSettings()
REPOSITORY = open_repository(SETTINGS)
GOLDEN = json.loads((REPOSITORY.folder("nli") / GOLDEN_FILE).read_text(encoding="utf-8"))


class Stripped(ModelRepository):
    """The delivered repository, with an encoder that comes without heads."""

    def entry(self, name):
        entry = super().entry(name)
        return entry.model_copy(update={"files": tuple(file for file in entry.files if file.role != "heads")})


@pytest.fixture
async def heads():
    opened = await open_sentence_heads(SETTINGS)
    assert opened is not None
    assert opened.at_rest  # the graph is loaded by its first use
    yield opened
    await opened.close()


async def test_the_heads_answer_what_they_answered_when_they_were_fitted(heads):
    assert heads.fingerprint == GOLDEN["heads"]
    texts = [each["text"] for each in GOLDEN["sentences"]]
    for each in GOLDEN["pairs"]:
        texts += [each["first"], each["second"]]
    start = len(GOLDEN["sentences"])
    read = await heads.read(texts, [(start + 2 * at, start + 2 * at + 1) for at in range(len(GOLDEN["pairs"]))])
    assert len(GOLDEN["sentences"]) >= 10
    assert len(GOLDEN["pairs"]) >= 10
    for case, seen in zip(GOLDEN["sentences"], read.kinds, strict=False):
        assert {name: one.probability for name, one in seen.items()} == pytest.approx(case["kinds"], abs=1e-3)
    for case, seen in zip(GOLDEN["pairs"], read.relations, strict=True):
        assert {name: one.probability for name, one in seen.items()} == pytest.approx(case["relations"], abs=1e-3)


async def test_a_sentence_is_the_same_bits_alone_and_among_others(heads):
    texts = [each["text"] for each in GOLDEN["sentences"][:6]]
    among = await heads.read(texts, [(0, 1), (1, 0)])
    alone = await heads.read([texts[1], texts[0]], [(1, 0)])
    assert alone.kinds == (among.kinds[1], among.kinds[0])
    assert alone.relations[0] == among.relations[0]
    assert among.relations[0] != among.relations[1]


async def test_nothing_is_nothing_and_what_is_too_long_is_no_pair(heads):
    nothing = await heads.read([], [])
    assert (nothing.kinds, nothing.relations) == ((), ())
    long = "The valve is closed before the pump starts and the tank is emptied. " * 80
    read = await heads.read([long, "It is red.", ""], [(0, 1), (1, 2)])
    assert read.relations[0] == {}  # never cut
    assert set(read.relations[1]) == set(GOLDEN["pairs"][0]["relations"])
    assert all(0.0 <= one.probability <= 1.0 for seen in read.kinds for one in seen.values())


async def test_an_encoder_without_heads_has_none():
    assert await open_sentence_heads(SETTINGS, Stripped.open(REPOSITORY.root)) is None


def test_heads_of_other_weights_are_refused_with_the_command():
    entry = REPOSITORY.entry("nli")
    assert read_heads(REPOSITORY, entry).encoder == entry.fingerprint
    with pytest.raises(ModelRepositoryError, match=r"was fitted on .*python -m training\.sentence_heads"):
        read_heads(REPOSITORY, entry.model_copy(update={"version": "other"}))
    with pytest.raises(ModelRepositoryError, match="nowhere"):
        read_heads(REPOSITORY, entry.model_copy(update={"name": "nowhere"}))


def test_the_manifest_pins_heads_apart_from_what_the_model_computes():
    entry = REPOSITORY.entry("nli")
    assert entry.file(HEADS_FILE).role == "heads"
    without = entry.model_copy(update={"files": tuple(file for file in entry.files if file.role != "heads")})
    assert without.fingerprint == entry.fingerprint


def test_every_delivered_head_is_sure_where_it_speaks():
    content = json.loads((REPOSITORY.folder("nli") / HEADS_FILE).read_text(encoding="utf-8"))
    for group in ("kinds", "relations"):
        for head in content[group]["heads"].values():
            assert head["measured"]["yes_precision"] >= 0.9
            assert head["no_below"] < head["yes_from"]
            assert np.isfinite(head["weights"]).all()
