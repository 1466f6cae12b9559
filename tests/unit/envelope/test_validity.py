"""From when to when facts hold, as metadata, front matter, sentences and headings say (ADR 0109)."""

from datetime import UTC, datetime

import pytest

from services.envelope.domain.validity import ALWAYS, Passage, Validity, of_head, of_metadata, of_passages, read_period


def day(year, month=1, number=1):
    return datetime(year, month, number, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "start", "behind"),
    [
        ("2026-01-31", day(2026, 1, 31), day(2026, 2, 1)),
        ("31 January 2026", day(2026, 1, 31), day(2026, 2, 1)),
        ("1st of March 2026", day(2026, 3, 1), day(2026, 3, 2)),
        ("January 31, 2026", day(2026, 1, 31), day(2026, 2, 1)),
        ("Sept. 2025", day(2025, 9), day(2025, 10)),
        ("December 2025", day(2025, 12), day(2026)),
        ("31.12.2025", day(2025, 12, 31), day(2026)),
        ("2026", day(2026), day(2027)),
        ("2026-01-31T12:00:00+02:00", datetime(2026, 1, 31, 10, tzinfo=UTC), datetime(2026, 1, 31, 10, tzinfo=UTC)),
    ],
)
def test_dates(text, start, behind):
    assert read_period(text) == (start, behind)


@pytest.mark.parametrize("text", ["", "soon", "31 June 2026", "2026-13-01", "12/31/2025", "9999", "0000-01-01"])
def test_no_dates(text):
    assert read_period(text) is None


def test_metadata():
    assert of_metadata({"valid_from": "2026-01-01", "valid_to": "2026-12-31", "x": "y"}) == Validity(
        day(2026), day(2027)
    )
    assert of_metadata({}) == ALWAYS
    with pytest.raises(ValueError, match="valid_to must be a date such as"):
        of_metadata({"valid_to": "tomorrow"})
    with pytest.raises(ValueError, match="valid_to must not be before valid_from"):
        of_metadata({"valid_from": "2026-01-02", "valid_to": "2026-01-01"})


@pytest.mark.parametrize(
    ("head", "found"),
    [
        (b"---\ntitle: Fees\nvalid_from: 2026-01-01\nvalid_to: 2026-12-31\n---\nText", Validity(day(2026), day(2027))),
        (b"\xef\xbb\xbf---\r\nEffective date: 1 March 2025\r\n---\r\n", Validity(day(2025, 3))),
        (b'---\nexpires: "2025-06-30"\n---\n', Validity(None, day(2025, 7))),
        (b"---\nvalid_from: when it suits\n---\n", ALWAYS),
        (b"valid_from: 2026-01-01\n", ALWAYS),
        (b'<html><head><meta name="dcterms.valid-from" content="2026-01-01">', Validity(day(2026))),
        (b"---\nvalid_from: 2027-01-01\nvalid_to: 2026-01-01\n---\n", ALWAYS),
        (b"---\nno end: 1\n", ALWAYS),
    ],
)
def test_front_matter(head, found):
    assert of_head(head) == found


WHOLE = [
    ("This policy is effective from 1 January 2026.", Validity(day(2026))),
    ("This travel expense policy applies from 2026-02-01 until 2026-03-31.", Validity(day(2026, 2), day(2026, 4))),
    ("This agreement takes effect on 3 May 2025 and binds both.", Validity(day(2025, 5, 3))),
    ("This price list is valid until 31 December 2025.", Validity(None, day(2026))),
    ("This edition expires on 30 June 2026.", Validity(None, day(2026, 7))),
    ("Valid from 1 January 2026", Validity(day(2026))),
    ("Fees: Valid from 1 January 2026 to 31 December 2026.", Validity(day(2026), day(2027))),
    ("Effective date: March 1, 2025", Validity(day(2025, 3))),
    ("Effective 1 March 2025.", Validity(day(2025, 3))),
    ("Valid until 2025-12-31. The fee is 10 euros.", Validity(None, day(2026))),
    ("Expires: 2025-12-31", Validity(None, day(2026))),
    ("The fee is 10 euros. This tariff applies since May 2024.", Validity(day(2024, 5))),
]


@pytest.mark.parametrize(("text", "found"), WHOLE)
def test_a_sentence_on_the_document_stands_for_all_of_it(text, found):
    passages = [Passage(text, "# Fees"), Passage("A parcel costs 5 euros.", "# Fees > ## Parcels")]
    assert of_passages(passages) == [found, found]


@pytest.mark.parametrize(
    "text",
    [
        "The new rate is valid from 1 May 2026.",
        "A passport must be valid until 31 December 2026.",
        "The voucher is valid until 2026-12-31 and can be passed on.",
        "From 1 January 2026 the fee is 25 euros.",
        "The discount expires on 30 June 2026.",
        "This policy applies to all employees.",
        "This agreement was signed on 3 May 2025.",
        "Applications are valid for 30 days.",
        "He is effective from day one.",
        "This list applies from Monday.",
        "Voucher: valid until 31 December 2026.",
        "Plan: Basic; Validity: until 31 December 2026; Price: 10 EUR",
        "Basic costs 10 euros. Valid until 31 December 2026.",
    ],
)
def test_what_is_said_of_one_thing_restricts_nothing(text):
    assert of_passages([Passage(text, "# Fees"), Passage("A parcel costs 5 euros.", "# Fees")]) == [ALWAYS, ALWAYS]


def test_a_section_has_its_own():
    passages = [
        Passage("General text.", "# Fees"),
        Passage("Valid until 30 April 2026.", "# Fees > ## Winter"),
        Passage("Skiing costs 40 euros.", "# Fees > ## Winter > ### Slopes"),
        Passage("Swimming costs 5 euros.", "# Fees > ## Summer (valid from 1 May 2026)"),
        Passage("Parking is free.", "# Fees > ## Wintersport"),
    ]
    winter, summer = Validity(None, day(2026, 5)), Validity(day(2026, 5))
    assert of_passages(passages) == [ALWAYS, winter, winter, summer, ALWAYS]


def test_the_narrower_stands_before_the_wider():
    passages = [
        Passage("This tariff is valid from 1 January 2026 to 31 December 2026.", "# Fees"),
        Passage("Valid until 30 June 2026.", "# Fees > ## Parcels"),
        Passage("Valid from 1 January 2030.", "# Fees > ## Letters"),
    ]
    whole = Validity(day(2026), day(2027))
    assert of_passages(passages) == [whole, Validity(day(2026), day(2026, 7)), Validity(day(2030))]


def test_a_line_further_down_is_about_what_stands_there():
    passages = [Passage(f"Article {number} costs 5 euros.") for number in range(5)]
    assert set(of_passages([*passages, Passage("Valid until 30 April 2026.")])) == {ALWAYS}
    assert set(of_passages([Passage("Valid until 30 April 2026."), *passages])) == {Validity(None, day(2026, 5))}


def test_a_heading_may_say_it():
    passages = [Passage("Skiing costs 40 euros.", "# Price list (valid for 2026)")]
    assert of_passages(passages) == [Validity(day(2026), day(2027))]


def test_words():
    assert Validity(day(2026), day(2027)).told() == "from 2026-01-01 until 2026-12-31"
    assert ALWAYS.told() == ""


def test_it_is_linear_in_the_text():
    passages = [Passage("valid from effective until this policy applies " * 12, f"# a > ## {n}") for n in range(3_000)]
    assert set(of_passages(passages)) == {ALWAYS}
