"""Columns that stand close together: numbers set to the right, and text set to the left right behind them."""

from typing import Final

from services.common.documents.pdf.bare.segments import Row
from services.common.documents.pdf.heads import is_value
from services.common.documents.pdf.lines import Piece, piece_of

_SAME_EM: Final = 0.12
_RAGGED_EM: Final = 0.3
_LEAST_EM: Final = 0.15
_MIN_LINES: Final = 3
_MOST_WORDS: Final = 40
"""Lines of more words are text."""


def part_close_columns(rows: list[Row], first: int, last: int, strips: list[float]) -> list[float]:
    """Cut pieces of lines where one column ends and the next begins at the same places; return where.

    A column is cut where in each of its lines of several words, three at least, a word ends at one place and the next
    begins at one, while the lines begin at places of their own, and end so: text that is set to the left alone begins
    alike, text that is set to the right alone ends alike.

    Args:
        rows: lines; those whose pieces are cut are replaced.
        first: number of the first line of a table.
        last: number of its last line.
        strips: where its columns are divided.
    """
    columns: dict[int, list[tuple[int, Piece]]] = {}
    for number in range(first, last + 1):
        for piece in rows[number]:
            if piece.whole is None and not any(piece.left < at < piece.right for at in strips):
                columns.setdefault(sum(at < piece.left for at in strips), []).append((number, piece))
    cuts: list[float] = []
    for pieces in columns.values():
        place = _place([piece for _, piece in pieces])
        if place is None:
            continue
        cuts.append(sum(place) / 2)
        for number, piece in pieces:
            parts = _parts(piece, cuts[-1])
            at = rows[number].index(piece)
            rows[number] = [*rows[number][:at], *parts, *rows[number][at + 1 :]]
    return cuts


def _place(pieces: list[Piece]) -> tuple[float, float] | None:
    """Return where the one column ends and the other begins; ``None`` when there is one."""
    several = [piece for piece in pieces if len(piece.words) > 1]
    if len(several) < _MIN_LINES or max(len(piece.words) for piece in several) > _MOST_WORDS:
        return None
    near = _SAME_EM * several[0].size
    shortest = min(several, key=lambda piece: len(piece.words))
    for one, two in zip(shortest.words, shortest.words[1:], strict=False):
        if two.left - one.right < _LEAST_EM * shortest.size:
            continue
        place = (one.right, two.left)
        if all(_ends_and_begins(piece, place, near) for piece in several) and _is_clear(pieces, place, near):
            return place
    return None


def _ends_and_begins(piece: Piece, place: tuple[float, float], near: float) -> bool:
    return any(
        abs(one.right - place[0]) <= near and abs(two.left - place[1]) <= near
        for one, two in zip(piece.words, piece.words[1:], strict=False)
    )


def _is_clear(pieces: list[Piece], place: tuple[float, float], near: float) -> bool:
    """Say whether what stands on either side ends or begins at the place, and is ragged at its other edge."""
    left, right = place
    lefts = [piece.left for piece in pieces if piece.left < left]
    rights = [piece.right for piece in pieces if piece.right > right]
    alone = [piece for piece in pieces if piece.right <= left + near or piece.left >= right - near]
    level = all(abs(piece.right - left) <= near or abs(piece.left - right) <= near for piece in alone)
    ragged = _RAGGED_EM * pieces[0].size
    behind = [piece.words[sum(word.left < left for word in piece.words) :] for piece in pieces if piece.right > right]
    values = any(is_value(" ".join(word.text for word in words)) for words in behind)
    return level and not values and max(lefts) - min(lefts) > ragged and max(rights) - min(rights) > ragged


def _parts(piece: Piece, cut: float) -> list[Piece]:
    sides = [[word for word in piece.words if (word.left < cut) is side] for side in (True, False)]
    return [piece_of(words) for words in sides if words]
