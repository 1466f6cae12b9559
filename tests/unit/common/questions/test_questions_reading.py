import pytest

from services.common.questions.following import joined, leaned_on, leans
from services.common.questions.kinds import Kind, asked_kind, holds
from services.common.questions.matching import counts, fit
from services.common.questions.reading import Tense, needs, read_needs, read_question
from services.common.questions.terms import terms
from tests.each import each


@each(
    ("question", "kind"),
    [
        ("How many people work here?", Kind.NUMBER),
        ("Up to what sum may a clerk pay alone?", Kind.NUMBER),
        ("What is the deductible for baggage?", Kind.NUMBER),
        ("Within how many days must it be sent?", Kind.NUMBER),
        ("How long are files kept?", Kind.TIME),
        ("Since when is she in post?", Kind.TIME),
        ("When does the contract end?", Kind.TIME),
        ("What is the waiting time?", Kind.TIME),
        ("Who signs the form?", Kind.NAME),
        ("By whom was it founded?", Kind.NAME),
        ("Where is the office?", Kind.PLACE),
        ("Why was the rule changed?", Kind.REASON),
        ("What is the reason for the change?", Kind.REASON),
        ("Is glass covered?", Kind.YES_NO),
        ("And does it cost anything?", Kind.YES_NO),
        ("Which risks are declined?", Kind.LIST),
        ("How do I cancel?", Kind.PROCEDURE),
        ("What is a total loss?", Kind.DEFINITION),
        ("What is the telephone number of the hotline?", Kind.CODE),
        ("What is the e-mail address?", Kind.CODE),
        ("What happens when the premium is not paid?", Kind.OPEN),
        ("And when a person was injured?", None),
        ("And the theft of the vehicle?", None),
        ("Claims files.", None),
    ],
)
def test_the_expected_kind_is_read_from_the_question(question, kind):
    assert asked_kind(question) is kind


@pytest.mark.parametrize(
    ("kind", "text", "held"),
    [
        (Kind.NUMBER, "It is 5 euros.", True),
        (Kind.NUMBER, "Two people sign.", True),
        (Kind.NUMBER, "It depends on the product.", False),
        (Kind.TIME, "Within three working days.", True),
        (Kind.TIME, "On 4 July 2025.", True),
        (Kind.TIME, "The fee is 40 euros.", False),
        (Kind.REASON, "Because it harmed nobody.", True),
        (Kind.REASON, "The rule was changed.", False),
        (Kind.CODE, "Call +49 30 1234567.", True),
        (Kind.CODE, "Write to help@example.org.", True),
        (Kind.CODE, "The hotline is open.", False),
        (Kind.OPEN, "Anything.", True),
    ],
)
def test_whether_a_text_holds_an_answer_of_the_kind(kind, text, held):
    assert holds(kind, text) is held


def test_what_the_question_names_is_no_answer_to_it():
    asked = frozenset(terms("Who was Chief Executive before Helena Marsh?"))
    assert not holds(Kind.NAME, "The Chief Executive is Helena Marsh.", asked=asked)
    assert holds(Kind.NAME, "Before Helena Marsh it was Ruth Okafor.", asked=asked)
    assert not holds(Kind.NUMBER, "A driver under 25 bears a share.", asked=frozenset(terms("drivers under 25")))


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("And when a person was injured?", True),
        ("And the theft?", True),
        ("What about travel?", True),
        ("By whom?", True),
        ("How many desks does it have?", True),
        ("Does the member have to ask for it?", True),
        ("And what deductible does a driver under 25 bear for own damage under Motor Complete?", False),
        ("How long are claims files kept?", False),
        ("Is there a waiting time after an accident?", False),
        ("If a car is stolen and found within a month, does it belong to the member?", False),
    ],
)
def test_which_questions_lean_on_the_one_before(question, expected):
    assert leans(question) is expected


def test_a_chain_of_follow_ups_is_read_back_to_where_it_began():
    asked = ["What is insured?", "How much may the team spend?", "Who leads it?"]
    assert leaned_on("Since when has she?", asked) == ("Who leads it?", "How much may the team spend?")
    assert leaned_on("How long are claims files kept?", asked) == ()
    assert joined("And when a person was injured?", ("How long are files kept?",)) == (
        "How long are files kept: when a person was injured?"
    )
    assert joined("How long are files kept?", ()) == "How long are files kept?"


def test_a_long_text_is_no_question_to_lean_on():
    assert leaned_on("And then?", ["word " * 200]) == ()


def test_the_kind_of_an_ellipsis_is_that_of_the_question_before():
    read = read_question("And when a person was injured?", ("How long are claims files kept?",))
    assert read.kind is Kind.TIME
    assert read.weights["injure"] == 1.0
    assert 0.0 < read.weights["keep"] < 1.0


@pytest.mark.parametrize(
    ("query", "parts"),
    [
        ("How long is it kept?", 1),
        ("When must a theft be reported, and to whom?", 2),
        ("How fast must it be back, and how long did it take at the last test?", 2),
        ("What do members and brokers pay?", 1),
        ("Claims and fees", 1),
    ],
)
def test_a_text_of_several_questions_is_taken_apart(query, parts):
    assert len(needs(query)) == parts
    assert len(read_needs(query)) == parts


def test_what_is_asked_for_must_be_named():
    read = read_question("What is the salary of a claims handler?")
    assert not fit(read, "A claims handler may settle up to 5,000 euros.").names_focus
    assert fit(read, "The salary of a claims handler is 3,000 euros.").names_focus
    assert not fit(read_question("Who founded the society?"), "Members own the society.").names_focus
    assert not fit(read_question("When was the centre built?"), "The centre has 180 desks.").names_done
    assert not fit(read_question("What do drivers over 75 pay?"), "Drivers under 25 pay 35 percent.").names_bounds


def test_a_share_is_asked_for_as_a_share():
    read = read_question("What share of the claims was paid?")
    assert read.share
    assert not fit(read, "Claims were paid within 5 days.").holds_kind
    assert fit(read, "Of the claims 93 percent were paid.").holds_kind


def test_counted_nouns_and_tenses():
    assert counts("It has five members.", {"member"})
    assert not counts("Two of the people are members.", {"member"})
    assert read_question("When must it be reported?").tense is Tense.RULE
    assert read_question("When was it reported?").tense is Tense.PAST
