"""Rules that came with the second detector: days, sequences, relations, lists, shares (ADR 0117)."""

import pytest

from services.ercp.domain import readings
from services.ercp.domain.predicates import (
    Holds,
    PredicateError,
    describe,
    evaluate,
    parse_predicate,
    parse_text,
    to_text,
)
from services.ercp.domain.solver import Consistency, check
from services.ercp.domain.wording import understand_constraint
from tests.each import each


def said_of(predicate, text):
    return evaluate(parse_text(predicate), readings.facts_of(text, readings.sentences_of(text)))


@each(
    ("words", "predicate"),
    [
        ("It must be out before Christmas 2026.", "LessThan(date, 2026-12-25)"),
        ("The release goes out by the end of March 2027.", "LessThan(release, 2027-03-31, inclusive=true)"),
        ("The report is due by the end of June.", "LessThan(report_due, --06-30, inclusive=true)"),
        ("Sales start from the beginning of May 2027.", "GreaterThan(sales_start, 2027-05-01, inclusive=true)"),
        ("All cards must be sent before the end of 2027.", "LessThan(cards_sent, 2027-12-31)"),
        ("The last session has to be before the exam on 12 June.", "LessThan(last_session, --06-12)"),
        ("The exam is on a Tuesday.", "Equal(exam, Tuesday)"),
        ("The review must never be on a Friday.", "NotEqual(review, Friday)"),
        (
            "The course must be on a weekday.",
            'OneOf(course, "Monday | Tuesday | Wednesday | Thursday | Friday")',
        ),
        ("Maintenance may only be at weekends.", 'OneOf(maintenance, "Saturday | Sunday")'),
        ("The course must not be on a weekend.", 'OneOf(course, "Monday | Tuesday | Wednesday | Thursday | Friday")'),
        (
            "First boil the water, then add the pasta, finally the sauce.",
            'Sequence("boil the water | add the pasta | sauce")',
        ),
        ("Build before test before deploy.", 'Sequence("Build | test | deploy")'),
        ("Lunch comes after the keynote and before the panel.", 'Sequence("keynote | Lunch | panel")'),
        ("Lunch comes before the panel and after the keynote.", 'Sequence("keynote | Lunch | panel")'),
        ("Warm up first, then strength, stretching comes last.", 'Sequence("Warm up | strength | stretching")'),
        (
            "The changelog must list the breaking changes first, then new features, and finally bug fixes.",
            'Sequence("breaking changes | new features | bug fixes")',
        ),
        ("Breaking changes first, new stuff below.", "TemporalOrder(Breaking changes, new stuff)"),
        ("We want to spend more nights in Rome than in Naples.", "GreaterThan(rome_nights, naples_nights)"),
        ("The hotel must be nearer to the hall than to the airport.", "LessThan(hall_distance, airport_distance)"),
        ("We stay in Lisbon longer than in Porto.", "GreaterThan(lisbon, porto)"),
        ("Nina and Oscar get the same number of free days.", "Equal(nina_free_days, oscar_free_days.value)"),
        ("The new version must use less memory than the old one.", "LessThan(new_version_memory, old_memory)"),
        ("A quarter of the calories must come from protein.", "Equal(protein.share_of_calories, 25%)"),
        ("The bonus is at most 10% of a year's salary.", "LessThan(bonus.share_of_salary, 10%, inclusive=true)"),
        ("Interest must not exceed 8% a year.", 'LessThan(interest, 8%, inclusive=true, condition="per year")'),
        (
            "The notice must be given at least three months before the end.",
            "GreaterThan(notice_before_end, 3 month, inclusive=true)",
        ),
        ("Deleting a user must return 204.", "Equal(deleting_user, 204)"),
        ("The workshop has to start at 9:30.", "Equal(workshop, 09:30)"),
        ("The sessions must add up to six hours.", "Equal(sessions.total, 6 h)"),
        ("Payment only in US dollars or euros.", 'OneOf(currency, "USD | EUR")'),
        ("Uploads may be JPEG, PNG or WebP only.", 'OneOf(uploads, "JPEG | PNG | WebP")'),
        ("No file bigger than 20 MB may be accepted.", "LessThan(file_accepted, 20 MB, inclusive=true)"),
        ("At most 600 kcal per meal.", "LessThan(meal, 600 kcal, inclusive=true)"),
        ("Names may have at most 50 characters.", "LessThan(names_characters, 50, inclusive=true)"),
        ("Every employee gets at least two days off per week.", "GreaterThan(employee_week, 2 day, inclusive=true)"),
        ("No museums, the kids have had enough of them.", 'NotContains("museums", topic=true)'),
        ("Don't use any nuts, one of the kids is allergic.", 'NotContains("nuts", topic=true)'),
        ("Responses should never contain passwords.", 'NotContains("passwords", topic=true)'),
        ("Meals must be free of gluten.", 'NotContains("gluten", topic=true)'),
        ("It has to say what to do if she misses a day.", 'Contains("do if she misses a day", topic=true)'),
        (
            "Tell them to make a backup before they upgrade.",
            'Contains("make a backup before they upgrade", topic=true)',
        ),
    ],
)
def test_what_is_understood(words, predicate):
    found = understand_constraint(words)
    assert found.predicate is not None, found.reason
    assert to_text(found.predicate) == predicate


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("Orders above 50 euros are delivered free of charge.", "something else"),
        ("Files larger than 5 MB must be refused.", "something else"),
        ("The minimum Python version is 3.11.", "a version is no number"),
        ("The report is due by the end of February.", "is not plain"),
        ("We must not spend more nights in Rome than in Naples.", "denies a comparison"),
        ("Say the price if it changes.", "under a condition"),
        ("No museums, and the hotel must be cheap.", "more than one demand"),
        ("First A, then A, then B.", "which steps"),
        ("Guests have to leave by midnight.", "midnight"),
        ("The bus leaves at 8 sharp.", "time of day"),
        ("The penalty is 1% of the price per week, capped at 10%.", "several values"),
    ],
)
def test_what_may_be_no_demand_is_not_understood(words, reason):
    found = understand_constraint(words)
    assert found.predicate is None, to_text(found.predicate)
    assert reason in found.reason


@each(
    ("predicate", "text", "holds"),
    [
        ("Equal(exam, Monday)", "The exam is on Monday, 7 September.", Holds.TRUE),
        ("Equal(exam, Monday)", "The exam is on Thursday, 8 October.", Holds.FALSE),
        ("NotEqual(exam, Friday)", "The exam is on Friday.", Holds.FALSE),
        ("NotEqual(exam, Friday)", "The exam is on Monday.", Holds.TRUE),
        ("NotEqual(exam, Friday)", "We sit it on Friday.", Holds.FALSE),
        ("Equal(exam, Friday)", "We sit it on Friday.", Holds.TRUE),
        (
            "LessThan(new_model, old_model)",
            "The predecessor weighed 1.9 kg. The new drill comes to 1.4 kg.",
            Holds.TRUE,
        ),
        (
            "LessThan(new_model, old_model)",
            "The predecessor weighed 1.9 kg. The new drill comes to 2.2 kg.",
            Holds.FALSE,
        ),
        ("LessThan(new_model, old_model)", "The new drill comes to 2.2 kg.", Holds.UNKNOWN),
        (
            "GreaterThan(rome_nights, naples_nights)",
            "We stay six nights in Naples, then two nights in Rome.",
            Holds.FALSE,
        ),
        (
            "GreaterThan(rome_nights, naples_nights)",
            "We stay two nights in Naples, then six nights in Rome.",
            Holds.TRUE,
        ),
        (
            "LessThan(new_model, old_model)",
            "The old one weighed at least 2 kg. The new one weighs at most 1 kg.",
            Holds.UNKNOWN,
        ),
        (
            "GreaterThan(new_model, old_model)",
            "The predecessor: 90 euros a month. Successor: 500 euros a year.",
            Holds.UNKNOWN,
        ),
        (
            "LessThan(read_timeout, connect_timeout)",
            "The timeout to connect is 9 s, before you read it is 4 s.",
            Holds.TRUE,
        ),
        (
            "GreaterThan(rome_budget, naples_budget)",
            "In Rome and not in Naples we spend 300 euros. In Naples, as in Rome before, we spend 500 euros.",
            Holds.UNKNOWN,
        ),
        (
            "GreaterThan(rome_walk, naples_walk)",
            "We walk 220 km from Rome to Naples. In Rome we walk 9 km. In Naples we walk 4 km.",
            Holds.TRUE,
        ),
        ("Equal(nina_days, oscar_days.value)", "Nina: 20 June\nOscar: 25 June", Holds.UNKNOWN),
        (
            "LessThan(order_fields, 2, inclusive=true)",
            "order:\n  id: string\n  price: integer\n  note: string",
            Holds.FALSE,
        ),
        ("GreaterThan(order_fields, 2)", "order:\n  id: string\n  price: integer\n  note: string", Holds.TRUE),
        ("GreaterThan(order_fields, 3)", "order:\n  id: string\n  price: integer\n  note: string", Holds.FALSE),
        ("Equal(grounds, 2)", "Grounds to end it:\n- fire\n- flood", Holds.TRUE),
        ("Equal(grounds, 2)", "Grounds to end it:\n- fire\n- flood\n- war", Holds.FALSE),
        ("NotEqual(grounds, 2)", "Grounds to end it:\n- fire\n- flood", Holds.UNKNOWN),
        ("Between(grounds, 3, 5)", "Grounds to end it:\n- fire\n- flood", Holds.FALSE),
        (
            "LessThan(hard.share_of_rides, 25%, inclusive=true)",
            "There are eight rides. Four of them are hard interval rides.",
            Holds.FALSE,
        ),
        (
            "LessThan(hard.share_of_rides, 25%, inclusive=true)",
            "There are eight rides. Two of them are hard interval rides.",
            Holds.TRUE,
        ),
        (
            "LessThan(hard.share_of_rides, 25%, inclusive=true)",
            "There are eight rides in May and four rides in June. Two of them are hard.",
            Holds.UNKNOWN,
        ),
        (
            "LessThan(hard.share_of_rides, 25%, inclusive=true)",
            "There are eight rides. Two of them are hard. Six of them are hard and long.",
            Holds.UNKNOWN,
        ),
        (
            "TemporalOrder(Breaking changes, new stuff)",
            "# Lumen\n\n## New\n- Shadows.\n\n## Breaking changes\n- `draw()` wants a size.",
            Holds.FALSE,
        ),
        ('Sequence("boil | stir | serve")', "1. Boil it.\n2. Serve it.\n3. Stir it.", Holds.FALSE),
        ('Sequence("boil | stir | serve")', "1. Boil it.\n2. Stir it.\n3. Serve it.", Holds.TRUE),
        ('Sequence("boil | stir | serve")', "1. Boil it.\n2. Stir it.", Holds.UNKNOWN),
        ("LessThan(start_up_time, 2 s, inclusive=true)", "You can go back for 30 days.", Holds.UNKNOWN),
        ("LessThan(start_up_time, 2 s, inclusive=true)", "It takes 40 seconds.", Holds.FALSE),
        ('Count("exclamation marks", at_most=1)', "Hello! How nice!", Holds.FALSE),
        ('Count("exclamation marks", at_most=2)', "Hello! How nice!", Holds.TRUE),
    ],
)
def test_what_a_draft_says(predicate, text, holds):
    found = said_of(predicate, text)
    assert found.holds is holds, found.why


def test_a_sequence_is_described_and_must_hold_together_with_other_orders():
    steps = parse_text('Sequence("boil | stir | serve")')
    assert describe(steps) == 'These must come in this order: "boil", then "stir", then "serve".'
    turned = parse_text("TemporalOrder(serve, boil)")
    assert check([("c1", steps), ("c2", turned)], 5_000).status is Consistency.UNSAT
    assert check([("c1", steps), ("c2", parse_text("TemporalOrder(boil, serve)"))], 5_000).status is Consistency.SAT


def test_words_alone_are_described_as_they_are_and_clash_with_nothing():
    words = parse_text('InWords("Each chapter needs a summary.")')
    assert describe(words) == "Each chapter needs a summary."
    assert check([("c1", words), ("c2", parse_text("Equal(chapter, 5)"))], 5_000).status is Consistency.SAT


@pytest.mark.parametrize(
    ("name", "args", "field"),
    [
        ("Sequence", {"steps": ["a", "b"]}, "args.steps"),
        ("Sequence", {"steps": [f"step {number}" for number in range(13)]}, "args.steps"),
        ("Sequence", {"steps": [1, True, None]}, "args.steps"),
        ("Sequence", {}, "args.steps"),
        ("InWords", {"words": " "}, "args.words"),
        ("InWords", {"words": "x" * 2_001}, "args.words"),
        ("InWords", {"words": 5}, "args.words"),
    ],
)
def test_arguments_that_cannot_be_read(name, args, field):
    with pytest.raises(PredicateError) as refused:
        parse_predicate(name, args)
    assert refused.value.field == field
