"""What stands before a statement and says nothing of the matter."""

import pytest

from services.common.reading.frames import statement_start
from tests.each import each
from tests.speed import processor_time_below


@each(
    ("text", "statement"),
    [
        ("Unfortunately, members cannot freeze.", "members cannot freeze."),
        ("Sadly the fee is kept.", "the fee is kept."),
        ("I'm afraid that the deposit isn't returned.", "the deposit isn't returned."),
        ("Please note that the fee is due in May.", "the fee is due in May."),
        ("Also keep in mind that closing early costs the bonus.", "closing early costs the bonus."),
        ("According to the leaflet, you start again after a day.", "you start again after a day."),
        ("The good news is that the fee doesn't apply to you.", "the fee doesn't apply to you."),
        ("Short answer: yes, you need to register.", "you need to register."),
        ("They're right, it's called relief.", "it's called relief."),
        ("Please note that, unfortunately, the fee is due.", "unfortunately, the fee is due."),
    ],
)
def test_the_statement_begins_behind_what_comments_on_it(text, statement):
    start = statement_start(text)
    assert text[start:] in {statement, statement.removeprefix("unfortunately, ")}


@pytest.mark.parametrize(
    "text",
    [
        "Note the number of the form.",
        "Unfortunately not.",
        "Please note that if it rains, the pool is shut.",
        "According to the court, the fee is due.",
        "Under the tenancy rules, which hold today.",
        "I think members may freeze.",
        "Perhaps the fee is due.",
        "They are right-hand lanes, it is said.",
        "The bad news is the fee.",
        "",
    ],
)
def test_hedges_other_voices_and_what_says_nothing_alone_stay(text):
    assert statement_start(text) == 0


@pytest.mark.timed
def test_only_the_beginning_is_read():
    with processor_time_below(0.5):
        assert statement_start("please note that " * 50_000) <= len("please note that ") * 3
