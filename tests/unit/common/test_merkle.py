"""The Merkle tree against RFC 9162 §2.1 written down a second time, recursively, in a few lines of hashlib."""

import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.common import merkle
from services.common.merkle import CompactRange, consistency_holds, inclusion_holds
from tests.tenth import examples

MANY = 70


def sha(data):
    return hashlib.sha256(data).digest()


def half(count):
    power = 1
    while power * 2 < count:
        power *= 2
    return power


def root(data):
    """MTH of RFC 9162 §2.1.1."""
    if not data:
        return sha(b"")
    if len(data) == 1:
        return sha(b"\x00" + data[0])
    at = half(len(data))
    return sha(b"\x01" + root(data[:at]) + root(data[at:]))


def path(index, data):
    """PATH of RFC 9162 §2.1.3.1."""
    if len(data) == 1:
        return []
    at = half(len(data))
    if index < at:
        return [*path(index, data[:at]), root(data[at:])]
    return [*path(index - at, data[at:]), root(data[:at])]


def proof(first, data, *, whole=True):
    """PROOF and SUBPROOF of RFC 9162 §2.1.4.1."""
    if first == len(data):
        return [] if whole else [root(data)]
    at = half(len(data))
    if first <= at:
        return [*proof(first, data[:at], whole=whole), root(data[at:])]
    return [*proof(first - at, data[at:], whole=False), root(data[:at])]


def data_of(count):
    return [f"leaf {number}".encode() for number in range(count)]


class Tree:
    """Full subtrees as a store keeps them."""

    def __init__(self, count, *, step=1):
        hashes = [merkle.leaf_hash(data) for data in data_of(count)]
        self.range, self.ending = CompactRange(), []
        for start in range(0, count, step):
            self.range, completed = self.range.extend(hashes[start : start + step])
            self.ending += completed

    def hash(self, span):
        return merkle.fold([self.ending[merkle.ending_leaf(place)][place[0]] for place in merkle.places(span)])

    def hashes(self, spans):
        return [self.hash(span) for span in spans]


TREE = Tree(MANY)
DATA = data_of(MANY)
ROOTS = [root(DATA[:size]) for size in range(MANY + 1)]


def test_hashes_are_separated_by_their_first_byte():
    assert merkle.leaf_hash(b"x") == sha(b"\x00x")
    assert merkle.node_hash(b"l" * 32, b"r" * 32) == sha(b"\x01" + b"l" * 32 + b"r" * 32)
    assert merkle.EMPTY_ROOT == sha(b"") == CompactRange().root()


@pytest.mark.parametrize("step", [1, 2, 7, 64])
def test_every_size_has_the_root_of_the_rfc_however_it_grew(step):
    for size in range(MANY + 1):
        grown = Tree(size, step=step)
        assert grown.range.root() == ROOTS[size] == TREE.hash((0, size))
        assert grown.range.size == size
        assert len(grown.range.peaks) == size.bit_count()
        assert CompactRange.of_bytes(size, grown.range.to_bytes()) == grown.range


def test_a_leaf_ends_two_subtrees_on_average():
    _, completed = CompactRange().extend([b"\x00" * 32] * 1024)
    assert sum(len(ending) for ending in completed) == 2 * 1024 - 1
    assert len(completed[1023]) == 11


@pytest.mark.parametrize(("size", "bytes_"), [(-1, 0), (0, 32), (3, 32), (4, 64), (5, 63)])
def test_peaks_that_do_not_fit_the_size_are_refused(size, bytes_):
    with pytest.raises(ValueError, match="do not fit"):
        CompactRange.of_bytes(size, bytes(bytes_))


def test_every_inclusion_proof_is_that_of_the_rfc_and_holds():
    for size in range(1, MANY + 1):
        for index in range(size):
            found = TREE.hashes(merkle.inclusion_spans(index, size))
            assert found == path(index, DATA[:size])
            assert inclusion_holds(merkle.leaf_hash(DATA[index]), index, size, found, ROOTS[size])


def test_every_consistency_proof_is_that_of_the_rfc_and_holds():
    for size in range(1, MANY + 1):
        for first in range(1, size + 1):
            found = TREE.hashes(merkle.consistency_spans(first, size))
            assert found == proof(first, DATA[:size])
            assert consistency_holds((first, ROOTS[first]), (size, ROOTS[size]), found)


@pytest.mark.parametrize(("index", "size"), [(0, 0), (5, 5), (-1, 3), (9, 5)])
def test_a_leaf_outside_of_the_tree_has_no_proof(index, size):
    with pytest.raises(ValueError, match="not in a tree"):
        merkle.inclusion_spans(index, size)
    assert not inclusion_holds(merkle.leaf_hash(DATA[0]), index, size, [], ROOTS[max(size, 0)])


@pytest.mark.parametrize(("first", "second"), [(-1, 3), (4, 3)])
def test_a_larger_tree_does_not_begin_a_smaller(first, second):
    with pytest.raises(ValueError, match="cannot begin"):
        merkle.consistency_spans(first, second)
    assert not consistency_holds((first, ROOTS[0]), (second, ROOTS[3]), [])


def test_an_empty_tree_begins_every_other_and_itself():
    assert merkle.consistency_spans(0, 9) == merkle.consistency_spans(9, 9) == []
    assert consistency_holds((0, ROOTS[0]), (9, ROOTS[9]), [])
    assert consistency_holds((0, ROOTS[0]), (0, ROOTS[0]), [])
    assert not consistency_holds((0, ROOTS[1]), (9, ROOTS[9]), [])
    assert not consistency_holds((0, ROOTS[0]), (9, ROOTS[9]), [ROOTS[1]])
    assert not consistency_holds((9, ROOTS[8]), (9, ROOTS[9]), [])
    assert not consistency_holds((9, ROOTS[9]), (9, ROOTS[9]), [ROOTS[1]])


@pytest.mark.parametrize("place", [(0, 5), (3, 0), (1, 2), (-1, 0), (0, -1), (70, 0)])
def test_only_full_subtrees_are_places(place):
    with pytest.raises(ValueError, match="no full subtree"):
        merkle.check_full([(0, 0), place], 5)
    merkle.check_full([(0, 4), (1, 1), (2, 0)], 5)


def test_a_proof_among_a_million_leaves_needs_few_hashes():
    size = 1_000_000
    for index in (0, 499_999, 524_287, 524_288, 999_999):
        wanted = {place for span in merkle.inclusion_spans(index, size) for place in merkle.places(span)}
        assert len(wanted) <= 40
    assert len(merkle.places((0, size))) == size.bit_count()


def flipped(hashes, bit):
    at, within = divmod(bit, 256)
    changed = bytearray(hashes[at])
    changed[within // 8] ^= 1 << within % 8
    return [*hashes[:at], bytes(changed), *hashes[at + 1 :]]


@pytest.mark.tenth(inside=True)
@settings(max_examples=examples(300), deadline=None)
@given(st.integers(1, MANY), st.data())
def test_an_inclusion_proof_with_any_change_fails(size, data):
    index = data.draw(st.integers(0, size - 1))
    leaf, found = merkle.leaf_hash(DATA[index]), path(index, DATA[:size])
    good = (leaf, index, size, found, ROOTS[size])
    assert inclusion_holds(*good)
    everything = [leaf, ROOTS[size], *found]
    bit = data.draw(st.integers(0, 256 * len(everything) - 1))
    bad_leaf, bad_root, *bad_path = flipped(everything, bit)
    assert not inclusion_holds(bad_leaf, index, size, bad_path, bad_root)
    assert not inclusion_holds(leaf, index, size, [*found, ROOTS[size]], ROOTS[size])
    if found:
        gone = data.draw(st.integers(0, len(found) - 1))
        assert not inclusion_holds(leaf, index, size, [*found[:gone], *found[gone + 1 :]], ROOTS[size])
    other = data.draw(st.integers(0, size - 1).filter(lambda place: place != index)) if size > 1 else size
    assert not inclusion_holds(leaf, other, size, found, ROOTS[size])


@pytest.mark.tenth(inside=True)
@settings(max_examples=examples(300), deadline=None)
@given(st.integers(2, MANY), st.data())
def test_a_consistency_proof_with_any_change_fails(size, data):
    first = data.draw(st.integers(1, size - 1))
    found = proof(first, DATA[:size])
    everything = [ROOTS[first], ROOTS[size], *found]
    bit = data.draw(st.integers(0, 256 * len(everything) - 1))
    old, new, *bad = flipped(everything, bit)
    assert not consistency_holds((first, old), (size, new), bad)
    assert not consistency_holds((first, ROOTS[first]), (size, ROOTS[size]), [*found, ROOTS[first]])
    gone = data.draw(st.integers(0, len(found) - 1))
    assert not consistency_holds((first, ROOTS[first]), (size, ROOTS[size]), [*found[:gone], *found[gone + 1 :]])


@pytest.mark.tenth(inside=True)
@settings(max_examples=examples(100), deadline=None)
@given(st.integers(2, MANY), st.data())
def test_a_forked_log_has_no_consistency_proof(size, data):
    first = data.draw(st.integers(1, size - 1))
    changed = data.draw(st.integers(0, first - 1))
    forked = [*DATA[:changed], b"another", *DATA[changed + 1 : size]]
    assert consistency_holds((first, root(forked[:first])), (size, root(forked)), proof(first, forked))
    assert not consistency_holds((first, ROOTS[first]), (size, root(forked)), proof(first, forked))
