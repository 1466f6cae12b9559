"""Words of another place, two models that disagree, and whom a sentence may mean (ADR 0180, 0181)."""

import pytest

from services.common.taxonomy import RiskLevel
from services.dpe.domain.findings import Basis, Rule, Verdict
from services.dpe.domain.names import akin
from services.dpe.domain.rules import read_claim
from services.dpe.domain.rules.displaced import displaced
from services.dpe.domain.rules.reading import Reading
from services.dpe.domain.verdicts import DECIDING
from tests.fakes.dpe_world import TableEntailment, TableGrounding, analyse, app, models
from tests.unit.dpe.test_dpe_departures import found
from tests.unit.dpe.test_dpe_vectors import EverythingNear

CANCELLED = "When a visit is cancelled, the cost is borne by the museum shop and not by the visiting school."
LOCKER = "A lost locker key is replaced at most twice per season for each member. A court can be booked once per visit."
SUPPLY = "By the fifth of each month the Grower shall send the Dairy a plan for the next quarter."
DATES = "A fire must be reported within 14 days, a leak within 5 days, and a robbery within 72 hours."


@pytest.mark.parametrize(
    ("claim", "fact", "words"),
    [
        (
            "When a visit is cancelled, the cost is borne by the visiting school and not by the museum shop.",
            CANCELLED,
            ("visiting school", "museum shop"),
        ),
        ("A lost locker key is replaced at most twice per visit for each member.", LOCKER, ("visit", "season")),
        (
            "By the fifth of each month the Dairy shall send the Grower a plan for the next quarter.",
            SUPPLY,
            ("Dairy", "Grower"),
        ),
        (
            "A lost locker key is replaced at most twice per club visit for each member.",
            "A lost locker key is replaced at most twice per season for each member. A court is free per club visit.",
            ("club visit", "season"),
        ),
    ],
)
def test_words_of_another_place_of_a_repeated_sentence_are_found(claim, fact, words):
    assert found(claim, fact)[Rule.DISPLACED] == words


@pytest.mark.parametrize(
    ("claim", "fact"),
    [
        ("A leak must be reported within five days, a fire within two weeks.", DATES),
        ("A lost locker key is replaced no more than two times in a season for each member.", LOCKER),
        ("The visiting school bears nothing when a visit is cancelled, the museum shop does.", CANCELLED),
        ("", LOCKER),
        (
            "A lost locker key of the club is replaced twice per season for new paying day guests.",
            "A lost locker key of the club is replaced twice per season for members. New paying day guests swim.",
        ),
        (
            "The old lease of the club house provides a deposit of two months for each member.",
            "The old lease of the club house takes a deposit of two months for each member. The court provides shoes.",
        ),
        ("Tenants must pay landlords.", "Landlords must pay tenants."),
        ("A lost locker key will be replaced up to twice per visit for every member.", LOCKER),
        ("A court locker key is replaced at most twice per season for each member.", LOCKER),
        ("When a visit is cancelled, the cost is borne by the visiting school and not by the city council.", CANCELLED),
        (
            "A lost locker key is replaced at most twice per key for each member.",
            "A lost locker key is replaced at most twice per season for each member. A key opens the court.",
        ),
        ("A lost locker key is replaced at most twice per visit for each member of the season.", LOCKER),
    ],
    ids=[
        "both moved along",
        "a paraphrase",
        "another construction",
        "no word at all",
        "many words",
        "a verb",
        "too short to be repeated",
        "too little repeated",
        "its subject",
        "one that moved, and one that is new",
        "a word of the sentence itself",
        "what it replaces is said later",
    ],
)
def test_what_may_say_the_same_is_left_to_the_encoders(claim, fact):
    assert Rule.DISPLACED not in found(claim, fact)


def test_the_sentence_that_is_repeated_need_not_be_the_nearest():
    claim = "A lost locker key is replaced at most twice per visit for each member."
    told = "On a visit each member is told at most twice per stay that a locker key is replaced where it was lost."
    sources = [Reading.of(text, 0, fact_index=at) for at, text in enumerate([told, *LOCKER.split(". ")])]
    departure = displaced(read_claim(claim, 0), sources)
    assert claim[departure.claimed.start : departure.claimed.end] == "visit"
    assert departure.source.fact_index == 1


async def judged(answer, fact, *, support, entailment):
    parts = models()
    parts.embedding._calibration = EverythingNear()
    using = app(
        embedding=parts.embedding,
        entailment=TableEntailment(lambda *_: entailment),
        grounding=TableGrounding(lambda _: support),
    )
    outputs = (await analyse(answer, fact, using=using)).analysis.outputs
    return outputs.fidelity.judgements["c1"], outputs.risk.level


async def test_a_displaced_word_keeps_an_answer_from_low_and_shows_both_sides():
    assert Rule.DISPLACED not in DECIDING
    answer = "A lost locker key is replaced at most twice per visit for each member."
    judgement, level = await judged(answer, LOCKER, support=0.9, entailment=[0.8, 0.15, 0.05])
    assert (judgement.verdict, judgement.basis) == (Verdict.UNSUPPORTED, Basis.DISTORTION)
    assert level.rank >= RiskLevel.MEDIUM.rank
    assert "“season”" in judgement.why
    assert "“visit”" in judgement.why


@pytest.mark.parametrize(
    ("support", "contradiction", "verdict"),
    [
        (0.7, 0.8, Verdict.UNDECIDED),
        (0.7, 0.69, Verdict.SUPPORTED),  # the grounding model is the surer one
        (0.55, 0.59, Verdict.SUPPORTED),  # below the bound
        (0.6, 0.6, Verdict.UNDECIDED),
    ],
)
async def test_the_surer_of_two_models_that_disagree_leaves_a_claim_undecided(support, contradiction, verdict):
    row = [0.05, 0.95 - contradiction, contradiction]
    judgement, level = await judged(
        "Members keep their locker all summer.",
        "Members keep their locker until autumn comes, all summer.",
        support=support,
        entailment=row,
    )
    assert judgement.verdict is verdict
    if verdict is Verdict.UNDECIDED:
        assert judgement.basis is Basis.CONTRADICTION
        assert "leaves it open: one model finds it borne out" in judgement.why
        assert level.rank >= RiskLevel.MEDIUM.rank


@pytest.mark.parametrize(
    ("claim", "fact"),
    [
        ("The cottage also has a slate roof.", "The cottage, called 'Fern', has a slate roof and a view of the bay."),
        (
            "On Friday she renamed the boat after a local pilot.",
            "A woman hoping to become the next harbour master has renamed the boat after a local pilot.",
        ),
        (
            "Ms Orrin is now a patron of the choir.",
            "Ms Orrin, who was hurt in a fall at the market in Selby, Yorkshire, is now a devoted patron of the choir.",
        ),
        (
            "The town's policy towards the ferry will not change despite the new timetable.",
            "The town's stance towards the ferry will not change despite the new timetable.",
        ),
    ],
    ids=["apposition", "pronoun", "a place before the verb", "no verb in -s"],
)
def test_what_names_no_party_is_not_held_against_one(claim, fact):
    assert Rule.PARTIES not in found(claim, fact)


@pytest.mark.parametrize(
    ("claim", "fact", "is_found"),
    [
        (
            "The harbour master said the quay would be closed on Monday.",
            "The harbour master spoke at noon. Mr Tarn said the quay would be closed on Monday.",
            False,
        ),
        (
            "The survey said the quay would be closed on Monday.",
            "A survey was made in May. The council said the quay would be closed on Monday.",
            True,
        ),
    ],
)
def test_a_description_of_a_person_is_not_held_against_a_name(claim, fact, is_found):
    assert (Rule.ATTRIBUTION in found(claim, fact)) is is_found


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Verne Forest Records", "Verne Records", True),
        ("Romania's", "Romanian", True),
        ("Kestrel Bay", "Kestrel Point", False),
        ("Orrin", "Tarn", False),
        ("Austria Bank", "Austrian Treaty", False),
        ("Peter Jackson", "Peters Group", False),
        ("the", "Tarn", False),
    ],
)
def test_forms_of_one_name(one, other, same):
    assert akin(one, other) is akin(other, one) is same


def test_unless_behind_a_denied_statement_is_only_if():
    fact = "Dogs are not admitted, unless the warden has agreed in writing."
    assert Rule.CONDITION not in found("Dogs are only admitted if the warden has agreed in writing.", fact)
    assert Rule.CONDITION in found("Dogs are not admitted if the warden has agreed in writing.", fact)


def test_a_choice_between_two_is_an_or():
    fact = "For a spoiled print the lab repeats it or refunds the price, as the customer chooses."
    assert Rule.CONJUNCTION not in found("The customer has the choice of a repeated print and a refund.", fact)


REGISTER = (
    "The host registers visitors at the desk by 18:00 on the day before. Everyone is welcome. Drivers have a card."
)


@pytest.mark.parametrize(
    ("claim", "fact", "departs"),
    [
        ("Register everyone at the desk by 18:00 on the day before.", REGISTER, False),
        ("The host registers them at the desk by 18:00 on the day before.", REGISTER, False),
        ("The host registers drivers at the desk by 18:00 on the day before.", REGISTER, True),
        ("The host registers everyone at the desk by 18:00 on the day before.", REGISTER, True),
        (
            "The pool is open to everyone from 8:00 to 20:00 on working days.",
            "The pool is open to members from 8:00 to 20:00 on working days. Everyone is welcome.",
            True,
        ),
    ],
)
def test_a_word_for_whoever_is_meant_is_no_other_thing(claim, fact, departs):
    assert bool({Rule.DISPLACED, Rule.PARTIES, Rule.NAME} & found(claim, fact).keys()) is departs
