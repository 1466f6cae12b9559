"""Facts are sentence-sized assertions that can be read on their own (CRP-SPEC-009)."""

import pytest

from services.common.documents.document import NOWHERE, Block, BlockKind, Document, Place, Table
from services.common.documents.facts.chunking import chunk
from services.common.documents.facts.leaning import group_leaning, merge_short
from services.common.documents.facts.sentences import split_sentences
from services.common.documents.facts.windows import windows


def words(text):
    """Count white-space words: a tokenizer that a reader can follow."""
    return len(text.split())


def paragraph(text, place=NOWHERE):
    return Block(BlockKind.PARAGRAPH, text, 0, place)


def heading(text, level=2):
    return Block(BlockKind.HEADING, text, level)


def item(text, depth=0):
    return Block(BlockKind.LIST_ITEM, text, depth)


def contents(*blocks):
    return [draft.content for draft in chunk(Document("text/plain", "", blocks), words)]


LONG = "A motor accident must be reported to the insurer within seven days of it."
OTHER = "The theft of a vehicle must be reported to the police within one day."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two.", ("One.", "Two.")),
        ("See Art. 5 of the Act. It applies.", ("See Art. 5 of the Act.", "It applies.")),
        ("Dr. Brandt signs. He is liable.", ("Dr. Brandt signs.", "He is liable.")),
        ("It costs 3.50 euros. Fine.", ("It costs 3.50 euros.", "Fine.")),
        ("e.g. a car, i.e. a vehicle. Next one.", ("e.g. a car, i.e. a vehicle.", "Next one.")),
        ('He said "Stop." Then he left.', ('He said "Stop."', "Then he left.")),
        ("Really?! Yes. no capital follows", ("Really?!", "Yes. no capital follows")),
        ("J. Smith paid. End.", ("J. Smith paid.", "End.")),
        ("1. First rule here", ("1. First rule here",)),
        ("Acme Inc. The rest follows.", ("Acme Inc.", "The rest follows.")),
        ("Beginnt er wie 2024 am 5. April? Ja.", ("Beginnt er wie 2024 am 5. April?", "Ja.")),
        ("Die 3. Auflage gilt bis 31. Dezember. Dann nicht.", ("Die 3. Auflage gilt bis 31. Dezember.", "Dann nicht.")),
        ("We have 5. They have 7.", ("We have 5.", "They have 7.")),
        ("The limit is 12. May it stay so.", ("The limit is 12.", "May it stay so.")),
        ("", ()),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text, expected):
    assert split_sentences(text) == expected


def test_a_paragraph_becomes_one_fact_for_each_assertion():
    assert contents(paragraph(f"{LONG} {OTHER}")) == [LONG, OTHER]


def test_a_sentence_that_leans_on_the_one_before_stays_with_it():
    leaning = "However, the insurer may extend this period by thirty days on request in writing."
    assert contents(paragraph(f"{LONG} {leaning} {OTHER}")) == [f"{LONG} {leaning}", OTHER]


def test_at_most_two_sentences_lean_on_one_which_is_said_again_before_a_third():
    assert group_leaning(["A.", "It b.", "It c.", "It d."]) == ["A. It b. It c.", "A. It d."]


def test_a_short_sentence_joins_its_neighbour():
    assert merge_short(["Short one.", LONG, "Tiny."], words) == [f"Short one. {LONG} Tiny."]


def test_a_list_item_carries_its_lead_in_sentence():
    found = contents(
        paragraph(f"{LONG} The following is excluded:"),
        item("damage by war or by nuclear events;"),
        item("wear and tear."),
    )
    assert found == [
        LONG,
        "The following is excluded: damage by war or by nuclear events;",
        "The following is excluded: wear and tear.",
    ]


def test_a_list_item_without_lead_in_carries_its_heading():
    assert contents(heading("Exclusions"), item("damage by war")) == ["Exclusions: damage by war"]


def test_a_nested_item_carries_its_parent_and_an_announcing_parent_is_no_fact_of_its_own():
    found = contents(heading("Cover"), item("Abroad:"), item("32 countries", 1), item("At home"))
    assert found == ["Cover: Abroad: 32 countries", "Cover: At home"]


def test_an_announcement_that_nothing_follows_is_kept():
    assert contents(item("Abroad:"), paragraph(LONG)) == ["Abroad:", LONG]
    assert contents(paragraph("The rules that apply to members who live abroad are these:")) == [
        "The rules that apply to members who live abroad are these:"
    ]


def test_an_announcing_parent_that_is_too_long_to_be_a_prefix_is_a_fact_of_its_own():
    parent = "word " * 70 + "as follows:"
    assert contents(item(parent), item(LONG, 1)) == [parent, LONG]


def test_a_row_names_its_columns_its_heading_and_its_document():
    table = Block(BlockKind.TABLE, "", table=Table((("Cover", "Limit"), ("Cash", "500 EUR")), header_rows=1))
    assert contents(heading("Home insurance", 1), heading("Limits"), table) == [
        "Home insurance, Limits: Cover: Cash; Limit: 500 EUR"
    ]


@pytest.mark.parametrize(
    ("heads", "cells", "expected"),
    [
        (("Plan", "Fee"), ("Basic", ""), "Plan: Basic"),
        ((), ("a", "b", "c"), "a; b; c"),
        ((), ("a", "b"), "a: b"),
        (("Plan:", ""), ("Basic", "extra"), "Plan: Basic; extra"),
    ],
)
def test_a_row_is_its_filled_cells_with_the_names_of_their_columns(heads, cells, expected):
    rows = (heads, cells) if heads else (cells,)
    assert contents(Block(BlockKind.TABLE, "", table=Table(rows, header_rows=len(rows) - 1))) == [expected]


def test_a_heading_is_prefixed_only_where_it_says_something_new():
    assert contents(heading("Deadlines"), paragraph(LONG)) == [f"Deadlines: {LONG}"]
    assert contents(heading("Motor accident"), paragraph(LONG)) == [LONG]
    assert contents(heading("Overview"), paragraph(LONG)) == [LONG]
    assert contents(heading("Deadlines", 1), paragraph(LONG)) == [LONG]
    assert contents(heading("When is it late?"), paragraph(LONG)) == [f"When is it late? {LONG}"]


def test_sections_and_locations_follow_the_headings():
    document = Document(
        "text/markdown",
        "",
        (heading("Claims", 1), heading("Motor"), paragraph(LONG, Place(3)), heading("Home"), paragraph(OTHER)),
    )
    drafts = chunk(document, words)
    assert [(draft.section, draft.location) for draft in drafts] == [
        ("# Claims > ## Motor", "p. 3, # Claims > ## Motor"),
        ("# Claims > ## Home", "# Claims > ## Home"),
    ]


def test_the_same_text_in_one_section_is_one_fact_and_in_two_sections_two():
    assert contents(paragraph(LONG), paragraph(LONG)) == [LONG]
    assert len(contents(heading("Motor accident"), paragraph(LONG), heading("Accident report"), paragraph(LONG))) == 2


def test_a_text_of_more_than_512_tokens_is_cut_into_windows_that_overlap_by_a_tenth():
    text = " ".join(f"w{number}" for number in range(1200))
    parts = windows(text, words)
    assert [len(part.split()) for part in parts] == [512, 512, 278]
    assert parts[0].split()[-51:] == parts[1].split()[:51]
    assert parts[1].split()[-51:] == parts[2].split()[:51]
    assert windows("a b c", words) == ["a b c"]


def test_one_endless_word_is_cut_as_well():
    parts = windows("x" * 3000, len)
    assert max(map(len, parts)) <= 512
    assert parts[0][:128] == "x" * 128


def test_text_without_letters_or_digits_is_no_fact():
    assert contents(paragraph("* * *"), paragraph(LONG)) == [LONG]


@pytest.mark.parametrize(
    "after",
    [
        "After that, half of the price of the ticket is kept by the ferry line.",
        "Until then, the ticket may be handed on to any other person.",
        "From then on, every change of the ticket costs ten euros.",
        "Danach wird die H\u00e4lfte des Preises der Fahrkarte einbehalten.",
    ],
)
def test_a_sentence_that_counts_from_the_one_before_stays_with_it(after):
    before = "Tickets are refunded in full up to two days before departure."
    assert contents(paragraph(f"{before} {after}")) == [f"{before} {after}"]


def test_a_lead_that_a_list_took_up_does_not_announce_the_table_below_it():
    table = Block(BlockKind.TABLE, "", table=Table((("Rank", "Leave"), ("Mate", "28")), 1, 1))
    blocks = (heading("Man overboard"), paragraph("Whoever sees it:"), item("calls out."), table)
    assert contents(*blocks) == ["Man overboard: Whoever sees it: calls out.", "Man overboard: Rank: Mate; Leave: 28"]
    assert (
        contents(heading("Crew"), paragraph("Leave in days:"), table)[-1]
        == "Crew, Leave in days: Rank: Mate; Leave: 28"
    )
