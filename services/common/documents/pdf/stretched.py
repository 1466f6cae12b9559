"""Lines of few words that a program stretched to the width of their column, put together again.

White as wide as between columns parts their words. No table stands so: all white is equally wide, the line begins and
ends exactly where the lines of text around it do, and it goes on with the one above.
"""

from bisect import bisect_left
from typing import Final

from services.common.documents.pdf.lines import Piece, piece_of

_SAME_PT: Final = 1.0
_SAME_GAP_PT: Final = 0.5
_NEXT_EM: Final = 1.7
"""The next line of a text stands no further away."""
_LINE_EM: Final = 0.5
_SAME_SIZE: Final = 0.05
_MOST_PASSES: Final = 4
_MOST_WORDS: Final = 8
_MIN_TEXT_WORDS: Final = 3
_ENDED: Final = (".", "!", "?", ":", ";")


def join_stretched(pieces: list[Piece]) -> list[Piece]:
    """Return the pieces of all lines, as they came, words of a stretched line as one piece.

    Args:
        pieces: from the top, those of a line from left to right.
    """
    for _ in range(_MOST_PASSES):  # a line that was put together tells of the next one
        joined = _pass(pieces)
        if len(joined) == len(pieces):
            break
        pieces = joined
    return pieces


def _pass(pieces: list[Piece]) -> list[Piece]:
    lefts: dict[int, list[Piece]] = {}
    for piece in pieces:
        if piece.whole is None:
            lefts.setdefault(round(piece.left), []).append(piece)
    bases = {left: [piece.base for piece in column] for left, column in lefts.items()}
    result: list[Piece] = []
    at = 0
    while at < len(pieces):
        end = _stretched_end(pieces, at, lefts, bases)
        line = pieces[at:end]
        if len(line) > 1:
            whole = piece_of([word for piece in line for word in piece.words])
            column = lefts[round(whole.left)]
            column[bisect_left(bases[round(whole.left)], whole.base)] = whole
            line = [whole]
        result += line
        at = end
    return result


def _stretched_end(pieces: list[Piece], at: int, lefts: dict[int, list[Piece]], bases: dict[int, list[float]]) -> int:
    """Return the number of the piece behind a stretched line that begins at one; the next one where none does."""
    first = pieces[at]
    if not _is_word(first):
        return at + 1
    above, below = _neighbours(first, lefts, bases)
    edges = [line.right for line in (above, below) if line is not None and len(line.words) >= _MIN_TEXT_WORDS]
    goes_on = above is not None and not above.text.endswith(_ENDED) and below is not None and first.text[:1].islower()
    gap = 0.0
    for end in range(at + 1, min(at + _MOST_WORDS, len(pieces)) if edges else at):
        before, piece = pieces[end - 1], pieces[end]
        white = piece.left - before.right
        gap = gap or white
        if not _is_word(piece) or piece.base != first.base or abs(white - gap) > _SAME_GAP_PT:
            return at + 1
        if any(abs(piece.right - edge) <= _SAME_PT for edge in edges):
            # Of two words nothing tells that the white between them is even.
            return end + 1 if end - at > 1 or goes_on else at + 1
    return at + 1


def _is_word(piece: Piece) -> bool:
    return piece.whole is None and len(piece.words) == 1


def _neighbours(
    piece: Piece, lefts: dict[int, list[Piece]], bases: dict[int, list[float]]
) -> tuple[Piece | None, Piece | None]:
    """Return the line of text right above a word and what is right below it, where they begin as it does."""
    above = below = None
    for left in range(round(piece.left) - 1, round(piece.left) + 2):
        column, heights = lefts.get(left, []), bases.get(left, [])
        middle = bisect_left(heights, piece.base)
        for other in column[max(middle - 2, 0) : middle + 3]:
            away = (other.base - piece.base) / max(piece.size, 1.0)
            near = _LINE_EM < abs(away) < _NEXT_EM and abs(other.left - piece.left) <= _SAME_PT
            if not near or abs(other.size - piece.size) > _SAME_SIZE * piece.size:
                continue
            if away > 0:
                below = other
            else:
                above = other
    return above, below
