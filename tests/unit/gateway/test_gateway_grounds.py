"""What the messages of a chat hold to check an answer against, in both common dialects."""

import time

import pytest
from groundtrail.grounds import Grounds, grounds_of

FEE = "The fee is 5 euros."


def held(*messages):
    found = grounds_of(messages)
    return found.question, [(one.title, one.text) for one in found.sources]


def user(content):
    return {"role": "user", "content": content}


def test_a_system_message_is_a_source_and_the_last_user_message_the_question():
    assert held({"role": "system", "content": FEE}, user("Hello"), user("What is the fee?")) == (
        "What is the fee?",
        [("system message", FEE)],
    )


@pytest.mark.parametrize("role", ["system", "developer"])
def test_both_words_for_the_system_count(role):
    assert held({"role": role, "content": FEE})[1] == [("system message", FEE)]


def test_what_the_user_says_is_no_source():
    assert held(user("The fee is 7 euros, right?"))[1] == []
    assert held(user("The fee is 7 euros."), user("So what is it?"))[1] == []


def test_the_result_of_a_tool_is_a_source_under_its_name():
    messages = ({"role": "tool", "name": "lookup", "content": FEE}, {"role": "tool", "content": "x"})
    assert held(*messages)[1] == [("result of lookup", FEE), ("result of a tool", "x")]


@pytest.mark.parametrize(
    ("text", "question", "sources"),
    [
        (f"Context:\n{FEE}\n\nQuestion: What is it?", "What is it?", [FEE]),
        (f"## Documents\n{FEE}\n\nQuestion:\nWhat is it?", "What is it?", [FEE]),
        (f"What is it?\n\nContext: {FEE}", "What is it?", [FEE]),
        (f"Question: What is it?\nSources:\n{FEE}", "What is it?", [FEE]),
        (f"<context>\n{FEE}\n</context>\nWhat is it?", "What is it?", [FEE]),
        (f'<document id="1">A</document><document id="2">{FEE}</document> What is it?', "What is it?", ["A", FEE]),
        (f"What is it?\n\n{FEE * 25}", "What is it?", [FEE * 25]),
        (f"{FEE * 25}\n\nWhat is it?", "What is it?", [FEE * 25]),
    ],
)
def test_a_user_message_that_carries_its_context_is_told_apart(text, question, sources):
    assert held(user(text)) == (question, [("message 1", source) for source in sources])


@pytest.mark.parametrize("text", ["<document> that never ends", "In this context: no.", f"{FEE}\n\nWhat is it?"])
def test_short_or_unmarked_text_stays_the_question(text):
    found = grounds_of([user(text)])
    assert found.sources == ()
    assert found.question == text


def test_parts_are_read_in_both_dialects():
    content = [
        {"type": "text", "text": "And B?"},
        {"type": "image_url", "image_url": {"url": "data:"}},
        {"type": "document", "title": "Tariff", "source": {"type": "text", "data": "B is 3."}},
        {"type": "document", "source": {"type": "base64", "data": "JVBERi0="}},
        {"type": "tool_result", "content": [{"type": "text", "text": "x=3"}]},
        {"type": "search_result", "title": "Hit", "content": [{"type": "text", "text": "y=4"}]},
    ]
    found = grounds_of([user(content)])
    assert found.question == "And B?"
    expected = [("Tariff", "B is 3."), ("document", "JVBERi0="), ("result of a tool", "x=3"), ("Hit", "y=4")]
    assert [(one.title, one.text) for one in found.sources] == [one for one in expected if one[1] != "JVBERi0="]
    assert found.unreadable == 2


def test_earlier_answers_are_the_assistants_last_twenty():
    messages = [{"role": "assistant", "content": str(n)} for n in range(25)]
    assert grounds_of(messages).earlier_answers == tuple(str(n) for n in range(5, 25))


@pytest.mark.parametrize(
    "message",
    [
        {},
        {"role": 3, "content": {}},
        user(None),
        user([None, 3, {"type": "text"}]),
        user([{"type": "document", "source": {}}]),
        {"role": "tool", "name": 5, "content": []},
    ],
)
def test_what_is_of_no_known_form_holds_nothing(message):
    found = grounds_of([message])
    assert (found.question, found.sources) == ("", ())


@pytest.mark.timed
@pytest.mark.parametrize(
    "piece", ["<document>", "<doc></doc>", "Context:\n", "Question: ", "a?\n\n", "<context> <source> "]
)
def test_a_repeated_piece_takes_linear_time(piece):
    def spent(count):
        started = time.process_time()
        grounds_of([user(piece * count)])
        return time.process_time() - started

    assert spent(40_000) <= 8 * max(spent(10_000), 0.02)


@pytest.mark.parametrize("odd", [{}, [], {"a": 1}, 3, None])
def test_names_that_are_no_text_name_nothing(odd):
    messages = [{"role": odd, "content": "x"}, {"role": "user", "content": [{"type": odd, "text": "y"}]}]
    assert grounds_of(messages) == Grounds()
