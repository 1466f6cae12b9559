"""Markdown is read as the page it makes."""

from services.common.documents.document import BlockKind
from services.common.documents.markdown import read_markdown


def blocks(text):
    return [(b.kind.name, b.number, b.term, b.table.rows if b.table else b.text) for b in read_markdown(text).blocks]


def test_footnotes_keep_their_place():
    text, note = read_markdown("Free[^a] for all.\n\n[^a]: Except on *Sunday*.\n").blocks
    assert (text.text, text.notes) == ("Free for all.", ((4, "1"),))
    assert (note.kind, note.number, note.text) == (BlockKind.FOOTNOTE, "1", "Except on Sunday.")


def test_definition_lists_raised_and_struck_text():
    assert blocks("75\n: Port in use\n\n2^n^ and H~2~O, not ~~10~~ 9.\n") == [
        ("DEFINITION", "", "75", "Port in use"),
        ("PARAGRAPH", "", "", "2^n and H2O, not 9."),
    ]


def test_tables_of_raw_html_breaks_and_escapes_in_cells():
    assert blocks(
        "| A | B |\n|---|---|\n| x<br>y | `p` \\| q |\n\n<table><tr><td rowspan=2>1<td>2</tr><tr><td>3</tr></table>"
    ) == [
        ("TABLE", "", "", (("A", "B"), ("x y", "p | q"))),
        ("TABLE", "", "", (("1", "2"), ("1", "3"))),
    ]


def test_numbers_further_paragraphs_and_tasks_of_items():
    assert blocks("3. Run it.\n\n   It prints 7.\n4. Stop.\n\n- [x] done\n- [ ] open\n") == [
        ("LIST_ITEM", "3.", "", "Run it."),
        ("PARAGRAPH", "", "", "It prints 7."),
        ("LIST_ITEM", "4.", "", "Stop."),
        ("LIST_ITEM", "", "", "done"),
        ("LIST_ITEM", "", "", "\u2610 open"),
    ]


def test_hidden_text_is_told_of():
    document = read_markdown(
        "Seen.\n\n<!-- a note -->\n\n<div hidden>\n\nnot seen\n\n</div>\n\n[//]: # (for reviewers)\n"
    )
    assert [block.text for block in document.blocks] == ["Seen."]
    assert [(one.text, one.why) for one in document.hidden] == [
        ("a note", "comment"),
        ("not seen", "attribute hidden"),
        ("for reviewers", "comment"),
    ]


def test_front_matter_becomes_properties():
    document = read_markdown(
        "---\ntitle: 'Plans: all'\ntags: [a, b]\nvalid_from: 2025-09-01\nlang: de-CH\nx: {y: 1}\n---\n\nText.\n"
    )
    assert (document.title, document.language) == ("Plans: all", "de")
    assert document.properties == {"title": "Plans: all", "tags": "a, b", "valid_from": "2025-09-01", "lang": "de-CH"}


def test_front_matter_that_is_no_yaml_is_read_line_by_line():
    document = read_markdown("---\ntitle: A: [b\na: &x [1]\n---\nText.\n")
    assert document.properties == {"title": "A: [b", "a": "&x [1]"}
