"""Paths as people type them on the command line."""

from pathlib import Path

import typer


def named_path(text: str) -> Path:
    """Read a path from the command line; an empty one, as of a variable that is not set, is no folder to search.

    Raises:
        typer.BadParameter: it is empty.
    """
    return _named(text, "a file or folder")


def named_file(text: str) -> Path:
    """Read the path of a file from the command line; an empty one would be the current folder.

    Raises:
        typer.BadParameter: it is empty.
    """
    return _named(text, "a file")


def _named(text: str, what: str) -> Path:
    if not text:
        raise typer.BadParameter(f"must not be empty: name {what}")
    return Path(text)
