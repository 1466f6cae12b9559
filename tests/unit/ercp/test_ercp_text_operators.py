"""The operators for texts and choices (ADR 0116): what they find and refuse, and what a model may propose."""

import pytest

from services.common.grounding.words import sentences
from services.ercp.domain.predicates import (
    Holds,
    PredicateError,
    Span,
    evaluate,
    extract_facts,
    parse_predicate,
    to_document,
)
from services.ercp.domain.predicates.canonical import canonical
from services.ercp.domain.predicates.parsing import parse_text
from services.ercp.domain.wording.proposals import MAX_REPLY_CHARS, question, understood
from tests.each import each

NOTE = """Subject: Lunch on 12.03.2027

# Plan

1. Soup at 12:30, for 4.50 EUR
2. Bread and butter

Call 0123 456789.

| dish | price |
|---|---|
| soup | 4.50 |
"""


def holds(predicate, text):
    return evaluate(parse_text(predicate), extract_facts(text, [Span(*place) for place in sentences(text)]))


@each(
    ("predicate", "text", "expected"),
    [
        ('Count("words", at_most=3)', "One two three.", Holds.TRUE),
        ('Count("words", at_most=2)', "One two three.", Holds.FALSE),
        ('Count("characters", exactly=4)', " four ", Holds.TRUE),
        ('Count("sentences", at_least=2)', "One stands. Two stand.", Holds.TRUE),
        ('Count("sentences", at_least=3)', "One stands. Two stand.", Holds.FALSE),
        ('Count("paragraphs", exactly=2)', "One.\n\nTwo.", Holds.TRUE),
        ('Count("lines", exactly=2)', "One.\n\n  \nTwo.", Holds.TRUE),
        ('Count("lines", exactly=3)', "One.\n\n  \nTwo.", Holds.FALSE),
        ('Count("items", exactly=2)', "- one\n- two\n", Holds.TRUE),
        ('Count("words", at_most=2, each="line")', "One two.\nOne two three.", Holds.FALSE),
        ('Count("words", at_most=3, each="line")', "One two.\nOne two three.", Holds.TRUE),
        ('Count("words", at_most=2, each="paragraph")', "One two.\n\nThree.", Holds.TRUE),
        ('Count("words", at_most=1, each="sentence")', "One. Two more.", Holds.FALSE),
        ('Count("words", at_most=2, each="item")', "- one two\n- three\n", Holds.TRUE),
        ('Count("words", at_most=2, each="chapter")', "One.", Holds.UNKNOWN),
        ('Matches("[0-9.]+", of="date")', NOTE, Holds.TRUE),
        ('Matches("[0-9]{4}-.*", of="date")', NOTE, Holds.FALSE),
        ('Matches("[0-9]+ [A-Z][a-z]+ [0-9]{4}", of="date")', "On 3 March 2027 and on 1 May 2027.", Holds.TRUE),
        ('Matches("[0-9]+ [A-Z][a-z]+ [0-9]{4}", of="date")', "On March 3, 2027.", Holds.FALSE),
        ('Matches("[0-9:]+", of="time")', NOTE, Holds.TRUE),
        ('Matches("Lunch.*", of="subject")', NOTE, Holds.TRUE),
        ('Matches("Dinner.*", of="subject")', NOTE, Holds.FALSE),
        ('Matches("Dinner.*", of="subject")', "No head.", Holds.UNKNOWN),
        ('Matches(".+", of="line")', NOTE, Holds.TRUE),
        ('Matches("Subject.*", of="first line")', NOTE, Holds.TRUE),
        ('Matches("Subject.*", of="last line")', NOTE, Holds.FALSE),
        ('Matches("[0-9.,]+", of="amount")', NOTE, Holds.TRUE),
        ('Matches(".*[.]", of="text")', "It ends.", Holds.TRUE),
        ('Matches(".*[!]", of="text")', "It ends.", Holds.FALSE),
        ('Matches("[0-9]+[.]", of="step")', NOTE, Holds.TRUE),
        ('Matches("[a-z]+", of="heading")', "No heading stands here.", Holds.UNKNOWN),
    ],
)
def test_what_a_text_keeps_and_breaks(predicate, text, expected):
    found = holds(predicate, text)
    assert found.holds is expected, found.why
    assert found.why
    assert all(0 <= span.start <= span.end <= len(text) for span in found.evidence)
    if expected is Holds.FALSE:
        assert found.evidence


@each(
    ("name", "args", "field"),
    [
        ("Contains", {"text": 5}, "args.text"),
        ("Contains", {"text": "  "}, "args.text"),
        ("Contains", {"text": "x" * 600}, "args.text"),
        ("Contains", {"text": '"a\\q"'}, "args.text"),
        ("Contains", {"text": "a", "topic": "perhaps"}, "args.topic"),
        ("Count", {"of": "words"}, "args.at_most"),
        ("Count", {"of": "words", "exactly": 1, "at_most": 2}, "args.at_most"),
        ("Count", {"of": "words", "at_least": 3, "at_most": 2}, "args.at_least"),
        ("Count", {"of": "words", "at_most": -1}, "args.at_most"),
        ("Count", {"of": "words", "at_most": 1.5}, "args.at_most"),
        ("Count", {"of": "words", "at_most": True}, "args.at_most"),
        ("Count", {"of": "words", "at_most": 10_000_000}, "args.at_most"),
        ("Matches", {"pattern": 5}, "args.pattern"),
        ("Matches", {"pattern": "(a"}, "args.pattern"),
        ("Matches", {"pattern": "a" * 501}, "args.pattern"),
        ("Matches", {"pattern": "((a{1000}){1000}){1000}"}, "args.pattern"),
        ("Matches", {"pattern": "a", "of": "soul"}, "args.of"),
        ("OneOf", {"left": "a.b", "options": "one"}, "args.options"),
        ("OneOf", {"left": "a.b", "options": ["one", True]}, "args.options"),
        ("OneOf", {"left": "a.b", "options": ["one", ""]}, "args.options"),
        ("OneOf", {"left": "a.b", "options": [f"o{n}" for n in range(41)]}, "args.options"),
        ("Between", {"left": "a.b", "low": "5 kg", "high": "7 EUR"}, "args.high"),
        ("Between", {"left": "a.b", "low": "9:00", "high": "7 EUR"}, "args.high"),
        ("Between", {"left": "a.b", "low": "25:00", "high": "26:00"}, "args.low"),
        ("Between", {"left": "a.b", "low": "--13-01", "high": "--13-02"}, "args.low"),
    ],
)
def test_what_is_refused_names_its_field(name, args, field):
    with pytest.raises(PredicateError) as caught:
        parse_predicate(name, args)
    assert f"args.{caught.value.field.removeprefix('args.')}" == field
    assert caught.value.allowed


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("Contains", {"text": '"a\\tb"', "topic": "true"}),
        ("Contains", {"text": "a", "topic": ""}),
        ("Count", {"of": "word", "at_most": "200", "each": ""}),
        ("Count", {"of": "options", "exactly": 3.0}),
        ("OneOf", {"left": "a.b", "options": "one | two"}),
        ("Between", {"left": "a.b", "low": "5", "high": "10 km"}),
        ("Between", {"left": "a.b", "low": "9 am", "high": "5 pm"}),
        ("Between", {"left": "a.b", "low": "--12-15", "high": "--12-31"}),
        ("Between", {"left": "a.b", "low": "2027-01-01", "high": "2027-02-01"}),
    ],
)
def test_other_ways_to_write_arguments(name, args):
    read = parse_predicate(name, args)
    assert read.name == name
    again = to_document(read)
    assert canonical(parse_predicate(name, again["args"])) == canonical(read)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ('```text\nContains("polite")\n```', ""),
        ("LessThan(reply.length, 50 words)\nand more", "more, or less"),
        ("", "more, or less"),
        ("x" * (MAX_REPLY_CHARS + 1), "more, or less"),
        ("None.", "knows no predicate"),
        ("Sure, here it is", "is no predicate"),
        ('Matches("a+", of="line")', "a pattern"),
        ("LessThan(fee.amount, 50 EUR)", ""),
        ("LessThan(fee.amount, 60 EUR)", "do not name"),
        ("Between(fee.amount, 40 EUR, 50 EUR)", "do not name"),
        ('Count("words", at_most=50)', ""),
        ('Count("words", at_most=70)', "do not name"),
    ],
)
def test_what_a_language_model_proposes_is_taken_only_where_the_words_bear_it(reply, reason):
    words = 'The fee, with "care", is at most 50 EUR.'
    found = understood(words, reply)
    assert (found.predicate is None) is bool(reason)
    assert reason in found.reason
    assert question(words) == '"The fee, with \\"care\\", is at most 50 EUR."'
