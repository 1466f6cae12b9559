"""Plain text: pages, headings, lists, torn words, tables drawn with characters."""

import pytest

from services.common.documents.plain.torn_words import join_lines, known_words
from services.common.documents.reading import ReadingLimits, read_document

LIMITS = ReadingLimits(10_000_000, 50, 1_000_000)


def read(text):
    return read_document(text.encode(), "", "a.txt", LIMITS)


def kinds(text):
    return [(b.kind.name, b.level, b.number, b.text) for b in read(text).blocks if not b.table]


def table(text):
    return next(block.table for block in read(text).blocks if block.table)


@pytest.mark.parametrize(
    ("lines", "joined"),
    [
        (["the writ-", "ten consent"], "the written consent"),
        (["the re-", "duction"], "the reduction"),
        (["Well-", "known damage"], "Well-known damage"),
        (["soft\u00ad", "ly spoken"], "softly spoken"),
        (["a half-", "life of it"], "a half-life of it"),
        (["by half-", "ing it"], "by halfing it"),
        (["in 2024-", "2025"], "in 2024- 2025"),
        (["the North-", "South line"], "the North- South line"),
        (["state-of-the-", "art pumps"], "state-of-the-art pumps"),
    ],
)
def test_torn_words(lines, joined):
    assert join_lines(lines, frozenset()) == joined


def test_what_the_document_writes_elsewhere_decides():
    known = known_words(["An e-mail and a shopkeeper."])
    assert join_lines(["by e-", "mail, the shop-", "keeper said"], known) == "by e-mail, the shopkeeper said"


def test_pages_lose_what_runs_on_each_of_them():
    page = "Town of West      Bulletin {0}\n----\n\nRule {0} is stated here in words.\n\n            - {0} -\n"
    found = read("\f".join(page.format(number) for number in (1, 2, 3)))
    assert [block.text for block in found.blocks] == [f"Rule {number} is stated here in words." for number in (1, 2, 3)]
    assert "Town of West Bulletin 1" in found.furniture


def test_headings_stand_alone_are_large_underlined_or_numbered():
    text = (
        "RULES OF THE HOUSE\n\nIntro.\n\nOpening\n-------\n\nText.\n\n1. Fees\n\nText two.\n\n1.2 Late fees\n\nThree.\n"
    )
    assert [one for one in kinds(text) if one[0] == "HEADING"] == [
        ("HEADING", 1, "", "RULES OF THE HOUSE"),
        ("HEADING", 2, "", "Opening"),
        ("HEADING", 2, "", "1. Fees"),
        ("HEADING", 3, "", "1.2 Late fees"),
    ]


def test_items_keep_their_numbers_and_lines():
    text = "Do this:\n1. open the\n   valve\n2. wait\n   a) long\n"
    assert kinds(text) == [
        ("PARAGRAPH", 0, "", "Do this:"),
        ("LIST_ITEM", 0, "1.", "open the valve"),
        ("LIST_ITEM", 0, "2.", "wait"),
        ("LIST_ITEM", 1, "a)", "long"),
    ]
    assert [str(block.place) for block in read(text).blocks] == ["line 1", "lines 2-3", "line 4", "line 5"]


FRAMED = """+-------+---------+
| Day   | Open    |
+=======+=========+
| Mon   | 9 to 5  |
| Tue   | 9 to 5, |
|       | not May |
+-------+---------+
Table 1: Hours
"""
RULED = """No.  Service           Fee
---  ----------------  ----
1    Copy, A4          0.20
2    Scan              1.50 *
     (on request)

* Free for residents.
"""
SPACED = """Plan      Fee    Term
Basic     3 EUR  1 year
Gold      9 EUR  2 years
"""
PIPED = "| Plan | Fee |\n|------|-----|\n| Gold | 9   |\n"


def test_a_framed_table_with_its_caption():
    found = table(FRAMED)
    assert found.rows == (("Day", "Open"), ("Mon", "9 to 5"), ("Tue", "9 to 5, not May"))
    assert (found.header_rows, found.caption, str(found.places[2])) == (1, "Table 1: Hours", "lines 5-6")


def test_a_table_under_rules_with_a_note():
    found = table(RULED)
    assert found.rows == (("No.", "Service", "Fee"), ("1", "Copy, A4", "0.20"), ("2", "Scan (on request)", "1.50"))
    assert (found.header_rows, found.notes) == (1, ((2, 2, "*"),))
    assert kinds(RULED) == [("FOOTNOTE", 0, "*", "Free for residents.")]


def test_columns_of_blanks_and_bars():
    assert table(SPACED).rows == (("Plan", "Fee", "Term"), ("Basic", "3 EUR", "1 year"), ("Gold", "9 EUR", "2 years"))
    assert table(PIPED).rows == (("Plan", "Fee"), ("Gold", "9"))


@pytest.mark.parametrize(
    "text",
    [
        "Two lines  with a gap\nin one   place only.\n",
        "A sentence with  two blanks after\neach full stop.  It goes on.  It\nends here.  Really.\n",
    ],
)
def test_gaps_in_sentences_are_no_columns(text):
    assert all(block.table is None for block in read(text).blocks)


def test_lines_that_each_say_what_something_is_are_not_run_together():
    text = "Name: Ann Moss\nPhone number: 555\n   ext. 3\n\nHe said: it rains. And\nit rained all day.\n"
    assert [(b.kind.name, b.term, b.text) for b in read(text).blocks] == [
        ("DEFINITION", "Name", "Ann Moss"),
        ("DEFINITION", "Phone number", "555 ext. 3"),
        ("PARAGRAPH", "", "He said: it rains. And it rained all day."),
    ]


def test_a_line_of_bars_above_many_short_lines_is_no_grid_without_end():
    text = "+--+\n" + "|" * 4_000 + "\n" + "| a |\n" * 4_000
    assert sum(len(block.table.rows[0]) * len(block.table.rows) for block in read(text).blocks if block.table) < 100_000


def test_numbered_paragraphs_are_items_and_notes_are_those_that_are_referred_to():
    text = "The fee is 3 EUR [1].\n\n(1) The town decides.\n\n[1] Net of tax.\n\n[7] A book.\n"
    assert [(kind, number, text) for kind, _, number, text in kinds(text)] == [
        ("PARAGRAPH", "", "The fee is 3 EUR [1]."),
        ("LIST_ITEM", "(1)", "The town decides."),
        ("FOOTNOTE", "[1]", "Net of tax."),
        ("PARAGRAPH", "", "[7] A book."),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("To do\n\n* buy milk\n\n* call the bank\n", [("LIST_ITEM", "buy milk"), ("LIST_ITEM", "call the bank")]),
        ("The fee is 12 EUR* a month.\n\n* plus tax\n", [("FOOTNOTE", "plus tax")]),
        ("The fee is 12 EUR * a month.\n\n* plus tax\n", [("FOOTNOTE", "plus tax")]),
        ("Say **this** and a*b.\n\n* buy milk\n", [("LIST_ITEM", "buy milk")]),
        (
            "The fee is 12 EUR.\n\n** plus tax\n\n\u2020 from May\n",
            [("FOOTNOTE", "plus tax"), ("FOOTNOTE", "from May")],
        ),
    ],
)
def test_a_star_begins_a_note_only_where_the_text_refers_to_it(text, expected):
    assert [(kind, said) for kind, _, _, said in kinds(text)][1:] == expected


def test_indented_lines_with_signs_of_code_are_code():
    text = "Run this:\n\n    limit = 30\n    start(limit)\n\nThe end\n    of the lines.\n"
    assert [(kind, text) for kind, _, _, text in kinds(text)] == [
        ("PARAGRAPH", "Run this:"),
        ("CODE", "limit = 30\nstart(limit)"),
        ("PARAGRAPH", "The end of the lines."),
    ]


def test_a_table_right_below_an_underlined_heading_is_a_table():
    document = read("Rota\n----\nDay      Crew      Start\nMonday   A, B      7:00\nTuesday  C         8:00\n")
    (table,) = [block.table for block in document.blocks if block.table]
    assert table.rows == (("Day", "Crew", "Start"), ("Monday", "A, B", "7:00"), ("Tuesday", "C", "8:00"))
    assert [place.path for place in table.places] == ["line 3", "line 4", "line 5"]


BODY = "These mechanisms bind a name to a list of commands that will be run whenever\nthe name is used."


def test_titles_that_stand_alone_are_headings_where_a_text_has_several():
    several = f"An introduction to it.\n\nJob Control\n\n{BODY}\n\nArrays\n\n{BODY}\n"
    assert [text for kind, _, _, text in kinds(several) if kind == "HEADING"] == ["Job Control", "Arrays"]
    alone = f"An introduction to it.\n\nJob Control\n\n{BODY}\n"
    assert not any(kind == "HEADING" for kind, *_ in kinds(alone))


def test_an_indented_line_of_syntax_is_no_heading():
    assert not any(
        kind == "HEADING" for kind, *_ in kinds(f"Each line has two fields:\n\n     OLD NEW[:ID]\n\n{BODY}\n")
    )


def test_stars_that_begin_many_lines_are_an_outline_and_no_notes():
    text = "* News\n\nSome text.\n\n" + "".join(
        f"** Fix number {name}.\n\n" for name in ("one", "two", "three", "four")
    )
    found = kinds(text)
    assert [(kind, level) for kind, level, _, text in found if text.startswith("Fix")] == [("LIST_ITEM", 1)] * 4


def test_pairs_of_words_have_no_head():
    found = table("TAR_VERSION   version number\nTAR_ARCHIVE   name of the archive\nTAR_FORMAT    format of it\n")
    assert (found.header_rows, found.rows[0]) == (0, ("TAR_VERSION", "version number"))
