"""The Merkle tree of RFC 9162 §2: appending, roots of any size, inclusion and consistency proofs, and checking them.

Nothing here reads or writes. A tree of ``size`` leaves is kept as the hashes of its full subtrees: the one at
``(level, index)`` covers the leaves ``index * 2**level`` up to ``(index + 1) * 2**level``, exclusive, and is known for
good as soon as its last leaf is there. Every root and every proof is made of ranges of leaves (``*_ranges``), and every
range of such full subtrees (``places``), so that a proof among a million leaves reads some forty hashes.

Whoever keeps the tree asks in two steps: which places are needed, then ``fold`` over the hashes found there.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Self, TypeAlias

HASH_BYTES: Final = 32
_LEAF: Final = b"\x00"
_NODE: Final = b"\x01"

Place: TypeAlias = tuple[int, int]
"""Level and index of a full subtree."""
Span: TypeAlias = tuple[int, int]
"""First leaf, and the one after the last."""

EMPTY_ROOT: Final = hashlib.sha256(b"").digest()


def leaf_hash(data: bytes) -> bytes:
    """Return the hash of a leaf (RFC 9162 §2.1.1): 32 bytes."""
    return hashlib.sha256(_LEAF + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return the hash of an inner node (RFC 9162 §2.1.1): 32 bytes."""
    return hashlib.sha256(_NODE + left + right).digest()


def fold(hashes: Sequence[bytes]) -> bytes:
    """Return the hash of a range from those of its full subtrees, largest first; of none, that of the empty tree."""
    if not hashes:
        return EMPTY_ROOT
    folded = hashes[-1]
    for left in reversed(hashes[:-1]):
        folded = node_hash(left, folded)
    return folded


@dataclass(frozen=True, slots=True)
class CompactRange:
    """All that appending needs: a tree's size and the hashes of its largest full subtrees, from the left.

    Attributes:
        size: number of leaves; >= 0.
        peaks: one 32-byte hash for each binary one in ``size``.
    """

    size: int = 0
    peaks: tuple[bytes, ...] = ()

    @classmethod
    def of_bytes(cls, size: int, joined: bytes) -> Self:
        """Read what ``to_bytes`` wrote.

        Raises:
            ValueError: the number of hashes does not fit the size.
        """
        if size < 0 or len(joined) != size.bit_count() * HASH_BYTES:
            msg = f"{len(joined)} bytes of hashes do not fit a tree of {size} leaves"
            raise ValueError(msg)
        return cls(size, tuple(joined[at : at + HASH_BYTES] for at in range(0, len(joined), HASH_BYTES)))

    def to_bytes(self) -> bytes:
        """Return the peaks, joined."""
        return b"".join(self.peaks)

    def root(self) -> bytes:
        """Return the tree's root (RFC 9162 §2.1.1)."""
        return fold(self.peaks)

    def extend(self, leaf_hashes: Iterable[bytes]) -> tuple[Self, list[tuple[bytes, ...]]]:
        """Append leaves.

        Returns:
            The longer tree, and for each leaf the hashes of the full subtrees that end with it, from level 0 on: the
            subtree at ``(level, index)`` is entry ``level`` of leaf ``(index + 1) * 2**level - 1``.
        """
        size, peaks = self.size, list(self.peaks)
        completed: list[tuple[bytes, ...]] = []
        for leaf in leaf_hashes:
            ending = [leaf]
            for _ in range((~size & size + 1).bit_length() - 1):  # one merge for each one at the end of ``size``
                ending.append(node_hash(peaks.pop(), ending[-1]))
            peaks.append(ending[-1])
            completed.append(tuple(ending))
            size += 1
        return type(self)(size, tuple(peaks)), completed


def ending_leaf(place: Place) -> int:
    """Return the leaf that completes the full subtree."""
    level, index = place
    return ((index + 1) << level) - 1


def check_full(wanted: Iterable[Place], size: int) -> None:
    """Refuse places that are not full subtrees of a tree of that size.

    Raises:
        ValueError: names the place.
    """
    for level, index in wanted:
        if level < 0 or index < 0 or ending_leaf((level, index)) >= size:
            msg = f"a tree of {size} leaves has no full subtree at level {level}, index {index}"
            raise ValueError(msg)


def places(span: Span) -> tuple[Place, ...]:
    """Return the full subtrees that make up a range of a tree, largest first.

    Args:
        span: of a root or a proof: it begins at a multiple of the largest power of two that fits into it.
    """
    begin, end = span
    found: list[Place] = []
    while begin < end:
        level = (end - begin).bit_length() - 1
        found.append((level, begin >> level))
        begin += 1 << level
    return tuple(found)


def inclusion_spans(leaf_index: int, size: int) -> list[Span]:
    """Return the ranges whose hashes prove a leaf, from the leaf up (RFC 9162 §2.1.3.1).

    Raises:
        ValueError: the leaf is not in a tree of that size.
    """
    if not 0 <= leaf_index < size:
        msg = f"leaf {leaf_index} is not in a tree of {size} leaves"
        raise ValueError(msg)
    begin, end = 0, size
    path: list[Span] = []
    while end - begin > 1:
        middle = begin + _split(end - begin)
        if leaf_index < middle:
            path.append((middle, end))
            end = middle
        else:
            path.append((begin, middle))
            begin = middle
    return path[::-1]


def consistency_spans(first: int, second: int) -> list[Span]:
    """Return the ranges whose hashes prove that one tree begins another (RFC 9162 §2.1.4.1).

    Nothing is needed when the sizes are equal or the first tree is empty.

    Raises:
        ValueError: not ``0 <= first <= second``.
    """
    if not 0 <= first <= second:
        msg = f"a tree of {first} leaves cannot begin one of {second}"
        raise ValueError(msg)
    if first in (0, second):
        return []
    begin, end, whole = 0, second, True
    path: list[Span] = []
    while first != end:
        middle = begin + _split(end - begin)
        if first <= middle:
            path.append((middle, end))
            end = middle
        else:
            path.append((begin, middle))
            begin, whole = middle, False
    if not whole:  # the whole first tree is known to whoever checks
        path.append((begin, end))
    return path[::-1]


def inclusion_holds(leaf: bytes, leaf_index: int, size: int, path: Sequence[bytes], root: bytes) -> bool:
    """Say whether the path leads from the leaf's hash to the root (RFC 9162 §2.1.3.2)."""
    if not 0 <= leaf_index < size:
        return False
    place, last, found = leaf_index, size - 1, leaf
    for sibling in path:
        if last == 0:
            return False
        if place & 1 or place == last:
            found = node_hash(sibling, found)
            while not place & 1 and place:
                place, last = place >> 1, last >> 1
        else:
            found = node_hash(found, sibling)
        place, last = place >> 1, last >> 1
    return last == 0 and found == root


def consistency_holds(first: tuple[int, bytes], second: tuple[int, bytes], path: Sequence[bytes]) -> bool:
    """Say whether the first tree begins the second (RFC 9162 §2.1.4.2).

    Args:
        first: size and root of the smaller tree; an empty one begins every other.
        second: size and root of the larger.
        path: the proof.
    """
    (small, old_root), (large, new_root) = first, second
    if not 0 <= small <= large:
        return False
    if small == large:
        return not path and old_root == new_root
    if small == 0:
        return not path and old_root == EMPTY_ROOT
    hashes = [old_root, *path] if small & (small - 1) == 0 else list(path)
    if not hashes:
        return False
    place, last = small - 1, large - 1
    while place & 1:
        place, last = place >> 1, last >> 1
    old = new = hashes[0]
    for sibling in hashes[1:]:
        if last == 0:
            return False
        if place & 1 or place == last:
            old, new = node_hash(sibling, old), node_hash(sibling, new)
            while not place & 1 and place:
                place, last = place >> 1, last >> 1
        else:
            new = node_hash(new, sibling)
        place, last = place >> 1, last >> 1
    return last == 0 and old == old_root and new == new_root


def _split(count: int) -> int:
    """Return the largest power of two below ``count``, which is at least 2."""
    return 1 << (count - 1).bit_length() - 1
