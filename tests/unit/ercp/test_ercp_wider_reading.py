"""What the readers of ADR 0080 read besides: rates, counts, lengths of time in two parts, phases of events, dates."""

import pytest

from services.ercp.domain import checking, readings
from services.ercp.domain.predicates import PredicateError, contradictions, evaluate, parse_predicate
from services.ercp.domain.predicates.units import is_counted, unit_named
from services.ercp.domain.records import Passage
from services.ercp.domain.vocabulary import ErrorType


def facts(text):
    return readings.facts_of(text, readings.sentences_of(text))


def holds(text, name, **args):
    return evaluate(parse_predicate(name, args), facts(text)).holds.value


class TestUnits:
    @pytest.mark.parametrize(
        ("word", "unit"),
        [
            ("mL/h", "ml/h"),
            ("grams per cubic metre", "g/m³"),
            ("sheets per minute", "1/min"),
            ("km/h", "km/h"),
            ("sheets", None),
            ("grams per foo", None),
        ],
    )
    def test_one_unit_per_another(self, word, unit):
        assert unit_named(word) == unit

    @pytest.mark.parametrize(
        ("word", "expected"), [("sheets", True), ("people", True), ("metrs", False), ("foo", False)]
    )
    def test_what_is_counted_and_what_is_a_unit_spelt_wrong(self, word, expected):
        assert is_counted(word) is expected

    def test_a_constraint_may_count(self):
        assert (
            holds("The stock of the printer is 40 sheets.", "Equal", left="printer.stock", right="40", unit="sheets")
            == "true"
        )
        with pytest.raises(PredicateError, match="metrs"):
            parse_predicate("Equal", {"left": "rope.length", "right": "4", "unit": "metrs"})

    def test_a_rate_is_converted_and_is_no_plain_amount(self):
        text = "The flow of the tap is 6 litres per minute."
        assert holds(text, "Equal", left="tap.flow", right="360", unit="L/h") == "true"
        assert holds(text, "Equal", left="tap.flow", right="300", unit="L/h") == "false"
        assert holds(text, "Equal", left="tap.flow", right="6", unit="L") == "unknown"

    def test_a_pace_and_its_speed_agree(self):
        assert not contradictions(facts("The rower's training pace is 4 min/km. The rower's training pace is 15 km/h."))
        assert contradictions(facts("The rower's training pace is 4 min/km. The rower's training pace is 25 km/h."))


class TestAmounts:
    def test_hours_and_minutes_are_one_length_of_time(self):
        text = "The duration of the film is two hours and 10 minutes."
        assert holds(text, "Equal", left="film.duration", right="130", unit="min") == "true"
        assert (
            holds(
                "The duration of the film comes to 95 minutes.", "LessThan", left="film.duration", right="1", unit="h"
            )
            == "false"
        )


class TestOrders:
    @pytest.mark.parametrize(
        ("text", "clash"),
        [
            ("The roof is tiled before the painting begins. The roof is tiled after the painting is finished.", True),
            ("The painting begins before the roof is tiled. The painting ends after the roof is tiled.", False),
            ("Two mechanics test the brakes before the test drive. The brakes are tested after the test drive.", True),
        ],
    )
    def test_an_event_has_a_start_and_an_end(self, text, clash):
        assert bool(contradictions(facts(text))) is clash

    def test_the_date_of_an_event_is_when_it_is(self):
        args = {"left": "premiere.date", "right": "2027-09-01"}
        assert holds("The premiere is on 4 October 2027.", "LessThan", **args) == "false"


class TestPassages:
    def found(self, text, passage):
        ground = checking.ReferenceTexts((), ((Passage("chronicle", passage), facts(passage)),))
        return [each.type for each in checking.check(facts(text), ground)]

    def test_another_date_of_the_same_event(self):
        passage = "The harbour crane was dismantled in 1962."
        assert ErrorType.FACTUAL_INCORRECT in self.found("The harbour crane was dismantled in 1971.", passage)
        assert not self.found("The harbour crane was dismantled in 1962.", passage)
        assert not self.found("The harbour crane was painted in 1971.", passage)
