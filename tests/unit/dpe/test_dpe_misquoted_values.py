"""Values that could be reckoned, and those that are plainly misquoted (SPEC-005 §5.3, ADR 0215)."""

import pytest

from services.common.reading.text_types import Span
from services.dpe.domain.facts import EnvelopeFact, read_fact
from services.dpe.domain.findings import Distortion, DistortionType, Rule
from services.dpe.domain.misquoted_values import is_misquoted
from services.dpe.domain.rules import read_claim
from services.dpe.domain.rules.reading import Reading
from services.dpe.domain.rules.substituted import substituted_ordinal
from tests.unit.dpe.test_dpe_rule_guards import claims_of, span_of

ROW = "Plans: Plan: Plus; Price: £12; Notice: 30 days"
FAULT = "A fault is reported within 5 days, and mended within 8 weeks of the report."


@pytest.mark.parametrize(
    ("text", "value", "fact", "expected"),
    [
        ("The Plus plan costs £9.", "£9", ROW, True),
        ("The Plus plan costs £9 with a notice of 30 days.", "£9", ROW, True),
        ("The Plus plan costs £12.", "£12", ROW, False),
        ("The Plus plan costs £9 for 20 days.", "£9", ROW, False),
        ("The Plus plan comes to £24.", "£24", ROW, False),
        ("The Plus plan costs another £3.", "£3", ROW, False),
        ("A fault is reported within 6 days.", "6 days", FAULT, True),
        ("If a fault is reported within 6 days, it is mended within 8 weeks.", "6 days", FAULT, False),
        ("A fault is reported within days.", "days", FAULT, False),
    ],
)
def test_a_value_is_misquoted_where_nothing_is_there_to_reckon_it_from(text, value, fact, expected):
    [claim] = claims_of(text)
    span = span_of(text, value)
    item = Distortion(DistortionType.NUMBER_CHANGED, claim.claim_id, "f", span, Span(0, 1), rule=Rule.APPLIED)
    view = read_fact(0, EnvelopeFact("f", fact), ())
    assert is_misquoted(claim, item, view, Span(0, len(fact))) is expected


@pytest.mark.parametrize(
    ("asked", "text", "expected"),
    [
        ("What does Plus cost?", "The Plus plan costs £24.", True),
        ("What does Plus cost for a year?", "The Plus plan costs £144.", False),
        ("What does Plus cost for 2 months?", "The Plus plan costs £24.", False),
        ("What does Plus cost?", "The Plus plan costs under £15.", False),
    ],
)
def test_what_the_question_gives_may_have_been_reckoned_with(asked, text, expected):
    [claim] = claims_of(text)
    value = claim.values[0]
    span = Span(value.start, value.end)
    item = Distortion(DistortionType.NUMBER_CHANGED, claim.claim_id, "f", span, Span(0, 1), rule=Rule.APPLIED)
    view = read_fact(0, EnvelopeFact("f", ROW), ())
    assert is_misquoted(claim, item, view, Span(0, len(ROW)), asked) is expected


INTEREST = "Interest is charged from the fifth day after the rent was due."


@pytest.mark.parametrize(
    ("text", "facts", "words"),
    [
        ("Interest is charged from the ninth day after the rent was due.", (INTEREST,), ("ninth", "fifth")),
        ("Interest is charged from the fifth day after the rent was due.", (INTEREST,), None),
        ("Interest is charged from the last day after the rent was due.", (INTEREST,), None),
        ("In March a locker is opened on the ninth day for every guest.", (INTEREST,), None),
        (
            "Interest is charged from the ninth day after the rent was due.",
            (INTEREST, "For shops, interest is charged from the ninth day after the rent was due."),
            None,
        ),
    ],
)
def test_an_ordinal_in_the_place_of_another_is_found(text, facts, words):
    sources = [Reading.of(fact, 0, fact_index=at) for at, fact in enumerate(facts)]
    item = substituted_ordinal(read_claim(text, 0), sources)
    told = item and (text[item.claimed.start : item.claimed.end], item.source.text[item.known.start : item.known.end])
    assert told == words
