"""What sets a rule's finding aside, and where one that stands decides (SPEC-005 §5.3, ADR 0166)."""

import pytest

from services.common.reading.sentences import sentences
from services.common.reading.text_types import Span
from services.common.taxonomy import RiskLevel
from services.dpe.domain.alignment import ClaimWords, align_values, matches
from services.dpe.domain.analysis import AnalysisInput
from services.dpe.domain.facts import EnvelopeFact, read_fact
from services.dpe.domain.findings import Distortion, DistortionType, Rule
from services.dpe.domain.flips import flipped
from services.dpe.domain.rules import departures, read_claim, read_sources
from services.dpe.domain.rules.nearness import repeats
from services.dpe.domain.rules.reading import roots
from services.dpe.domain.segmentation import segment
from services.dpe.domain.verdicts import decides
from tests.unit.dpe.test_dpe_departures import found
from tests.unit.dpe.test_dpe_departures import near as near_app

SOUND = "The horn can be muted for a minute, save for the fire alarm, which cannot be silenced."
APPEAL = "If the plan is refused, the owner may appeal within a month. Neighbours cannot appeal."
LOAN = "Loans of over 500 must be signed by the treasurer."
HOLD = "The belt is changed by a dealer every two years; the blade may be sharpened by the user."


@pytest.mark.parametrize(
    ("claim", "fact"),
    [
        ("Loans of over 500 may be made if they are signed by the treasurer.", LOAN),
        ("The belt must be changed by a dealer after two years.", HOLD),
        ("The warning of the fire alarm cannot be muted.", SOUND),
        ("When the plan is refused, neighbours cannot appeal.", APPEAL),
        ("You need to give 30 days' notice.", "Membership may be ended by giving 30 days' notice."),
        ("She may drive if she goes without a sedative.", "If you are given a sedative, you must not drive."),
        (
            "Even so, green ones can be sold as long as they are dry.",
            "Red ones may not be sold, but green ones may, provided that they are dry.",
        ),
    ],
)
def test_a_force_that_speaks_of_another_case_is_no_change(claim, fact):
    assert Rule.MODALITY not in found(claim, fact)


@pytest.mark.parametrize(
    ("claim", "fact"),
    [
        ("Loans of over 500 may be signed by the treasurer.", LOAN),
        ("If the plan is refused, the owner must appeal within a month.", APPEAL),
        ("Members must book a class.", "Members may book a class, and save by booking early."),
        ("You need to end membership by notice.", "You may end membership by giving notice."),
        ("The horn cannot be muted for a minute.", "The horn can be muted for a minute."),
    ],
)
def test_a_force_of_the_same_act_is_still_held_against_it(claim, fact):
    assert Rule.MODALITY in found(claim, fact)


LAST = "None of your last five codes may be used again."
GUEST = "Guests under 12 need a sponsor with them and are not allowed in the plant rooms or on the deck."
BOATS = "Day boats: prams go without a space. Night boats: prams need a space, which must be booked."
SMALL = "You need not register while your turnover stays below 2,400."


@pytest.mark.parametrize(
    ("claim", "fact"),
    [
        ("You can't use any of your last five codes again.", LAST),
        ("The valve may not be touched.", "No one must touch the valve."),
        ("Guests need not sign in.", "No guest has to sign in."),
        ("Guests under 12 are welcome when a sponsor", GUEST),
        ("Yes, you need to register.", SMALL),
        ("No space has to be booked for a pram on a day boat.", BOATS),
    ],
)
def test_a_denied_subject_another_thing_and_the_askers_case_are_no_other_force(claim, fact):
    assert Rule.MODALITY not in found(claim, fact)


@pytest.mark.parametrize(
    ("claim", "fact"),
    [
        ("You may use any of your last five codes again.", LAST),
        ("Nobody may touch the valve.", "The fitter may touch the valve."),
        ("Guests must sign in.", "No guest has to sign in."),
        ("Guests with no badge must not enter.", "Guests with no badge may enter."),
        ("Guests under 12 are welcome in the plant rooms.", GUEST),
        ("Guests under 12 are welcome on the deck.", GUEST),
        ("You must register while your turnover stays below 2,400.", SMALL),
        ("You need to register.", "You need not register."),
        ("A space must not be booked for a pram on a night boat.", BOATS),
        (
            "The lid may be taken off once the fan has stopped.",
            "If only the fan has stopped, the lid must not be taken off.",
        ),
    ],
)
def test_a_denied_subject_is_held_against_a_force(claim, fact):
    assert Rule.MODALITY in found(claim, fact)


PAUSED = "You need not pay while your membership is paused."
ADULT = "You need not pay the fee unless you are an adult."
OFFICE = "Note: staff may wear a badge in the office."


def is_found(claim, question, *facts):
    sources = [
        one for at, text in enumerate(facts) for one in read_sources(read_fact(at, EnvelopeFact("", text), ()), at)
    ]
    return Rule.MODALITY in {item.rule for item in departures(read_claim(claim, 0, asked=question), sources)}


@pytest.mark.parametrize(
    ("claim", "question", "fact", "departs"),
    [
        ("You must pay.", "Do I have to pay?", PAUSED, False),
        ("You must pay.", "My membership is not paused. Do I have to pay?", PAUSED, False),
        ("You must pay.", "Do I pay while paused?", PAUSED, True),
        ("You must pay.", "My membership is paused. Do I have to pay?", PAUSED, True),
        ("You must pay the fee.", "I am an adult. Do I pay?", ADULT, False),
        ("You must pay the fee.", "Do I pay?", ADULT, True),
        ("You must pay the fee.", "Do I pay?", "You need not pay the fee even if you are late.", True),
        ("You must pay the fee.", "Do I pay?", "You need not pay the fee, and if it rains you may leave.", True),
        ("You need to register.", "My turnover is 3,000. Need I register?", SMALL, False),
    ],
)
def test_a_duty_of_who_asks_stands_beside_what_frees_others(claim, question, fact, departs):
    assert is_found(claim, question, fact) is departs


@pytest.mark.parametrize(
    ("claim", "fact"),
    [
        (
            "You are not allowed to bring a dog into the garden.",
            "Members may bring a dog into the garden if it is on a lead.",
        ),
        ("You need not pay the council tax.", "You must pay the council tax unless you are a student."),
        ("You may paint the walls.", "You must not paint the walls unless the landlord agrees."),
        ("Staff must wear a badge in the office.", f"{OFFICE} Office hours: 9 to 5."),
        ("Visitors are allowed in the attic.", "Visitors need a pass and are not allowed in the attic."),
        ("Guests are allowed on the roof with a pass.", "Guests need a pass and are not allowed on the roof."),
    ],
)
def test_a_condition_or_a_label_beside_an_act_excuses_no_other_force(claim, fact):
    assert is_found(claim, "Please tell me.", fact)


PARKED = "Cars may be left overnight for up to two nights if the guard is told beforehand."


@pytest.mark.parametrize(
    ("claim", "departs"),
    [
        ("The limit is two, even if the guard has been told beforehand.", False),
        ("Cars may not be left for more than two nights, even if the guard is told beforehand.", False),
        ("Cars may be left for up to two nights even if the guard is not told beforehand.", True),
        ("Cars may be left overnight even if the guard is told beforehand.", True),
        (
            "Cars may be left overnight even if fewer than two nights are asked for and the guard is told beforehand.",
            True,
        ),
        ("Cars may be left for more than two nights even if the guard is told beforehand.", True),
    ],
)
def test_a_limit_holds_in_spite_of_the_condition_under_which_it_may_be_reached(claim, departs):
    assert (Rule.CONDITION in found(claim, PARKED)) is departs


@pytest.mark.parametrize(
    ("claim", "fact", "departs"),
    [
        ("Loss by moths isn't covered, nor is damage by rust and mould.", "Damage by rust or mould.", False),
        ("The policy excludes damage by rust and mould.", "Not covered is damage by rust or mould.", False),
        ("The policy covers damage by rust and mould together.", "The policy covers damage by rust or mould.", True),
    ],
)
def test_this_or_that_and_this_and_that_are_one_where_both_are_excluded(claim, fact, departs):
    assert (Rule.CONJUNCTION in found(claim, fact)) is departs


def test_a_clause_behind_a_comma_is_no_member_of_a_list():
    facts = ("Damage by pets: chewing, scratching or fouling.", "Storms are what we cover.")
    claim = "Chewing by pets is among the damage that they do not cover, as is scratching and fouling."
    assert Rule.MEMBER not in found(claim, *facts)
    assert Rule.MEMBER in found("Damage by pets is chewing, storms and fouling.", *facts)


def claims_of(text):
    return segment(text, sentences(text), None).claims


def turned(claim, fact):
    read = read_fact(0, EnvelopeFact("f", fact), ())
    words = ClaimWords.of(claims_of(claim)[0])
    return flipped(words, matches(words, read.clauses)) is not None


@pytest.mark.parametrize(
    ("claim", "fact"),
    [
        ("Refunds are paid in cash only when the shop closes.", "Refunds are not paid in cash, except on closing."),
        ("The first tin can be opened but cannot be sold.", "The first tin can be opened and sold by the owner."),
        ("The weekend rate is left out.", "The weekend rate is not."),
    ],
)
def test_what_only_limits_or_denies_something_else_turns_nothing(claim, fact):
    assert not turned(claim, fact)


def test_a_negation_of_the_same_statement_turns_it():
    assert turned("Refunds are not paid in cash.", "Refunds are paid in cash.")


@pytest.mark.parametrize(
    ("claim", "fact", "rule"),
    [
        ("The weekly dose may rise to 20 mg.", "The dose is raised every two weeks, up to 20 mg.", Rule.FREQUENCY),
        ("Every six months the firm pays.", "The firm pays in half-yearly parts.", Rule.FREQUENCY),
        (
            "Each household gets twelve litres of water.",
            "Water is handed out, at most twelve litres for a household.",
            Rule.QUANTIFIER,
        ),
        (
            "After the check ends, members wait for two days.",
            "Members wait during the check and for two days afterwards.",
            Rule.ORDER,
        ),
        (
            "The grade of the K-04 is P65.",
            "Grade is P67 for types with cable and P65 for the type with plug. The K-04 has a plug.",
            Rule.NAME,
        ),
    ],
)
def test_what_is_named_or_told_in_another_way_departs_nowhere(claim, fact, rule):
    assert rule not in found(claim, fact)


def aligned(claim, fact):
    read = read_fact(0, EnvelopeFact("f", fact), ())
    pairs = [pair for one in claims_of(claim) for pair in align_values(one, read.places) if not pair.equal]
    return [(pair.claimed.text, pair.known.text, pair.is_applied) for pair in pairs]


@pytest.mark.parametrize(
    ("claim", "fact"),
    [
        ("The T type weighs 18.5 kg.", "The type is also sold as T type, which weighs 1.5 kg less."),
        (
            "114 flats were rented or sold.",
            "Of the flats, 204 are kept, 76 were rented and 38 were sold.",
        ),
        ("Cases are answered between 07:00 and 20:00.", "Cases are answered within a day, between 07:00 and 20:00."),
        (
            "The ward may fetch three bags at once.",
            "1. The theatre fetches one bag.\n3. The ward may fetch up to four bags.",
        ),
    ],
)
def test_a_difference_a_sum_a_range_and_a_limit_stand_in_nobodys_place(claim, fact):
    assert aligned(claim, fact) == []


@pytest.mark.parametrize(
    "claim",
    [
        "A patient who is not bleeding and has a level of 68 g may not be treated at night.",
        "With the extension the clerk has 35 days for the report.",
        "Of the six months of the plan, the first binds the firm.",
    ],
)
def test_values_of_a_case_a_reckoning_or_the_whole_decide_nothing(claim):
    facts = (
        "Treatment at night is limited to patients who are bleeding or whose level is below 60 g. "
        "The clerk sends the report within 25 days. The first two months of the plan bind the firm."
    )
    assert all(is_applied for _, _, is_applied in aligned(claim, facts))


def test_a_range_is_one_claim():
    text = "Urgent cases that are raised between 07:00 and 20:00 are answered within two hours."
    assert [claim.text for claim in claims_of(text)] == [text]


def test_a_state_that_no_longer_holds_begins_with_its_date():
    assert aligned("Since May 2023 it need not be changed.", "It is no longer changed since 1 May 2023.") == []


FACT = "Closed claims files are kept for ten years after the claim was closed."


def span_of(text, words):
    return Span(text.index(words), text.index(words) + len(words))


@pytest.mark.parametrize(
    ("claim", "claimed", "expected"),
    [
        ("Claims files are kept for three years after the claim was closed.", "three years", True),
        ("Once a case is over, its papers stay in the archive for three years.", "three years", False),
        ("A claim must be filed within three years.", "three years", False),
        ("Files of your own cars and bikes are kept for three years.", "three years", False),
    ],
    ids=["misquote", "inference", "other statement", "shared nouns"],
)
def test_a_misquote_repeats_its_source_and_what_shares_words_does_not(claim, claimed, expected):
    assert repeats(claim, span_of(claim, claimed), FACT, span_of(FACT, "ten years")) is expected


@pytest.mark.parametrize(
    ("claim", "fact", "claimed", "known"),
    [
        ("The tenant notifies the landlord of the sale.", "The landlord notifies the tenant of the sale.", "tenant",
         "landlord"),
        ("All rooms including the cellar are heated.", "All rooms except the cellar are heated.", "including",
         "except"),
    ],
    ids=["exchanged", "another link"],
)  # fmt: skip
def test_what_changes_its_place_or_its_link_repeats_the_rest(claim, fact, claimed, known):
    assert repeats(claim, span_of(claim, claimed), fact, span_of(fact, known))


DEPOSIT = "The deposit is returned within 10 days after both sides have agreed how much is paid back."
PROBATION = "Employees who have completed probation may buy up to five extra days for the following year."


@pytest.mark.parametrize(
    ("claim", "fact", "claimed", "known", "expected"),
    [
        ("The deposit is returned within 30 days.", DEPOSIT, "30 days", "10 days", True),
        ("Both of you must agree within 30 days.", DEPOSIT, "30 days", "10 days", False),
        ("You need to have completed probation.", PROBATION, "need to", "may", False),
        ("The slide is 54 m long.", "Water: The slide is 45 m long and 8 m high.", "54 m", "45 m", True),
        (
            "The deposit of the tenant for the rooms upstairs comes within 30 days.",
            DEPOSIT,
            "30 days",
            "10 days",
            False,
        ),
    ],
    ids=["part", "other side", "of a relative clause", "heading", "one noun"],
)
def test_a_whole_part_of_a_sentence_repeats_it_word_for_word(claim, fact, claimed, known, expected):
    assert repeats(claim, span_of(claim, claimed), fact, span_of(fact, known)) is expected


async def level_of(answer, fact):
    given = AnalysisInput("s1", "w1", 1, "What holds?", answer, (EnvelopeFact("f1", fact),))
    outputs = (await near_app(0.3).analyze(given)).analysis.outputs
    return [str(item.rule) for item in outputs.distortion.found], outputs.risk.level


async def test_a_finding_in_a_repeated_clause_is_high_and_one_of_another_statement_a_warning():
    clamped = "Vehicles left longer may be clamped by the county; release costs £60."
    assert await level_of("Release costs £30.", clamped) == (["VALUE"], RiskLevel.HIGH)
    kept = "Claims files are kept for 10 years after the file is closed."
    assert await level_of("Claims of any kind must be filed within 3 years.", kept) == (["VALUE"], RiskLevel.MEDIUM)


ROW = "Parents: Parent: Other parent; Paid weeks: 8; Notice: 4 weeks"


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("The other parent gets 20 paid weeks.", True),
        ("The birth parent gets 20 paid weeks.", False),
        ("A carer who is employed elsewhere for other reasons gets 20.", False),
    ],
)
def test_of_a_row_the_name_counts_and_the_words_in_any_order(claim, expected):
    assert repeats(claim, span_of(claim, "20"), ROW, span_of(ROW, "8")) is expected


def test_a_short_answer_has_the_rest_of_its_sentence_from_its_question():
    asked = "How long are closed claims files kept after the claim was closed?"
    short = "Three years.", Span(0, len("Three years")), FACT, span_of(FACT, "ten years")
    assert repeats(*short, roots(asked))
    assert not repeats(*short, roots("How long is the warranty of the dryer?"))
    assert not repeats(*short, roots("How long kept?")), "two words are in many sentences"


@pytest.mark.parametrize(
    ("row", "claim", "claimed", "known", "expected"),
    [
        ("Fees: No.: 2; Item: Parking permit; Price: £80", "A parking permit costs £95.", "£95", "£80", True),
        ("Post: Service: Express (before noon); Price: £14", "Express costs £18.", "£18", "£14", True),
        ("Codes: Code: E2; What to do: Wait 30 minutes", "E2: wait 60 minutes.", "60 minutes", "30 minutes", True),
        ("Codes: Code: E2; What to do: Wait 30 minutes", "E3: wait 60 minutes.", "60 minutes", "30 minutes", False),
    ],
    ids=["numbered", "brackets", "code", "other code"],
)
def test_a_row_is_named_by_its_first_cell_with_words(row, claim, claimed, known, expected):
    assert repeats(claim, span_of(claim, claimed), row, span_of(row, known)) is expected


@pytest.mark.parametrize(
    ("rule", "near", "expected"),
    [(Rule.VALUE, True, True), (Rule.VALUE, False, False), (Rule.BOUND, False, False), (Rule.LIMIT, True, False)],
)
def test_rules_decide_only_where_the_source_is_repeated(rule, near, expected):
    item = Distortion(DistortionType.NUMBER_CHANGED, "c", "f", Span(0, 1), Span(0, 1), rule=rule, is_near=near)
    assert decides(item) is expected
