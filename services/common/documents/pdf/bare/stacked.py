"""The head of a table: how many of its lines name the columns, and the rows that they make."""

import re
from collections.abc import Sequence
from typing import Final

from services.common.documents.pdf.bare.cells import Line
from services.common.documents.pdf.bare.groups import Extent, shared_out
from services.common.documents.pdf.heads import is_value
from services.common.documents.pdf.lines import Piece
from services.common.documents.pdf.ruled import Rule
from services.common.documents.pdf.texts import join_lines

_MAX_LINES: Final = 6
_ACROSS: Final = 0.6
_ALIGNED_EM: Final = 0.35
_OFF_SHARE: Final = 0.25
_YEAR: Final = re.compile(r"(?:FY\s?)?(?:19|20)\d\d(?:[/\u2013-]\d{2,4})?")
_BETWEEN: Final = 0.25
_TWO_ROWS: Final = 2

_OUTSIDE: Final[Extent] = (-1.0, -1.0)


def count_head_lines(lines: list[Line], values: set[int], rules: list[Rule], left: float, right: float) -> int:
    """Return how many lines at the top name the columns, by a rule, their weight or the values below them."""
    most = min(_MAX_LINES, len(lines) - 1)
    across = sorted(
        rule.at
        for rule in rules
        if rule.start <= left + 2 * lines[0].size and min(rule.end, right) - left > _ACROSS * (right - left)
    )
    inside = [at for at in across if lines[0].base < at < lines[-1].base - 0.5 * lines[-1].size]
    if inside and (len(inside) <= max(3, len(lines) // 3)):
        count = sum(line.base - _BETWEEN * line.size < inside[0] for line in lines)
        if count <= most and not _holds_numbers(lines[:count], values):
            return count
    bold = 0
    while bold < most and lines[bold].bold and not (bold and _is_named(lines[bold], values)):
        bold += 1
    if (
        bold == 1 < most
        and lines[1].bold
        and 0 not in lines[0].cells
        and 2 * len(lines[0].cells) <= len(lines[1].cells)
    ):
        bold = 2  # names of groups name no column: the next line does, even by numbers
    if bold > 0 and not all(line.bold for line in lines[bold:]):
        return _without_sections(lines, bold)
    if not values:
        return 0
    plain = 0
    while plain <= most and not _holds_values(lines[plain : plain + 1], values):
        plain += 1
    if plain > most or not any(len(line.cells) > 1 for line in lines[:plain]):
        return 0
    return _without_sections(lines, plain)


def _holds_values(lines: list[Line], values: set[int]) -> bool:
    """Say whether lines hold values in columns of values, but years and other names of columns."""
    for line in lines:
        found = [line.text(column) for column in values & set(line.cells) if column]
        if any(is_value(text) and not _YEAR.fullmatch(text) for text in found):
            return True
    return False


def _holds_numbers(lines: list[Line], values: set[int]) -> bool:
    """Say the same of numbers without any letter."""
    found = [line.text(column) for line in lines for column in values & set(line.cells) if column]
    return any(is_value(text) and not any(map(str.isalpha, text)) and not _YEAR.fullmatch(text) for text in found)


def _is_named(line: Line, values: set[int]) -> bool:
    """Say whether a line has values beside a name: a row, though it is bold."""
    return _holds_values([line], values) and any(column not in values for column in line.cells)


def _without_sections(lines: list[Line], count: int) -> int:
    """Return the number of lines without those at the end that stand in the first column alone: headings of rows.

    One that reaches into the next column is such a heading when others stand further below.
    """
    more = any(line.bold and set(line.cells) == {0} for line in lines[count:])
    while count > 1 and set(lines[count - 1].cells) == {0} and (more or not lines[count - 1].spans):
        named = any(0 in line.cells for line in lines[: count - 1])
        apart = lines[count].base - lines[count - 1].base > 0.9 * lines[count - 1].size
        if not apart or not (named or len(lines[count - 2].cells) > 1):
            break
        count -= 1
    return count


def head_rows(
    lines: list[Line], extents: Sequence[Extent], rules: list[Rule]
) -> tuple[list[list[str]], set[tuple[int, int]]]:
    """Return the rows of a head, names of several columns repeated at each, and the positions that repeat one.

    Args:
        lines: of the head.
        extents: where each column's cells begin and end.
        rules: level ones.
    """
    spans = [_spans_of(line, lines[number + 1 :], extents, rules) for number, line in enumerate(lines)]
    upper = [number for number, found in enumerate(spans[:-1]) if any(last > first for first, last, _ in found)]
    edge = upper[-1] + 1 if upper else 0
    rows: list[list[str]] = []
    spanned: set[tuple[int, int]] = set()
    both = _between(spans) if edge else -1
    for part in (range(edge), range(edge, len(lines))):
        if not part:
            continue
        cells: list[list[str]] = [[] for _ in extents]
        for number in part:
            for first, last, piece in spans[number]:
                if number == both and not first:
                    continue
                for column in range(first, last + 1):
                    cells[column].append(piece.text)
                    if column > first:
                        spanned.add((len(rows), column))
        rows.append([join_lines(cell) for cell in cells])
    if len(rows) == _TWO_ROWS:
        _fill_up(rows, spanned)
    if both >= 0:
        _name_both(rows, spanned, next(piece.text for first, _, piece in spans[both] if not first))
    return rows, spanned


def _name_both(rows: list[list[str]], spanned: set[tuple[int, int]], name: str) -> None:
    for row in rows:
        row[0] = name
    spanned.add((1, 0))


def _fill_up(rows: list[list[str]], spanned: set[tuple[int, int]]) -> None:
    """Repeat names of columns in the row of names of groups: what no group holds has one name; and stacked ones."""
    for column, (above, below) in enumerate(zip(*rows, strict=True)):
        alone = above and (0, column) not in spanned and (0, column + 1) not in spanned
        if below and not above:
            rows[0][column] = below
        elif alone and below and not is_value(below) and not is_value(above):
            rows[0][column] = rows[1][column] = join_lines([above, below])
        else:
            continue
        spanned.add((1, column))


def _between(spans: list[list[tuple[int, int, Piece]]]) -> int:
    """Return the line between the others that alone names the first column, in both rows of a head; -1 without one."""
    named = [number for number, found in enumerate(spans) for first, last, _ in found if first == last == 0]
    return named[0] if len(named) == 1 and 0 < named[0] < len(spans) - 1 else -1


def _spans_of(
    line: Line, below: list[Line], extents: Sequence[Extent], rules: list[Rule]
) -> list[tuple[int, int, Piece]]:
    """Return the pieces of a line of a head with the first and last column that each names."""
    pieces = [(column, piece) for column in sorted(line.cells) for piece in line.cells[column]]
    if not below:
        shared = [] if 0 in line.cells else _shared(pieces, range(1, len(extents)), extents)
        return shared or [(column, line.spans.get(column, column), piece) for column, piece in pieces]
    under = _under_rule(line, below, extents, rules)
    tiled = _tiled(pieces, line, below, under) or _shared(pieces, _named(line, below, under), under)
    if tiled:
        return tiled
    own = {column for column, piece in pieces if column not in line.spans and _is_own(piece, column, below, extents)}
    result: list[tuple[int, int, Piece]] = []
    for column, piece in pieces:
        ruled = _ruled(piece, line, below, rules)
        if ruled is not None:
            covered = [at for at, extent in enumerate(extents) if ruled[0] <= (extent[0] + extent[1]) / 2 <= ruled[1]]
            if covered:
                result.append((covered[0], covered[-1], piece))
                continue
        if column in own and column not in line.spans:
            result.append((column, column, piece))
        else:
            others = {at for at, other in pieces if other is not piece} | (own - {column}) | {0}
            result.append((*_nearest(piece, column, line.spans.get(column, column), extents, others), piece))
    return result


def _under_rule(line: Line, below: list[Line], extents: Sequence[Extent], rules: list[Rule]) -> Sequence[Extent]:
    """Return where columns begin and end, those left out that the rule right below all pieces of a line leaves out."""
    found = [_ruled(piece, line, below, rules, shared=True) for piece in line.pieces]
    rule = found[0] if found and all(one == found[0] for one in found) else None
    if rule is None:
        return extents
    return [one if rule[0] <= (one[0] + one[1]) / 2 <= rule[1] else _OUTSIDE for one in extents]


def _named(line: Line, below: list[Line], extents: Sequence[Extent]) -> list[int]:
    """Return the columns that a line may name."""
    named = {column for other in below for column in other.cells if column or 0 in line.cells}
    return sorted(column for column in named if extents[column] is not _OUTSIDE)


def _shared(
    pieces: list[tuple[int, Piece]], named: Sequence[int], extents: Sequence[Extent]
) -> list[tuple[int, int, Piece]]:
    """Return each piece with its columns where all are shared out so that each piece stands in the middle of its own.

    A wide group reaches further from its name than the first column of a narrow one beside it.
    """
    if len(pieces) < 2 or len(named) < len(pieces) + 1:  # noqa: PLR2004
        return []
    shares = shared_out([piece for _, piece in pieces], [extents[column] for column in named])
    return [(named[first], named[last], piece) for (first, last), (_, piece) in zip(shares, pieces, strict=False)]


def _tiled(
    pieces: list[tuple[int, Piece]], line: Line, below: list[Line], extents: Sequence[Extent]
) -> list[tuple[int, int, Piece]]:
    """Return each piece with the columns nearest to it, when it stands in the middle of them: names of groups."""
    named = _named(line, below, extents)
    if len(pieces) < 2 or len(named) < len(pieces) + 1:  # noqa: PLR2004
        return []
    groups: dict[int, list[int]] = {}
    for column in named:
        middle = (extents[column][0] + extents[column][1]) / 2
        near = min(range(len(pieces)), key=lambda at: abs((pieces[at][1].left + pieces[at][1].right) / 2 - middle))
        groups.setdefault(near, []).append(column)
    if len(groups) < len(pieces):
        return []
    result: list[tuple[int, int, Piece]] = []
    for at, columns in sorted(groups.items()):
        piece = pieces[at][1]
        left, right = extents[columns[0]][0], extents[columns[-1]][1]
        off = abs(left + right - piece.left - piece.right) / 2
        if len(columns) == 1 and not _is_aligned(piece, extents[columns[0]]):
            return []
        if len(columns) > 1 and off > _OFF_SHARE * (right - left) + _ALIGNED_EM * piece.size:
            return []
        result.append((columns[0], columns[-1], piece))
    return result if any(first < last for first, last, _ in result) else []


def _is_aligned(piece: Piece, extent: Extent) -> bool:
    near = _ALIGNED_EM * piece.size
    middle = abs(piece.left + piece.right - extent[0] - extent[1]) / 2
    return min(abs(piece.left - extent[0]), abs(piece.right - extent[1]), middle) <= near


def _is_own(piece: Piece, column: int, below: list[Line], extents: Sequence[Extent]) -> bool:
    """Say whether a piece names one column: it goes on right below, set alike, or nothing else names the column.

    What has a year, a date or a number for its name below is the name of a group of such, and what reaches over the
    cells of a column beside it that of both.
    """
    under = [one for line in below[:1] for one in line.cells.get(column, ()) if column not in line.spans]
    if not under:
        beside = [
            one for at, one in enumerate(extents) if at != column and one[0] < piece.right and piece.left < one[1]
        ]
        return not beside and _is_aligned(piece, extents[column])
    if any(is_value(one.text) for one in under):
        return False
    return _is_aligned(piece, (under[0].left, under[-1].right))


def _ruled(piece: Piece, line: Line, below: list[Line], rules: list[Rule], *, shared: bool = False) -> Extent | None:
    """Return the extent of the short rule right below a piece, which tells the columns that it names.

    Args:
        piece: a name of columns.
        line: in which it stands.
        below: the lines of the head below that one.
        rules: level ones.
        shared: the rule may reach below other pieces of the line.
    """
    end = below[0].base - 0.3 * below[0].size
    under = [
        rule
        for rule in rules
        if line.base - 1.0 < rule.at < max(end, line.base + 0.6 * line.size)
        and rule.start - 2.0 <= piece.left
        and piece.right <= rule.end + 2.0
    ]
    if not under:
        return None
    rule = min(under, key=lambda one: one.end - one.start)
    others = [
        one
        for one in line.pieces
        if not shared and one is not piece and rule.start <= (one.left + one.right) / 2 <= rule.end
    ]
    return None if others else (rule.start, rule.end)


def _nearest(piece: Piece, first: int, last: int, extents: Sequence[Extent], others: set[int]) -> tuple[int, int]:
    """Return the columns in whose middle a piece stands best, without those that others name."""
    if first == 0 and piece.left > extents[0][1] and len(extents) > 1:
        first, last = 1, max(last, 1)  # it begins behind the names of rows
    low, high = first, last
    while low - 1 >= 0 and low - 1 not in others:
        low -= 1
    while high + 1 < len(extents) and high + 1 not in others:
        high += 1
    middle = (piece.left + piece.right) / 2
    best = (first, last)
    least = abs(extents[first][0] + extents[last][1] - 2 * middle) / 2
    for one in range(low, first + 1):
        for two in range(last, high + 1):
            off = abs(extents[one][0] + extents[two][1] - 2 * middle) / 2
            if off < least - 0.05 * piece.size:
                best, least = (one, two), off
    return best
