"""Facts that can be read alone: with number, term, heading, footnote, and the sentence that a pronoun points to."""

import pytest

from services.common.documents.document import Block, BlockKind, Document, Place, Table
from services.common.documents.facts.chunking import chunk
from services.common.documents.facts.draft import FactKind
from services.common.documents.markdown import read_markdown
from services.envelope.domain.importance import IMPORTANCE_BY_KIND, SourceType, importance_of


def words(text):
    return len(text.split())


def facts(text):
    return [draft.content for draft in chunk(read_markdown(text), words)]


def kinds(text):
    return [(draft.kind.name, draft.content) for draft in chunk(read_markdown(text), words)]


def test_steps_keep_their_numbers_and_their_further_paragraphs():
    assert kinds("## Upgrade\n\n1. Stop it.\n2. Check it.\n\n   If it prints 7, go on.\n") == [
        ("STEP", "Upgrade: 1. Stop it."),
        ("STEP", "Upgrade: 2. Check it. If it prints 7, go on."),
    ]


def test_items_carry_what_announces_them():
    assert facts(
        "# House\n\n## Fees\n\nOn request:\n\n- Storage\n  - 50 GB: 2 EUR\n- Support, one of\n  1. e-mail\n"
    ) == [
        "Fees: On request: Storage: 50 GB: 2 EUR",
        "Fees: On request: Support, one of: 1. e-mail",
    ]


def test_definitions_carry_their_term():
    assert kinds("# Codes\n\n## Exit codes\n\n75\n: Port in use\n: Tried 3 times\n") == [
        ("DEFINITION", "Exit codes: 75: Port in use"),
        ("DEFINITION", "Exit codes: 75: Tried 3 times"),
    ]


def test_a_footnote_is_told_where_it_is_referred_to_and_nowhere_else():
    first = "The setup is free on all plans but for one."
    second = "Everything else is paid for in advance each year."
    assert facts(f"{first}[^a]\n{second} Then comes the new year.\n\n[^a]: Metal.\n") == [
        f"{first} (Metal)",
        f"{second} Then comes the new year.",
    ]


def test_a_footnote_that_nothing_refers_to_is_a_fact_of_its_own():
    note = Block(BlockKind.FOOTNOTE, "Net of tax, as of the first of January each year.", number="7")
    (draft,) = chunk(Document("text/plain", "", (note,)), words)
    assert (draft.kind, draft.content) == (FactKind.FOOTNOTE, note.text)


def test_a_pronoun_at_the_start_of_a_paragraph_has_the_sentence_before():
    assert facts(
        "The pump of the house has two modes for the night.\n\nIt stops at eight bar unless the valve is open.\n"
    ) == [
        "The pump of the house has two modes for the night.",
        "The pump of the house has two modes for the night. It stops at eight bar unless the valve is open.",
    ]


@pytest.mark.parametrize("text", ["src/main.rs", "Filename: src/main.rs", "https://example.org/a", "Page 3 of 9"])
def test_names_of_files_addresses_and_pages_are_no_facts(text):
    assert facts(f"# Book\n\n{text}\n") == []


def test_the_name_of_a_file_stands_before_its_code():
    assert facts("Filename: src/main.rs\n\n```\nfn main() {}\n```\n") == ["Filename: src/main.rs: fn main() {}"]


def test_a_heading_that_is_a_link_still_stands_above_its_text():
    assert facts("# House\n\n## [Fees](#fees)\n\n- Storage costs 2 EUR\n") == ["Fees: Storage costs 2 EUR"]


def test_a_line_above_the_first_heading_and_links_elsewhere_are_no_facts():
    assert facts("The Linden House\n\n# Rules\n\n- [Home](a)\n- [All rules](b)\n") == []


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Claims must be reported to the insurer within seven days of the accident.", FactKind.RULE),
        ("Ein Unfall muss dem Versicherer binnen sieben Tagen nach dem Tag gemeldet werden.", FactKind.RULE),
        ("A lien means a right over the goods of another until a debt is paid.", FactKind.DEFINITION),
        ("For example, a claim of 500 euros from the spring is paid by the summer.", FactKind.EXAMPLE),
        ("Copyright 2024 by the makers of this manual; all rights reserved in all countries.", FactKind.BOILERPLATE),
        ("The office stands on the hill above the river since the year 1987.", FactKind.STATEMENT),
    ],
)
def test_a_fact_is_what_its_words_are(text, kind):
    assert [draft.kind for draft in chunk(read_markdown(text), words)] == [kind]


def test_importance_follows_from_source_and_kind():
    assert set(IMPORTANCE_BY_KIND) == {kind.value for kind in FactKind}
    assert importance_of(SourceType.INTERNAL, FactKind.STATEMENT) == 0.7
    assert importance_of(SourceType.INTERNAL, FactKind.RULE) == 0.75
    assert importance_of(SourceType.WEB, FactKind.BOILERPLATE) == 0.2
    assert importance_of(SourceType.REGULATION, FactKind.RULE) == 0.95


def test_a_row_knows_its_place():
    places = (Place(3), Place(3), Place(4))
    table = Table((("Plan", "Fee"), ("Basic", "1"), ("Pro", "2")), header_rows=1, places=places)
    drafts = chunk(Document("application/pdf", "", (Block(BlockKind.TABLE, "", table=table),)), words)
    assert [(draft.place.page, draft.place.table, draft.place.rows, draft.place.columns) for draft in drafts] == [
        (3, 1, (2, 2), (1, 2)),
        (4, 1, (3, 3), (1, 2)),
    ]


def test_a_long_row_is_cut_between_cells_and_its_head_said_again():
    width = 60
    names = ("Name", *(f"Column {number} of the table" for number in range(width)))
    row = ("Pump", *(f"value {number}" for number in range(width)))
    found = chunk(Document("text/plain", "", (Block(BlockKind.TABLE, "", table=Table((names, row), 1)),)), words)
    assert len(found) > 1
    assert all(draft.content.startswith("Name: Pump; Column") for draft in found)
    assert sum(draft.content.count("value") for draft in found) == width


def test_a_pronoun_that_announces_a_list_has_the_sentence_before():
    assert facts(
        "Groundtrail is a suite of services for teams that show where an answer came from. It\n\n- checks\n"
    ) == [
        "Groundtrail is a suite of services for teams that show where an answer came from.",
        "Groundtrail is a suite of services for teams that show where an answer came from. It: checks",
    ]


def test_the_footnote_of_a_heading_stands_under_it():
    assert facts("# Limits[^a]\n\n## Other\n\n- One\n\n[^a]: As of May.\n") == ["Limits: As of May.", "Other: One"]


def test_what_announces_one_list_does_not_announce_the_next():
    assert facts("## Install\n\nBefore you start:\n\n- Remove it.\n\n1. Place it.\n") == [
        "Install: Before you start: Remove it.",
        "Install: 1. Place it.",
    ]
