"""JSON and JSON Lines: records as rows with their paths."""

import json

import pytest

from services.common.documents.reading import ReadingLimits, read_document
from services.common.errors import CrpError

LIMITS = ReadingLimits(10_000_000, 50, 1_000_000)


def read(value, name="a.json"):
    text = value if isinstance(value, str) else json.dumps(value)
    return read_document(text.encode(), "", name, LIMITS)


def tables(document):
    return [block.table for block in document.blocks if block.table]


def test_a_list_of_records_is_a_table_with_paths():
    found = read([{"name": "Ann", "address": {"city": "Rome"}, "tags": ["a", 2]}, {"name": "Bob", "age": None}])
    table = tables(found)[0]
    assert table.rows == (("name", "address.city", "tags"), ("Ann", "Rome", "a, 2"), ("Bob", "", ""))
    assert [place.path for place in table.places] == ["$[0]", "$[0]", "$[1]"]
    assert (table.header_rows, table.header_columns) == (1, 1)


def test_numbers_are_written_as_they_stand_and_truth_values_as_words():
    table = tables(read('[{"id": "x", "sum": 1.50, "big": 12345678901234567890, "ok": true}]'))[0]
    assert table.rows[1] == ("x", "1.50", "12345678901234567890", "true")


def test_lists_of_records_inside_of_a_record_repeat_what_it_is_called():
    rows = [{"id": "T-1", "messages": [{"from": "a", "text": "hi"}, {"from": "b"}]}, {"id": "T-2", "messages": []}]
    found = tables(read("\n".join(map(json.dumps, rows)), "a.jsonl"))
    assert [table.rows for table in found] == [
        (("id",), ("T-1",)),
        (("id", "messages.from", "messages.text"), ("T-1", "a", "hi"), ("T-1", "b", "")),
        (("id",), ("T-2",)),
    ]
    assert found[1].places[2].path == "line 1.messages[1]"


def test_an_object_is_names_and_values():
    found = read({"title": "Config", "server": {"port": 8080}, "odd key": {"x": 1}, "hosts": ["a", "b"], "empty": None})
    assert found.title == "Config"
    assert [(b.term, b.text) for b in found.blocks] == [
        ("title", "Config"),
        ("Config, server.port", "8080"),
        ("Config, odd key.x", "1"),
        ("Config, hosts", "a, b"),
    ]


def test_an_object_without_a_name_is_called_by_its_number_or_not_at_all():
    assert [b.term for b in read({"id": 7, "volts": 230}).blocks] == ["id", "id 7, volts"]
    assert [b.term for b in read({"port": 8443, "timeout_s": 30}).blocks] == ["port", "timeout_s"]
    (_, rows) = read({"product": "KH-40", "prices": [{"country": "DE", "eur": 129}]}).blocks
    assert rows.table.caption == "KH-40, prices"


def test_lists_of_plain_values_and_of_lists():
    assert [(b.kind.name, b.text, b.place.path) for b in read(["a", None, "b"]).blocks] == [
        ("LIST_ITEM", "a", "$[0]"),
        ("LIST_ITEM", "b", "$[2]"),
    ]
    assert tables(read([["Name", "Fee"], ["Ann", 1]]))[0].rows == (("Name", "Fee"), ("Ann", "1"))


def test_a_table_in_a_text_is_a_table():
    found = read([{"id": "T-1", "text": "Plans:\n\n| Plan | Fee |\n|---|---|\n| Basic | 3 |"}])
    assert tables(found)[1].rows == (("Plan", "Fee"), ("Basic", "3"))
    assert tables(found)[1].caption == "T-1, text"


def test_records_of_other_fields_begin_another_table():
    rows = [{f"field {index}": index, "same": 1} for index in range(2_000)]
    found = tables(read(rows))
    assert sum(len(table.rows) * len(table.rows[0]) for table in found) < 40_000
    assert sum(len(table.rows) - 1 for table in found) == 2_000


@pytest.mark.parametrize(
    ("text", "name", "where"),
    [
        ('{"a": [1, 2', "a.json", "cut off or damaged"),
        ('{"a": "x', "a.json", "cut off or damaged"),
        ('{"a": 1}\n{"a": ', "a.jsonl", "line 2: it is cut off"),
        ("{'a': 1}", "a.json", "line 1, column 2"),
        ("", "a.json", "line 1"),
    ],
)
def test_what_is_no_json_is_refused_with_the_place(text, name, where):
    with pytest.raises(CrpError, match=where) as caught:
        read(text, name)
    assert caught.value.reason.value == "UNSUPPORTED_MEDIA"


def test_json_that_nests_without_end_is_refused_before_it_is_parsed():
    with pytest.raises(CrpError) as caught:
        read("[" * 100_000 + "]" * 100_000)
    assert caught.value.reason.value == "MESSAGE_TOO_LARGE"
    assert read('["a' + "[" * 1_000 + '"]').blocks
