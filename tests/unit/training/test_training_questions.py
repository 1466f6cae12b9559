import random

import pytest

from training.questions import asked, wrong_answer


@pytest.mark.parametrize(
    ("sentence", "question", "right"),
    [
        ("Orion Bank was founded in 1950.", "In what year was Orion Bank founded?", "1950"),
        ("The old bridge was opened on May 5, 1987.", "When was the old bridge opened?", "May 5, 1987"),
        ("Anna Berg (born March 5, 1987) is a singer.", "When was Anna Berg born?", "March 5, 1987"),
        ("Anna Berg (5 March 1907 – 1 May 1990) was a poet.", "When was Anna Berg born?", "5 March 1907"),  # noqa: RUF001
        ("The school has 40 rooms in two wings.", "How many rooms does the school have in two wings?", "40"),
        ("The twins had seven cats.", "How many cats did the twins have?", "seven"),
        ("There are 12 parks in Oslo.", "How many parks are there in Oslo?", "12"),
        ("Nine people died in the fire.", "How many people died in the fire?", "Nine"),
        ("Carl Foster won the first race.", "Who won the first race?", "Carl Foster"),
        ("Orion Bank bought a mill in Turku.", "What bought a mill in Turku?", "Orion Bank"),
        ("The song was written by Anna Berg.", "Who was the song written by?", "Anna Berg"),
    ],
)
def test_a_question_and_its_answers(scene, sentence, question, right):
    found = {each.question: each for each in asked(sentence, scene, random.Random(1))}
    assert question in found
    assert found[question].right == right
    assert found[question].wrong != right
    assert type_of(found[question].wrong) == type_of(right)


def type_of(answer):
    return (answer.isdigit(), answer.isalpha(), len(answer.split()))


@pytest.mark.parametrize(
    "sentence", ["He was born in 1950.", "It has 40 rooms.", "The car is red.", "Was it built in 1950?", "They left."]
)
def test_no_question_without_something_to_ask_about(scene, sentence):
    assert asked(sentence, scene, random.Random(1)) == []


@pytest.mark.parametrize(
    ("right", "expected"),
    [
        ("1998", "1988"),
        ("March 28, 1941", "July 28, 1941"),
        ("412 people", "317 people"),
        ("Paul Novak", "Anna Berg"),
        ("mums or daisies", None),
        ("yes", None),
    ],
)
def test_a_wrong_answer_is_of_the_same_kind(scene, right, expected):
    assert wrong_answer(right, scene, random.Random(3)) == expected
