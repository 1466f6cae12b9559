"""``groundtrail verify --offline | checkpoint``: checking an export by itself, and keeping the log's signed head."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from crp.dag.v1 import transparency_service_pb2 as transparency

from services.allinone.parts import Part
from services.cli.connection import connect
from services.cli.console import Output
from services.cli.exits import Exit
from services.cli.key_texts import read_given
from services.cli.offline import Checked, Verdict, WitnessDemand, check_export
from services.common.cosignature import WitnessKey
from services.common.counting import counted
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


@dataclass(frozen=True, slots=True)
class Trusted:
    """What the auditor trusts.

    Attributes:
        public_key: the log's, or a file with it.
        witnesses: keys of witnesses, or files with one each.
        min_cosignatures: how many of them must have cosigned; ``None`` = all.
    """

    public_key: str
    witnesses: tuple[str, ...] = ()
    min_cosignatures: int | None = None


async def verify_offline(
    _settings: Settings, output: Output, source: Path, trusted: Trusted, checkpoint: Path | None
) -> Exit:
    """Check an export with no server and no secret.

    Exit code 0: everything holds; 3: something does not, and the first bad record is named; 1: something could not be
    checked; 2: the key or a file cannot be read.
    """
    key = read_key(trusted.public_key, "--public-key")
    earlier = _text(checkpoint, "--checkpoint") if checkpoint else None
    found = check_export(_lines(source), key, earlier, _demand(trusted))
    _show(found, source, output)
    output.result(asdict(found))
    return _EXITS[found.verdict]


async def checkpoint(settings: Settings, output: Output, target: Path | None, *, cosigned: bool = False) -> Exit:
    """Fetch the log's signed head and print it with the log's public key; write both to files if one is named.

    The key stands in the head's file with ``.pub`` behind its name, as ``verify --public-key`` reads it. With
    ``cosigned`` it is the latest head that witnesses saw.

    Raises:
        InvalidRequestError: INVALID_FIELD: another key was kept there; nothing was written.
    """
    async with connect(settings, Part.SESSIONS) as suite:
        found = await suite.call(suite.transparency.GetTreeHead, transparency.GetTreeHeadRequest())
    if cosigned and not found.HasField("cosigned_head"):
        output.error("no witness has cosigned a head of this log yet", reason="NOT_COSIGNED")
        return Exit.NOT_FOUND
    head = found.cosigned_head if cosigned else found.tree_head
    key = str(NoteKey(head.origin, head.public_key))
    if target is not None:
        _keep(target, head.checkpoint, key)
    output.drawn([(head.checkpoint.rstrip("\n"), "")])  # neither is folded: people copy them
    output.drawn([(f"public key: {key}", "dim")])
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


def _keep(target: Path, note: str, key: str) -> None:
    head = target.resolve()  # what a link leads to has the key beside it
    beside = head.with_name(f"{head.name}.pub")
    if beside.exists():
        if str(read_key(str(beside), str(beside))) != key:
            text = (
                f"holds another key than the log has now, {key}: move it away if the log's key was changed on purpose"
            )
            raise InvalidRequestError.of(FieldViolation(str(beside), text))
    else:
        beside.write_bytes(f"{key}\n".encode())
    head.write_bytes(note.encode())


def read_key(text: str, name: str) -> NoteKey:
    """Read a public key, or the file that holds it.

    Raises:
        InvalidRequestError: INVALID_FIELD: it is none.
    """
    try:
        return read_given(text, NoteKey.parse)
    except (ValueError, OSError) as error:
        raise InvalidRequestError.of(FieldViolation(name, str(error))) from None


def _demand(trusted: Trusted) -> WitnessDemand:
    keys = tuple(dict.fromkeys(_witness(text) for text in trusted.witnesses))
    minimum = len(keys) if trusted.min_cosignatures is None else trusted.min_cosignatures
    if minimum > len(keys):
        text = f"must be at most the number of witnesses that --witness names, {len(keys)}"
        raise InvalidRequestError.of(FieldViolation("--min-cosignatures", text))
    return WitnessDemand(keys, minimum)


def _witness(text: str) -> WitnessKey:
    try:
        return read_given(text, WitnessKey.parse)
    except (ValueError, OSError) as error:
        raise InvalidRequestError.of(FieldViolation("--witness", str(error))) from None


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
    held = f"{counted(found.windows, 'window')} and {counted(found.events, 'audit event')} in the signed log"
    analyses = f", {counted(found.analyses, 'analysis', 'analyses')}" if found.analyses else ""
    output.say(f"{found.verdict.value}: {source.name}, {held}{analyses}", style=_STYLES[found.verdict])
    if found.origin:
        output.say(f"log {found.origin}, size {found.tree_size}, root {found.root}", style="dim")
    for one in found.cosigned_by:
        output.say(f"cosigned at size {found.witnessed_size} by {one}", style="dim")
    if found.fault is not None:
        where = f"line {found.fault.line}: " if found.fault.line else ""
        output.say(
            f"first bad record: {where}{found.fault.record_kind} {found.fault.record_id}: {found.fault.detail}",
            style="red",
        )
    for note in found.notes:
        output.say(note, style="yellow")
