"""Labels of other people's classifiers: read where they are clear, refused where they are not."""

import pytest

from training.entailment_labels import LabelError, label_order


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["entailment", "neutral", "contradiction"], (0, 1, 2)),
        (["CONTRADICTION", "NEUTRAL", "ENTAILMENT"], (2, 1, 0)),
        (["contradiction", "entailment", "neutral"], (1, 2, 0)),
        (["Entailed ", "contradicts", "Neutral"], (0, 2, 1)),
    ],
    ids=["ours", "roberta-large-mnli", "deberta cross-encoders", "other forms of the words"],
)
def test_names_that_say_what_they_are(names, expected):
    assert label_order(dict(enumerate(names))) == expected


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["LABEL_0", "LABEL_1", "LABEL_2"], "--labels contradiction,entailment,neutral"),
        (["entailment", "neutral", "not_entailment"], "do not say which"),
        (["entailment", "entailment", "neutral"], "do not say which"),
        (["entailment", "not_entailment"], "has 2 labels"),
        (["a", "b", "c", "d"], "has 4 labels"),
    ],
    ids=["numbered", "a negation is no contradiction", "twice the same", "two", "four"],
)
def test_names_that_do_not_are_refused(names, message):
    with pytest.raises(LabelError, match=message):
        label_order(dict(enumerate(names)))


def test_a_person_can_name_them():
    numbered = {0: "LABEL_0", 1: "LABEL_1", 2: "LABEL_2"}
    assert label_order(numbered, ["contradiction", "entailment", "neutral"]) == (1, 2, 0)


def test_what_a_person_names_must_be_complete():
    with pytest.raises(LabelError, match="do not say which"):
        label_order({0: "a", 1: "b", 2: "c"}, ["contradiction", "entailment"])
