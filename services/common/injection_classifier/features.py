"""What the classifier weighs of words and letters: n-grams by their hash, in NumPy (ADR 0126).

A window's letters in fours, its letters in fives without what stands between the letters (so that "i g n o r e" is
found), and its words in ones to threes; of a block its words in ones and twos. Each kind weighs the same whatever the
length.
"""

import re
from typing import Final

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int64]
Values = NDArray[np.float64]
Hashes = NDArray[np.uint64]

WINDOW_BITS: Final = 17
BLOCK_BITS: Final = 15
_LETTERS: Final = (4,)
_CLOSE: Final = (5,)
_WINDOW_WORDS: Final = (1, 2, 3)
_BLOCK_WORDS: Final = (1, 2)
SHAPE: Final = (WINDOW_BITS, BLOCK_BITS, _LETTERS, _CLOSE, _WINDOW_WORDS, _BLOCK_WORDS)
"""What the numbers of marks hang on besides the code."""
_PRIME: Final = np.uint64(0x100000001B3)
_MIX: Final = np.uint64(0x9E3779B97F4A7C15)
_WORD: Final = re.compile(r"\w+|[^\w\s]")
_BLANKS: Final = re.compile(r"\s+")
_DIGIT: Final = re.compile(r"\d")
_BETWEEN: Final = re.compile(r"[\W_]+")
_LEET: Final = str.maketrans("013457@$", "oieastas")
_RUN: Final = re.compile(r"\S+")
_LEET_MARKS: Final = frozenset("013457@$")
_LETTER: Final = re.compile(r"[a-z]")


def window_marks(text: str) -> tuple[Ids, Values]:
    """Return the numbers of a window's marks and the weight of each; equal numbers are one."""
    lower = _BLANKS.sub(" ", text.lower()).strip()
    plain = _RUN.sub(_unleet, lower)
    digits = _DIGIT.sub("0", lower)
    return _joined(
        [
            _grams(_codes(f" {digits} "), _LETTERS, 1),
            _grams(_codes(_BETWEEN.sub("", plain)), _CLOSE, 2),
            _grams(_words(digits), _WINDOW_WORDS, 3),
        ],
        WINDOW_BITS,
    )


def block_marks(text: str) -> tuple[Ids, Values]:
    """Return the same of a block."""
    return _joined([_grams(_words(_DIGIT.sub("0", text.lower())), _BLOCK_WORDS, 4)], BLOCK_BITS)


def _codes(text: str) -> Hashes:
    return np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32).astype(np.uint64)


def _words(text: str) -> Hashes:
    """Return a hash of each word and each mark of punctuation."""
    spans = [found.span() for found in _WORD.finditer(text)]
    if not spans:
        return np.zeros(0, dtype=np.uint64)
    codes = _codes(text)
    # Powers by place modulo 2**64; a word's hash must not depend on where it stands, so they begin at its start.
    starts = np.array([start for start, _ in spans])
    lengths = np.array([stop for _, stop in spans]) - starts
    places = np.concatenate([np.arange(length) for length in lengths])
    members = codes[np.repeat(starts, lengths) + places]
    powers = np.cumprod(np.full(int(lengths.max()), _PRIME))[places]
    firsts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    return np.add.reduceat((members + np.uint64(1)) * powers, firsts)


def _grams(units: Hashes, sizes: tuple[int, ...], kind: int) -> Hashes:
    """Return hashes of all runs of units of these sizes; each kind and size has hashes of its own."""
    made = list[Hashes]()
    for size in sizes:
        count = len(units) - size + 1
        if count < 1:
            break
        total = np.full(count, np.uint64(kind * 16 + size))
        for place in range(size):
            total = (total ^ (units[place : place + count] * _MIX)) * _PRIME
            total ^= total >> np.uint64(29)
        made.append(total * _MIX)
    return np.concatenate(made) if made else np.zeros(0, dtype=np.uint64)


def _joined(kinds: list[Hashes], bits: int) -> tuple[Ids, Values]:
    ids, weights = list[Hashes](), list[Values]()
    for hashes in kinds:
        own = np.unique(hashes >> np.uint64(64 - bits))
        ids.append(own)
        weights.append(np.full(len(own), 1.0 / np.sqrt(max(1, len(own)))))
    return np.concatenate(ids).astype(np.int64), np.concatenate(weights)


def _unleet(run: re.Match[str]) -> str:
    """Return a run without blanks, its digits and signs read as letters where it has letters too."""
    text = run[0]
    return text.translate(_LEET) if not _LEET_MARKS.isdisjoint(text) and _LETTER.search(text) else text
