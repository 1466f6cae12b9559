"""Answers of a few words are held against the place that their question asks about (SPEC-005 §5.3, ADR 0216)."""

import pytest

from services.common.taxonomy import RiskLevel
from services.dpe.domain.findings import Basis, Rule, Verdict
from services.dpe.domain.relevant import RelevanceStatus
from tests.fakes.dpe_world import TableEntailment, TableGrounding, analyse, app, models
from tests.unit.dpe.test_dpe_vectors import EverythingNear

PLUS = "Payments, Plans: Plan: Plus; Price: £12; Notice: 30 days; Sauna: yes"
BASIC = "Payments, Plans: Plan: Basic; Price: £5; Notice: 10 days; Sauna: no"
LATE = "Late payment: Interest is charged from the fifth day. A reminder costs £8."
KEPT = "Contents of lockers are kept for 21 days. New members may withdraw within 14 days of signing up."
FLOWERS = "Fresh flowers are not allowed on the ward."
FACTS = (PLUS, BASIC, LATE, KEPT, FLOWERS)


async def checked(question, answer, *facts, entailment=(0.9, 0.08, 0.02), support=0.9):
    """Check with models that bear everything out, unless told otherwise."""
    parts = models()
    parts.embedding._calibration = EverythingNear()
    using = app(
        embedding=parts.embedding,
        entailment=TableEntailment(lambda *_: list(entailment)),
        grounding=TableGrounding(lambda _: support),
    )
    return (await analyse(answer, *(facts or FACTS), query=question, using=using)).analysis


async def place_of(question, answer, *facts):
    """Return whether the claim stands in the place that is asked about, and what stands there."""
    analysis = await checked(question, answer, *facts)
    places = list(analysis.outputs.attribution.answer_places.values())
    if not places:
        return None
    content = analysis.input.facts[places[0].fact_index].content
    kind = "own" if places[0].is_own else "doubt" if places[0].is_doubt else "other"
    return kind, content[places[0].span.start : places[0].span.end]


@pytest.mark.parametrize(
    ("question", "answer", "place"),
    [
        ("What does Basic cost?", "£12.", ("other", "£5")),
        ("What does Basic cost?", "£5.", ("own", "£5")),
        ("What does Basic cost?", "It costs £12 a month.", ("other", "£5")),
        ("What is the price of the Basic plan?", "The price is £12.", ("other", "£5")),
        ("What is the price of the Basic plan?", "£7.", ("other", "£5")),  # stands nowhere
        ("How long is the notice of Basic?", "30 days", ("other", "10 days")),
        ("How long is the notice of Basic?", "Ten days", ("own", "10 days")),
        ("Which plan has a price of £12?", "Basic", ("other", "£12")),
        ("Which plan has a price of £12?", "Plus.", ("own", "£12")),
        ("Does Basic have a sauna?", "Yes", ("other", "no")),
        ("Does Basic have a sauna?", "No.", ("own", "no")),
        ("Does Plus have a sauna?", "Yes.", ("own", "yes")),
        ("Does Plus have a sauna?", "No, it hasn't.", ("other", "yes")),
        ("How long are the contents of lockers kept?", "14 days", ("doubt", "21 days")),
        ("Are fresh flowers allowed on the ward?", "Yes, in side rooms", ("doubt", FLOWERS)),
        ("Are balloons sold in the shop?", "Yes", None),
        ("Which plan has a sauna?", "Basic", ("doubt", "yes")),
        ("What is the price of Basic for 3 people?", "£12", ("doubt", "£5")),
        ("How long am I tied in with Basic?", "30 days", ("doubt", "10 days")),  # half of it is not named
        ("How long are the contents of lockers kept?", "14 days, until 9 am", ("doubt", "21 days")),
        ("Are fresh flowers allowed on the ward?", "No", None),
    ],
)
async def test_an_answer_is_held_against_what_its_question_names(question, answer, place):
    assert await place_of(question, answer) == place


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What does Basic cost?", "The Plus plan, which has a sauna as well, costs £12."),  # a sentence of its own
        ("What does Basic cost, and how long is the notice?", "£12."),  # two questions
        ("What does Basic cost? What does Plus cost?", "£12."),
        ("", "£12."),
        ("What is the price of Plus for a year?", "£144"),  # has to be reckoned
        ("How much more is the price of Plus?", "£7"),
        ("Is Basic without a sauna?", "Yes"),
        ("Isn't there a sauna in Basic?", "Yes"),
        ("What does Basic cost?", "I do not know."),
        ("What is the price of Basic and of Plus?", "£5 and £12"),
        ("What is the price of Basic?", "Not £5."),
        ("What is the price of Basic?", "Anything but £5"),
        ("What is the price of Basic?", "£5 or £12"),
        ("What is the price of Basic?", "Under £10"),  # true of £5
        ("What is the price of Basic?", "Less than £5"),
        ("What is the price of Basic?", "£5 as a penalty"),
        ("What is the price of Basic?", "£5 per visit"),
        ("Do I have to pay for the sauna in Basic?", "Yes"),
        ("Is the sauna missing from Basic?", "Yes"),
        ("Does Basic have a sauna?", "No, not in winter"),
        ("Does Plus have a sauna on Mondays with a voucher for 14 days?", "No."),
        ("Which plan has no sauna?", "Basic"),
        ("Which plan is without a sauna?", "Basic"),
        ("What is the price of Basic? " * 30, "£12."),
        ("What does Basic cost?", "It costs £12 for everybody in the whole house"),
        ("How long is the notice of Basic?", "1.5 weeks"),
        ("How long is the notice of Basic?", "About 5 weeks"),
        ("Basic price for 3?", "£5"),
    ],
)
async def test_what_says_more_or_is_asked_otherwise_is_left_alone(question, answer):
    assert await place_of(question, answer) is None


async def test_a_limit_the_other_way_round_does_not_stand_in_the_cell():
    row = "Leave: Kind: Antenatal visits; Length: up to 40 hours; Notice: 2 days"
    assert await place_of("What is the length of antenatal visits?", "Up to 40 hours", row) == ("own", "up to 40 hours")
    assert await place_of("What is the length of antenatal visits?", "At least 40 hours", row) is None


async def test_a_value_of_another_row_is_contradicted_with_both_sides():
    analysis = await checked("What does Basic cost?", "£12.")
    judgement = analysis.outputs.fidelity.judgements["c1"]
    assert (judgement.verdict, judgement.basis) == (Verdict.CONTRADICTED, Basis.VALUE_CONFLICT)
    assert [item.rule for item in analysis.outputs.distortion.found] == [Rule.ROW]
    assert judgement.why.startswith("Basic: £5 in ")
    assert judgement.why.endswith("; the answer says £12.")
    assert analysis.input.facts[judgement.evidence[0].fact_index].content == BASIC
    assert analysis.outputs.risk.level.rank >= RiskLevel.HIGH.rank


async def test_what_stands_in_the_cell_is_supported_whatever_models_deny():
    analysis = await checked("What does Basic cost?", "£5.", entailment=(0.05, 0.05, 0.9), support=0.2)
    judgement = analysis.outputs.fidelity.judgements["c1"]
    assert (judgement.verdict, judgement.basis) == (Verdict.SUPPORTED, Basis.VALUES)
    assert analysis.outputs.completeness.relevance.status is RelevanceStatus.RELEVANT


async def test_a_word_that_a_cell_says_is_supported_and_its_opposite_contradicted():
    verdicts = [
        (await checked("Does Basic have a sauna?", word)).outputs.fidelity.judgements["c1"].verdict
        for word in ("No.", "Yes.")
    ]
    assert verdicts == [Verdict.SUPPORTED, Verdict.CONTRADICTED]


async def test_another_place_of_prose_leaves_an_answer_open():
    analysis = await checked("How long are the contents of lockers kept?", "14 days")
    judgement = analysis.outputs.fidelity.judgements["c1"]
    assert (judgement.verdict, judgement.basis) == (Verdict.UNDECIDED, Basis.GROUNDING)
    assert judgement.why.startswith("“21 days” in ")
    assert judgement.why.endswith(" is nearer to what was asked than where the answer stands.")
    assert analysis.outputs.risk.level is RiskLevel.MEDIUM


async def test_a_name_that_the_grounding_model_is_sure_of_is_not_doubted_for_its_place():
    facts = ("The Kestrel line was opened by the mayor in 1931.", "Its first driver was Rosa Lind. She lived in Dover.")
    question = "Who drove the first train of the line that the mayor opened in 1931?"
    for support, verdict in ((0.77, Verdict.SUPPORTED), (0.76, Verdict.UNDECIDED)):
        analysis = await checked(question, "Rosa Lind", *facts, support=support)
        assert next(iter(analysis.outputs.attribution.answer_places.values())).is_doubt
        assert analysis.outputs.fidelity.judgements["c1"].verdict is verdict
    sure = await checked("How long are the contents of lockers kept?", "14 days", support=0.99)
    assert sure.outputs.fidelity.judgements["c1"].verdict is Verdict.UNDECIDED  # of two values it is never sure
    sure = await checked("Are fresh flowers allowed on the ward?", "Yes, in side rooms", support=0.99)
    assert sure.outputs.fidelity.judgements["c1"].verdict is Verdict.UNDECIDED  # nor of yes and no


async def test_what_is_asked_about_is_read_though_nothing_of_it_is_near():
    many = tuple(f"Rooms: Room: R{at}; Rate: £12; Beds: {at} beds" for at in range(40))
    analysis = await checked("What does Basic cost?", "£12.", *many, BASIC)
    [read] = analysis.outputs.attribution.passages.values()
    assert 40 in {near.fact_index for near in read}


STAFF = tuple(
    f"Staff: Role: {role}; Person: {person}; Room: {room}; Superior: {superior}"
    for role, person, room, superior in (
        ("Head of sales", "Anna Berg", 12, "Director"),
        ("Sales assistant", "Ben Cole", 14, "Head of sales"),
        ("Director", "Carla Dorn", 1, "Board"),
    )
)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Who is in room 12?", "Anna Berg"),
        ("Who is the superior of Ben Cole?", "Anna Berg"),
        ("Whose superior is the board?", "Carla Dorn"),
    ],
)
async def test_a_row_that_is_found_by_another_cell_contradicts_nothing(question, answer):
    found = await place_of(question, answer, *STAFF)
    assert found is None or found[0] != "other"


async def test_another_cell_of_a_row_that_is_named_is_a_doubt():
    assert await place_of("What is the room of the sales assistant?", "Ben Cole", *STAFF) == ("doubt", "14")


VISITS = tuple(
    f"Ward: Guests: {guests}; Weekdays: {weekdays}; Weekend: {weekend}"
    for guests, weekdays, weekend in (("Partners", "1 hour", "no limit"), ("Friends", "2 hours", "none"))
)


@pytest.mark.parametrize(
    ("question", "answer", "place"),
    [
        ("Are partners allowed at the weekend?", "Yes", None),  # "no limit" is no "no"
        ("How long may friends stay on weekdays?", "1 hour", ("other", "2 hours")),
        ("How long may friends stay on weekdays?", "About 2.05 hours", None),
        ("How long may friends stay at the weekend?", "1 hour", ("doubt", "none")),
        ("Guests who are friends at the weekend?", "1 hour", ("other", "none")),
        ("How long may partners stay on weekdays and evenings?", "2 hours", ("doubt", "1 hour")),
        ("How long may a neighbour of friends stay?", "1 hour", ("doubt", "2 hours")),
        ("How long may friends stay on weekdays?", "1 hour less", ("doubt", "2 hours")),
    ],
)
async def test_what_a_cell_says_decides_where_nothing_else_can_be_meant(question, answer, place):
    assert await place_of(question, answer, *VISITS) == place


BANDS = tuple(
    f"Pay: Service: {service}; Weeks: {weeks}; Review: {review}"
    for service, weeks, review in (
        ("under 6 months", "2 weeks", "after 1 week"),
        ("6 months to under 2 years", "6 weeks", "after 4 weeks (8 weeks for those who were away before)"),
        ("5 years or more", "16 weeks", "after 9 weeks"),
    )
)


@pytest.mark.parametrize(
    ("question", "answer", "place"),
    [
        ("How many weeks after 18 months?", "6 weeks", ("own", "6 weeks")),
        ("How many weeks of pay after 18 months of service?", "16 weeks", ("other", "6 weeks")),
        ("When is the review after 18 months of service?", "After 9 weeks", ("doubt", "4 weeks")),  # under a condition
    ],
)
async def test_a_row_for_an_amount_is_the_one_in_which_it_lies(question, answer, place):
    assert await place_of(question, answer, *BANDS) == place


@pytest.mark.parametrize(
    ("question", "answer", "rows"),
    [
        (
            "Are mobile phones allowed in theatre?",
            "No",
            (
                "Ward: Device: Mobile phones; Allowed: yes; Not in: theatre",
                "Ward: Device: Radios; Allowed: no; Not in: -",
            ),
        ),
        (
            "Does Basic run on Mondays?",
            "Yes",
            ("Gym: Plan: Basic; Closed on Mondays: no", "Gym: Plan: Plus; Closed on Mondays: yes"),
        ),
    ],
)
async def test_a_yes_or_no_is_left_alone_where_a_row_says_more(question, answer, rows):
    assert await place_of(question, answer, *rows) is None


HOURS = "Library, Opening hours: Day: Monday; Hours: 9:00-18:00; Desk: 10:00-16:00"
MIDWEEK = "Library, Opening hours: Day: Wednesday; Hours: 12:00-20:00; Desk: 13:00-19:00"
CORE = "Work: The core hours are from 9:30 to 15:00. Sign-up runs from 1 March to 30 April."
DOSES = (
    "Leaflet, How to take it: Age: 18 to 64 years; Single dose: 400 mg; Maximum dose per day: 1,200 mg",
    "Leaflet, How to take it: Age: 65 years and over; Single dose: 200 mg; Maximum dose per day: 800 mg",
)
FINES = "Borrowing: Films are lent for 7 days and cannot be renewed. Loans can be renewed twice. Children pay no fines."


@pytest.mark.parametrize(
    ("question", "answer", "place"),
    [
        ("When does the library close on Wednesday?", "At 12:00.", ("other", "20:00")),
        ("When does the library close on Wednesday?", "At 20:00.", None),  # the desk closes, too
        ("What is the closing time on Wednesday?", "12:00", ("other", "20:00")),
        ("When does the library open on Wednesday?", "At 20:00.", ("other", "12:00")),
        ("When does the library open on Wednesday?", "At 12:00.", None),
        ("When does the library open on Wednesday?", "At 9:00.", ("other", "12:00")),
        ("When does the library open and close on Monday?", "9:00 to 18:00", None),  # both
        ("What are the opening hours on Monday?", "From 10:00 to 16:00.", ("other", "9:00")),  # the desk's
        ("What are the opening hours on Monday?", "From 9:00 to 18:00.", None),  # the heading calls the desk's so, too
        ("What are the desk hours on Monday?", "From 10:00 to 16:00.", ("own", "10:00-16:00")),  # calls both
        ("When is the desk staffed on Monday?", "From 10:00 to 16:00.", ("own", "10:00-16:00")),
    ],
)
async def test_of_two_ends_the_one_that_is_asked_for_counts(question, answer, place):
    assert await place_of(question, answer, HOURS, MIDWEEK) == place


@pytest.mark.parametrize(
    ("question", "answer", "place"),
    [
        ("When do the core hours end?", "At 9:30.", ("doubt", "15:00")),
        ("When do the core hours end?", "At 15:00.", None),
        ("When do the core hours start?", "At 15:00.", ("doubt", "9:30")),
        ("When does sign-up end?", "On 1 March.", ("doubt", "30 April")),
        ("When does sign-up end?", "On 30 April.", None),
        ("When does sign-up begin and end?", "On 30 April.", None),  # both
    ],
)
async def test_so_do_the_ends_of_a_sentence(question, answer, place):
    assert await place_of(question, answer, CORE) == place


@pytest.mark.parametrize("question", ["When does sign-up end?", "When does sign-up begin?"])
async def test_an_end_that_is_asked_for_where_there_is_no_fact_is_no_fault(question):
    analysis = (await analyse("On 30 April.", query=question)).analysis
    assert not analysis.outputs.attribution.answer_places
    assert Verdict.SUPPORTED not in analysis.outputs.fidelity.verdicts.values()
    assert analysis.outputs.risk.level is not RiskLevel.LOW


@pytest.mark.parametrize(
    ("question", "answer", "place"),
    [
        ("What is the maximum daily dose for a 70-year-old?", "1,200 mg a day.", ("other", "800 mg")),
        ("What is the maximum daily dose for a 70-year-old?", "800 mg a day.", ("own", "800 mg")),
        ("What is the maximum daily dose for a 30-year-old?", "1,200 mg", ("own", "1,200 mg")),
        ("What is the maximum daily dose for a 30-year-old?", "400 mg", ("other", "1,200 mg")),
    ],
)
async def test_a_daily_dose_is_one_per_day_and_an_age_has_its_row(question, answer, place):
    assert await place_of(question, answer, *DOSES) == place


@pytest.mark.parametrize(
    ("question", "answer", "place"),
    [
        ("Can films be renewed?", "Yes, twice.", "doubt"),
        ("Can films be lent?", "Yes, for 7 days.", None),  # the value stands there
        ("Can loans be renewed?", "Yes, twice.", None),
        ("Do children pay fines?", "Yes, 25p a day.", "doubt"),
        ("Do children pay fines?", "No.", None),
    ],
)
async def test_a_yes_with_a_value_is_doubted_where_the_document_denies_it(question, answer, place):
    found = await place_of(question, answer, FINES)
    assert (found and found[0]) == place


AWAY = "Office: The office is closed for lunch from 12:30 to 13:30. The road is blocked from 4 June to 8 June."
SAUNA = "Works: Facility: Sauna; Closed: 12 June to 16 June"
TOURS = "Tours: Tour: West End tour; Time: 10:00-12:00"
LATE = "Museum, Opening hours: Day: Thursday; Hours: 11:00-20:00; Last entry: 19:15"
SHIFTS = "Shifts: The night shift runs from 22:00 to 6:00. The early shift is from 6:00 to 14:00."


@pytest.mark.parametrize(
    ("question", "answer", "facts"),
    [
        ("When does the office close for lunch?", "At 12:30.", AWAY),
        ("When does the office open again after lunch?", "At 13:30.", AWAY),
        ("When does the road open again?", "After 8 June.", AWAY),
        ("When will the sauna shut?", "On 12 June.", SAUNA),
        ("When does the sauna open again?", "After 16 June.", SAUNA),
        ("When does the West End tour take place?", "At 10:00.", TOURS),
        ("By when do I have to enter before the museum closes on Thursday?", "By 19:15.", LATE),
        ("When does the early shift start?", "At 6:00.", SHIFTS),
    ],
)
async def test_the_end_of_what_is_closed_or_of_another_time_is_not_held_against_an_answer(question, answer, facts):
    found = await place_of(question, answer, facts)
    assert found is None or found[0] == "own"


@pytest.mark.parametrize(
    ("question", "answer", "is_wrong"),
    [
        ("How much annual leave do staff get?", "5 days.", True),
        ("How much annual leave do staff get?", "28 days.", False),
    ],
)
async def test_annual_is_itself_before_it_is_per_year(question, answer, is_wrong):
    leave = (
        "Staff: Group: Staff; Annual leave: 28 days; Leave carried over per year: 5 days; Sick days per year: 10 days"
    )
    found = await place_of(question, answer, leave)
    assert (found is not None and found[0] == "other") is is_wrong
