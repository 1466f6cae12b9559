"""Running text of pages: raised figures stay what they are, footnotes keep their place, breaks part words."""

import pytest

from services.common.documents.document import BlockKind
from services.common.documents.html import read_html
from tests.each import each


def text_of(body):
    return [block.text for block in read_html(f"<body>{body}</body>").blocks]


@each(
    ("written", "read"),
    [
        ("10<sup>6</sup> kg", "10^6 kg"),
        ("150&nbsp;&times;&nbsp;10<sup>9</sup>/L", "150 \u00d7 10^9/L"),
        ("5.4 &times; 10<sup>&minus;3</sup> m", "5.4 \u00d7 10^\u22123 m"),
        ("&minus;(2<sup>7</sup>) to 2<sup>7</sup> &minus; 1", "\u2212(2^7) to 2^7 \u2212 1"),
        ("2<sup>n &minus; 1</sup>", "2^(n \u2212 1)"),
        ("e<sup>x<sup>2</sup></sup>", "e^(x^2)"),
        ("30 m<sup>2</sup> of floor", "30 m^2 of floor"),
        ("E = mc<sup>2</sup>", "E = mc^2"),
        ("Ca<sup>2+</sup>", "Ca^2+"),
        ("CO<sub>2</sub> and H<sub>2</sub>O", "CO2 and H2O"),
        ("10<sub>2</sub> is two", "10_2 is two"),
        ("an item a<sub>n</sub> of <b>b</b><sub>i</sub>", "an item a_n of b_i"),
        ("20<sup>\u00b0</sup>C", "20\u00b0C"),
        ("the 19<sup>th</sup> day", "the 19th day"),
        ("le 1<sup>er</sup> mai, n<sup>o</sup> 5", "le 1er mai, no 5"),
        ("Acme<sup>TM</sup> pumps", "Acme™ pumps"),
        ("2<sup>1</sup>/<sub>2</sub> cups", "2 1/2 cups"),
        ("2<sup>1</sup>&frasl;<sub>2</sub> cups", "2 1\u20442 cups"),
        ("within 30<sup>1</sup> days", "within 30 days"),
        ("in hours<sup>*</sup>.", "in hours."),
        ("4 <sup>(*)</sup> doses", "4 doses"),
        ("10\u2076 kg on 30 m\u00b2", "10^6 kg on 30 m²"),
        ("soft&shy;ware", "software"),
        ("<p>one<br>two</p>", "one two"),
        ("press <kbd>S</kbd>, <q>yes</q>", "press S, “yes”"),
    ],
)
def test_raised_and_lowered_text(written, read):
    assert text_of(f"<p>{written}</p>") == [read]


def test_what_the_page_defines_as_a_footnote_is_one():
    page = "<p>Pay within 30<sup>2</sup> days, at most 10<sup>6</sup> EUR.</p><p><sup>2</sup> Calendar days.</p>"
    text, note = read_html(page).blocks
    assert (text.text, text.notes) == ("Pay within 30 days, at most 10^6 EUR.", ((13, "2"),))
    assert (note.kind, note.number, note.text) == (BlockKind.FOOTNOTE, "2", "Calendar days.")


@pytest.mark.parametrize(
    "page",
    [
        '<p>Pay now<sup><a href="#n">3</a></sup>.</p><p id="n"><a href="#r">3</a> In cash.</p>',
        '<p>Pay now<a href="#n"><sup>3</sup></a>.</p><ol><li id="n">In cash.</li></ol>',
        '<p>Pay now<a class="footnote-ref" href="#n">[3]</a>.</p><div id="n">[3] In cash.</div>',
    ],
)
def test_a_link_to_a_footnote_is_its_mark(page):
    text, note = read_html(page).blocks
    assert (text.text, text.notes) == ("Pay now.", ((7, "3"),))
    assert (note.kind, note.number, note.text) == (BlockKind.FOOTNOTE, "3", "In cash.")


def test_signs_in_the_text_refer_to_the_paragraph_that_opens_with_them():
    text, note = read_html("<p>It costs 12 EUR* a month.</p><p>* Net of tax.</p>").blocks
    assert (text.text, text.notes) == ("It costs 12 EUR a month.", ((15, "*"),))
    assert (note.kind, note.text) == (BlockKind.FOOTNOTE, "Net of tax.")
    assert text_of("<p>2 * 3 is 6, and a* is a name.</p>") == ["2 * 3 is 6, and a* is a name."]


def test_what_is_struck_out_and_replaced_no_longer_holds():
    assert text_of("<p>At <s>10:00</s> 9:30.</p><p><del>OLD</del> &ndash; removed, use NEW</p>") == [
        "At 9:30.",
        "OLD \u2013 removed, use NEW",
    ]


def test_lines_of_labels_and_values_are_paragraphs_of_their_own():
    assert text_of("<p><b>Present:</b> A. Brandt<br><b>Guest:</b> R. Hahn</p>") == [
        "Present: A. Brandt",
        "Guest: R. Hahn",
    ]


def test_lists_are_called_what_a_reader_sees():
    page = (
        "<ol start=3><li>c<ol type=a><li>x<li>y</ol><li value=7>g<li>h</ol>"
        "<ol reversed><li>two<li>one</ol><ol type=I><li>first</ol><ul><li>dot</ul>"
    )
    assert [(block.number, block.text, block.level) for block in read_html(page).blocks] == [
        *(("3.", "c", 0), ("a.", "x", 1), ("b.", "y", 1), ("7.", "g", 0), ("8.", "h", 0)),
        *(("2.", "two", 0), ("1.", "one", 0), ("I.", "first", 0), ("", "dot", 0)),
    ]


@pytest.mark.parametrize(
    ("start", "number"), [("--5", "1."), ("-5", "-5."), ("7", "7."), ("x", "1."), ("9" * 40, "1.")]
)
def test_a_list_begins_where_it_says_if_that_is_a_number(start, number):
    assert read_html(f"<ol start='{start}'><li>a</ol>").blocks[0].number == number


def test_definitions_have_their_terms():
    page = "<dl><dt>Lien<dd>A right.<dt>Escrow<dt>Trust<dd>Held money.<dd>For a fee.</dl>"
    assert [(block.kind.name, block.term, block.text) for block in read_html(page).blocks] == [
        ("DEFINITION", "Lien", "A right."),
        ("DEFINITION", "Escrow / Trust", "Held money."),
        ("DEFINITION", "Escrow / Trust", "For a fee."),
    ]


def test_details_are_read_under_their_summary():
    (block,) = read_html("<details><summary>May I?</summary><p>Yes.</p></details>").blocks
    assert (block.kind, block.term, block.text) == (BlockKind.DEFINITION, "May I?", "Yes.")


def test_pictures_are_told_by_their_descriptions():
    page = '<p><img src=a.png alt="Sales rise from 10 to 30"></p><p>Press <img alt="Start"> now.</p><img alt="b.png">'
    assert [(block.kind.name, block.text) for block in read_html(page).blocks] == [
        ("CAPTION", "Sales rise from 10 to 30"),
        ("PARAGRAPH", "Press Start now."),
    ]


def test_language_and_properties():
    document = read_html(
        '<html lang="de-AT"><head><meta name=author content="A. B."><meta name="dcterms.valid" '
        'content="start=2024-01-01; end=2025-01-01"></head><body><p>Ja.</p><p lang=en>Yes.</p></body></html>'
    )
    assert document.language == "de"
    assert [block.language for block in document.blocks] == ["", "en"]
    assert document.properties["author"] == "A. B."
    assert (document.properties["valid_from"], document.properties["valid_to"]) == ("2024-01-01", "2025-01-01")


def test_a_summary_that_only_unfolds_names_nothing():
    (block,) = read_html("<details><summary>Show more</summary><p>Yes.</p></details>").blocks
    assert (block.kind, block.term, block.text) == (BlockKind.PARAGRAPH, "", "Yes.")


def test_a_button_is_read_where_it_is_the_heading():
    page = "<h2><button>May I?</button></h2><p>Yes.</p><h2>Type <button>Copy</button></h2><p>No.</p>"
    assert [block.text for block in read_html(page).blocks] == ["May I?", "Yes.", "Type", "No."]


def test_text_that_a_style_raises_is_raised():
    page = (
        "<style>.fn{vertical-align:super}</style><p>9 EUR<span class=fn>1</span> a month.</p>"
        "<p><span class=fn>1</span> Net.</p>"
    )
    text, note = read_html(page).blocks
    assert (text.text, text.notes) == ("9 EUR a month.", ((5, "1"),))
    assert (note.kind, note.number, note.text) == (BlockKind.FOOTNOTE, "1", "Net.")


def test_a_table_of_marks_and_texts_is_footnotes():
    page = "<p>In 3 days<sup>2)</sup>, else 5.</p><table><tr><td>2)</td><td>New customers.</td></tr></table>"
    text, note = read_html(page).blocks
    assert (text.text, text.notes) == ("In 3 days, else 5.", ((9, "2"),))
    assert (note.kind, note.number, note.text) == (BlockKind.FOOTNOTE, "2", "New customers.")


def test_formulas():
    assert text_of("<p><math><mi>x</mi><mo>=</mo><msup><mn>2</mn><mn>3</mn></msup></math></p>") == ["x=2^3"]
    assert text_of("<p><math alttext='a^2 + b'><mi>a</mi></math> holds</p>") == ["a^2 + b holds"]
