"""Tables of pages as grids, what names rows and columns, and layout told apart."""

import pytest

from services.common.documents.facts.chunking import chunk
from services.common.documents.html import read_html
from services.common.documents.html.tables import MAX_SPAN


def tables(page):
    return [block.table for block in read_html(page).blocks if block.table is not None]


def facts(page):
    return [draft.content for draft in chunk(read_html(page), lambda text: len(text.split()))]


SPANS = """<table><tr><th>Region<th>Base<th>Extra</tr>
<tr><td rowspan=2>North<td>12 EUR<td>3 EUR</tr><tr><td>14 EUR<td>4 EUR</tr>
<tr><td>South<td colspan=2>waived</tr></table>"""


def test_cells_that_cover_several_positions_are_repeated_there():
    (table,) = tables(SPANS)
    assert table.rows == (
        ("Region", "Base", "Extra"),
        ("North", "12 EUR", "3 EUR"),
        ("North", "14 EUR", "4 EUR"),
        ("South", "waived", "waived"),
    )
    assert table.spanned == {(2, 0), (3, 2)}
    assert (table.header_rows, table.header_columns) == (1, 0)


def test_rows_are_facts_with_the_names_of_their_columns():
    assert facts(SPANS) == [
        "Region: North; Base: 12 EUR; Extra: 3 EUR",
        "Region: North; Base: 14 EUR; Extra: 4 EUR",
        "Region: South; Base, Extra: waived",
    ]


def test_spans_of_rows_that_cross():
    (table,) = tables(
        "<table><tr><th><th>Noon<th>Night</tr><tr><th>Mo<td rowspan=2>13-15<td>22-6</tr>"
        "<tr><th>Sa<td rowspan=2>22-8</tr><tr><th>Su<td>all day</tr></table>"
    )
    assert table.rows[1:] == (("Mo", "13-15", "22-6"), ("Sa", "13-15", "22-8"), ("Su", "all day", "22-8"))
    assert table.header_columns == 1


def test_equal_neighbours_that_are_no_one_cell_keep_their_own_names():
    page = "<table><tr><th>Dose<th>Most</tr><tr><td>2<td rowspan=2>4</tr><tr><td>4</tr></table>"
    assert facts(page) == ["Dose: 2; Most: 4", "Dose: 4; Most: 4"]


def test_two_rows_of_heads_are_joined_and_groups_stand_before_their_rows():
    page = """<h1>Rates</h1><table><caption>In EUR<sup>*</sup></caption>
    <thead><tr><th rowspan=2>Region<th colspan=2>2024</tr><tr><th>Base<th>Extra (%)</tr></thead>
    <tr><th colspan=3>Europe</tr><tr><th scope=row>North<td>12<td>3</tr>
    <tr><th colspan=3>Asia</tr><tr><th scope=row>South<td>22<td></tr></table><p>* Net of tax.</p>"""
    (table,) = tables(page)
    assert (table.header_rows, table.header_columns, table.caption) == (2, 1, "In EUR")
    assert facts(page) == [
        "Rates, In EUR (Net of tax): Europe; Region: North; 2024, Base: 12; 2024, Extra (%): 3",
        "Rates, In EUR (Net of tax): Asia; Region: South; 2024, Base: 22",
    ]


def test_a_row_of_units_belongs_to_the_heads():
    page = "<table><tr><th>Pipe<th>Length</tr><tr><td><td>(mm)</tr><tr><td>A<td>5</tr></table>"
    assert facts(page) == ["Pipe: A; Length (mm): 5"]


@pytest.mark.parametrize(
    "head",
    [
        "<tr><td>Plan<td>Price</tr>",
        "<tr><td><b>Plan</b><td><b>Price</b></tr>",
        "<tr bgcolor=#ccc><td bgcolor=#ccc>Plan<td bgcolor=#ccc>Price</tr>",
        "<thead><tr><td>Plan<td>Price</tr></thead>",
    ],
)
def test_a_row_of_heads_made_of_ordinary_cells(head):
    assert facts(f"<table>{head}<tr><td>Basic<td>10</tr><tr><td>Pro<td>20</tr></table>") == [
        "Plan: Basic; Price: 10",
        "Plan: Pro; Price: 20",
    ]


@pytest.mark.parametrize(
    ("head", "fact"),
    [
        ("<tr><td rowspan=2>Region<td colspan=2>2025</tr><tr><td>Q1<td>Q2</tr>", "Region: N; 2025, Q1: 4; 2025, Q2: 9"),
        ("<tr><td>Region<td colspan=2>2025</tr><tr><td><td>Q1<td>Q2</tr>", "Region: N; 2025, Q1: 4; 2025, Q2: 9"),
        ("<tr><td><td colspan=2>Dose</tr><tr><td>Age<td>Day<td>Night</tr>", "Age: N; Dose, Day: 4; Dose, Night: 9"),
        ("<tr><td colspan=3>Fees</tr><tr><td>Region<td>Small<td>Large</tr>", "Fees; Region: N; Small: 4; Large: 9"),
        ("<tr><td><td colspan=2>Dose</tr><tr><td>age<td>day<td>night</tr>", "age: N; Dose, day: 4; Dose, night: 9"),
    ],
)
def test_rows_of_words_over_columns_of_figures_name_them(head, fact):
    assert facts(f"<table>{head}<tr><td>N<td>4<td>9</tr></table>") == [fact]


@pytest.mark.parametrize(
    "rows",
    [
        "<tr><td>Mon<td colspan=2>closed</tr><tr><td>Tue<td>9<td>12</tr><tr><td>Wed<td>9<td>17</tr>",
        "<tr><td>Mon<td colspan=2>closed</tr><tr><td>Tue<td>open<td>late</tr><tr><td>Wed<td>9<td>17</tr>",
        "<tr><td>Adults<td colspan=2>Free</tr><tr><td>Students<td>Free<td>Half</tr><tr><td>Kids<td>3<td>4</tr>",
        "<tr><td colspan=3>North</tr><tr><td>Oslo<td>4<td>9</tr><tr><td>Bergen<td>4<td>8</tr>",
        "<tr><td colspan=3>North</tr><tr><td>Oslo<td>Yes<td>Yes</tr><tr><td>Bergen<td>4<td>8</tr>",
        "<tr><td><td colspan=2>Open</tr><tr><td>Mon<td>closed<td>late</tr><tr><td>Tue<td>4<td>9</tr>",
        "<tr><td><td colspan=2>A<td colspan=2>B</tr><tr><td>N<td>No<td>No<td>No<td>Y</tr><tr><td>O<td>4<td>9<td>1<td>2",
        "<tr><td colspan=3>N</tr><tr><td>Oslo<td>Y<td>No</tr><tr><td colspan=3>S</tr><tr><td>Bonn<td>4<td>8</tr>",
        "<tr><td>Ann<td colspan=2>Leeds</tr><tr><td>Bob<td>York<td>Hull</tr><tr><td>Cid<td>Bath<td>Ripon</tr>",
    ],
)
def test_a_first_row_over_rows_like_it_is_no_head(rows):
    (table,) = tables(f"<table>{rows}</table>")
    assert table.header_rows == 0


def test_a_first_row_of_a_name_and_its_value_is_no_head():
    hours = "<tr><td>Mon<td>closed</tr><tr><td>Tue to Fri<td>10:00 to 17:00</tr><tr><td>Sat<td>11:00 to 18:00</tr>"
    assert facts(f"<table>{hours}</table>") == ["Mon: closed", "Tue to Fri: 10:00 to 17:00", "Sat: 11:00 to 18:00"]


def test_names_with_values_beside_them():
    assert facts("<table><tr><th>Speed<td>90 km/h</tr><tr><th>Mass<td>2 t</tr></table>") == [
        "Speed: 90 km/h",
        "Mass: 2 t",
    ]
    assert facts("<table><tr><td>Name:<td>J. Smith</tr><tr><td>City:<td>Bern</tr></table>") == [
        "Name: J. Smith",
        "City: Bern",
    ]


def test_a_blank_head_repeats_the_one_above_but_not_for_a_sum():
    page = (
        "<table><tr><th>Limit<th>Per<th>Free</tr><tr><td>Calls<td>hour<td>5</tr><tr><td><td>day<td>9</tr>"
        "<tr><td><td>Total<td>14</tr></table>"
    )
    assert facts(page) == [
        "Limit: Calls; Per: hour; Free: 5",
        "Limit: Calls; Per: day; Free: 9",
        "Per: Total; Free: 14",
    ]


def test_what_is_struck_out_in_a_cell_is_seen_and_no_fact():
    page = "<table><tr><th>Plan<th>Price</tr><tr><td>Pro<td><del>12 EUR</del> 9 EUR</tr></table>"
    assert tables(page)[0].rows[1] == ("Pro", "12 EUR 9 EUR")
    assert facts(page) == ["Plan: Pro; Price: 9 EUR"]


def test_footnotes_of_cells_are_told_in_their_row():
    page = (
        "<table><tr><th>Plan<th>Price</tr><tr><td>Pro<td>39<sup>b</sup></tr></table>"
        "<p><sup>b</sup> 29 for charities.</p>"
    )
    assert tables(page)[0].rows[1] == ("Pro", "39")
    assert facts(page) == ["Plan: Pro; Price: 39 (29 for charities)"]


def test_a_nested_table_is_one_of_its_own():
    page = (
        "<table><tr><th>Field<th>Meaning</tr><tr><td>service<td>One of:"
        "<table><tr><th>Value<th>Delivery</tr><tr><td>eco<td>5 days</tr></table></tr></table>"
    )
    outer, inner = tables(page)
    assert outer.rows[1] == ("service", "One of:")
    assert inner.rows == (("Value", "Delivery"), ("eco", "5 days"))
    assert facts(page)[1] == "service, Meaning: One of: Value: eco; Delivery: 5 days"


@pytest.mark.parametrize(
    ("inner", "cell"),
    [
        ("<table><tr><td>Setup<td>12 EUR</tr></table>", "4 EUR Setup 12 EUR"),
        ("<table><tr><td>plus <del>15 EUR</del> 12 EUR</tr></table>", "4 EUR plus 12 EUR"),
        ("<dl><dt>Setup<dd>12 EUR</dl>", "4 EUR Setup 12 EUR"),
    ],
)
def test_what_stands_in_a_cell_beside_its_text_is_said_with_it(inner, cell):
    page = f"<table><tr><th>Plan<th>Price</tr><tr><td>Pro<td>4 EUR{inner}</tr></table>"
    assert facts(page) == [f"Plan: Pro; Price: {cell}"]


def test_a_table_of_layout_is_read_as_text():
    page = (
        "<table width=100%><tr><td><a href=/a>News</a><br><a href=/b>Forms</a></td><td><h1>Minutes</h1>"
        "<p>It was agreed.</p><table><tr><th>Who<th>By</tr><tr><td>Nowak<td>May</tr></table></td></tr></table>"
    )
    document = read_html(page)
    assert [(block.kind.name, block.text) for block in document.blocks] == [
        ("HEADING", "Minutes"),
        ("PARAGRAPH", "It was agreed."),
        ("TABLE", ""),
    ]
    assert document.furniture == ("News Forms",)


def test_spans_larger_than_the_table_are_not_followed():
    page = "<table>" + f"<tr><td colspan={MAX_SPAN} rowspan=60000>a<td>1</tr>" * 2_000 + "</table>"
    (table,) = tables(page)
    assert table.doubtful
    assert {len(row) for row in table.rows} == {2}


def test_sums_and_a_title_across_the_table_have_no_names_of_columns():
    page = (
        "<table><tr><th colspan=3>Order 7</tr><tr><th>Item<th>Number<th>EUR</tr><tr><td>Yeast<td>2<td>6.20</tr>"
        "<tr><td colspan=2>Total<td>6.20</tr></table>"
        "<table><tr><th colspan=2>Opening hours</tr><tr><td>Sat<td>closed</tr><tr><td>Sun<td>closed</tr></table>"
    )
    assert facts(page) == [
        "Order 7; Item: Yeast; Number: 2; EUR: 6.20",
        "Order 7; Total; EUR: 6.20",
        "Opening hours; Sat: closed",
        "Opening hours; Sun: closed",
    ]


@pytest.mark.parametrize("row", ["<tr bgcolor=#ddd>", "<tr style='font-weight:bold'>", "<tr>"])
def test_two_rows_of_heads_made_of_ordinary_cells(row):
    page = (
        f"<table>{row}<td rowspan=2>Age<td colspan=2>Premium</tr>{row}<td>Basic<td>Plus</tr>"
        "<tr><td>18-30<td>12<td>18</tr><tr><td>31-50<td>15<td>22</tr></table>"
    )
    assert facts(page) == [
        "Age: 18-30; Premium, Basic: 12; Premium, Plus: 18",
        "Age: 31-50; Premium, Basic: 15; Premium, Plus: 22",
    ]


def test_roles_make_tables_of_elements_without_a_meaning_of_their_own():
    page = (
        "<div role=table><div role=rowgroup><div role=row><div role=columnheader>Plan</div>"
        "<span role=columnheader aria-colspan=2>Price</span></div></div>"
        "<div role=row><div role=rowheader>Breeze</div><div role=cell>9.99</div>"
        "<div role=gridcell>12.99</div></div></div>"
        "<div role=note>A note</div>"
    )
    (table,) = tables(page)
    assert table.rows == (("Plan", "Price", "Price"), ("Breeze", "9.99", "12.99"))
    assert (table.header_rows, table.header_columns) == (1, 1)
    assert facts(page)[-1] == "A note"
