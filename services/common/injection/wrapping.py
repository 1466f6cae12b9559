"""Sentences that an editor broke into lines, read as one line: an order is none the less one. Pure; linear."""

from typing import Final

import regex

from services.common.injection.views import View

_LINE: Final = regex.compile(
    r"^(?P<mark>[ \t]*(?:(?:>|#+|//+|--|;+|%+|\*)[ \t]+)?)(?P<item>(?:[-+\u2022]|\d{1,3}[.)])[ \t]+)?"
)
_GOES_ON: Final = regex.compile(r"[^\s.!?:;{}=|\\]\s*$")
_BEGINS: Final = regex.compile(r"[^\W\d_]|[\"'(\u2018\u201c]")


def unwrapped(view: View) -> View:
    """Return the view with the ends of lines as blanks where a sentence goes on in the next; it itself where none does.

    Marks that both lines begin with (of a quotation, of a comment) are blanks then as well. A heading, an item, a row
    of a table and an empty line end what stands before them.
    """
    if "\n" not in view.text:
        return view
    parts: list[str] = []
    before, text_before = "", ""
    for line in view.text.split("\n"):
        found = _LINE.match(line)
        mark, item = (found["mark"], found["item"] or "") if found else ("", "")
        rest = line[len(mark) + len(item) :]
        goes_on = not item and mark.strip() == before.strip() and _goes_on(text_before, rest, marked=bool(mark.strip()))
        if parts:
            parts.append(" " if goes_on else "\n")
        parts.append(" " * len(mark) + rest if goes_on else line)
        before, text_before = mark, rest
    text = "".join(parts)
    return view if text == view.text else view.with_text(text)


def _goes_on(before: str, rest: str, *, marked: bool) -> bool:
    """Say whether a line goes on with the one before; under one mark all lines do until an empty one."""
    if marked:
        return bool(before.strip() and rest.strip())
    return _GOES_ON.search(before) is not None and _BEGINS.match(rest) is not None
