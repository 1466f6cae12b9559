"""Follow-ups are searched for with the questions that they lean on (ADR 0096)."""

from dataclasses import replace

from services.gateway.domain.conversation import conversation
from services.gateway.domain.prompt import asked_of_model
from services.gateway.domain.window import OpenedWindow, Parent, PriorWindow, WindowPlace

PLACE = WindowPlace("s", "w2", 2, 5, 0, "")
ASKED = PriorWindow("w1", 1, "Claims files are kept for 10 years.", query="How long are claims files kept?")
OPENED = OpenedWindow(PLACE, (Parent("w1", "", "FACTS_ONLY", ()),), (), (ASKED,), ())
FOLLOW_UP = "And when a person was injured?"


def test_a_follow_up_takes_the_question_before_it():
    assert conversation(FOLLOW_UP, OPENED) == ("How long are claims files kept?",)
    assert conversation("What is the deductible for baggage?", OPENED) == ()


def test_where_the_question_was_not_kept_the_answer_stands_for_it():
    opened = replace(OPENED, prior_windows=(replace(ASKED, query=""),))
    assert conversation(FOLLOW_UP, opened) == ("Claims files are kept for 10 years.",)
    assert conversation(FOLLOW_UP, replace(OPENED, prior_windows=(replace(ASKED, query="", text=""),))) == ()


def test_a_merge_and_a_repeated_question_lean_on_nothing():
    assert conversation(FOLLOW_UP, replace(OPENED, parents=OPENED.parents * 2)) == ()
    assert conversation(ASKED.query, OPENED) == ()


def test_a_model_is_told_what_was_asked_before():
    assert asked_of_model("By whom?", ()) == "By whom?"
    told = asked_of_model("By whom?", ("When was it\nfounded?", "What is Meridian?"))
    assert told.endswith("\n\nBy whom?")
    assert told.index("What is Meridian?") < told.index("    founded?")


def test_questions_that_the_caller_tells_come_before_those_of_the_session():
    told = ["How long do I have to report a motor accident?"]
    assert conversation("And for a theft?", None, told) == tuple(told)
    assert conversation("How long do I have to report a theft abroad?", None, told) == ()
