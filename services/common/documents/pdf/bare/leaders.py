"""Dots that lead from a name to its values: they are drawn for the eye and are white to the reader."""

from dataclasses import replace
from typing import Final

from services.common.documents.pdf.lines import Piece, piece_of
from services.common.documents.pdf.words import Word

_DOTS: Final = frozenset(".\u2026\u00b7")
_LEAST: Final = 4
"""Three are an ellipsis."""
_NEAR_EM: Final = 1.0
_ABBREVIATED: Final = frozenset({"etc.", "co.", "inc.", "ltd.", "no.", "n.e.c.", "st.", "al."})


def without_leaders(row: list[Piece]) -> list[Piece]:
    """Return the pieces of a line, cut where dots lead; the same list where none do."""
    if not any(word.text[-1:] in _DOTS for piece in row if piece.whole is None for word in piece.words):
        return row
    result: list[Piece] = []
    for piece in row:
        result += _cut(piece) if piece.whole is None else [piece]
    return result or row


def _cut(piece: Piece) -> list[Piece]:
    """Return what stands before, between and behind the dots of a piece."""
    parts: list[list[Word]] = [[]]
    dots: list[Word] = []
    for word in [*piece.words, None]:
        if word is not None and set(word.text) <= _DOTS:
            dots.append(word)
            continue
        if dots:
            _end(parts, dots)
            dots = []
        if word is None:
            break
        bare, count = _bare(word)
        parts[-1].append(bare)
        if count:
            parts.append([])
    if len(parts) == 1 and len(parts[0]) == len(piece.words):
        return [piece]
    return [piece_of(words) for words in parts if words]


def _end(parts: list[list[Word]], dots: list[Word]) -> None:
    """Drop dots when they lead, with the one that stands at the word before them; else keep them."""
    count = sum(3 if one == "\u2026" else 1 for word in dots for one in word.text)
    before = parts[-1][-1] if parts[-1] else None
    if count < _LEAST:
        parts[-1] += dots  # an ellipsis, or a sign for what is missing
        return
    if before is not None and before.text.endswith(".") and before.text.lower() not in _ABBREVIATED:
        near = dots[0].left - before.right < _NEAR_EM * before.run.size
        if near and len(before.text) > 1:
            parts[-1][-1] = _shortened(before, before.text[:-1])
    if parts[-1]:
        parts.append([])


def _bare(word: Word) -> tuple[Word, int]:
    """Return a word without the dots at its end, when they lead, and how many they are."""
    text = word.text.rstrip(".\u2026\u00b7")
    dots = word.text[len(text) :]
    count = sum(3 if one == "\u2026" else 1 for one in dots)
    if not text or count < _LEAST:
        return word, 0
    return _shortened(word, text), count


def _shortened(word: Word, text: str) -> Word:
    share = len(text) / len(word.text)
    return replace(word, text=text, right=word.left + share * (word.right - word.left))
