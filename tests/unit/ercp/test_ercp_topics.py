"""What sentences are about, which are held against each other, and what the model has to bear out (ADR 0080)."""

import pytest

from services.ercp.domain import pairs, readings
from services.ercp.domain.faults import BELIEVED_FROM
from services.ercp.domain.findings import Finding, FindingKind
from services.ercp.domain.topics import aligned, same, topic_of, topics_of, turns
from services.ercp.domain.vocabulary import Detector
from services.ercp.domain.weighing import Reading, kept


def two(text):
    """Return the topics of the first two sentences of a text."""
    return topics_of(readings.sentences_of(text))[:2]


def reading_of(text):
    sentences = readings.sentences_of(text)
    return Reading(sentences, topics_of(sentences), readings.facts_of(text, sentences))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The bakery uses 30 kg of flour. The bakery uses 55 kg of flour.", True),
        ("The bakery uses 30 kg of flour. It closes at noon.", True),
        ("Smoking is permitted on the balcony. Guests must not smoke on the balcony.", True),
        ("The library opens at nine on weekdays. It opens at eleven on Sundays.", False),
        ("Dogs are allowed in the garden. Dogs are not allowed in the dining room.", False),
        ("A standard ticket costs 12 euros. A reduced ticket costs 8 euros.", False),
        ("An employee has 25 days of leave. An employee under eighteen has 30 days of leave.", False),
        ("The old mill has six wheels. The mill has four wheels.", False),
    ],
)
def test_only_sentences_about_one_thing_in_one_place_are_aligned(text, expected):
    assert aligned(*two(text)) is expected


def test_a_pronoun_stands_for_the_subject_before_it_and_is_spelt_out_for_the_model():
    first, second = two("The old ferry carries forty cars. Its engine was replaced in May.")
    assert second.resolved.startswith("The old ferry's engine")
    assert first.subject <= second.words


@pytest.mark.parametrize(
    ("text", "turned", "is_same"),
    [
        ("Members may bring guests. Members may not bring guests.", 1, True),
        ("The museum is closed on Mondays. The museum is open every Monday until six.", 1, True),
        ("The tram has no driver. The tram has a driver in every car.", 1, True),
        ("Leave must be requested early. Sick days are not leave.", 1, False),
        ("Visitors may enter the kitchen. Visitors may not enter the cellar.", 1, False),
        ("The firewall blocks port 23. It does not block port 22.", 1, False),
        ("The door is open. The door is not closed.", 2, True),
        ("Pets are welcome. Owners clean up, since nobody else does.", 0, False),
    ],
)
def test_a_denial_counts_where_both_say_the_same(text, turned, is_same):
    first, second = two(text)
    assert turns(first, second) == turned
    if turned:
        assert same(first, second) is is_same


class TestPairs:
    def test_the_batch_holds_aligned_pairs_alone(self):
        sentences = readings.sentences_of(
            "The kiln reaches 900 °C. The potter lives upstairs. The kiln reaches 1,200 °C. Rain fell all week."
        )
        topics = topics_of(sentences)
        assert pairs.plan(sentences, topics, 10, lambda *_: False) == [(0, 2)]

    def test_pairs_grow_with_the_text_and_not_with_its_square(self):
        sentences = readings.sentences_of("The kiln reaches a high heat. " * 400)
        planned = pairs.plan(sentences, topics_of(sentences), 10**9, lambda *_: False)
        assert 0 < len(planned) <= 33 * len(sentences)

    @pytest.mark.parametrize(
        ("least", "score", "expected"),
        [
            (None, 0.60, []),
            (None, 0.80, [(Detector.NLI, 0.80)]),
            (pairs.VALUES_FROM, 0.60, [(Detector.RULE, pairs.CONFIRMED), (Detector.NLI, pairs.CONFIRMED)]),
            (pairs.VALUES_FROM, 0.40, []),
            (pairs.DENIAL_FROM, 0.40, [(Detector.RULE, pairs.CONFIRMED), (Detector.NLI, pairs.CONFIRMED)]),
            (pairs.NEVER, 0.95, []),
        ],
    )
    def test_a_rule_lowers_what_the_model_needs_or_overrules_it(self, least, score, expected):
        sentences = readings.sentences_of("The kiln reaches 900 °C. The kiln reaches 1,200 °C.")
        found = pairs.contradictions(sentences, [(0, 1)], [score, score], 0.7, lambda *_: least)
        assert [(each.detector, each.confidence) for each in found] == expected

    def test_the_same_value_in_other_units_is_no_contradiction_whatever_the_model_says(self):
        text = "The walk takes 90 minutes. The walk takes one hour and 30 minutes."
        first, second = two(text)
        amounts = readings.mentions_of(reading_of(text).facts)
        assert pairs.least_for(first, second, readings.values_differ(*amounts)) == pairs.NEVER


class TestLeads:
    """The condition that a sentence begins with is none where its main clause stands before the comma."""

    FACT = "Under load resin cures at 90 °C, because its hardener needs heat."

    @pytest.mark.parametrize(
        "claim",
        [
            "Under load resin cures at 70 °C.",
            "The resin under load cures at 70 °C.",
            '{"errors": []} Under load resin cures at 70 °C.',
        ],
    )
    def test_a_clause_before_because_is_what_the_sentence_is_about(self, claim):
        assert aligned(topic_of(claim), topic_of(self.FACT))

    def test_a_condition_stays_one(self):
        topic = topic_of("Under load, the bearing turns at 900 rpm.")
        assert "load" in topic.lead
        assert "load" not in topic.subject


class TestFindings:
    """What the dpe service finds, and the rules do not let stand."""

    def stands(self, text, finding):
        return list(kept([finding], reading_of(text), has_facts=True)) == [finding]

    def test_a_capitalised_first_word_is_no_invented_name(self):
        text = "Copper conducts well. The smith Edda Brun works it."
        assert not self.stands(text, Finding(FindingKind.FABRICATION, (0, 6), "PERSON"))
        assert self.stands(text, Finding(FindingKind.FABRICATION, (32, 41), "PERSON"))

    @pytest.mark.parametrize(
        ("other", "expected"),
        [
            ("The bakery closes at 15:00.", True),
            ("The bakery closes at noon.", False),
            ("The pharmacy closes at 18:00.", False),
        ],
    )
    def test_a_contradicted_claim_needs_evidence_about_it_that_says_otherwise(self, other, expected):
        text = "The bakery closes at 12:00."
        finding = Finding(FindingKind.CONTRADICTED, (0, len(text)), probability=BELIEVED_FROM + 0.2, other=other)
        assert self.stands(text, finding) is expected

    def test_without_is_no_denial(self):
        text = "Riders with a pass pay nothing."
        other = "Riders without a ticket pay nothing."
        assert not self.stands(text, Finding(FindingKind.DISTORTION, (0, len(text)), "NEGATION_FLIP", other=other))


@pytest.mark.parametrize(
    ("claim", "other", "stands"),
    [
        ("The clinic is open on Sundays.", "We are closed on Sundays and public holidays.", True),
        ("The clinic is open on Sundays.", "The clinic is closed on Sundays.", True),
        ("The clinic is open on Sundays.", "We are open on Saturdays.", False),
        ("The clinic is open on Sundays.", "The pharmacy is closed on Sundays.", False),
    ],
)
def test_an_opposite_stands_like_a_denial(claim, other, stands):
    finding = Finding(FindingKind.DISTORTION, (0, len(claim)), "NEGATION_FLIP", None, "f1", other, exact=True)
    assert list(kept([finding], reading_of(claim), has_facts=True)) == ([finding] if stands else [])
