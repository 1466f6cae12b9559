"""The second detector: what is asked of the models, and what their answers make suspected (ADR 0117)."""

import json
from dataclasses import replace

import numpy as np
import pytest

from services.common.ports.entailment import CONTRADICTION, ENTAILMENT
from services.ercp.domain import readings, standing, suspecting
from services.ercp.domain.predicates import parse_text
from services.ercp.domain.records import Constraint
from services.ercp.domain.suspecting import SuspicionBounds, Way
from services.ercp.domain.suspecting.absence import is_absent
from services.ercp.domain.suspecting.asking import MOST_PARTS, NEAREST, indicative, inquiry_of
from services.ercp.domain.suspecting.judging import Answers, answers_of, doubted
from services.ercp.domain.vocabulary import ConstraintType, Standing, Undecided
from services.ercp.suspicion_bounds import load_bounds
from tests.each import each
from tools.fit_suspicion import Sample, count, fit, report

BOUNDS = SuspicionBounds(
    unsaid_entailed=0.2,
    unsaid_near=0.5,
    forbidden=0.6,
    contradicted=0.3,
    denied=0.5,
    absent=0.4,
    unchosen_entailed=0.3,
    unchosen_near=0.5,
    ordered=0.6,
    ordered_margin=0.1,
)


def facts_of(text):
    return readings.facts_of(text, readings.sentences_of(text))


def constraint(predicate, words="It must be so.", *, immutable=False, name="c1"):
    form = readings.form_of(parse_text(predicate))
    return Constraint(name, ConstraintType.PREDICATE, words, form, immutable=immutable)


def planned(text, *constraints):
    facts = facts_of(text)
    outcomes = standing.outcomes(facts, constraints)
    return facts, outcomes, suspecting.plan(facts, constraints, outcomes)


@each(
    ("predicate", "words", "way", "statements"),
    [
        ('Contains("side effects", topic=true)', "", Way.UNSAID, ("There is side effects.",)),
        ('NotContains("arbitration", topic=true)', "", Way.FORBIDDEN, ("There is arbitration.",)),
        ('Contains("make a backup", topic=true)', "", Way.UNSAID, ("Make a backup.",)),
        ('Contains("approved the budget", topic=true)', "", Way.UNSAID, ("Somebody approved the budget.",)),
        ('Contains("owns the drawings", topic=true)', "", Way.UNSAID, ("Somebody owns the drawings.",)),
        ('Contains("costs of shipping", topic=true)', "", Way.UNSAID, ("There is costs of shipping.",)),
        ("Equal(codename, Kestrel)", "The codename must be Kestrel.", Way.CONTRADICTED, ("The codename is Kestrel.",)),
        ("Equal(race, 10 km)", "Please make sure that it has to be 10 km!", Way.CONTRADICTED, ("It is 10 km.",)),
        ("NotEqual(vendor, Oracle)", "", Way.FORBIDDEN, ("The vendor is Oracle.",)),
        ('OneOf(plan, "monthly | yearly")', "", Way.UNCHOSEN, ("plan: monthly.", "plan: yearly.")),
        ("TemporalOrder(check, write)", "", Way.ORDERED, ("Check.", "Write.")),
        ('Sequence("a b | c | d")', "", Way.ORDERED, ("A b.", "C.", "D.")),
        ('InWords("The key must not travel by post.")', "", Way.FORBIDDEN, ("The key travel by post.",)),
        ('InWords("No meetings on Fridays.")', "", Way.FORBIDDEN, ("Meetings on Fridays.",)),
        ('InWords("Each chapter needs a summary.")', "", Way.DENIED, ("Each chapter needs a summary.",)),
    ],
)
def test_what_is_asked(predicate, words, way, statements):
    assert inquiry_of(parse_text(predicate), words) == (way, statements)


@pytest.mark.parametrize(
    ("predicate", "words"),
    [
        ('Contains("warranty")', ""),
        ("LessThan(price, 5 EUR)", ""),
        ("GreaterThan(price, cost)", ""),
        ("Equal(price, cost.value)", ""),
        ("NotEqual(price, 5 EUR)", ""),
        ("Between(price, 1 EUR, 5 EUR)", ""),
        ('Count("words", at_most=5)', ""),
        ("NoContradiction(price)", ""),
        ('InWords("Spend more nights in Rome than in Naples.")', ""),
        ('InWords("Do not leave before noon.")', ""),
        ('OneOf(day, "a | b | c | d | e | f | g | h | i")', ""),
    ],
)
def test_what_the_models_know_nothing_of_is_not_asked(predicate, words):
    assert inquiry_of(parse_text(predicate), words) is None


def test_only_what_the_rules_leave_open_is_asked():
    text = "The codename is Sparrow. The vendor is Oracle."
    broken, kept = constraint("Equal(codename, Kestrel)"), constraint("Equal(vendor, Oracle)")
    open_ = constraint('Contains("warranty", topic=true)')
    _, outcomes, found = planned(text, broken, kept, open_)
    assert [each.standing for each in outcomes] == [Standing.BROKEN, Standing.KEPT, Standing.UNDECIDED]
    assert [(each.number, each.way) for each in found.inquiries] == [(2, Way.UNSAID)]
    at_odds = replace(outcomes[2], reason=Undecided.AT_ODDS)
    assert not suspecting.plan(facts_of(text), [open_], [at_odds]).inquiries


def test_parts_are_sentences_cut_at_line_ends():
    facts, _, found = planned(
        "First line\n  - an item  \n---\nLast. Two.", constraint('Contains("warranty", topic=true)')
    )
    assert found.words == ("First line", "- an item", "Last.", "Two.")
    assert [facts.text[part.start : part.end] for part in found.parts] == list(found.words)
    assert found.texts == [*found.words, "There is warranty."]
    assert found.is_whole


def test_a_statement_is_held_against_the_nearest_parts_both_ways():
    text = " ".join(f"Sentence number {number} stands here." for number in range(NEAREST + 3))
    _, _, found = planned(text, constraint('Contains("warranty", topic=true)'))
    parts = len(found.words)
    vectors = np.zeros((parts + 1, parts), np.float32)
    vectors[:parts] = np.eye(parts)
    vectors[parts] = np.arange(parts) / parts
    (asked,) = found.nearest(vectors, 100)
    assert list(asked.nearest[0]) == list(range(parts - 1, parts - 1 - NEAREST, -1))
    pairs = list(asked.pairs(found.words))
    assert len(pairs) == 2 * NEAREST
    assert pairs[0] == (found.words[-1], "There is warranty.")
    assert pairs[NEAREST] == ("There is warranty.", found.words[-1])
    rows = np.zeros((2 * NEAREST, 3), np.float32)
    rows[0, ENTAILMENT], rows[0, CONTRADICTION], rows[NEAREST, CONTRADICTION] = 0.7, 0.2, 0.4
    answers = answers_of(asked, rows)
    assert answers.entailed[0, parts - 1] == pytest.approx(0.7)
    assert answers.contradicted[0, parts - 1] == pytest.approx(0.3)
    assert not answers.entailed[0, 0]


def test_beyond_the_pairs_nothing_is_asked():
    topics = [constraint(f'Contains("topic{number}", topic=true)') for number in range(4)]
    _, _, found = planned("One sentence. Two sentences.", *topics)
    vectors = np.ones((2 + 4, 3), np.float32)
    assert [each.inquiry.number for each in found.nearest(vectors, 6)] == [0, 1, 2]
    assert found.nearest(vectors, 1) == []


def doubt(predicate, text, entailed, contradicted=None, cosines=None, words="It is so.", *, absent=False):
    _, _, found = planned(text, constraint(predicate, words))
    vectors = np.ones((len(found.texts), 2), np.float32)
    (asked,) = found.nearest(vectors, 1_000)
    asked = replace(asked, inquiry=replace(asked.inquiry, is_absent=absent))
    table = np.array(entailed, np.float32)
    zeros = np.zeros_like(table)
    answers = Answers(
        table,
        zeros if contradicted is None else np.array(contradicted, np.float32),
        zeros if cosines is None else np.array(cosines, np.float32),
    )
    return doubted(found, asked, answers, BOUNDS)


@pytest.mark.parametrize(
    ("entailed", "cosines", "is_suspected"),
    [([0.1, 0.19], [0.3, 0.39], True), ([0.1, 0.2], [0.3, 0.39], False), ([0.1, 0.1], [0.1, 0.5], False)],
)
def test_what_has_to_be_said_is_suspected_to_be_missing(entailed, cosines, is_suspected):
    found = doubt('Contains("warranty", topic=true)', "It is red. It is new.", [entailed], cosines=[cosines])
    assert (found is not None) is is_suspected
    if found is not None:
        assert found.parts == ()
        assert "nothing in the draft seems to say" in found.why


def test_nothing_is_missing_from_a_draft_that_was_not_read_whole():
    text = "It is red. " * (MOST_PARTS + 1)
    _, _, found = planned(text, constraint('Contains("warranty", topic=true)'))
    assert not found.is_whole
    (asked,) = found.nearest(np.zeros((len(found.texts), 2), np.float32), 1_000)
    none = np.zeros((1, len(found.parts)), np.float32)
    assert doubted(found, asked, Answers(none, none, none), BOUNDS) is None
    _, _, choice = planned(text, constraint('OneOf(plan, "monthly | yearly")'))
    (asked,) = choice.nearest(np.zeros((len(choice.texts), 2), np.float32), 1_000)
    none = np.zeros((2, len(choice.parts)), np.float32)
    assert doubted(choice, asked, Answers(none, none, none), BOUNDS) is None


@pytest.mark.parametrize(
    ("text", "entailed", "parts"),
    [
        ("It is red. A referee decides.", [0.1, 0.6], (1,)),
        ("It is red. A referee decides.", [0.1, 0.59], None),
        ("It is red. No referee decides.", [0.1, 0.9], None),
    ],
)
def test_what_must_not_be_said_is_suspected_where_it_follows(text, entailed, parts):
    found = doubt('NotContains("arbitration", topic=true)', text, [entailed])
    assert (None if found is None else found.parts) == parts


@pytest.mark.parametrize(
    ("entailed", "contradicted", "parts"),
    [([0.1, 0.2], [0.2, 0.5], (1,)), ([0.1, 0.21], [0.2, 0.5], None), ([0.4, 0.1], [0.2, 0.6], None)],
)
def test_a_statement_is_suspected_where_a_part_contradicts_it_more_than_any_bears_it_out(entailed, contradicted, parts):
    found = doubt("Equal(codename, Kestrel)", "We call it Sparrow. It is red.", [entailed], [contradicted])
    assert (None if found is None else found.parts) == parts


@pytest.mark.parametrize(
    ("entailed", "cosines", "is_suspected"),
    [
        ([[0.1], [0.29]], [[0.1], [0.49]], True),
        ([[0.1], [0.3]], [[0.1], [0.1]], False),
        ([[0.1], [0.1]], [[0.5], [0.1]], False),
    ],
)
def test_a_choice_is_suspected_where_no_option_is_named(entailed, cosines, is_suspected):
    found = doubt('OneOf(plan, "monthly | yearly")', "You pay by the hour.", entailed, cosines=cosines)
    assert (found is not None) is is_suspected
    if found is not None:
        assert found.why.endswith("plan: monthly, plan: yearly")


@pytest.mark.parametrize(
    ("predicate", "entailed", "is_suspected"),
    [
        ("Equal(codename, Kestrel)", [[0.1, 0.39]], True),
        ("Equal(codename, Kestrel)", [[0.1, 0.4]], False),
        ('OneOf(plan, "monthly | yearly")', [[0.1, 0.3], [0.1, 0.39]], True),
        ('OneOf(plan, "monthly | yearly")', [[0.1, 0.3], [0.1, 0.4]], False),
    ],
)
def test_what_stands_nowhere_is_suspected_where_nothing_bears_it_out(predicate, entailed, is_suspected):
    cosines = [[0.9, 0.9]] * len(entailed)
    assert doubt(predicate, "It is red. It is new.", entailed, cosines=cosines) is None
    assert (
        doubt(predicate, "It is red. It is new.", entailed, cosines=cosines, absent=True) is not None
    ) is is_suspected


@pytest.mark.parametrize(
    ("predicate", "text", "absent"),
    [
        ("Equal(codename, Kestrel)", "Our release is called Sparrow.", True),
        ("Equal(codename, Kestrel)", "Kestrels fly.", False),
        ("Equal(buyer, Harrow & Lind Ltd)", "Harrow & Sons Ltd buys it.", True),
        ("NotEqual(codename, Kestrel)", "Our release is called Sparrow.", False),
        ('OneOf(pay, "card | bank transfer")', "You pay in cash.", True),
        ('OneOf(pay, "card | bank transfer")', "You pay by transfer from your bank.", False),
        ("Equal(race, 10 km)", "You run 8 km, then 21 km.", True),
        ("Equal(race, 10 km)", "You run 8 km, then 10,000 m.", False),
        ("Equal(race, 10 km)", "You run for an hour.", False),
        ("Equal(budget, 2400 USD)", "We set aside $200 a month.", False),
        ("Equal(race, 10 km, tolerance=1 km)", "You run 8 km.", False),
        ("LessThan(race, 10 km)", "You run 18 km.", False),
        ("Equal(race, run.length)", "You run 18 km.", False),
    ],
)
def test_what_stands_nowhere_in_a_draft(predicate, text, absent):
    assert is_absent(parse_text(predicate), facts_of(text)) is absent


TEXT = "We write it. We check it. We send it."


@pytest.mark.parametrize(
    ("predicate", "entailed", "parts"),
    [
        ("TemporalOrder(check, write)", [[0.1, 0.7, 0.1], [0.7, 0.1, 0.1]], (0, 1)),
        ("TemporalOrder(check, write)", [[0.7, 0.1, 0.1], [0.1, 0.7, 0.1]], None),
        ("TemporalOrder(check, write)", [[0.1, 0.7, 0.1], [0.1, 0.7, 0.1]], None),
        ("TemporalOrder(check, write)", [[0.1, 0.59, 0.1], [0.7, 0.1, 0.1]], None),
        ("TemporalOrder(check, write)", [[0.61, 0.7, 0.1], [0.7, 0.1, 0.1]], None),
        ("TemporalOrder(check, write)", [[0.1, 0.7, 0.1], [0.7, 0.61, 0.1]], None),
        ('Sequence("a | b | c")', [[0.7, 0.1, 0.1], [0.1, 0.1, 0.7], [0.1, 0.7, 0.1]], (1, 2)),
        ('Sequence("a | b | c")', [[0.7, 0.1, 0.1], [0.1, 0.7, 0.1], [0.1, 0.1, 0.7]], None),
    ],
)
def test_an_order_is_suspected_where_a_later_step_is_plainly_found_first(predicate, entailed, parts):
    found = doubt(predicate, TEXT, entailed)
    assert (None if found is None else found.parts) == parts


def test_entailment_and_nearness_find_a_step_together():
    none = [[0.1, 0.3, 0.1], [0.3, 0.1, 0.1]]
    assert doubt("TemporalOrder(check, write)", TEXT, none) is None
    assert doubt("TemporalOrder(check, write)", TEXT, none, cosines=[[0.1, 0.4, 0.1], [0.4, 0.1, 0.1]]) is not None


def test_the_outcome_says_suspected_with_the_place_and_never_kept():
    text = "It is red. A referee in Toronto decides."
    constraints = [constraint('Contains("red")'), constraint('NotContains("arbitration", topic=true)', name="c2")]
    facts, outcomes, found = planned(text, *constraints)
    asked = found.nearest(np.ones((len(found.texts), 2), np.float32), 100)
    rows = np.full((4, 3), 0.1, np.float32)
    rows[1, ENTAILMENT] = 0.9
    first, second = suspecting.judge(facts, found, asked, rows, outcomes, BOUNDS)
    assert first == outcomes[0]
    assert (second.standing, second.reason) == (Standing.UNDECIDED, Undecided.SUSPECTED)
    assert [place.sentence for place in second.places] == ["A referee in Toronto decides."]
    assert second.why == 'suspected: the draft seems to say "There is arbitration" (0.90)'


def test_each_inquiry_has_its_own_rows():
    text = "It is red. A referee in Toronto decides."
    topics = ("arbitration", "mediation", "lottery")
    constraints = [constraint(f'NotContains("{topic}", topic=true)', name=topic) for topic in topics]
    facts, outcomes, found = planned(text, *constraints)
    asked = found.nearest(np.ones((len(found.texts), 2), np.float32), 100)
    rows = np.full((12, 3), 0.1, np.float32)
    rows[4, ENTAILMENT] = 0.9
    judged = suspecting.judge(facts, found, asked, rows, outcomes, BOUNDS)
    assert [each.reason for each in judged] == [Undecided.NOT_STATED, Undecided.SUSPECTED, Undecided.NOT_STATED]
    assert judged[1].places[0].sentence == "It is red."


def test_suspected_blocks_also_where_undecided_is_allowed():
    (undecided,) = standing.outcomes(
        facts_of("It is red."), [constraint('Contains("tax", topic=true)', immutable=True)]
    )
    suspected = replace(undecided, reason=Undecided.SUSPECTED)
    assert standing.blocking([undecided]) == standing.blocking([suspected]) == ("c1",)
    assert standing.blocking([undecided], allow_undecided=True) == ()
    assert standing.blocking([suspected], allow_undecided=True) == ("c1",)
    assert standing.blocking([replace(suspected, immutable=False)], allow_undecided=True) == ()


def test_suspicions_of_the_same_draft_are_kept_by_id_and_only_where_still_undecided():
    (open_,) = standing.outcomes(facts_of("It is red."), [constraint('Contains("tax", topic=true)')])
    suspected = replace(open_, reason=Undecided.SUSPECTED)
    assert standing.with_suspicions([open_], [suspected]) == (suspected,)
    assert standing.with_suspicions([replace(open_, constraint_id="c9")], [suspected])[0].reason is Undecided.NOT_STATED
    kept = replace(open_, standing=Standing.KEPT, reason=None)
    assert standing.with_suspicions([kept], [suspected]) == (kept,)
    assert standing.with_suspicions([open_], [replace(open_, reason=Undecided.LEFT_OPEN)]) == (open_,)


@pytest.mark.parametrize(("contradicted", "is_suspected"), [(0.6, True), (0.59, False)])
def test_words_that_no_rule_understands_have_a_bound_of_their_own(contradicted, is_suspected):
    found = doubt('InWords("Each chapter needs a summary.")', "It is red.", [[0.1]], [[contradicted]])
    assert (found is not None) is is_suspected


def test_words_of_a_demand_become_a_statement():
    assert indicative("the price must stay the same") == "The price stay the same."
    assert indicative("Please, it has to be red, please!") == "It is red."


def test_the_bounds_are_those_of_the_data_file():
    bounds = load_bounds()
    assert 0 < bounds.forbidden < 1
    with pytest.raises(ValueError, match="are needed"):
        SuspicionBounds.of({"forbidden": 1})
    values = dict.fromkeys(SuspicionBounds.__slots__, 0.5)
    assert SuspicionBounds.of(values).ordered == 0.5
    with pytest.raises(ValueError, match="are needed"):
        SuspicionBounds.of(json.loads(json.dumps(values | {"ordered": "x"})))


def sample(row, *, is_broken, entailed):
    _, _, found = planned("It is red.", constraint('NotContains("arbitration", topic=true)'))
    (asked,) = found.nearest(np.ones((2, 2), np.float32), 10)
    table = np.array([[entailed]], np.float32)
    return Sample(row, is_broken, found, asked, Answers(table, np.zeros_like(table), np.zeros_like(table)))


def test_the_fit_finds_most_broken_drafts_and_suspects_few_kept_ones():
    drafts = [sample(row, is_broken=True, entailed=0.3 + 0.05 * row) for row in range(10)]
    drafts += [sample(row, is_broken=False, entailed=0.1 + 0.05 * row) for row in range(10)]
    bounds = fit(drafts)
    assert count(drafts, bounds) == (5, 1)
    assert 0.5 < bounds.forbidden <= 0.55
    assert (bounds.unsaid_entailed, bounds.ordered) == (-2.0, 9.0)  # of ways without data nothing is suspected
    assert report(drafts, 5)[2].split() == ["forbidden", "20", "5", "1", "3", "1"]
