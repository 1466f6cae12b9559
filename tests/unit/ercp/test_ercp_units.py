"""What sentences are, and whether a why question gets its reason: rules before heads (ADR 0118)."""

import pytest

from services.common.questions.kinds import Kind, asked_kind
from services.ercp.domain import readings, units
from services.ercp.domain.answering_why import Draft, answer_to_why, asks_why, lacking
from services.ercp.domain.thinning import asserting
from services.ercp.domain.topics import topics_of
from services.ercp.domain.unit_summary import question_summary, unit_summary
from services.ercp.domain.unit_vocabulary import Relation, UnitKind
from services.ercp.domain.units import Said
from services.ercp.domain.vocabulary import Detector, ErrorType, Standing, Undecided
from tests.fakes.sentence_heads import KINDS, NO, OPEN, RELATIONS, YES

WHY = "Why does water boil at different temperatures at different altitudes?"
BARE = "Water boils at 100 degrees at sea level. It boils at 90 degrees on a high mountain."


def read(text, kinds=None, relations=None):
    """Return a draft; ``kinds`` and ``relations`` by number say what heads say, ``None`` = there are no heads."""
    sentences = readings.sentences_of(text)
    facts = readings.facts_of(text, sentences)
    found = units.by_rules(facts)
    if kinds is not None:
        pairs = units.adjacent(len(sentences), 100)
        seen = [{name: kinds.get(at, {}).get(name, NO) for name in KINDS} for at in range(len(sentences))]
        both = [{name: (relations or {}).get(pair, {}).get(name, NO) for name in RELATIONS} for pair in pairs]
        found = units.with_heads(found, seen, pairs, both)
    return Draft(facts, topics_of(sentences), found)


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("Suppose the square root of 3 is rational.", UnitKind.ASSUMPTION),
        ("We assume that rent stays at this year's level.", UnitKind.ASSUMPTION),
        ("Unless the pellet is pink, go on.", UnitKind.CONDITION),
        ("The bus runs only if it snows.", UnitKind.CONDITION),
        ("Churn is defined as the share of customers who have left.", UnitKind.DEFINITION),
        ("Hence the baker lives in the blue house.", UnitKind.RESULT),
        ("It was closed because two hangers had snapped.", UnitKind.JUSTIFICATION),
    ],
)
def test_a_plain_phrase_decides_without_heads(sentence, kind):
    (unit,) = read(sentence).units.units
    assert unit.kinds == {kind: Said.RULE}


@pytest.mark.parametrize(
    "sentence",
    [
        "If memory serves, the pump was green.",
        "If nothing else, the theorem has a lovely name.",
        "Since 1994 the river has been crossed by a second bridge.",
        "Our then-president signed the lease.",
        "The tank is painted green.",
    ],
)
def test_what_only_looks_like_it_is_left_to_the_heads(sentence):
    (unit,) = read(sentence).units.units
    assert unit.kinds == {}


def test_heads_add_to_rules_and_never_take_back():
    draft = read("Hence the baker lives here.", {0: {"order": YES, "condition": OPEN}})
    (unit,) = draft.units.units
    assert unit.kinds == {UnitKind.ORDER: Said.HEAD, UnitKind.RESULT: Said.RULE}  # the head says no to a result
    assert unit.excluded == {UnitKind.JUSTIFICATION, UnitKind.DEFINITION, UnitKind.ASSUMPTION}


def test_two_sentences_are_one_thing_to_each_other_the_most_probable():
    surer = type(YES)(0.99, verdict=True)
    draft = read(BARE, {}, {(0, 1): {"restates": YES, "contradicts": surer}})
    (found,) = draft.units.relations
    assert (found.first, found.second, found.relation, found.confidence) == (0, 1, Relation.CONTRADICTS, 0.99)
    assert draft.units.related(Relation.RESTATES) == frozenset()


def test_neighbours_are_read_both_ways_and_grow_with_the_text():
    assert units.adjacent(3, 100) == [(0, 1), (1, 0), (1, 2), (2, 1)]
    assert len(units.adjacent(10_000, 50)) == 50
    assert units.adjacent(1, 100) == units.adjacent(0, 100) == []


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        (WHY, True),
        ("Explain why ice floats on water.", True),
        ("What is the reason for the delay?", True),
        ("How come the lift stopped?", True),
        ("Which valve was replaced, and why?", True),
        ("Should the dam be lowered?", False),
        ("What is the boiling point of water?", False),
        ("", False),
    ],
)
def test_which_questions_want_a_reason(question, asked):
    assert asks_why(question) is asked
    if asked and question != "Which valve was replaced, and why?":
        assert asked_kind(question) in {Kind.REASON, None}


def test_other_questions_demand_nothing():
    assert answer_to_why("How high is the tower?", read(BARE)) is None
    assert lacking(None, WHY) == []
    assert question_summary(None) == {}


def test_a_reason_in_so_many_words_keeps_it():
    text = "Water boils at 90 degrees on a mountain because the air pressure is lower there. It is cold."
    outcome = answer_to_why(WHY, read(text))
    assert (outcome.standing, outcome.reason, outcome.immutable) == (Standing.KEPT, None, True)
    assert outcome.places[0].sentence.startswith("Water boils")
    assert lacking(outcome, WHY) == []


@pytest.mark.parametrize(
    ("kinds", "relations"),
    [({1: {"justification": YES}}, {}), ({}, {(0, 1): {"justifies": YES}}), ({}, {(1, 0): {"justifies": YES}})],
)
def test_a_reason_that_only_heads_see_keeps_it(kinds, relations):
    assert answer_to_why(WHY, read(BARE)).standing is Standing.UNDECIDED
    assert answer_to_why(WHY, read(BARE, kinds, relations)).standing is Standing.KEPT


def test_an_answer_of_which_heads_are_sure_that_nothing_in_it_is_a_reason_breaks_it():
    outcome = answer_to_why(WHY, read(BARE, {}))
    assert (outcome.standing, outcome.reason) == (Standing.BROKEN, None)
    (suspicion,) = lacking(outcome, WHY)
    assert (suspicion.type, suspicion.detector) == (ErrorType.MISSING_JUSTIFICATION, Detector.HEADS)
    assert suspicion.confidence >= 0.75  # it demands a constraint by itself (§3.1)
    assert suspicion.span is None
    (evidence,) = suspicion.evidence
    assert (evidence.source, evidence.excerpt) == (
        "problem",
        "water boil at different temperatures at different altitudes",
    )


@pytest.mark.parametrize(
    ("kinds", "relations"), [({1: {"justification": OPEN}}, {}), ({}, {(0, 1): {"justifies": OPEN}})]
)
def test_between_the_bounds_nobody_knows(kinds, relations):
    outcome = answer_to_why(WHY, read(BARE, kinds, relations))
    assert (outcome.standing, outcome.reason) == (Standing.UNDECIDED, Undecided.LEFT_OPEN)
    assert lacking(outcome, WHY) == []


def test_a_reason_for_something_else_decides_nothing():
    text = "Water boils sooner on a mountain. The hut is closed on Fridays because of the hunt."
    outcome = answer_to_why(WHY, read(text, {0: {}, 1: {}}))
    assert (outcome.standing, outcome.places) == (Standing.UNDECIDED, ())


def test_a_reader_of_reasons_is_not_believed_where_the_head_is_sure():
    text = "Water boils, for the rota, at many temperatures."
    assert [each.marker for each in read(text).facts.justifications] == ["for"]
    assert answer_to_why(WHY, read(text)).standing is Standing.KEPT
    assert answer_to_why(WHY, read(text, {})).standing is Standing.BROKEN


def test_a_draft_of_no_sentences_is_no_answer():
    assert answer_to_why(WHY, read("", {})).standing is Standing.BROKEN
    assert answer_to_why(WHY, read("")).standing is Standing.UNDECIDED


def test_what_is_assumed_contradicts_nothing():
    text = "Suppose the door is open. The door is not open. The door is shut."
    assert asserting([(0, 1), (1, 2)], read(text).units) == [(1, 2)]


def test_the_summary_names_the_sentences_that_are_something():
    draft = read(
        "Suppose the door is open. It is red. Hence it is seen.", {1: {"order": YES}}, {(1, 2): {"justifies": YES}}
    )
    told = unit_summary(draft.units)
    assert told["count"] == 3
    assert told["by_heads"] is True
    assert told["kinds"] == {"assumption": 1, "order": 1, "result": 1}
    assert [each["kinds"] for each in told["items"]] == [{"assumption": "rule"}, {"order": "head"}, {"result": "rule"}]
    assert told["relations"]["items"] == [{"first": 1, "second": 2, "relation": "justifies", "confidence": 0.97}]
