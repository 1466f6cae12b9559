import random

import pytest

from training.contrast_rows import Pair, crossed, pairs_of_claim, pairs_of_sentence, without
from training.contrasts.change import Change, Edit

PASSAGE = (
    "Orion Bank lies in Oslo. It opened in 1950 with 40 clerks. Storms broke its windows and rain ruined carpets, "
    "so that for a while guests had to stay away from the rooms."
)
SENTENCE = "It opened in 1950 with 40 clerks."
CHANGED = PASSAGE.replace("40", "90")
CONTRAST = SENTENCE.replace("40", "90")
NUMBER = (SENTENCE.index("40"), SENTENCE.index("40") + 2)
PAIR = Pair(PASSAGE, SENTENCE, "wice")


def change(back):
    return Change("numbers.value", (Edit(*NUMBER, "90"),), keeps=False, back=back)


@pytest.mark.parametrize(
    ("back", "supported", "unsupported"),
    [
        (False, [], [(CHANGED, SENTENCE, (NUMBER,))]),
        (True, [(CHANGED, SENTENCE)], []),
        (None, [], []),
    ],
)
def test_a_change_gives_rows_in_both_directions(back, supported, unsupported):
    good, bad = crossed(PAIR, change(back))
    assert good == [(PASSAGE, SENTENCE), (CHANGED, CONTRAST), *supported]
    assert bad == [(PASSAGE, CONTRAST, (NUMBER,)), *unsupported]


@pytest.mark.parametrize("seed", range(40))
def test_a_pair_has_one_row_of_each_verdict_and_spans_within_the_claim(scene, seed):
    for make in (pairs_of_sentence, pairs_of_claim):
        good, bad = make(PAIR, scene, random.Random(seed))
        assert (good.supported, good.spans, bad.supported) == (True, (), False)
        assert bad.spans
        assert all(0 <= start < end <= len(bad.claim) for start, end in bad.spans)
        assert (good.premise, good.claim) != (bad.premise, bad.claim)
        assert good.origin == bad.origin
        assert good.origin.startswith("contrast/")
        assert good.origin.endswith("/wice")


def test_neither_the_passage_nor_the_claim_alone_tells_the_label(scene):
    made = [row for seed in range(200) for row in pairs_of_sentence(PAIR, scene, random.Random(seed))]
    for side in ("premise", "claim"):
        original = PASSAGE if side == "premise" else SENTENCE
        verdicts = [row.supported for row in made if getattr(row, side) == original]
        assert 0.25 < sum(verdicts) / len(verdicts) < 0.85


def test_rows_are_the_same_for_the_same_seed(scene):
    first, second = (pairs_of_sentence(PAIR, scene, random.Random(7)) for _ in range(2))
    assert first == second


def test_a_sentence_has_to_stand_in_its_passage(scene):
    with pytest.raises(ValueError, match="does not stand in its premise"):
        pairs_of_sentence(Pair(PASSAGE, CONTRAST, "wice"), scene, random.Random(1))


@pytest.mark.parametrize(
    ("premise", "left"),
    [
        (PASSAGE, PASSAGE.replace(f"{SENTENCE} ", "")),
        (f"Oslo is old. {SENTENCE}", None),
        (f"{PASSAGE} In 1950 the bank opened, with 40 clerks.", None),
    ],
    ids=["removed", "too-short", "said-twice"],
)
def test_a_passage_without_the_sentence(premise, left):
    assert without(Pair(premise, SENTENCE, "wice")) == left
