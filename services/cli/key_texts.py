"""A public key as it is given on the command line: itself, or the name of a file that holds it."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

_LIKE_A_KEY: Final = re.compile(r"[^+\s]+\+[0-9A-Fa-f]{8}\+\S+|[0-9A-Fa-f]{64}")

_T = TypeVar("_T")


def read_given(given: str, parse: Callable[[str], _T]) -> _T:
    """Return what the text, or else what is in the file of that name, is parsed to.

    Raises:
        ValueError: neither is a key; says when there is no such file, for a wrong name looks like a wrong key.
        OSError: the file cannot be read.
    """
    path = Path(given)
    if path.is_file():
        return parse(path.read_text(encoding="utf-8"))
    if given and path.is_dir():
        raise ValueError(f"{given} is a folder; name the file that holds the key")
    try:
        return parse(given)
    except ValueError as error:
        if _LIKE_A_KEY.fullmatch(given.strip()):
            raise
        missing = f"there is no file {given[:80]}" if given.strip() else "it is empty"
        raise ValueError(f"{missing}, and it is no key either: {error}") from None
