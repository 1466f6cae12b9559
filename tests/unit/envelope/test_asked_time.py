"""Which queries ask for the past, for what is to come, or for neither (ADR 0109)."""

from datetime import date

import pytest

from services.envelope.domain.asked_time import AskedTime, asked_time
from tests.each import each

TODAY = date(2026, 5, 24)

PAST = """
What was the fee in 2023?
What did a parcel cost in March 2024?
How many days of leave did we get in 2019?
What was the deadline before the change?
What was the limit before the new policy?
Which rate applied prior to the merger?
What was the notice period until the reform?
What was the fee until March 2025?
What was the premium until 31 December 2025?
What applied until the last change?
What did the fee used to be?
How much did it use to cost?
What used to be the deadline?
We used to charge 10 euros, what was it exactly?
What was the old fee?
What were the previous notice periods?
Which address was the former address of the office?
What did the earlier version of the policy say?
What was the rate last year?
What was the limit two years ago?
What were the fees back then?
What was the fee at that time?
What did it cost previously?
Was the service formerly free?
What has changed in the travel policy?
What changed?
Has the fee changed?
How has the fee changed?
What is the difference between the old and the new tariff?
What were the 2023 fees?
What did the 2024 price list say about hail?
What was the price as of 2024-03-01?
What was the fee in January 2026?
What was the fee in March?
What was the deductible before it was raised?
What was the fee before it changed?
What was 2025's budget?
Which terms were originally agreed?
Which rules are no longer valid?
What is the history of the entry fee?
What were opening hours during the summer of 2022?
As of 2024, what was the maximum?
What did the outdated handbook say?
Who was responsible for audits before the reorganisation?
Until when was the old form accepted?
When did the fee change, and what was it earlier?
Before 2025, how many days did we have to report?
What was the interest rate six months ago?
Give me the terms as they stood on 2024-06-30.
""".strip().splitlines()

NOT_PAST = """
What was agreed?
What was agreed on the fee?
What was the fee?
Who was the founder of the company?
What did the committee decide?
What is the fee?
What is the fee today?
What is the fee in 2026?
What is the fee since 2023?
What has applied from 2024 on?
Which tool is used to measure the wind?
What are cookies used to do?
Which form is used to apply for leave?
Are the staff used to working at night?
How long before departure must I check in?
How many days before the deadline may I withdraw?
How long until the deadline?
May I cancel until Friday?
When was it signed?
How old is the building?
What does a ten-year-old pay?
What does the Data Protection Act of 1998 say?
What does ISO 9001:2015 require?
What does Regulation (EU) 2016/679 say about consent?
What is the previous owner called?
How many former employees may join?
Is breakfast before the tour included?
What is the price for 2,023 units?
Who must be told before the contract is changed?
Can I change my booking?
How do I change the address?
Which changes must be reported?
What is the earliest date?
What was the name of the ship?
May I go in March?
Is my old insurance number still valid?
What is the history of the company?
What does the 2018 Data Protection Act require?
Does the policy cover old buildings?
What must I do when my address has changed?
What happens if the plan was changed?
How much is parking in May?
""".strip().splitlines()

FUTURE = """
What will the fee be next year?
What is the fee in 2027?
What is the fee from January 2027?
Which upcoming changes affect travel?
What will a parcel cost?
What applies as of September 2026?
When does the new tariff take effect?
""".strip().splitlines()

NOT_FUTURE = """
What is the fee?
What was the fee in 2023?
Will the deposit be paid back?
Will I get a receipt?
What is the fee in 2026?
Is there a future for the company?
""".strip().splitlines()


@each("query", PAST)
def test_the_past_is_asked_for(query):
    assert asked_time(query, TODAY).past


@each("query", NOT_PAST)
def test_a_past_tense_or_a_purpose_does_not_ask_for_the_past(query):
    assert not asked_time(query, TODAY).past


@pytest.mark.parametrize("query", FUTURE)
def test_what_is_to_come_is_asked_for(query):
    assert asked_time(query, TODAY).future


@pytest.mark.parametrize("query", NOT_FUTURE)
def test_what_is_to_come_is_not_asked_for(query):
    assert not asked_time(query, TODAY).future


def test_the_day_decides():
    query = "What is the fee in June 2026?"
    assert asked_time(query, date(2026, 5, 24)) == AskedTime(past=False, future=True)
    assert asked_time(query, date(2026, 6, 1)) == AskedTime(past=False, future=False)
    assert asked_time(query, date(2026, 7, 1)) == AskedTime(past=True, future=False)


def test_line_breaks_do_not_hide_a_word():
    assert asked_time("What was the fee\nbefore the\nchange?", TODAY).past
