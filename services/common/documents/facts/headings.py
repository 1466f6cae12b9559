"""The headings that stand above a block."""

from typing import Final

from services.common.documents.facts.titles import adds_words

_OWN_LEVEL: Final = 0
"""Of the heading that a document begins with: it names the document, and says nothing new of a part."""


class Headings:
    """The path of headings that is open."""

    def __init__(self) -> None:
        self._path: list[tuple[int, str]] = []

    def open(self, level: int, text: str, *, own: bool) -> None:
        """Put a heading below those of a higher level; ``own``: the document, or a part of its own, begins with it."""
        level = _OWN_LEVEL if own else level
        self._path = [entry for entry in self._path if entry[0] < level]
        self._path.append((level, text))

    @property
    def title(self) -> str:
        """Return the nearest heading; empty where there is none."""
        return self._path[-1][1] if self._path else ""

    @property
    def document(self) -> str:
        """Return the heading that the document begins with; empty where it begins with none."""
        return self._path[0][1] if self._path and self._path[0][0] == _OWN_LEVEL else ""

    @property
    def has_title(self) -> bool:
        """Say whether a heading other than the document's own stands above."""
        return bool(self._path) and self._path[-1][0] != _OWN_LEVEL

    @property
    def section(self) -> str:
        """Return the path: part of a fact's id."""
        return " > ".join(f"{'#' * max(level, 1)} {title}" for level, title in self._path)

    def tells(self, text: str) -> bool:
        """Say whether the nearest heading, not the document's own, tells something that a text does not."""
        return self.has_title and adds_words(self.title, text)
