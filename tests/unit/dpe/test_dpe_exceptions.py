"""What a sentence says of one case alone: exceptions, days, an order, a denial of its own (ADR 0218)."""

import pytest

from services.dpe.domain.findings import Rule
from services.dpe.domain.rules import read_claim
from services.dpe.domain.rules.denials import denied_part
from services.dpe.domain.rules.excepted import beside_exceptions, excepted_case, said_by_exception
from services.dpe.domain.rules.modality import changed_force
from services.dpe.domain.rules.opening import closed_day, opening_days
from services.dpe.domain.rules.reading import Reading
from services.dpe.domain.rules.sequence import changed_order
from services.dpe.domain.rules.turned import turned_word

MUSEUM = "The museum is open every day except Monday."
LIFT = "The lift may be used by everybody but visitors."
COVER = "The warranty covers all parts except the pump."
LAPTOP = "All employees apart from interns receive a laptop."
INVOICE = "Every invoice, with the exception of travel invoices, goes to accounts payable."
REFUND = "Refunds are available on all tickets other than promotional tickets and gift cards."
PETS = "Pets are allowed in all rooms excluding the dining room."
SMOKE = "Smoking is prohibited everywhere but on the terrace."
CHEQUE = "No employee except the treasurer may sign cheques."


def held(text, claim):
    return read_claim(claim, 0), [Reading.of(text, 0, fact_index=0)]


@pytest.mark.parametrize(
    ("text", "claim", "words"),
    [
        (MUSEUM, "The museum is open on Mondays.", "Mondays"),
        (LIFT, "The lift may be used by visitors.", "visitors"),
        (COVER, "The warranty covers the pump.", "pump"),
        (LAPTOP, "Interns receive a laptop.", "Interns"),
        (INVOICE, "Travel invoices go to accounts payable.", "Travel invoices"),
        (REFUND, "Refunds are available on promotional tickets.", "promotional tickets"),
        (REFUND, "Refunds are available on gift cards.", "gift cards"),
        (PETS, "Pets are allowed in the dining room.", "dining room"),
        (SMOKE, "Smoking is prohibited on the terrace.", "terrace"),
        (CHEQUE, "The treasurer may not sign cheques.", "treasurer"),
        ("None of the rooms except the library has a projector.", "The library has no projector.", "library"),
        ("Refunds are given except for sale items.", "Refunds are given for sale items.", "sale items"),
    ],
)
def test_the_excepted_case_is_not_like_the_rest(text, claim, words):
    found = excepted_case(*held(text, claim))
    assert found is not None
    assert (found.rule, found.is_same) == (Rule.EXCEPTION, True)
    assert claim[found.claimed.start : found.claimed.end] == words
    assert said_by_exception(*held(text, claim)) is None


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        (MUSEUM, "The museum is closed on Mondays."),
        (MUSEUM, "The museum is not open on Mondays."),
        (MUSEUM, "The museum is open on Tuesdays and Fridays."),
        (LIFT, "Visitors may not use the lift."),
        (COVER, "The pump is not covered by the warranty."),
        (LAPTOP, "Interns do not receive a laptop."),
        (REFUND, "Promotional tickets cannot be refunded."),
        (PETS, "Pets are not allowed in the dining room."),
        (SMOKE, "Smoking is allowed on the terrace."),
        (CHEQUE, "The treasurer may sign cheques."),
    ],
)
def test_an_exception_says_the_opposite_of_its_case(text, claim):
    assert said_by_exception(*held(text, claim)) is not None
    assert excepted_case(*held(text, claim)) is None


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        (COVER, "The pump costs 40 euros."),  # a word that the sentence lacks
        (COVER, "The warranty covers all parts except the pump."),
        (COVER, "The warranty covers the pump if it is registered."),
        (LAPTOP, "Employees receive a laptop."),
        (MUSEUM, "The museum is closed on Tuesdays."),
        ("Apart from books, we sell music.", "We sell books."),  # beside them, not but them
        ("Items other than books may be returned.", "Books may be returned."),
        ("Prices excluding tax are shown.", "Tax is shown."),
        ("All guests get a key but the key must be returned.", "The key must be returned."),
        ("Members get 10% off all items except books, and books are shipped free.", "Books are shipped free."),
        ("All staff attend except when they are ill.", "Staff attend when they are ill."),
        ("All rooms are heated but small.", "The rooms are small."),
        ("The ticket covers all zones but expires after two hours.", "The ticket expires after two hours."),
        ("The plan includes any surgery but limits physiotherapy to ten sessions.", "The plan limits physiotherapy."),
        ("The tour takes all day but lunch is included.", "Lunch is not included in the tour."),
        ("Apart from the entrance fee, guests pay for all drinks.", "Guests pay the entrance fee."),
        ("Breakfast is served daily except Sunday, when it is served from 8.", "Breakfast is served on Sunday."),
        ("The insurer pays for all repairs except tyres, unless in an accident.", "The insurer never pays for tyres."),
        ("The gym is open every day from 6 to 22, except Sunday (8 to 20).", "The gym is closed on Sundays."),
        ("All rooms are heated but small.", "The rooms are not small."),
        ("Every pupil sat the test but two pupils are excused.", "Two pupils are excused."),
        ("", "The museum is open on Mondays."),
    ],
)
def test_what_no_exception_speaks_of_is_left_alone(text, claim):
    assert excepted_case(*held(text, claim)) is None
    assert said_by_exception(*held(text, claim)) is None


@pytest.mark.parametrize(
    ("text", "other", "claim"),
    [
        (
            "All employees other than contractors are entitled to 25 days of annual leave.",
            "Contractors are entitled to 10 days of annual leave.",
            "Contractors are entitled to annual leave.",
        ),
        (
            "All staff except managers are paid overtime at 150%.",
            "Managers are paid overtime at 120%.",
            "Managers are paid overtime.",
        ),
    ],
)
def test_what_another_sentence_says_of_the_excepted_case_holds(text, other, claim):
    sources = [Reading.of(text, 0, fact_index=0), Reading.of(other, len(text) + 1, fact_index=0)]
    assert excepted_case(read_claim(claim, 0), sources) is None
    assert excepted_case(read_claim(claim, 0), sources[:1]) is not None


def test_what_another_sentence_denies_of_the_excepted_case_is_not_said():
    sources = [
        Reading.of("All members except students pay 20 euros.", 0, fact_index=0),
        Reading.of("Students pay 10 euros.", 50, fact_index=0),
    ]
    claim = read_claim("Students pay nothing.", 0)
    assert said_by_exception(claim, sources) is None
    assert said_by_exception(claim, sources[:1]) is not None


def test_an_exception_limits_who_says_the_opposite_of_the_rest():
    text = "The shop is closed on Sundays except in December."
    assert beside_exceptions(*held(text, "The shop is open on Sundays.")) == ()
    assert beside_exceptions(*held(text, "The shop is closed on Sundays."))


def test_the_words_of_an_exception_say_nothing_of_what_is_not_excepted():
    (case,) = beside_exceptions(*held(MUSEUM, "The museum is open on Tuesdays."))
    assert case.source.text[case.span.start : case.span.end].strip(".") == "except Monday"
    assert beside_exceptions(*held(MUSEUM, "The museum is open on Mondays.")) == ()
    assert beside_exceptions(*held(MUSEUM, "The museum is open except on Tuesdays.")) == ()


CLINIC = (
    "We are open Monday to Friday from 8 am to 6 pm, and on Saturday from 9 am to noon. "
    "We are closed on Sundays and public holidays."
)
SHOP = "The museum is open daily except Mondays from 10 am to 5 pm. The museum shop is closed on Sundays."
HALL = "The hall is open on weekdays but closed on Saturday afternoons. In August the hall is closed on Fridays."


def said(text, claim):
    sources = [Reading.of(one + ".", 0, fact_index=0) for one in text.removesuffix(".").split(". ")]
    return read_claim(claim, 0), sources


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        (CLINIC, "The clinic is open on Sundays."),
        (CLINIC, "The clinic is open on public holidays."),
        (CLINIC, "The clinic is open on weekends."),
        (CLINIC, "The clinic is open seven days a week."),
        (CLINIC, "The clinic is closed on Fridays."),
        (CLINIC, "Open on Sundays."),
        (SHOP, "The museum is open on Mondays."),
        (SHOP, "The museum is closed on Sundays."),
        (SHOP, "The museum shop is open on Sundays."),
        (HALL, "The hall is closed on Wednesdays."),
    ],
)
def test_another_state_of_a_day_is_found(text, claim):
    found = closed_day(*said(text, claim))
    assert found is not None
    assert (found.rule, found.is_same) == (Rule.NEGATION, True)
    assert opening_days(*said(text, claim)) == ()


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        (CLINIC, "The clinic is closed on Sundays."),
        (CLINIC, "The clinic is open on Saturdays."),
        (CLINIC, "The clinic is open Monday to Saturday."),
        (CLINIC, "We are not open on Sundays."),
        (SHOP, "The museum is closed on Mondays."),
        (SHOP, "The museum is open on Sundays."),
        (HALL, "The hall is open on Fridays."),
        ("The office is open Friday to Monday.", "The office is open on Sundays."),
    ],
)
def test_the_state_of_a_day_is_said(text, claim):
    assert opening_days(*said(text, claim))
    assert closed_day(*said(text, claim)) is None


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        (CLINIC, "The clinic is closed on Saturday afternoon."),
        (CLINIC, "The clinic is open on Sundays after 9 am."),
        (CLINIC, "The clinic is open on Sundays in December."),
        (CLINIC, "The café is open on Sundays."),
        (CLINIC, "The clinic is open."),
        (HALL, "The hall is open on Saturdays."),
        (SHOP, "The restaurant is closed on Mondays."),
        ("The account is closed on Mondays for new members.", "The file was opened on Monday."),
        ("The restaurant opened on Monday, 3 May 2021. It is closed on Mondays.", "The restaurant opened on a Monday."),
        ("The post office closes early on Fridays.", "The post office is open on Fridays."),
        (
            "The centre is open daily from 9 to 21, except on Saturdays from 10 to 18.",
            "The centre is open on Saturdays.",
        ),
        ("The gym is open every day from 6 to 22, except Sunday (8 to 20).", "The gym is closed on Sundays."),
        ("We are closed on Saturdays.", "There is an open day on Saturday."),
        ("We are open Tuesday to Sunday.", "The exhibition closes on a Sunday."),
        (CLINIC, "The clinic is closed on Sundays because of renovation work."),
        ("The bank is open Monday to Friday.", "On a bank holiday Monday the bank is closed."),
        (
            "The children's library is closed on Mondays. The central library is closed on Tuesdays.",
            "The library is open on Mondays.",
        ),
    ],
)
def test_parts_of_days_and_other_things_are_left_alone(text, claim):
    assert closed_day(*said(text, claim)) is None
    assert opening_days(*said(text, claim)) == ()


INSERT = "The filter is inserted before the tank is filled."


@pytest.mark.parametrize(
    ("text", "claim", "is_changed"),
    [
        (INSERT, "The tank is filled before the filter is inserted.", True),
        (INSERT, "The filter is inserted after the tank is filled.", True),
        (INSERT, "After the tank is filled, the filter is inserted.", True),
        (INSERT, "The tank is filled after the filter is inserted.", False),
        (INSERT, "Before the tank is filled, the filter is inserted.", False),
        (INSERT, "The tank is not filled before the filter is inserted.", False),
        (
            "The form is checked by the team lead before it is sent to payroll.",
            "The form is sent to payroll before it is checked by the team lead.",
            True,
        ),
    ],
)
def test_an_order_that_is_turned_round(text, claim, is_changed):
    found = changed_order(*held(text, claim))
    assert (found is not None and found.rule is Rule.ORDER) == is_changed


def test_what_stands_there_in_both_orders_is_not_turned_round():
    texts = ("The filter is cleaned before each use.", "The filter is also cleaned after each use.")
    sources = [Reading.of(text, 100 * place, fact_index=0) for place, text in enumerate(texts)]
    assert changed_order(read_claim("The filter is cleaned after each use.", 0), sources) is None


HOME = "In the probation period, which lasts six months, working from home is not allowed unless the head agrees."


@pytest.mark.parametrize(
    ("text", "claim", "is_denied"),
    [
        (HOME, "Employees in the probation period may work from home.", True),
        (HOME, "In the probation period you may work from home if the head agrees.", False),
        (HOME, "In the probation period, working from home needs the agreement of the head.", False),
        (HOME, "Employees may work from home.", False),
        ("On match days, parking in zone B is prohibited.", "On match days you can park in zone B.", True),
        ("On match days, parking in zone B is prohibited.", "You can park in zone B.", False),
        ("If it rains, parking in zone B is prohibited.", "If it rains you can park in zone B.", False),
    ],
)
def test_a_case_that_a_sentence_begins_with_belongs_to_what_it_denies(text, claim, is_denied):
    assert (denied_part(*held(text, claim)) is not None) == is_denied


VINEGAR = "Never use vinegar: it damages the seals and voids the warranty."


@pytest.mark.parametrize(
    ("text", "claim", "is_forbidden"),
    [
        (VINEGAR, "Vinegar may be used for descaling.", True),
        (VINEGAR, "You can use vinegar.", True),
        (VINEGAR, "You may not use vinegar.", False),
        ("Do not use vinegar.", "You may use vinegar.", True),
        ("Do not forget to use the filter.", "You may use the filter.", False),
        ("You may use vinegar, but never use bleach.", "You may use vinegar.", False),
        ("Do not remove the plaster before the third day.", "You may remove the plaster after the third day.", False),
        ("Do not store it above 25 °C.", "You may store it below 25 °C.", False),
        ("Never in the first year.", "It may be raised later.", False),
        ("Avoid using bleach: use vinegar or soda.", "You can use vinegar.", False),
        ("Do not send cheques by post; send them by courier.", "You can send cheques by courier.", False),
        ("Do not send cheques by post; send them by courier.", "You can send cheques by post.", True),
    ],
)
def test_an_order_not_to_forbids(text, claim, is_forbidden):
    assert (changed_force(*held(text, claim)) is not None) == is_forbidden


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("Visitors may not stay longer than two hours.", "Visitors may stay two hours."),
        ("Guests must not arrive later than 8 pm.", "Guests must arrive by 8 pm."),
    ],
)
def test_what_is_denied_beyond_a_bound_is_not_denied(text, claim):
    assert turned_word(*held(text, claim)) is None


def test_what_is_no_longer_so_is_denied():
    assert (
        turned_word(*held("The yearly travel plan is no longer valid.", "The yearly travel plan is valid.")) is not None
    )
