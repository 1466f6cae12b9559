"""One way to speak: tables and colours for people, one JSON document on stdout with ``--json``.

What people are shown came from documents, models and callers: no character of it moves the cursor, changes a colour,
sets a title or turns the direction of reading. Such characters are spelled out, ``<U+001B>``.
"""

import json
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.highlighter import JSONHighlighter
from rich.table import Table
from rich.text import Text

from services.dag.exports.plain import plain

if TYPE_CHECKING:
    from rich.progress import Progress

_UNESCAPED: Final = re.compile("[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]")
"""What JSON allows in a string as it is and a terminal acts on; written as escapes, which mean the same."""


class Output:
    """Where a command's result goes.

    With ``as_json`` nothing but the result is written to stdout; notes and progress go to stderr or nowhere.
    """

    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json
        self._out = Console(highlight=False, soft_wrap=False)
        self._err = Console(stderr=True, highlight=False)

    def result(self, value: Any) -> None:
        """Write the command's result as JSON; a no-op for people, who got tables."""
        if self.as_json:
            text = json.dumps(
                value, default=str, indent=2, ensure_ascii=not self._out.encoding.lower().startswith("utf")
            )
            escaped = _UNESCAPED.sub(lambda found: json.dumps(found[0])[1:-1], text)
            self._out.print(JSONHighlighter()(Text(escaped)), soft_wrap=True)

    def line(self, value: Any, *, always: bool = False) -> None:
        """Write one JSON document as a line of stdout, at once, for who reads along.

        Silent without ``--json``, unless ``always``: for a command whose result is JSON Lines whoever reads it.
        """
        if self.as_json or always:
            self._out.file.write(json.dumps(value, default=str) + "\n")
            self._out.file.flush()

    def say(self, text: str, style: str = "") -> None:
        """Tell people something; silent with ``--json``. The text is never read as markup."""
        if not self.as_json:
            self._out.print(_shown(text, style))

    def note(self, text: str) -> None:
        """Tell people something about the result, on stderr; silent with ``--json``."""
        if not self.as_json:
            self._err.print(_shown(text), soft_wrap=not self._err.is_terminal)

    def flow(self, text: str) -> None:
        """Show people a piece of text that goes on, at once; silent with ``--json``."""
        if not self.as_json:
            self._out.print(_shown(text), end="", soft_wrap=True)

    def drawn(self, parts: Sequence[tuple[str, str]]) -> None:
        """Show people one line of a drawing, each part in its style, never folded; silent with ``--json``."""
        if not self.as_json:
            line = Text.assemble(*(_shown(text, style) for text, style in parts))
            self._out.print(line, soft_wrap=True)

    @property
    def width(self) -> int:
        """Columns of what people look at."""
        return self._out.width

    def folded(self, parts: Sequence[tuple[str, str]], *, indent: int = 0, most: int = 0) -> list[Text]:
        """Return a paragraph as lines that fit, its parts in their styles.

        Args:
            parts: text and style, as for ``drawn``.
            indent: columns that stay empty on the left.
            most: lines; the last ends with an ellipsis when there is more. 0 = all.
        """
        text = Text.assemble(*(_shown(part, style) for part, style in parts))
        room = max(1, self.width - indent)
        lines = list(text.wrap(self._out, room, overflow="fold"))
        if most and len(lines) > most:
            lines = lines[:most]
            lines[-1] = Text.assemble(lines[-1], "…")
            lines[-1].truncate(room, overflow="ellipsis")
        for line in lines:
            line.rstrip()
            line.pad_left(indent)
        return lines

    def show_lines(self, lines: Sequence[Text]) -> None:
        """Show people lines that ``folded`` made; silent with ``--json``."""
        if not self.as_json:
            for line in lines:
                self._out.print(line, soft_wrap=True)

    def document(self, text: str) -> None:
        """Write a document for another program to stdout, byte for byte; silent with ``--json``."""
        if not self.as_json:
            self._out.file.write(text)

    def raw(self, content: bytes) -> None:
        """Write bytes to stdout as they are, whatever its encoding."""
        self._out.file.flush()
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()

    def table(
        self,
        title: str,
        columns: tuple[str, ...],
        rows: Sequence[tuple[str | Text, ...]],
        *,
        whole: str | tuple[str, ...] = (),
    ) -> None:
        """Show people a table; silent with ``--json``. Cells are never read as markup.

        Args:
            title: above the table.
            columns: their headings.
            rows: as many cells each as there are columns; of a ``Text`` the styles are kept when its words draw only.
            whole: the columns whose lines are never folded, because people copy them, or because they are single words.
        """
        if self.as_json:
            return
        table = Table(
            title=_shown(title), title_justify="left", title_style="bold", header_style="bold", box=SIMPLE_HEAD
        )
        unfolded = (whole,) if isinstance(whole, str) else whole
        for column in columns:
            table.add_column(column, overflow="fold", no_wrap=column in unfolded)
        for row in rows:
            table.add_row(*(_checked(cell) if isinstance(cell, Text) else _shown(cell) for cell in row))
        self._out.print(table)

    def error(
        self, message: str, *, reason: str = "", hint: str = "", fields: list[dict[str, str]] | None = None
    ) -> None:
        """Report a failure: on stdout as JSON with ``--json``, on stderr for people.

        Lines are folded for a terminal alone: in a log, a path or a command stays whole and can be searched for.
        """
        if self.as_json:
            self.result({"error": {"reason": reason, "message": message, "hint": hint, "fields": fields or []}})
            return
        whole = not self._err.is_terminal
        self._err.print(_shown(f"error: {message}", "bold red"), soft_wrap=whole)
        for field in fields or []:
            line = f"{field['field']}: {field['description']}"
            if line != message:  # the message of a single violation is that violation
                self._err.print(_shown(f"  {line}", "red"), soft_wrap=whole)
        if hint:
            self._err.print(_shown(f"  {hint}", "yellow"), soft_wrap=whole)

    @contextmanager
    def progress(self, what: str, total: int) -> Iterator["Advance"]:
        """Show a progress bar on stderr while people wait; silent with ``--json``."""
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=self._err,
            disable=self.as_json,
        )
        with bar:
            yield Advance(bar, what, total)


class Advance:
    """Moves a progress bar."""

    def __init__(self, bar: "Progress", what: str, total: int) -> None:
        self._bar = bar
        self._what = what
        self._task = bar.add_task(what, total=total)

    def step(self, count: int = 1) -> None:
        """Count items as done; what was being done with them is told no more."""
        self._bar.update(self._task, advance=count, description=self._what)

    def tell(self, what: str) -> None:
        """Say what is being done just now."""
        self._bar.update(self._task, description=spelled(what))


def _checked(text: Text) -> Text:
    """Return the text with its styles, or spelled out without them when a character of it does more than draw."""
    shown = _shown(text.plain)
    return text if shown.plain == text.plain else shown


def spelled(text: str) -> str:
    """Return the text as it is drawn: line by line, tabs as they are, all else that draws nothing spelled out."""
    lines = ("\t".join(plain(part, len(part)) for part in line.split("\t")) for line in text.split("\n"))
    return "\n".join(lines)


def _shown(text: str, style: str = "") -> Text:
    return Text(spelled(text), style=style)
