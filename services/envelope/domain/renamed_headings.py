"""Which headings of a document have another name in another version of it (ADR 0113).

Next year's version is called "Motor Terms (valid from 1 January 2027)". Nothing below that heading has moved, or
changed for it. A heading is renamed where one of the same level, under the same or a renamed heading, shares most of
its words, and neither name stands in both versions there.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from services.common.grounding.words import shared_words, stems
from services.common.locations import BELOW

MIN_SIMILARITY: Final = 0.5
"""Least share of common words by which two headings are one that was renamed."""
_MOST_PAIRS: Final = 10_000
"""Where more could be meant under one heading, none is."""


@dataclass(frozen=True, slots=True)
class RenamedHeading:
    """A heading's path in both versions."""

    before: str
    after: str


def renamed_headings(before: Iterable[str], after: Iterable[str]) -> dict[str, str]:
    """Return the paths of the first version, each with its path in the second; of those that are another alone.

    Args:
        before: paths of headings of the first version, in reading order, repeated or not.
        after: those of the second.
    """
    ours, theirs = _below(before), _below(after)
    found: dict[str, str] = {}
    waiting = [("", "")]
    while waiting:
        mine, other = waiting.pop()
        names, others = ours.get(mine, {}), theirs.get(other, {})
        pairs = {name: name for name in names if name in others}
        pairs |= _alike([name for name in names if name not in others], [name for name in others if name not in names])
        for name, new in pairs.items():
            path, there = _joined(mine, name), _joined(other, new)
            if path != there:
                found[path] = there
            waiting.append((path, there))
    return found


def told(renamed: Mapping[str, str]) -> tuple[RenamedHeading, ...]:
    """Return those whose own name is another; what stands below them merely has another path."""
    own = (pair for pair in renamed.items() if pair[0].rpartition(BELOW)[2] != pair[1].rpartition(BELOW)[2])
    return tuple(RenamedHeading(before, after) for before, after in own)


def renamed_in(content: str, before: str, after: str) -> str:
    """Return a fact's text with the headings that it begins with as the other version calls them."""
    limit = len(before) + len(BELOW)
    for name, new in zip(before.split(BELOW), after.split(BELOW), strict=False):
        old, own = name.lstrip("# "), new.lstrip("# ")
        at = content.find(old, 0, limit) if old and old != own else -1
        if at >= 0:
            content = content[:at] + own + content[at + len(old) :]
            limit += len(own) - len(old)
    return content


def _joined(above: str, name: str) -> str:
    return f"{above}{BELOW}{name}" if above else name


def _below(paths: Iterable[str]) -> dict[str, dict[str, None]]:
    """Return by path the names right below it, in order."""
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for path in dict.fromkeys(paths):
        above = ""
        for name in path.split(BELOW) if path else ():
            found[above][name] = None
            above = _joined(above, name)
    return found


def _alike(gone: Sequence[str], new: Sequence[str]) -> dict[str, str]:
    """Pair the names that are most alike and of one level."""
    if len(gone) * len(new) > _MOST_PAIRS:
        return {}
    told_by = {name: Counter(stems(name)) for name in (*gone, *new)}
    ranked = sorted(
        (-similarity, gone.index(name), new.index(other))
        for name in gone
        for other in new
        if _level(name) == _level(other)
        and (similarity := shared_words(told_by[name], told_by[other])) >= MIN_SIMILARITY
    )
    found: dict[str, str] = {}
    for _, mine, other in ranked:
        if gone[mine] not in found and new[other] not in found.values():
            found[gone[mine]] = new[other]
    return found


def _level(name: str) -> int:
    return len(name) - len(name.lstrip("#"))
