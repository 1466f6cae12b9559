"""A text as a rule reads it, with the place of every character in what was written. Pure; linear."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

Edit = tuple[int, int, str]
"""Start and end of what is replaced, and what stands there instead."""
_WHOLE: Final = (0, 0)


@dataclass(frozen=True, slots=True)
class View:
    """A reading of a text.

    Attributes:
        text: what is read.
        starts: for each character where it begins in the original; ``None`` = where it stands.
        ends: for each character where it ends there; ``None`` = one further.
        inside: the stretch of the original that all of it comes from, where characters have no place of their own.
        layers: how it was come by, the outermost first: ``base64``, ``split words``.
    """

    text: str = field(repr=False)
    starts: list[int] | None = field(default=None, repr=False)
    ends: list[int] | None = field(default=None, repr=False)
    inside: tuple[int, int] | None = None
    layers: tuple[str, ...] = ()

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return where a stretch of the view stands in the original."""
        if self.inside is not None:
            return self.inside
        if self.starts is None or self.ends is None:
            return start, end
        if not self.starts:
            return _WHOLE
        if end <= start:
            place = self.starts[min(start, len(self.starts) - 1)]
            return place, place
        return self.starts[start], self.ends[end - 1]

    def rewritten(self, edits: Iterable[Edit], layer: str = "") -> "View":
        """Return the view with stretches replaced; ``edits`` in order and apart from each other.

        Each character of a replacement stands where the whole replaced stretch stood, unless both are of one length.
        """
        parts: list[str] = []
        starts: list[int] = []
        ends: list[int] = []
        at = 0
        placed = self.inside is None
        for start, end, text in edits:
            parts += (self.text[at:start], text)
            if placed:
                self._keep(at, start, starts, ends)
                self._replace(start, end, text, starts, ends)
            at = end
        if not parts:
            return self
        parts.append(self.text[at:])
        if placed:
            self._keep(at, len(self.text), starts, ends)
        layers = (*self.layers, layer) if layer else self.layers
        return View("".join(parts), starts if placed else None, ends if placed else None, self.inside, layers)

    def decoded(self, start: int, end: int, text: str, layer: str) -> "View":
        """Return what a stretch of the view holds once it is decoded; all of it stands where the stretch stands."""
        return View(text, inside=self.span(start, end), layers=(*self.layers, layer))

    def with_text(self, text: str) -> "View":
        """Return the view with another text of the same length."""
        return View(text, self.starts, self.ends, self.inside, self.layers)

    def _keep(self, start: int, end: int, starts: list[int], ends: list[int]) -> None:
        if self.starts is None or self.ends is None:
            starts += range(start, end)
            ends += range(start + 1, end + 1)
        else:
            starts += self.starts[start:end]
            ends += self.ends[start:end]

    def _replace(self, start: int, end: int, text: str, starts: list[int], ends: list[int]) -> None:
        if len(text) == end - start:
            self._keep(start, end, starts, ends)
            return
        first, last = self.span(start, end)
        starts += [first] * len(text)
        ends += [last] * len(text)
