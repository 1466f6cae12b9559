"""Files that a command writes because its user named them: nothing is lost there, and what cannot be is said first."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from services.cli.console import Output
from services.common.errors import FieldViolation, InvalidRequestError

STANDARD_OUTPUT: Final = "-"


def check_target(target: Path, place: str, *, force: bool = True) -> None:
    """Refuse a file that cannot be written, before anything is asked of a server.

    Args:
        target: an empty file counts as none: whoever makes a name for a temporary file makes one.
        place: the argument or option, for errors.
        force: whether what the file holds may be lost.

    Raises:
        InvalidRequestError: INVALID_FIELD.
    """
    folder = target.parent
    if target.is_dir():
        why = "is a folder; name a file in it"
    elif not folder.is_dir():
        why = f"cannot be written: there is no folder {folder}; make it, or name another"
    elif not os.access(target if target.exists() else folder, os.W_OK):
        why = "cannot be written by this user; name another file"
    elif not force and target.is_file() and target.stat().st_size:
        why = "is there already, and is not replaced; name another file, or add --force"
    else:
        return
    raise InvalidRequestError.of(FieldViolation(place, f"{target} {why}"))


def write_owned(target: Path, place: str, content: bytes) -> None:
    """Write a file that its owner alone may read; one that is there keeps its mode.

    Raises:
        InvalidRequestError: INVALID_FIELD: it cannot be opened.
        OSError: it cannot be written to its end.
    """
    try:
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    except OSError as error:
        raise InvalidRequestError.of(FieldViolation(place, f"{target}: {error.strerror}; name another file")) from None
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)


def check_lines_target(target: Path, place: str, *, force: bool, as_json: bool) -> None:
    """Refuse what ``write_lines`` could not write to.

    Raises:
        InvalidRequestError: INVALID_FIELD.
    """
    if str(target) != STANDARD_OUTPUT:
        check_target(target, place, force=force)
    elif as_json:
        text = "- is standard output, which --json wants for its own document; leave one of them out"
        raise InvalidRequestError.of(FieldViolation(place, text))


def write_lines(target: Path, place: str, lines: Sequence[str], output: Output) -> None:
    """Write lines to a file for its owner alone, or, for ``-``, to standard output, byte for byte.

    Raises:
        InvalidRequestError: INVALID_FIELD: the file cannot be opened.
    """
    content = "".join(f"{line}\n" for line in lines).encode()
    if str(target) == STANDARD_OUTPUT:
        output.raw(content)
    else:
        write_owned(target, place, content)


def teller(target: Path, output: Output) -> Callable[[str], None]:
    """Return what tells people of the lines: not among them where they went to standard output."""
    return output.note if str(target) == STANDARD_OUTPUT else output.say
