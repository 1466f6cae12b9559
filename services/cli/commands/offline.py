"""``groundtrail verify --offline | checkpoint``: checking an export by itself, and keeping the log's signed head."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from crp.dag.v1 import transparency_service_pb2 as transparency

from services.allinone.parts import Part
from services.cli.connection import connect
from services.cli.console import Output
from services.cli.exits import Exit
from services.cli.given_export import export_lines
from services.cli.kept_heads import Heads, keep_head, read_checkpoint, read_key
from services.cli.key_texts import read_given
from services.cli.offline import Checked, Fault, Verdict, WitnessDemand, check_export
from services.cli.target_files import check_target
from services.common.cosignature import WitnessKey
from services.common.counting import counted
from services.common.errors import FieldViolation, InvalidRequestError
from services.common.settings import Settings
from services.common.signed_note import NoteKey

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
    checked; 2: the key or a file cannot be read, or a file is no export or checkpoint at all.
    """
    key = read_key(trusted.public_key, "--public-key")
    earlier = read_checkpoint(checkpoint, "--checkpoint")[0] if checkpoint else None
    demand = _demand(trusted)
    found = check_export(export_lines(source), key, earlier, demand)
    _show(found, source, output)
    output.result(asdict(found))
    return _EXITS[found.verdict]


async def checkpoint(settings: Settings, output: Output, target: Path | None, *, cosigned: bool = False) -> Exit:
    """Fetch the log's signed head and print it with the log's public key; write both to files if one is named.

    The key stands in the head's file with ``.pub`` behind its name, as ``verify --public-key`` reads it. With
    ``cosigned`` it is the latest head that witnesses saw.

    Raises:
        InvalidRequestError: INVALID_FIELD: the file holds something else, or another key was kept beside it; nothing
            was written.
        ChainBrokenError: LOG_INCONSISTENT: the log does not go on from the head that was kept; nothing was written.
    """
    if target is not None:
        check_target(target, "FILE")
    async with connect(settings, Part.SESSIONS) as suite:
        found = await suite.call(suite.transparency.GetTreeHead, transparency.GetTreeHeadRequest())
        if cosigned and not found.HasField("cosigned_head"):
            output.error("no witness has cosigned a head of this log yet", reason="NOT_COSIGNED")
            return Exit.NOT_FOUND
        head = found.cosigned_head if cosigned else found.tree_head
        key = NoteKey(head.origin, head.public_key)
        if target is not None:
            await keep_head(suite, target, Heads(head.checkpoint, found.tree_head.checkpoint), key)
    output.drawn([(head.checkpoint.rstrip("\n"), "")])  # neither is folded: people copy them
    output.drawn([(f"public key: {key}", "dim")])
    output.result({"checkpoint": head.checkpoint, "public_key": key, "tree_size": head.tree_size})
    return Exit.OK


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


def _show(found: Checked, source: Path, output: Output) -> None:
    held = f"{counted(found.windows, 'window')} and {counted(found.events, 'audit event')} in the signed log"
    analyses = f", {counted(found.analyses, 'analysis', 'analyses')}" if found.analyses else ""
    output.say(f"{found.verdict.value}: {source.name}, {held}{analyses}", style=_STYLES[found.verdict])
    if found.origin:
        output.say(f"log {found.origin}, size {found.tree_size}, root {found.root}", style="dim")
    for one in found.cosigned_by:
        output.say(f"cosigned at size {found.witnessed_size} by {one}", style="dim")
    if found.fault is not None:
        output.say(f"first bad record: {_named(found.fault)}: {found.fault.detail}", style="red")
    for note in found.notes:
        output.say(note, style="yellow")


def _named(fault: Fault) -> str:
    """Return where and what a bad record is, each once: a line is known by its number alone, the log's has no id."""
    record = f"{fault.record_kind} {fault.record_id}".strip()
    where = f"line {fault.line}"
    return record if not fault.line else where if record == where else f"{where}: {record}"
