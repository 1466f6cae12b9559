from collections import Counter
from itertools import starmap

import pytest

from training.cleaning import MAX_CLASS_RATIO, Limits, clean, neutrals, tidy
from training.rows import NliRow

ENTAILMENT, NEUTRAL, CONTRADICTION, MASKED = 0, 1, 2, -1


def row(premise, hypothesis, label=ENTAILMENT, origin="snli"):
    return NliRow(premise, hypothesis, label, origin, clear=True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-LSB- 1 -RSB- and -LRB- x -RRB-", "[ 1 ] and ( x )"),
        ("he said `` no '' twice", 'he said " no " twice'),
        ("called ` `sleeper' ' here", "called \"sleeper' ' here"),
        ('"A man making an ""OK"" sign"', 'A man making an "OK" sign'),
        ('"quoted"', '"quoted"'),
        ("soft\u00adhy\u200bphen", "softhyphen"),
        ("two  spaces\tand\na line", "two spaces and a line"),
        ("plain text", "plain text"),
    ],
)
def test_what_formats_did_to_a_text_is_undone(text, expected):
    assert tidy(text) == expected


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([("", "A dog.", 0)], "an empty side"),
        ([("A dog.", " ", 0)], "an empty side"),
        ([("123 - 4", "A dog.", 0)], "not text"),
        ([("A d\ufffdg.", "A dog.", 0)], "not text"),
        ([("word " * 121, "A dog.", 0)], "too long"),
        ([("A dog.", "word " * 61, 0)], "too long"),
        ([("A dog runs.", "a DOG runs.", 2)], "identical sides, not entailed"),
        ([("A dog runs.", "A dog runs.", 1)], "identical sides, not entailed"),
        ([("A dog runs.", "It moves.", 0)] * 2, "same pair again"),
    ],
    ids=str,
)
def test_a_row_is_dropped_and_counted(rows, reason):
    kept, done = clean([row("A cat sat.", "It sat."), *starmap(row, rows)], [], seed=1)
    assert done[f"dropped: {reason}"] == 1
    assert len(kept) == len(rows)


def test_an_entailed_copy_stays():
    assert len(clean([row("A dog runs.", "A dog runs.")], [], seed=1)[0]) == 1


@pytest.mark.parametrize(
    ("labels", "kept"),
    [((0, 2), 0), ((0, 1), 0), ((MASKED, 2), 0), ((MASKED, 0), 1), ((MASKED, 1), 1), ((0, 0), 1)],
)
def test_one_pair_with_labels_that_contradict_each_other_is_dropped_whole(labels, kept):
    rows = [row("A dog runs.", "It moves.", label) for label in labels]
    assert len(clean(rows, [], seed=1)[0]) == kept


@pytest.mark.parametrize(
    ("train", "dropped"),
    [
        (("A dog runs home.", "It sleeps."), True),  # the premise of a development row
        (("a dog RUNS home", "It sleeps."), True),  # the same but for case and marks
        (("Animals move.", "A dog runs home."), True),  # its pair the other way round
        (("The sun shines.", "All of the old cats are asleep."), True),  # its hypothesis, too long for coincidence
        (("The sun shines.", "Animals move."), False),  # a short hypothesis may come twice
        (("The sun shines.", "It is warm."), False),
    ],
)
def test_no_text_of_a_development_row_is_trained_on(train, dropped):
    dev = [row("A dog runs home.", "Animals move."), row("Cats.", "All of the old cats are asleep.")]
    kept, done = clean([row(*train)], dev, seed=1)
    assert (len(kept), done["dropped: text of a development row"]) == ((0, 1) if dropped else (1, 0))


def test_limits_can_be_widened():
    long = [row("word " * 150, "A dog.")]
    assert len(clean(long, [], 1, Limits(premise_words=200))[0]) == 1


def test_a_class_is_no_larger_than_the_ratio_allows():
    rows = [row(f"Dog {index} runs.", "It moves.", CONTRADICTION) for index in range(100)]
    rows += [row(f"Cat {index} runs.", "It moves.", ENTAILMENT) for index in range(10)]
    rows += [row(f"Cow {index} runs.", "It moves.", ENTAILMENT, origin="help") for index in range(100)]
    kept, done = clean(rows, [], seed=1)
    assert Counter((each.origin, each.label) for each in kept) == {
        ("snli", CONTRADICTION): 10 * MAX_CLASS_RATIO,
        ("snli", ENTAILMENT): 10,
        ("help", ENTAILMENT): 100,
    }
    assert done["dropped: class too large for its origin"] == 70


HALL = "Oslo Hall is a theatre which the builder Ida Lund opened to the public ."
LUND = "Ida Lund was a painter of ships and mountains ."
FEVER = [
    (HALL, "Ida Lund opened the theatre Oslo Hall herself.", ENTAILMENT),
    (LUND, "Ida Lund painted neither ships, mountains, rivers nor lakes.", CONTRADICTION),
]
EXPECTED_NEUTRALS = [(HALL, "Ida Lund painted neither ships, mountains, rivers nor lakes.")]


def test_neutrals_are_hypotheses_with_another_premise_that_shares_some_words_only():
    rows = [row(*fields, origin="fever") for fields in FEVER]
    made = neutrals(rows, seed=1)
    own = {(each.premise, each.hypothesis) for each in rows}
    assert [(each.premise, each.hypothesis) for each in made] == EXPECTED_NEUTRALS
    assert all((each.premise, each.hypothesis) not in own and each.label == NEUTRAL for each in made)
    assert made == neutrals(rows, seed=1)


def test_neutrals_are_added_where_a_set_has_none():
    rows = [row(*fields, origin=origin) for fields in FEVER for origin in ("fever", "snli")]
    _, done = clean([each for each in rows if each.origin == "fever"], [], seed=1)
    assert done["added: neutral by another premise"] == len(EXPECTED_NEUTRALS)
    _, done = clean([each for each in rows if each.origin == "snli"], [], seed=1)
    assert done["added: neutral by another premise"] == 0


@pytest.mark.parametrize(
    ("premise", "why_not"),
    [
        ("A theatre in Oslo Hall was opened by Ida Lund .", "it holds most of the hypothesis"),
        ("Nobody has seen the hall since .", "it shares one word alone"),
        ("Ida Lund died in 1950 , it is said .", "it shares a number"),
        (HALL + " Yes .", "it is the passage of the hypothesis again"),
    ],
)
def test_a_premise_that_could_decide_makes_no_neutral(premise, why_not):
    hypothesis = "Ida Lund opened the theatre Oslo Hall in 1950 for a small crowd."
    rows = [row(HALL, hypothesis, ENTAILMENT, "fever"), row(premise, "Rain fell.", CONTRADICTION, "fever")]
    assert neutrals(rows, seed=1) == [], why_not
