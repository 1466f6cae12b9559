"""Predicate checks of a text: against constraints, itself, question and passages; overruling; redaction."""

import pytest

from services.common.ports.personal_data import PersonalData, PersonalDataCategory
from services.ercp.domain import checking, readings
from services.ercp.domain.checking import ReferenceTexts
from services.ercp.domain.predicates import TextFacts
from services.ercp.domain.records import Constraint, Passage, PredicateForm
from services.ercp.domain.vocabulary import ConstraintType
from services.ercp.redaction import DetectingRedactor, NoRedactor


def facts(text: str) -> TextFacts:
    return readings.facts_of(text, readings.sentences_of(text))


def found(text, *, constraints=(), passages=(), question=""):
    held = [(Passage(f"p{n}", each), facts(each)) for n, each in enumerate(passages)]
    ground = ReferenceTexts(constraints, held, facts(question) if question else None)
    return [
        (each.type.value, each.detector.value, each.evidence[0].source) for each in checking.check(facts(text), ground)
    ]


def rule(name, **args):
    return Constraint("c1", ConstraintType.PREDICATE, "A rule.", PredicateForm(name, args))


class TestChecking:
    def test_a_constraint_that_is_denied(self):
        held = rule("LessThan", left="tank.volume", right="4", unit="l")
        assert found("The volume of the tank is 5 l.", constraints=[held]) == [
            ("contradiction", "solver", "constraint:c1")
        ]

    def test_one_that_the_text_obeys_or_is_silent_about(self):
        held = rule("LessThan", left="tank.volume", right="9", unit="l")
        assert found("The volume of the tank is 5 l.", constraints=[held]) == []
        assert found("The valve is blue.", constraints=[held]) == []

    def test_a_claim_that_lacks_its_reason(self):
        held = rule("HasJustification", claim="the valve must be closed")
        (only,) = found("The valve must be closed. The pump is blue.", constraints=[held])
        assert only == ("missing_justification", "solver", "constraint:c1")

    def test_a_predicate_of_a_newer_version_is_left(self):
        assert found("The valve is blue.", constraints=[rule("Perhaps", left="a.b")]) == []

    def test_a_text_at_odds_with_itself(self):
        text = "The volume of the tank is 5 l. The volume of the tank is 7 l."
        assert ("contradiction", "rule", "rule") in found(text)

    def test_a_text_that_does_not_add_up(self):
        text = "We close 31 tickets: 14 bugs, 9 feature requests and 6 chores."
        (only,) = checking.check(facts(text), ReferenceTexts(()))
        assert (only.type.value, only.detector.value) == ("contradiction", "rule")
        assert only.evidence[0].excerpt == "14 + 9 + 6 is 29, not 31"
        assert text[slice(*only.span)] == "31 tickets: 14 bugs, 9 feature requests and 6"
        assert found(text.replace("31", "29")) == []

    def test_another_value_than_the_question_states(self):
        question = "The lorry weighs 38 tonnes. May it cross the bridge?"
        assert ("contradiction", "rule", "problem") in found("The lorry weighs 44 tonnes.", question=question)

    @pytest.mark.parametrize(
        ("text", "wrong"),
        [
            ("The volume of the tank is 5 l.", True),
            ("The volume of the tank is 7 l.", False),
            ("The volume of the tank is 7000 ml.", False),
            ("The volume of the tank is 7 m.", True),
            ("The volume of the bucket is 5 l.", False),
        ],
        ids=["another value", "the same", "in other units", "no unit of it", "of another thing"],
    )
    def test_values_of_passages(self, text, wrong):
        errors = found(text, passages=["The volume of the tank is 7 l."])
        assert (("factual_incorrect", "fact_check", "p0") in errors) is wrong

    def test_orders_of_passages(self):
        text = "The pump is started before the valve is opened."
        errors = found(text, passages=["The valve is opened before the pump is started."])
        assert ("factual_incorrect", "fact_check", "p0") in errors


class TestOverruling:
    def test_values_of_different_things(self):
        text = "The torque of the wheel bolts is 180 Nm."
        assert readings.overruled(facts(text), (0, len(text)), "The torque of the caliper bolts is 28 Nm.")

    def test_the_same_value_in_other_units(self):
        text = "The volume of the tank is 7 l."
        assert readings.overruled(facts(text), (0, len(text)), "The volume of the tank is 7000 ml.")

    def test_a_clash_and_silence_stand(self):
        text = "The volume of the tank is 5 l."
        assert not readings.overruled(facts(text), (0, len(text)), "The volume of the tank is 7 l.")
        assert not readings.overruled(facts(text), (0, len(text)), "The tank is never empty.")

    def test_two_sentences_are_apart_only_where_neither_names_the_other(self):
        text = "The torque of the wheel bolts is 180 Nm. The torque of the caliper bolts is 28 Nm. The pump is blue."
        first, second, third = readings.sentences_of(text)
        assert readings.apart(facts(text), first, second)
        assert not readings.apart(facts(text), first, third)


class TestSentences:
    def test_decimals_and_abbreviations_end_nothing(self):
        text = "It is approx. 5.5 l. The rest follows.\n\nA heading\nThe end"
        assert [each.text for each in readings.sentences_of(text)] == [
            "It is approx. 5.5 l.", "The rest follows.", "A heading", "The end",
        ]  # fmt: skip
        assert all(text[each.start : each.end] == each.text for each in readings.sentences_of(text))


class TestLearning:
    @pytest.mark.parametrize(
        ("text", "written"),
        [
            ("The volume of the tank is 7 l.", ("Equal", {"left": "tank.volume", "right": "7", "unit": "l"})),
            (
                "The volume of the tank is at most 7 l.",
                ("LessThan", {"left": "tank.volume", "right": "7", "unit": "l", "inclusive": True}),
            ),
            (
                "The volume of the tank is more than 7 l.",
                ("GreaterThan", {"left": "tank.volume", "right": "7", "unit": "l"}),
            ),
            ("The volume of the tank is not 7 l.", ("NotEqual", {"left": "tank.volume", "right": "7", "unit": "l"})),
        ],
    )
    def test_what_a_sentence_demands_of_another_text(self, text, written):
        ((_, predicate),) = list(readings.equalities(facts(text)))
        form = readings.form_of(predicate)
        assert (form.name, dict(form.args)) == written


class Recognizer:
    fingerprint = "none@1"

    async def recognize(self, texts):
        return [() for _ in texts]


class Detector:
    fingerprint = "none@1"

    async def detect(self, texts):
        kind = PersonalDataCategory.DIRECT_IDENTIFIER
        return [
            tuple(
                PersonalData(kind, "NAME", at, at + 4, 1.0)
                for at in range(len(each.text))
                if each.text.startswith("Jane", at)
            )
            for each in texts
        ]


async def test_redaction_puts_the_kind_in_place_of_the_data():
    redactor = DetectingRedactor(Recognizer(), Detector())
    assert await redactor.redact(["Jane asks Jane.", "Nobody."]) == ["<NAME> asks <NAME>.", "Nobody."]
    assert await NoRedactor().redact(["Jane"]) == ["Jane"]
