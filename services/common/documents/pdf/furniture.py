"""Running heads and feet, page numbers, contents: what helps to turn pages and says nothing.

A line at the edge of a page is a running one when its text stands at the same height of other pages too, numbers apart;
when it is a page's number; or when lines stand at that height, apart from the text, on most pages (or on most left or
most right ones), whatever they say - names of chapters.
"""

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Final

from services.common.documents.pdf.blocks import Style
from services.common.documents.pdf.gutters import rows_of_pieces
from services.common.documents.pdf.lines import Piece
from services.common.documents.pdf.texts import without_shifts

_EDGE_ROWS: Final = 4
_SENTENCE_WORDS: Final = 5
_DIGITS: Final = re.compile(r"\d+")
_PAGE_WORDS: Final = re.compile(
    r"[-\u2013\u2014|\s]*(?:page|seite|p\u00e1gina|pagina|side|sivu|strona|sida|p\.|s\.|pg\.?|bl\.|blatt|folha|hoja)\s*(\d+)"
    r"(?:\s*(?:of|von|de|/|sur|di|av|z|van|ud af|\u2013)\s*\d+)?[-\u2013\u2014|\s.]*",
    re.IGNORECASE,
)
_PAGE_OF: Final = re.compile(
    r"[-\u2013\u2014|\s(\[]*(\d{1,4})\s*(?:of|von|de|/|sur|di|av)\s*\d{1,4}[-\u2013\u2014|\s)\]]*", re.IGNORECASE
)
_PAGE_ALONE: Final = re.compile(r"[-\u2013\u2014|\s\[(]*(\d{1,4}|[ivxlc]{1,7})[-\u2013\u2014|\s\])]*")
_LONE_ZONE: Final = 0.075
_TOP_ZONE: Final = 0.14
_APART: Final = 1.55
_FAR: Final = 2.3
_SHARE: Final = 0.5
_FEW: Final = 3
_SMALL: Final = 0.93
_NEARLY_ALL: Final = 0.95
_TITLE: Final = 1.5
_BELOW_ROWS: Final = 10
_MIN_COLUMNS: Final = 3
_LEADERS: Final = 3
_ENTRY_CHARS: Final = 300
_ENTRY: Final = re.compile(r"^(.*\S)\s+(\d{1,4}|[ivxlc]{1,6})$")
_CONTENTS: Final = re.compile(
    r"(?:table of contents|contents|inhalt(?:sverzeichnis)?|table des mati\u00e8res|sommaire|\u00edndice|indice"
    r"|sum\u00e1rio|list of (?:tables|figures))",
    re.IGNORECASE,
)
_INDEX: Final = re.compile(r"(?:index|(?:\w+ )*index|stichwortverzeichnis|register)", re.IGNORECASE)


@dataclass(slots=True)
class EdgePage:
    """What of a page can be furniture: its lines, and how high it is."""

    number: int
    top: float
    height: float
    pieces: list[Piece]
    rules: list[float] = field(default_factory=list)
    rows: list[list[Piece]] = field(default_factory=list)

    def share(self, piece: Piece) -> float:
        """Return how far down the page a piece stands, 0 to 1."""
        return (piece.base - self.top) / max(self.height, 1.0)


def find_furniture(pages: list[EdgePage], body: Style) -> dict[int, list[Piece]]:
    """Return, by the number of the page, the pieces that are furniture."""
    for page in pages:
        page.rows = rows_of_pieces(sorted(page.pieces, key=lambda piece: (piece.base, piece.left)))
    offset = _offset(pages)
    repeated = _repeated(pages, offset)
    heights = _common_heights(pages, repeated, offset)
    ruled = _common_rules(pages)
    found: dict[int, list[Piece]] = {}
    for page in pages:
        dropped = _beyond_rules(page, ruled, body)
        gone = {id(piece) for piece in dropped}
        page.rows = [row for row in page.rows if not any(id(piece) in gone for piece in row)]
        for top in (True, False):
            dropped += _edge(page, repeated, offset, heights, body, top=top)
        kept = _kept(page, body, first=page is pages[0])
        dropped = [piece for piece in dropped if id(piece) not in kept]
        if dropped:
            found[page.number] = dropped
    return found


def _kept(page: EdgePage, body: Style, *, first: bool) -> set[int]:
    """Return the pieces that are no furniture though each page repeats them: a title, and the heads of columns."""
    kept: set[int] = set()
    for number, row in enumerate(page.rows[:_EDGE_ROWS]):
        title = first and len(row) == 1 and row[0].size >= _TITLE * body.size and row[0].bold
        if title or _heads_columns(row, page.rows[number + 1 : number + 1 + _BELOW_ROWS]):
            kept |= {id(piece) for piece in row}
    return kept


def _heads_columns(row: list[Piece], below: list[list[Piece]]) -> bool:
    """Say whether each piece of a line stands level with one of the lines below it, and none is a page's number."""
    if len(row) < _MIN_COLUMNS or any(piece.whole is not None or _page_number(piece.text) for piece in row):
        return False
    rows = [other for other in below if len(other) >= _MIN_COLUMNS and other[0].whole is None]
    level = [sum(any(_is_level(piece, one) for one in other) for other in rows) for piece in row]
    usual = sum(count > len(rows) / 2 for count in level)
    return len(rows) > 1 and min(level) > 0 and usual >= max(2, len(row) / 2)


def _is_level(piece: Piece, other: Piece) -> bool:
    near = 0.5 * piece.size
    return abs(piece.left - other.left) < near or abs(piece.right - other.right) < near


def _common_rules(pages: list[EdgePage]) -> set[int]:
    """Return the heights of rules near the edge that stand on several pages at the same height."""
    heights: Counter[int] = Counter()
    for page in pages:
        shares = {(at - page.top) / max(page.height, 1.0) for at in page.rules}
        heights.update({round(200 * share) for share in shares if share < _TOP_ZONE or share > 1 - _TOP_ZONE})
    return {height for height, count in heights.items() if count >= max(2, 0.3 * len(pages))}


def _beyond_rules(page: EdgePage, ruled: set[int], body: Style) -> list[Piece]:
    """Return the lines between the edge and a rule that stands on several pages, if they are set small."""
    dropped: list[Piece] = []
    for at in page.rules:
        share = (at - page.top) / max(page.height, 1.0)
        if round(200 * share) not in ruled or not (share < _TOP_ZONE or share > 1 - _TOP_ZONE):
            continue
        beyond = [row for row in page.rows[:3] + page.rows[-3:] if (row[0].base < at + 1) == (share < 0.5)]  # noqa: PLR2004
        pieces = [piece for row in beyond for piece in row]
        if all(piece.whole is None and piece.size <= 1.05 * body.size for piece in pieces):
            dropped += pieces
    return list({id(piece): piece for piece in dropped}.values())


def _edges(page: EdgePage, *, top: bool) -> list[list[Piece]]:
    rows = page.rows[:_EDGE_ROWS] if top else page.rows[: -_EDGE_ROWS - 1 : -1]
    taken: list[list[Piece]] = []
    for row in rows:
        if any(piece.whole is not None for piece in row):
            break
        counts = any(_PAGE_WORDS.fullmatch(piece.text) for piece in row)
        if (page.share(row[0]) < 0.5) != top and not (counts and not top):  # noqa: PLR2004
            break
        taken.append(row)
    return taken


def _key(piece: Piece, page: EdgePage, offset: int | None) -> tuple[str, int]:
    """Return a text with its height; the number of its page, wherever it stands in the text, counts as the same."""
    text = without_shifts(piece.text)
    if offset is not None and not (text.endswith(".") and len(piece.words) > _SENTENCE_WORDS):
        text = _DIGITS.sub(lambda match: "#" if match[0] == str(page.number + offset) else match[0], text)
    return text, round(200 * page.share(piece))


def _repeated(pages: list[EdgePage], offset: int | None) -> set[tuple[str, int]]:
    """Return texts with their heights that stand on several pages: on half of the left or right ones, or often."""
    places: dict[tuple[str, int], set[int]] = defaultdict(set)
    for page in pages:
        for top in (True, False):
            for row in _edges(page, top=top):
                for piece in row:
                    zone = page.share(piece) < _TOP_ZONE or page.share(piece) > 1 - _TOP_ZONE
                    if zone and any(character.isalpha() for character in piece.text):
                        shape, height = _key(piece, page, offset)
                        for near in (height - 1, height, height + 1):
                            places[shape, near].add(page.number)
    written = sum(bool(page.rows) for page in pages)
    parity = Counter(page.number % 2 for page in pages)
    repeated: set[tuple[str, int]] = set()
    for key, numbers in places.items():
        same = Counter(number % 2 for number in numbers)
        often = len(numbers) >= max(2, 0.15 * written) and (len(numbers) >= _FEW or len(numbers) >= _SHARE * written)
        half = any(count >= 2 and count >= _SHARE * parity[side] for side, count in same.items())  # noqa: PLR2004
        if often or half:
            repeated.add(key)
    return repeated


def _page_number(text: str) -> int | None:
    match = _PAGE_WORDS.fullmatch(text) or _PAGE_OF.fullmatch(text) or _PAGE_ALONE.fullmatch(text)
    return int(match[1]) if match and match[1].isdigit() else None


def _offset(pages: list[EdgePage]) -> int | None:
    """Return by how much printed numbers differ from those of the pages, when at least two pages agree on it."""
    offsets: Counter[int] = Counter()
    for page in pages:
        numbers = {
            int(match)
            for top in (True, False)
            for row in _edges(page, top=top)[:2]
            for piece in row
            for match in _DIGITS.findall(piece.text)[-3:]
            if len(match) < 5  # noqa: PLR2004
        }
        offsets.update(number - page.number for number in numbers)
    least = max(2, 0.3 * len(pages))
    common = [(count, -abs(offset), offset) for offset, count in offsets.items() if count >= least]
    return max(common)[2] if common else None


def _gap(rows: list[list[Piece]], index: int) -> float:
    """Return how far a line stands from the next one inwards, in its own size."""
    if index + 1 >= len(rows):
        return 99.0
    return abs(rows[index + 1][0].base - rows[index][0].base) / max(rows[index][0].size, rows[index + 1][0].size, 1.0)


def _common_heights(
    pages: list[EdgePage], repeated: set[tuple[str, int]], offset: int | None
) -> set[tuple[bool, int, int]]:
    """Return heights (top or foot, side, height) at which most pages have a line apart that runs or counts."""
    counts: Counter[tuple[bool, int, int]] = Counter()
    known: Counter[tuple[bool, int, int]] = Counter()
    for page in pages:
        for top in (True, False):
            rows = _edges(page, top=top)
            if not rows or _gap(rows, 0) < _APART:
                continue
            height = round(200 * page.share(rows[0][0]))
            tells = any(
                _key(piece, page, offset) in repeated
                or (offset is not None and _page_number(piece.text) == page.number + offset)
                for piece in rows[0]
            )
            for near in (height - 1, height, height + 1):
                counts[top, page.number % 2, near] += 1
                known[top, page.number % 2, near] += tells
    sides = Counter(page.number % 2 for page in pages)
    return {
        key
        for key, count in counts.items()
        if count >= max(2, _SHARE * sides[key[1]]) and known[key] >= max(2, 0.6 * count)
    }


def _edge(
    page: EdgePage,
    repeated: set[tuple[str, int]],
    offset: int | None,
    heights: set[tuple[bool, int, int]],
    body: Style,
    *,
    top: bool,
) -> list[Piece]:
    rows = _edges(page, top=top)
    dropped: list[Piece] = []
    for index, row in enumerate(rows):
        height = round(200 * page.share(row[0]))
        runs = [_runs(piece, page, repeated, offset, row_alone=len(row) == 1) for piece in row]
        placed = index == 0 and _gap(rows, 0) >= _APART and (top, page.number % 2, height) in heights
        if all(runs) or placed or (any(runs) and _gap(rows, index) >= _APART and (index == 0 or _is_small(row, body))):
            dropped += row
        elif any(runs):
            dropped += [piece for piece, one in zip(row, runs, strict=True) if one]
            break
        elif index == 0 and _is_margin(page, rows, body, top=top):
            dropped += row
        else:
            break
    return dropped


def _is_small(row: list[Piece], body: Style) -> bool:
    return all(piece.size <= _SMALL * body.size for piece in row)


def _is_smallest(row: list[Piece], page: EdgePage) -> bool:
    """Say whether nearly all other text of a page is larger."""
    size = 1.02 * max(piece.size for piece in row)
    inside = {id(piece) for piece in row}
    others = [piece for other in page.rows for piece in other if piece.whole is None and id(piece) not in inside]
    larger = sum(len(piece.text) for piece in others if piece.size > size)
    return larger >= _NEARLY_ALL * sum(len(piece.text) for piece in others)


def _runs(piece: Piece, page: EdgePage, repeated: set[tuple[str, int]], offset: int | None, *, row_alone: bool) -> bool:
    text = piece.text
    if _key(piece, page, offset) in repeated or _PAGE_WORDS.fullmatch(text):
        return True
    share = page.share(piece)
    outer = share < _LONE_ZONE or share > 1 - _LONE_ZONE
    if _PAGE_OF.fullmatch(text):
        return outer
    number = _PAGE_ALONE.fullmatch(text)
    if number is None:
        return False
    if offset is not None and _page_number(text) == page.number + offset:
        return share < _TOP_ZONE or share > 1 - _TOP_ZONE
    return outer and row_alone


def _is_margin(page: EdgePage, rows: list[list[Piece]], body: Style, *, top: bool) -> bool:
    """Say whether a line of a document of one page is small, far from the text and at the very edge."""
    row = rows[0]
    share = page.share(row[0])
    outer = share < _LONE_ZONE if top else share > 1 - _LONE_ZONE
    plain = not any(piece.text.endswith((".", ":")) or piece.words[0].shift for piece in row)
    white = abs(rows[1][0].base - row[0].base) if len(rows) > 1 else 99.0
    return (
        outer
        and plain
        and (_is_small(row, body) or _is_smallest(row, page))
        and white >= _FAR * body.size
        and len(page.rows) > _EDGE_ROWS
    )


def contents_rows(rows: list[list[Piece]], heading: str) -> list[int]:
    """Return the numbers of the lines that are entries of a table of contents or of an index.

    Args:
        rows: lines of a region.
        heading: the heading above them.
    """
    texts = [without_shifts(" ".join(piece.text for piece in row)) for row in rows]
    texts = [text if len(text) <= _ENTRY_CHARS else "" for text in texts]
    led = [index for index, text in enumerate(texts) if _is_led(text)]
    if len(led) >= 2:  # noqa: PLR2004
        entries = [index for index, text in enumerate(texts) if _is_led(text) or _ENTRY.match(text)]
        first, last = entries[0], entries[-1]
        return list(range(first, last + 1)) if len(entries) >= 0.4 * (last - first + 1) else entries
    title = heading.strip(" :.")
    if _CONTENTS.fullmatch(title):
        entries = [index for index, text in enumerate(texts) if _ENTRY.match(text)]
        return list(range(entries[0], entries[-1] + 1)) if len(entries) >= 0.5 * len(texts) and entries else []
    if _INDEX.fullmatch(title):
        return [index for index, text in enumerate(texts) if _is_indexed(text) or len(text) == 1]
    return []


def _is_led(text: str) -> bool:
    """Say whether dots lead from a text to the number of a page."""
    led = text.rstrip().rstrip("0123456789ivxlc")
    title = led.rstrip(" .\u2026\u00b7_")
    leaders = led[len(title) :]
    dots = sum(3 if character == "\u2026" else character != " " for character in leaders)
    return bool(title) and len(led) < len(text.rstrip()) and dots >= _LEADERS


def _is_indexed(text: str) -> bool:
    """Say whether a text ends with numbers of pages, apart from its words."""
    term = text.rstrip("0123456789,\u2013- \u2026.")
    numbers = text[len(term) :]
    return bool(term) and numbers[:1] in {",", ".", " ", "\u2026"} and any(map(str.isdigit, numbers))


def is_contents_title(text: str) -> bool:
    """Say whether a heading announces contents or an index."""
    title = text.strip(" :.")
    return bool(_CONTENTS.fullmatch(title) or _INDEX.fullmatch(title))
