"""The fast texts of leaves are those of ``leaves``; every way in which leaves and records may differ is told apart."""

import hashlib
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.common.encoding import sha256_hex
from services.common.ports.transparency_log import LeafKind, LogLeaf
from services.dag.domain.leaf_checks import Records, compare_leaves, event_text, fits_its_hash, leaf_text
from services.dag.domain.leaves import event_loggable, leaf_bytes, new_leaf
from tests.contract.records import event

TEXTS = st.text(st.characters(codec="utf-8"), max_size=20)


@given(TEXTS, TEXTS, TEXTS, st.integers(0, 2**40))
def test_the_texts_are_the_canonical_ones(one, two, three, number):
    leaf = LogLeaf(one, LeafKind.EVENT, two, number, three, b"")
    assert leaf_text(leaf).encode() == leaf_bytes(leaf)
    record = event(one, number, event_id=two, event_type=three, window_id=one, data=two, hmac=three)
    assert event_text(record, sha256_hex(record.data)).encode() == event_loggable(record).content


def chain(count=4, salt=b"s" * 32):
    events = [event("s", n, event_id=f"e{n}", event_type="TOOL_CALL", salt=salt) for n in range(count)]
    return events, [replace(new_leaf(event_loggable(one), salt), leaf_index=n) for n, one in enumerate(events)]


def compared(leaves, events, since=0):
    return compare_leaves(leaves, Records(events, [sha256_hex(one.data) for one in events], {}), since)


def test_leaves_of_their_records_hold():
    events, leaves = chain()
    assert compared(leaves, events).fault is None
    assert compared([], []).fault is None


@pytest.mark.parametrize("salt", [b"", b"s" * 31, b"s" * 33])
def test_a_salt_of_another_length_is_none(salt):
    """A leaf that is salted with less could be guessed from its content."""
    events, leaves = chain(salt=salt)
    assert compared(leaves, events).fault.detail == "cannot be checked: its record has no salt"


@pytest.mark.parametrize("place", range(4))
def test_each_difference_has_its_name(place):
    events, leaves = chain()
    gone = compared(leaves[:place] + leaves[place + 1 :], events).fault
    assert (gone.record_id, gone.detail) == (f"e{place}", "is missing: the log has no leaf of this event")
    orphan = compared(leaves, events[:place] + events[place + 1 :]).fault
    assert orphan.record_id == f"e{place}"
    assert orphan.detail.startswith(f"at index {place} of the log is of no record of the session")
    for field, value, detail in (
        ("position", 9, "has another position than its record"),
        ("leaf_hash", bytes(32), "has a hash that is not that of its content"),
        ("session_id", "t", "has a hash that is not that of its content"),
        ("content_hmac", "0" * 64, "has a hash that is not that of its content"),
    ):
        changed = [*leaves]
        changed[place] = replace(leaves[place], **{field: value})
        assert compared(changed, events).fault.detail == detail, field
    other = replace(leaves[place], content_hmac="0" * 64)
    other = replace(other, leaf_hash=hashlib.sha256(b"\x00" + leaf_bytes(other)).digest())
    assert fits_its_hash(other)
    rehashed = compared([*leaves[:place], other, *leaves[place + 1 :]], events).fault
    assert rehashed.detail == "has a salted hash that is not that of its record"


@pytest.mark.parametrize("unreadable", ["", None, b"\xff", 1.5])
def test_a_leaf_without_a_readable_id_is_named_by_its_index(unreadable):
    events, leaves = chain()
    changed = [*leaves[:2], replace(leaves[2], record_id=unreadable), leaves[3]]
    assert compared(changed, events).fault.record_id == "2"
    changed[2] = replace(changed[2], leaf_index=unreadable)
    assert compared(changed, events).fault.record_id == "?"


def test_an_order_that_is_not_the_events_is_told():
    events, leaves = chain()
    assert compared([leaves[1], leaves[0], *leaves[2:]], events).fault.detail == "stands out of order in the log"


def test_a_record_without_a_salt_cannot_be_checked():
    events, leaves = chain()
    bare = [replace(events[0], salt=b""), *events[1:]]
    assert compared(leaves, bare).fault.detail == "cannot be checked: its record has no salt"


@pytest.mark.parametrize(("since", "missing"), [(None, 2), (2, 2), (None, 4)])
def test_records_before_a_promise_may_be_older_than_the_log(since, missing):
    events, leaves = chain()
    found = compared(leaves[missing:], events, since)
    assert (found.fault, found.older) == (None, missing)


@pytest.mark.parametrize(("since", "missing"), [(0, 1), (2, 3), (2, 4)])
def test_records_after_it_may_not(since, missing):
    events, leaves = chain()
    assert compared(leaves[missing:], events, since).fault.record_id == f"e{since}"


def test_without_a_promise_a_gap_is_a_fault_all_the_same():
    events, leaves = chain()
    assert compared([leaves[0], *leaves[2:]], events, None).fault.record_id == "e1"
    assert compared(leaves[:2], events, None).fault.record_id == "e2"
