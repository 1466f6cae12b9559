from random import Random

import pytest

from tests.each import each
from training.premises import among_distractors, joined, window

GOLD = "The bridge opened in May. Trucks use it daily."
OTHERS = ["Cats sleep by day. Dogs bark at night.", "The sea is deep here. Boats come and go at noon."]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("( born 1986 ) , it 's here .", "(born 1986), it's here."),
        ("He did n't go .", "He didn't go."),
        ("in 2002 -- 07 he", "in 2002-07 he"),
        ("one -- two", "one - two"),
        ('the " Tilda " one', 'the "Tilda" one'),
        ("$ 74 million", "$74 million"),
        ("80 % of it", "80% of it"),
        ("Nothing, to (do) here.", "Nothing, to (do) here."),
    ],
)
def test_the_spacing_of_tokens_is_undone(text, expected):
    assert joined(text) == expected


@each("seed", range(20))
def test_the_gold_sentences_stay_in_order_among_others(seed):
    text = among_distractors(GOLD, "The bridge opened in May.", OTHERS, 30, Random(seed))
    first, second = text.index("The bridge opened in May."), text.index("Trucks use it daily.")
    assert first < second
    assert 9 < len(text.split()) <= 30


def test_the_gold_sentences_stand_anywhere():
    starts = {
        among_distractors(GOLD, "The bridge opened.", OTHERS, 30, Random(seed)).index("The bridge")
        for seed in range(40)
    }
    assert len(starts) > 4


@pytest.mark.parametrize(
    ("others", "words"),
    [([], 50), (["The old bridge opened in May."], 50), (OTHERS, 9), (["Yes. No."], 50)],
    ids=["none", "would-support", "no-room", "no-sentence"],
)
def test_the_gold_passage_stays_alone(others, words):
    assert among_distractors(GOLD, "The bridge opened in May.", others, words, Random(1)) == GOLD


def test_a_sentence_that_refers_back_keeps_the_one_before_it():
    gold = "The bridge opened in May. It is long."
    for seed in range(20):
        assert gold in among_distractors(gold, "The bridge is long.", OTHERS, 40, Random(seed))


def test_a_window_holds_the_nearest_sentences_in_order():
    context = ["Cats sleep all day. The bridge opened in May. Dogs bark.", "Trucks use the bridge. Rain falls."]
    assert (
        window(context, "Trucks use a bridge that opened in May.", None, 9)
        == "The bridge opened in May. Trucks use the bridge."
    )
    assert window([""], "Anything.", None, 9) == ""
