"""Where a text is cut: windows of a sentence or a line, each in the block of text that it stands in (ADR 0227).

An order that is hidden in a long document is one window among many, and its block says what surrounds it. Every
character is in one window and one block; both are bounded, so that the work is linear in the text's length.
"""

import re
from dataclasses import dataclass
from typing import Final

SHORT: Final = 48
"""A piece below this many characters is joined with the next one of its block."""
LONGEST: Final = 320
"""Characters of a window, at most."""
BLOCK: Final = 1000
"""Characters of a block, about: it ends with the window that passes this."""
_ENDS: Final = re.compile(r"(?<=[.!?\u3002\uff01\uff1f])[\"')\]]{0,3}\s+|\n\s*")
"""Where a sentence or a line ends."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A text in windows.

    Attributes:
        windows: in their order.
        blocks: in their order.
        homes: of each window the number of its block.
    """

    windows: tuple[str, ...]
    blocks: tuple[str, ...]
    homes: tuple[int, ...]


def cut(text: str) -> Cut:
    """Return the windows and blocks of a readable text; none of an empty one."""
    windows = _windows(text)
    blocks, homes = list[list[str]](), list[int]()
    size = BLOCK
    for window in windows:
        if size >= BLOCK:
            blocks.append([])
            size = 0
        blocks[-1].append(window)
        homes.append(len(blocks) - 1)
        size += len(window)
    return Cut(tuple(windows), tuple(" ".join(each) for each in blocks), tuple(homes))


def _windows(text: str) -> list[str]:
    found, short = list[str](), ""
    start = 0
    ends = [match.span() for match in _ENDS.finditer(text)]
    for stop, following in [*ends, (len(text), len(text))]:
        for part in _parts(text[start:stop].strip()):
            short = f"{short} {part}" if short else part
            if len(short) >= SHORT:
                found.append(short)
                short = ""
        start = following
    if short:
        if found and len(found[-1]) + len(short) < LONGEST:
            found[-1] = f"{found[-1]} {short}"
        else:
            found.append(short)
    return found


def _parts(piece: str) -> list[str]:
    """Return a piece in parts of at most ``LONGEST`` characters, cut at a blank where there is one."""
    parts, start = list[str](), 0
    while len(piece) - start > LONGEST:
        blank = piece.rfind(" ", start + LONGEST // 2, start + LONGEST)
        stop = blank if blank > 0 else start + LONGEST
        parts.append(piece[start:stop].strip())
        start = stop
    rest = piece[start:].strip()
    return [each for each in (*parts, rest) if each]
