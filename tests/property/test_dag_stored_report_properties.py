"""The hash that is read off a stored body is the one that is computed from the parsed report."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.common.encoding import canonical_json
from services.common.provenance import UNHASHED_REPORT_FIELDS, report_hash
from services.dag.domain.stored_report import read_body
from tests.each import each

VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-1000, 1000), st.floats(-1, 1), st.text()),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text(), inner)),
    max_leaves=15,
)
NAMES = st.one_of(st.text(max_size=8), st.sampled_from(sorted(UNHASHED_REPORT_FIELDS)))


@given(st.dictionaries(NAMES, VALUES, max_size=8))
def test_reading_and_computing_agree(report):
    body = canonical_json(report).decode()
    assert read_body(body) == (json.loads(body), report_hash(report))


@each(
    "body",
    [
        "",
        "{",
        "}",
        "[]",
        "null",
        "{1:2}",
        '{"a"}',
        '{"a":}',
        '{"a":1,}',
        '{"a":1 }',
        '{"a":1}{"b":2}',
        '{"a":1"b":2}',
        '{"a":{}',
        '{"a":1',
        '{"a":1,',
    ],
)
def test_what_is_no_canonical_object_is_refused(body):
    with pytest.raises(ValueError):  # noqa: PT011 - the JSON decoder raises its own kinds
        read_body(body)


@pytest.mark.parametrize("body", ['{"b":1,"a":2}', '{"a":1.0}', '{"a":"\\u0041"}', '{"a":1,"a":1}'])
def test_what_is_not_canonical_hashes_otherwise(body):
    assert read_body(body)[1] != report_hash(json.loads(body))
