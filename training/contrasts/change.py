"""What a contrast is: a few replacements in a text, and what they do to its support.

A generator proposes changes of a text that its premise supports. A change says two things. ``keeps``: is the changed
text still supported by the same premise? ``back``: if the premise were changed in the same way, would it support the
text as it was? With both, every change of a sentence that stands in the passage gives rows in both directions: the
changed text under the changed passage is supported, the original under the changed passage is what ``back`` says. So
neither the change nor its wording tells the label; only the comparison with the premise does (ADR 0035).
"""

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

VOWELS: Final = frozenset("aeiou")


@dataclass(frozen=True, slots=True)
class Edit:
    """One replacement: the text at [start, end), in code points of the old text, becomes ``text``."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Change:
    """Replacements that belong together.

    Attributes:
        kind: what was changed, such as ``numbers.value``.
        edits: in ascending order, without overlaps, none of them empty on both sides.
        keeps: whether the changed text has the support of the premise still.
        back: whether a premise that says the changed text supports the old one; None where that is open.
    """

    kind: str
    edits: tuple[Edit, ...]
    keeps: bool
    back: bool | None


@dataclass(frozen=True, slots=True)
class Scene:
    """What a generator may draw on besides the text itself.

    Attributes:
        premise: the passage that supports the text.
        names: names of other passages by kind (``training.contrasts.mentions``).
        clauses: subordinate clauses of other passages, each with what precedes it: ``, because …`` or `` after …``.
    """

    premise: str
    names: Mapping[str, Sequence[str]] = field(default_factory=dict)
    clauses: Sequence[str] = ()


Find = Callable[[str, Scene, random.Random], Iterable[Change]]
"""All changes that a generator sees in a text; the chance decides on values alone, never on whether there is one."""


@dataclass(frozen=True, slots=True)
class Generator:
    """One kind of change.

    Attributes:
        kind: as in ``Change.kind``.
        weight: how likely it is to be chosen among those that find something, relative to the others.
        find: proposes the changes.
    """

    kind: str
    weight: float
    find: Find


def applied(text: str, change: Change) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Return the changed text, and where the replacements stand in it (white space at their ends left out)."""
    parts: list[str] = []
    spans: list[tuple[int, int]] = []
    at = length = 0
    for edit in change.edits:
        parts += [text[at : edit.start], edit.text]
        start = length + edit.start - at
        length = start + len(edit.text)
        at = edit.end
        spans.append(_trimmed(edit.text, start))
    parts.append(text[at:])
    return "".join(parts), tuple(span for span in spans if span[0] < span[1])


def origin_spans(text: str, change: Change) -> tuple[tuple[int, int], ...]:
    """Return the replaced stretches of the old text (white space at their ends left out)."""
    spans = (_trimmed(text[edit.start : edit.end], edit.start) for edit in change.edits)
    return tuple(span for span in spans if span[0] < span[1])


def moved(spans: Iterable[tuple[int, int]], change: Change) -> tuple[tuple[int, int], ...] | None:
    """Return where spans of the old text stand in the changed one; None when an edit touches one of them."""
    found = []
    for start, end in spans:
        shift = 0
        for edit in change.edits:
            if edit.end <= start:
                shift += len(edit.text) - (edit.end - edit.start)
            elif edit.start < end:
                return None
        found.append((start + shift, end + shift))
    return tuple(found)


def single(kind: str, edit: Edit, *, keeps: bool = False, back: bool | None = False) -> Change:
    """Return a change of one replacement; by default it costs the support, and the other way round as well."""
    return Change(kind, (edit,), keeps, back)


def cased(word: str, like: str) -> str:
    """Return a word with a capital where the word that it replaces has one."""
    if like[:1].isupper() and word[:1].islower():
        return word[0].upper() + word[1:]
    return word


def with_article(text: str, start: int, end: int, new: str) -> Edit:
    """Return the replacement of a word, with a preceding ``a`` or ``an`` set right where the new word asks for it."""
    before = text[:start]
    for article in ("an ", "a "):
        at = start - len(article)
        if before.lower().endswith(article) and (at == 0 or not before[at - 1].isalnum()):
            right = "an " if new[:1].lower() in VOWELS else "a "
            if right == article:
                break
            return Edit(at, end, cased(right, before[at:]) + new)
    return Edit(start, end, new)


def _trimmed(text: str, offset: int) -> tuple[int, int]:
    left = len(text) - len(text.lstrip())
    return offset + left, offset + max(left, len(text.rstrip()))
