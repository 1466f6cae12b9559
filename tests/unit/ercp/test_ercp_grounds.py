"""Which statements of a draft something bears out, and which the answerer has confirmed (ADR 0185)."""

from dataclasses import replace

import pytest

from services.ercp.domain import grounds
from services.ercp.domain import run as loop
from services.ercp.domain.findings import ClaimSupport
from services.ercp.domain.prompt import system_prompt
from services.ercp.domain.readings import sentences_of
from services.ercp.domain.records import Problem, Reasoning, RunConfig
from services.ercp.domain.vocabulary import Grounds, RunStatus, StatusReason

TEXT = "The pitch costs 25 GBP. The gate opens at seven. Please lock it. Is it far?"
SENTENCES = sentences_of(TEXT)
PITCH, GATE = SENTENCES[:2]


def supported(sentence, *, is_supported=True):
    return ClaimSupport((sentence.start, sentence.end), is_supported)


def excerpts(found):
    return [each.excerpt for each in found]


def test_what_nothing_given_bears_out_is_open_and_a_question_states_nothing():
    statements = [*SENTENCES[:2], replace(SENTENCES[2], states=False), SENTENCES[3]]
    assert excerpts(grounds.open_grounds(statements, [], [])) == [PITCH.text, GATE.text]


def test_a_number_in_an_instruction_can_be_wrong():
    (sentence,) = sentences_of("Bake for forty minutes.")
    assert grounds.asserts(replace(sentence, states=False))
    assert not grounds.asserts(replace(sentence, states=False, text="Cool on a rack."))


def test_facts_bear_a_sentence_out_only_when_all_its_claims_are_supported():
    halves = [ClaimSupport((PITCH.start, PITCH.start + 9), True), ClaimSupport((PITCH.start + 10, PITCH.end), False)]
    assert excerpts(grounds.open_grounds([PITCH, GATE], [*halves, supported(GATE)], [])) == [PITCH.text]
    assert not grounds.open_grounds([PITCH, GATE], [supported(GATE), supported(PITCH)], [])
    assert grounds.open_grounds([GATE], [supported(GATE, is_supported=False)], [])


@pytest.mark.parametrize(
    ("passage", "is_open"),
    [
        ("The gate opens at seven.", False),
        ("The gates opened at 7.", False),
        ("The gate opens at eight.", True),
        ("The gate does not open at seven.", True),
        ("At seven the gate opens.", True),
    ],
)
def test_a_passage_bears_out_what_it_says_in_the_same_words_and_order(passage, is_open):
    assert bool(grounds.open_grounds([GATE], [], sentences_of(passage))) is is_open


def test_a_statement_is_put_once_and_confirmed_when_it_is_written_again():
    first = grounds.open_grounds([PITCH, GATE], [], [])
    other = grounds.open_grounds(sentences_of("The pitch costs 35 GBP. The gate opens at seven."), [], [])
    assert grounds.fresh(first, ()) == first
    assert grounds.fresh((*other, *other), first) == other[:1]
    assert grounds.confirmed(other, first) == (False, True)


def test_at_most_so_many_are_put_at_once():
    text = " ".join(f"Stall {number} is taken." for number in range(grounds.MOST_PUT + 5))
    found = grounds.open_grounds(sentences_of(text), [], [])
    assert grounds.fresh(found, ()) == found[: grounds.MOST_PUT]
    assert len(grounds.fresh(found, found[: grounds.MOST_PUT])) == 5


def test_the_prompt_asks_for_the_ground_in_words_and_as_a_predicate_of_one_line():
    (ground,) = grounds.open_grounds(sentences_of('He said "no"\u202e to 3 of\tthem.'), [], [])
    prompt = system_prompt((), (), (ground,))
    assert prompt.endswith("1. HasJustification(\"He said 'no' to 3 of them.\")")
    assert system_prompt((), ()) == prompt.split("\n\n")[0]


class Course:
    """A run whose detectors find no errors: the answerer says one text after the other, the last one for ever."""

    def __init__(self, *texts, mode=Grounds.CONFIRMED, supports=()):
        self.texts, self.supports = list(texts), supports
        self.state = loop.RunState(RunConfig(grounds=mode, max_iterations=30), loop.MutationLimits(), Problem("Write."))
        self.put = []

    def outcome(self, command):
        if isinstance(command, loop.Generate):
            self.put.append([each.excerpt for each in command.put])
            text = self.texts.pop(0) if len(self.texts) > 1 else self.texts[0]
            return loop.Generated(Reasoning("r", text, sentences_of(text)))
        if isinstance(command, loop.Verify):
            found = grounds.open_grounds(command.reasoning.sentences, self.supports, [])
            return loop.Verified((), grounds=found)
        assert isinstance(command, loop.Stabilize)
        return loop.Stabilized(command.previous.text == command.current.text)

    def ended(self):
        self.state, command = loop.start(self.state)
        while not isinstance(command, loop.Stop):
            self.state, command = loop.advance(self.state, self.outcome(command))
        return command


def test_what_is_written_again_when_asked_converges_with_the_second_candidate():
    course = Course("The pitch costs 25 GBP.")
    assert course.ended() == loop.Stop(RunStatus.CONVERGED, StatusReason.STABLE)
    assert course.put == [[], ["The pitch costs 25 GBP."]]
    assert [each.is_confirmed for each in course.state.standing_grounds] == [True]


def test_a_new_statement_is_put_as_well_and_later_candidates_are_written_under_all_questions():
    course = Course("The pitch costs 25 GBP.", "The pitch costs 30 GBP.")
    assert course.ended().status is RunStatus.CONVERGED
    assert course.put == [[], ["The pitch costs 25 GBP."], ["The pitch costs 25 GBP.", "The pitch costs 30 GBP."]]


def test_what_was_written_beside_a_statement_taken_back_is_confirmed_by_the_next_candidate_only():
    course = Course("The pitch costs 25 GBP. The gate opens at six.", "The pitch costs 25 GBP.")
    assert course.ended().status is RunStatus.CONVERGED
    assert len(course.put) == 3


def test_an_answerer_that_says_something_new_each_time_is_not_asked_for_ever():
    course = Course(*(f"Stall {number} is taken." for number in range(40)))
    assert course.ended().status is RunStatus.PARTIAL
    assert len(course.put[-1]) == grounds.MOST_ROUNDS


def test_more_than_is_asked_about_is_no_convergence_and_says_what_is_open():
    many = " ".join(f"Stall {number} is taken." for number in range(grounds.MOST_PUT * grounds.MOST_ROUNDS + 1))
    course = Course(many)
    assert course.ended() == loop.Stop(RunStatus.PARTIAL, StatusReason.NOT_GROUNDED)
    unconfirmed = [each.excerpt for each in course.state.standing_grounds if not each.is_confirmed]
    assert unconfirmed == [f"Stall {grounds.MOST_PUT * grounds.MOST_ROUNDS} is taken."]


def test_facts_may_be_demanded():
    (pitch,) = sentences_of("The pitch costs 25 GBP.")
    assert Course(pitch.text, mode=Grounds.GIVEN).ended().reason == StatusReason.NOT_GROUNDED
    assert Course(pitch.text, mode=Grounds.GIVEN, supports=[supported(pitch)]).ended().status is RunStatus.CONVERGED


def test_off_asks_for_nothing():
    course = Course("The pitch costs 25 GBP.", mode=Grounds.OFF)
    assert course.ended().status is RunStatus.CONVERGED
    assert course.put == [[], []]
