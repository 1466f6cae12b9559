"""``groundtrail verify --offline | checkpoint``: checking an export by itself, and keeping the log's signed head."""

from dataclasses import asdict
from pathlib import Path
from typing import Final

from crp.dag.v1 import transparency_service_pb2 as transparency

from services.allinone.parts import Part
from services.cli.connection import connect
from services.cli.console import Output
from services.cli.exits import Exit
from services.cli.offline import Checked, Verdict, check_export
from services.common.errors import FieldViolation, InvalidRequestError
from services.common.settings import Settings
from services.common.signed_note import Checkpoint, Note, NoteKey

_EXITS: Final = {
    Verdict.VALID: Exit.OK,
    Verdict.TRUNCATED: Exit.OK,
    Verdict.INCOMPLETE: Exit.FAILURE,
    Verdict.BROKEN: Exit.VERDICT,
}
_STYLES: Final = {
    Verdict.VALID: "green",
    Verdict.TRUNCATED: "yellow",
    Verdict.INCOMPLETE: "yellow",
    Verdict.BROKEN: "red",
}


async def verify_offline(
    _settings: Settings, output: Output, source: Path, public_key: str, checkpoint: Path | None
) -> Exit:
    """Check an export with no server and no secret.

    Exit code 0: everything holds; 3: something does not, and the first bad record is named; 1: something could not be
    checked; 2: the key or a file cannot be read.
    """
    key = _key(public_key)
    found = check_export(_lines(source), key, _text(checkpoint, "--checkpoint") if checkpoint else None)
    _show(found, source, output)
    output.result(asdict(found))
    return _EXITS[found.verdict]


async def checkpoint(settings: Settings, output: Output, target: Path | None) -> Exit:
    """Fetch the log's signed head and print it with the log's public key; write it to a file if one is named."""
    async with connect(settings, Part.SESSIONS) as suite:
        found = await suite.call(suite.transparency.GetTreeHead, transparency.GetTreeHeadRequest())
    head = found.tree_head
    key = str(NoteKey(head.origin, head.public_key))
    if target is not None:
        _keep(target, head.checkpoint)
    output.say(head.checkpoint.rstrip("\n"))
    output.say(f"public key: {key}", style="dim")
    output.result({"checkpoint": head.checkpoint, "public_key": key, "tree_size": head.tree_size})
    return Exit.OK


def checkpoint_size(path: Path) -> int:
    """Return the size of a checkpoint that was kept.

    Raises:
        InvalidRequestError: INVALID_FIELD: the file holds none.
    """
    try:
        return Checkpoint.parse(Note.parse(_text(path, "--checkpoint")).text).size
    except ValueError as error:
        raise InvalidRequestError.of(FieldViolation("--checkpoint", str(error))) from None


def _keep(target: Path, note: str) -> None:
    target.write_bytes(note.encode())


def _key(text: str) -> NoteKey:
    """Read a public key, or the file that holds it."""
    path = Path(text)
    try:
        return NoteKey.parse(path.read_text(encoding="utf-8") if path.is_file() else text)
    except (ValueError, OSError) as error:
        raise InvalidRequestError.of(FieldViolation("--public-key", str(error))) from None


def _lines(path: Path) -> list[str]:
    lines = _text(path, "EXPORT").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def _text(path: Path, name: str) -> str:
    try:
        # No translation of line ends: what is signed is bytes.
        return path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        text = f"cannot be read as UTF-8 text ({type(error).__name__})"
        raise InvalidRequestError.of(FieldViolation(name, text)) from None


def _show(found: Checked, source: Path, output: Output) -> None:
    held = f"{found.windows} windows and {found.events} audit events in the signed log"
    analyses = f", {found.analyses} analyses" if found.analyses else ""
    output.say(f"{found.verdict.value}: {source.name}, {held}{analyses}", style=_STYLES[found.verdict])
    if found.origin:
        output.say(f"log {found.origin}, size {found.tree_size}, root {found.root}", style="dim")
    if found.fault is not None:
        where = f"line {found.fault.line}: " if found.fault.line else ""
        output.say(
            f"first bad record: {where}{found.fault.record_kind} {found.fault.record_id}: {found.fault.detail}",
            style="red",
        )
    for note in found.notes:
        output.say(note, style="yellow")
