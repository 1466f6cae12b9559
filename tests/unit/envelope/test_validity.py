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
    ("These terms apply to all contracts from 1 January 2027.", Validity(day(2027))),
    ("This policy applies to all our own employees from 1 May 2026 onwards.", Validity(day(2026, 5))),
    ("These rules apply to all visitors until 30 June 2026.", Validity(None, day(2026, 7))),
    ("Valid from: 1 January 2027", Validity(day(2027))),
    ("Fees: Valid from: 1 January 2027", Validity(day(2027))),
    ("Effective from: 2027-01-01.", Validity(day(2027))),
    ("Valid until: 31 December 2025", Validity(None, day(2026))),
    ("Valid from: 1 January 2026 Valid until: 31 December 2026", Validity(day(2026), day(2027))),
    ("Version: 3.1 Valid from: 1 January 2027 Owner: Claims department", Validity(day(2027))),
    ("With effect from 1 January 2027", Validity(day(2027))),
    ("As of 1 January 2027", Validity(day(2027))),
    ("Fees: As of 1 January 2027.", Validity(day(2027))),
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
        "The fee applies from 1 January 2027.",
        "The fee applies to all contracts from 1 January 2027.",
        "These terms apply to all contracts signed from 1 January 2027.",
        "These terms apply to all policies sold by agents who joined from 1 January 2027.",
        "These terms apply to all contracts from Monday.",
        "Valid from: 1 January 2027; Price: 10 EUR",
        "Plan: Basic; Valid from: 1 January 2027; Price: 10 EUR",
        "Voucher: Gold Valid from: 1 January 2027",
        "Valid from: the day of the notice",
        "Valid from: 1 January 2027 at the earliest",
        "As of 1 January 2027 the fee is 25 euros.",
        "As of 1 January 2027, parcels cost 5 euros.",
        "There were 40 members as of 1 January 2027.",
        "With effect from 1 January 2027 the fee is 25 euros.",
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


@pytest.mark.parametrize(
    "heading",
    [
        "Motor Policy Terms (valid from 1 January 2027)",
        "Motor Policy Terms, valid from 1 January 2027",
        "Motor Policy Terms (with effect from 1 January 2027)",
        "Motor Policy Terms effective 1 January 2027",
        "Motor Policy Terms Valid from: 1 January 2027",
        "Motor Policy Terms As of 1 January 2027",
        "Motor Policy Terms (as of 1 January 2027)",
    ],
)
def test_a_heading_without_a_text_of_its_own_holds_for_all_below(heading):
    below = [
        Passage("Tell us of a loss within ten days.", f"# {heading} > ## 1 Notifying a loss"),
        Passage("We pay within a month.", f"# {heading} > ## 2 Paying > ### Money"),
    ]
    assert of_passages(below) == [Validity(day(2027))] * 2
    untitled = [Passage(passage.text, passage.section.partition(" > ")[2]) for passage in below]
    assert of_passages(untitled) == [ALWAYS] * 2
    assert of_passages(untitled, heading) == [Validity(day(2027))] * 2  # a title that stands in no heading


@pytest.mark.parametrize(
    "heading",
    [
        "Renewing a passport that is valid until 31 December 2026",
        "Vouchers valid from 1 May 2026",
        "Members as of 1 January 2027",
        "Voucher Valid from: next Monday",
        "Minutes (from 1 January 2026)",
    ],
)
def test_what_a_heading_says_of_something_else_restricts_nothing(heading):
    below = [Passage("Skiing costs 40 euros.", f"# {heading} > ## Slopes")]
    assert of_passages(below, heading) == [ALWAYS]


def test_a_part_is_not_named_as_a_document_is():
    parts = ["# Fees > ## Winter (valid until 30 April 2026) > ### Slopes", "# Fees > ## List as of 1 May 2026 > ### A"]
    passages = [Passage("General text.", "# Fees"), *(Passage("Skiing costs 40 euros.", part) for part in parts)]
    assert of_passages(passages) == [ALWAYS, Validity(None, day(2026, 5)), ALWAYS]


def test_the_heading_wins_over_the_title_and_the_line_over_neither():
    passages = [Passage("Valid from: 1 May 2026", "# Fees (valid from 1 March 2026)"), Passage("It is 5 euros.", "# B")]
    found = of_passages(passages, "Fees (valid until 31 December 2026)")
    assert found == [Validity(day(2026, 3), day(2027)), Validity(day(2026, 5), day(2027))]


def test_lines_on_number_and_owner_are_still_the_beginning():
    about = [f"{label}: some words" for label in ("Document number", "Version", "Owner", "Approved by", "Status")]
    lines = [*about, "Valid from: 1 January 2027", "A parcel costs 5 euros."]
    assert set(of_passages([Passage(line, "# Fees") for line in lines])) == {Validity(day(2027))}
    lines[1] = "A letter costs 1 euro."
    assert set(of_passages([Passage(line, "# Fees") for line in lines])) == {ALWAYS}


def test_a_title_typed_as_a_line_and_a_state_further_down():
    rest = [Passage("Tell us of a loss within ten days.", "## 1 Notifying a loss")]
    title = Passage("Motor Policy Terms (valid from 1 January 2027)")
    assert of_passages([title, *rest]) == [Validity(day(2027))] * 2
    assert of_passages([Passage("Parcels cost 5 euros."), title, *rest]) == [ALWAYS] * 3
    section = [Passage("General text.", "# Report"), Passage("As of 1 January 2027", "# Report > ## Staff")]
    assert of_passages(section) == of_passages(section[1:]) * 2 == [ALWAYS] * 2


def test_words():
    assert Validity(day(2026), day(2027)).told() == "from 2026-01-01 until 2026-12-31"
    assert ALWAYS.told() == ""


@pytest.mark.parametrize(
    "text",
    [
        "valid from effective until this policy applies " * 12,
        "valid from: as of this policy applies to all contracts of all staff " * 8,
        "Version: 1 as of 2027 valid until: " * 15,
    ],
)
def test_it_is_linear_in_the_text(text):
    passages = [Passage(text, f"# a valid > ## {n} valid from: as of") for n in range(3_000)]
    assert set(of_passages(passages, text)) == {ALWAYS}
