"""Whether witnesses saw the log of an export: their cosignatures, and that its head goes on from theirs (ADR 0100)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from services.cli.offline.lines import BadLineError, Line
from services.common.cosignature import WitnessKey, bad_cosignatures, good_cosignatures
from services.common.counting import counted
from services.common.encoding import base64_decode, iso_micros
from services.common.merkle import consistency_holds
from services.common.signed_note import Checkpoint, Note, NoteKey
from services.dag.transparency.exporting import COSIGNED


@dataclass(frozen=True, slots=True)
class WitnessDemand:
    """What is asked for.

    Attributes:
        keys: of the witnesses that count.
        minimum: how many of them must have cosigned; 0 = none has to.
    """

    keys: tuple[WitnessKey, ...] = ()
    minimum: int = 0


@dataclass(frozen=True, slots=True)
class Witnessed:
    """What the witnesses say.

    Attributes:
        size: of the head that they cosigned; 0 without one.
        names: who of those that count cosigned it, and when.
        notes: what is missing, in sentences.
    """

    size: int = 0
    names: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def cosigned_heads(line: Line, head: Checkpoint, key: NoteKey, demand: WitnessDemand) -> list[Note]:
    """Return the heads of an export that witnesses may have cosigned: its own, and the one that was kept with it.

    Args:
        line: the log's line, of which head and key hold.
        head: of the export.
        key: of the log.
        demand: who has to have cosigned.

    Raises:
        BadLineError: a cosignature that names a witness is not its, or the log does not go on from the cosigned head.
    """
    kept = _kept(line, head, key)
    notes = [note for note in (Note.parse(line.value["checkpoint"]), kept) if note is not None]
    for note in notes:
        if bad := bad_cosignatures(note, demand.keys):
            raise BadLineError(line.number, "log", "", f"has a cosignature that {bad[0].name} did not make")
    return notes


def kept_checkpoint(note: Note, size: int, demand: WitnessDemand) -> Note:
    """Return a checkpoint that the export's log goes on from: what witnesses said of it counts as well.

    Raises:
        BadLineError: a cosignature that names a witness is not its.
    """
    if bad := bad_cosignatures(note, demand.keys):
        raise BadLineError(0, "checkpoint", str(size), f"has a cosignature that {bad[0].name} did not make")
    return note


def weigh(notes: Sequence[Note], leaves: Sequence[Line], demand: WitnessDemand) -> Witnessed:
    """Say who cosigned the head that most of those asked for cosigned, and what is missing.

    Args:
        notes: heads that the export's is, or goes on from.
        leaves: lines of the export's leaves, which hold too.
        demand: who has to have cosigned.
    """
    if not demand.keys:
        return Witnessed()
    best = max(notes, key=lambda note: (len(good_cosignatures(note, demand.keys)), Checkpoint.parse(note.text).size))
    found = good_cosignatures(best, demand.keys)
    size = Checkpoint.parse(best.text).size if found else 0
    names = tuple(f"{one.name} at {_moment(at)}" for one, at in found.items())
    return Witnessed(size, names, tuple(_missing(len(found), size, leaves, demand)))


def _kept(line: Line, head: Checkpoint, key: NoteKey) -> Note | None:
    """Return the cosigned head that the export holds, once it is shown that the export's head goes on from it."""
    value = line.value.get(COSIGNED)
    if value is None:
        return None
    try:
        note = Note.parse(value["checkpoint"])
        kept = Checkpoint.parse(note.text)
        path = [base64_decode(part) for part in value["path"]]
    except (KeyError, ValueError, TypeError, AttributeError):
        raise BadLineError(line.number, "log", "", "holds a cosigned head that cannot be read") from None
    if kept.origin != head.origin or not note.holds(key, head.origin):
        raise BadLineError(line.number, "log", "", "holds a cosigned head that the given key did not sign")
    if not consistency_holds((kept.size, kept.root), (head.size, head.root), path):
        text = "does not go on from the head that witnesses cosigned: the log was rewritten, or it was forked"
        raise BadLineError(line.number, "log", "", text)
    return note


def _missing(count: int, size: int, leaves: Sequence[Line], demand: WitnessDemand) -> list[str]:
    if count < demand.minimum:
        return [f"witnesses that are asked for: {demand.minimum}; that cosigned the log: {count}"]
    newer = sum(1 for line in leaves if int(line.value["leaf_index"]) >= size)
    if demand.minimum and newer:
        told = counted(newer, "record")
        return [f"newer than the head that witnesses cosigned: {told}; export again after their next round"]
    return []


def _moment(seconds: int) -> str:
    try:
        return iso_micros(datetime.fromtimestamp(seconds, tz=UTC))
    except (OverflowError, ValueError, OSError):
        return f"{seconds} s after 1970"
