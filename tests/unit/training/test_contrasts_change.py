import random

import pytest

from training.contrasts import BREAKING, KEEPING, chosen, kept
from training.contrasts.change import Change, Edit, Scene, applied, cased, moved, origin_spans, with_article
from training.contrasts.mentions import dates, names, numbers

TEXT = "Anna met Paul in Rome."


def change(*edits):
    return Change("kind", tuple(Edit(*edit) for edit in edits), keeps=False, back=None)


@pytest.mark.parametrize(
    ("edits", "new", "spans", "old"),
    [
        ([(0, 4, "Ruth")], "Ruth met Paul in Rome.", ["Ruth"], ["Anna"]),
        ([(0, 4, "Jo"), (9, 13, "Maximilian")], "Jo met Maximilian in Rome.", ["Jo", "Maximilian"], ["Anna", "Paul"]),
        ([(13, 21, "")], "Anna met Paul.", [], ["in Rome"]),
        ([(21, 21, " in May")], "Anna met Paul in Rome in May.", ["in May"], []),
        ([(4, 8, " never met")], "Anna never met Paul in Rome.", ["never met"], ["met"]),
    ],
    ids=["one", "two-of-other-lengths", "deletion", "insertion", "white-space-is-no-span"],
)
def test_edits_and_where_they_stand(edits, new, spans, old):
    found, where = applied(TEXT, change(*edits))
    assert found == new
    assert [found[start:end] for start, end in where] == spans
    assert [TEXT[start:end] for start, end in origin_spans(TEXT, change(*edits))] == old


@pytest.mark.parametrize(
    ("span", "edits", "expected"),
    [
        ((9, 13), [(0, 4, "Maximilian")], ((15, 19),)),
        ((9, 13), [(17, 21, "Oslo")], ((9, 13),)),
        ((9, 13), [(0, 4, "Jo"), (5, 8, "saw then")], ((12, 16),)),
        ((9, 13), [(10, 11, "x")], None),
        ((9, 13), [(5, 10, "x")], None),
        ((9, 13), [(13, 16, "")], ((9, 13),)),
    ],
)
def test_spans_move_along_or_the_change_is_refused(span, edits, expected):
    assert moved([span], change(*edits)) == expected


@pytest.mark.parametrize(
    ("text", "word", "new", "expected"),
    [
        ("It is a red car.", "red", "orange", "It is an orange car."),
        ("It is an old car.", "old", "new", "It is a new car."),
        ("An old car.", "old", "new", "A new car."),
        ("A red car.", "red", "new", "A new car."),
        ("Banana old.", "old", "new", "Banana new."),
    ],
)
def test_the_article_agrees(text, word, new, expected):
    at = text.index(word)
    edit = with_article(text, at, at + len(word), new)
    assert text[: edit.start] + edit.text + text[edit.end :] == expected


def test_capitals_are_taken_over():
    assert (cased("all", "Some"), cased("all", "some"), cased("Rome", "oslo")) == ("All", "all", "Rome")


def test_names_by_shape():
    text = "In May, Anna Berg left Orion Bank and flew to New York with NASA. Rivers rose. The Zorg sank near Turku."
    assert [(name.text, name.kind) for name in names(text)] == [
        ("Anna Berg", "person"),
        ("Orion Bank", "organisation"),
        ("New York", "place"),
        ("NASA", "acronym"),
        ("Zorg", "single"),
        ("Turku", "place"),
    ]


def test_numbers_are_neither_years_nor_dates_nor_parts_of_marks():
    text = "In 1999, on May 5, 2001, 12 of 1,500 (3.5%) left at 10:30 [4] on the A4 in 2-0."
    assert [number.text for number in numbers(text)] == ["12", "1,500", "3.5"]


def test_dates_in_their_parts():
    text = "May 5, 2001; 6 June 1990; July 1980; on August 3; 1955."
    assert [(date.order, date.day, date.month, date.year) for date in dates(text)] == [
        ("mdy", 5, "May", 2001),
        ("dmy", 6, "June", 1990),
        ("my", None, "July", 1980),
        ("md", 3, "August", None),
        ("y", None, None, 1955),
    ]


def test_every_generator_has_a_kind_of_its_own_and_a_weight():
    kinds = [generator.kind for generator in (*BREAKING, *KEEPING)]
    assert len(set(kinds)) == len(kinds) == 28
    assert all(generator.weight > 0 for generator in (*BREAKING, *KEEPING))


def test_the_choice_is_the_seed_s_alone(scene):
    text = "Anna Berg led the bank in 1998 and sold 40 cars."
    drawn = [chosen(BREAKING, text, scene, random.Random(seed)) for seed in (1, 1, 2, 3, 4)]
    assert drawn[0] == drawn[1]
    assert len({each.kind for each in drawn}) > 1


def test_nothing_to_change_is_none():
    assert chosen(BREAKING, "Oh no", Scene("Oh no"), random.Random(1)) is None


@pytest.mark.parametrize("seed", range(30))
def test_a_change_that_keeps_the_label_leaves_the_span_as_it_is(scene, seed):
    text = "However, the firm (a bank) sold 1,500 cars on March 5, 1987."
    at = text.index("1,500")
    found = kept(text, ((at, at + 5),), scene, random.Random(seed))
    if found is not None:
        new, ((start, end),), _ = found
        assert new != text
        assert new[start:end] == "1,500"
