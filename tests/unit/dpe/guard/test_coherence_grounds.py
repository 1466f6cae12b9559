"""Facts cut into passages with their offsets, and what a prompt asks (Director-AI page, D2; ADR 0122)."""

from hypothesis import given
from hypothesis import strategies as st

from services.common.reading.text_types import Span
from services.dpe.domain.guard.coherence_grounds import (
    PASSAGE_CHARS,
    QUERY_CHARS,
    GroundText,
    analysis_input,
    asked,
    grounds_of,
)

SENTENCE = "The landlord returns the deposit within 30 days after the end of the lease number {}. "
LONG = "".join(SENTENCE.format(number) for number in range(40))


def test_a_short_fact_stays_whole():
    grounds = grounds_of([GroundText("lease", "The deposit is 500 euros.")])
    assert [fact.content for fact in grounds.facts] == ["The deposit is 500 euros."]
    assert grounds.place(0, Span(4, 11)) == ("lease", Span(4, 11))


def test_passages_of_a_long_fact_stand_in_it():
    grounds = grounds_of([GroundText("short", "Pets are not allowed."), GroundText("long", LONG)])
    assert len(grounds.facts) > 3
    for index, fact in enumerate(grounds.facts[1:], start=1):
        name, span = grounds.place(index, Span(0, len(fact.content)))
        assert name == "long"
        assert LONG[span.start : span.end] == fact.content
        assert len(fact.content) <= PASSAGE_CHARS
    assert len({fact.fact_id for fact in grounds.facts}) == len(grounds.facts)


def test_every_sentence_of_a_long_fact_stands_in_one_passage():
    passages = [fact.content for fact in grounds_of([GroundText("long", LONG)]).facts]
    for number in range(40):
        assert sum(SENTENCE.format(number).strip() in passage for passage in passages) == 1


@given(st.text(alphabet="ab .\n!?#", max_size=3_000))
def test_any_text_gives_passages_with_its_own_words(text):
    grounds = grounds_of([GroundText("t", text)])
    for index, fact in enumerate(grounds.facts):
        _, span = grounds.place(index, Span(0, len(fact.content)))
        assert text[span.start : span.end] == fact.content
    held = "".join("".join(fact.content.split()) for fact in grounds.facts)
    assert held.count("a") == text.count("a")


def test_a_short_prompt_is_asked_whole():
    assert asked("What is the deposit?") == "What is the deposit?"


def test_of_a_long_prompt_its_questions_are_asked():
    prompt = f"{LONG}\nHow much is the deposit? {LONG}"
    assert asked(prompt) == "How much is the deposit?"
    assert len(asked(LONG)) == QUERY_CHARS


def test_the_prompt_is_what_was_said_before():
    given_ = analysis_input("I moved in on Monday.", "You moved in on Tuesday.", grounds_of([]))
    assert [prior.text for prior in given_.prior_windows] == ["I moved in on Monday."]
    assert given_.window_number == 2
