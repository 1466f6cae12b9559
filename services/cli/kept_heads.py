"""Checkpoints and keys that people keep in files: reading them, and taking a later head in the place of an earlier.

A kept head is the only evidence that its owner has against a log that was set back: it is replaced by one alone that
provably goes on from it.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from crp.dag.v1 import transparency_service_pb2 as transparency

from services.cli.connection import Suite
from services.cli.key_texts import read_given
from services.cli.target_files import check_target
from services.common.errors import ChainBrokenError, ErrorReason, FieldViolation, InvalidRequestError
from services.common.merkle import consistency_holds
from services.common.signed_note import Checkpoint, Note, NoteKey

_ITS_FORM: Final = "a checkpoint is what `groundtrail checkpoint FILE` wrote"


@dataclass(frozen=True, slots=True)
class Heads:
    """What a log says of itself, as signed notes.

    Attributes:
        taken: the head to keep.
        latest: of the whole log; the same, or a later one.
    """

    taken: str
    latest: str


def read_key(text: str, name: str) -> NoteKey:
    """Read a public key, or the file that holds it.

    Raises:
        InvalidRequestError: INVALID_FIELD: it is none.
    """
    try:
        return read_given(text, NoteKey.parse)
    except (ValueError, OSError) as error:
        raise InvalidRequestError.of(FieldViolation(name, str(error))) from None


def read_text(path: Path, place: str) -> str:
    """Return a file's text; line ends are as they are, since what is signed is bytes.

    Raises:
        InvalidRequestError: INVALID_FIELD: it cannot be read.
    """
    try:
        return path.read_bytes().decode("utf-8")
    except OSError as error:
        why = f"cannot be read: {error.strerror}"
    except UnicodeDecodeError:
        why = "is no text in UTF-8"
    raise InvalidRequestError.of(FieldViolation(place, f"{path} {why}"))


def read_checkpoint(path: Path, place: str) -> tuple[str, Checkpoint]:
    """Return a kept checkpoint, its whole note and what that says; whether somebody signed it is not looked at.

    Raises:
        InvalidRequestError: INVALID_FIELD: the file holds none.
    """
    note = read_text(path, place)
    try:
        return note, Checkpoint.parse(Note.parse(note).text)
    except ValueError:
        raise InvalidRequestError.of(FieldViolation(place, f"{path} is not a checkpoint; {_ITS_FORM}")) from None


async def keep_head(suite: Suite, target: Path, heads: Heads, key: NoteKey) -> None:
    """Write a head to a file and the log's key beside it, in the place of an earlier head that it goes on from.

    Raises:
        InvalidRequestError: INVALID_FIELD: the file holds something else, or another key is beside it.
        ChainBrokenError: LOG_INCONSISTENT: the log does not go on from the head that the file holds.
    """
    head, beside = _places(target, key)
    if head.is_file() and head.stat().st_size:
        await _check_continued(suite, head, heads, key)
    if not beside.exists():
        beside.write_bytes(f"{key}\n".encode())
    head.write_bytes(heads.taken.encode())


def _places(target: Path, key: NoteKey) -> tuple[Path, Path]:
    """Return where the head and the key go; a key that is there must be the log's."""
    head = target.resolve()  # what a link leads to has the key beside it
    beside = head.with_name(f"{head.name}.pub")
    if not beside.exists():
        check_target(beside, "FILE")
    elif str(read_key(str(beside), str(beside))) != str(key):
        text = f"holds another key than the log has now, {key}: move it away if the log's key was changed on purpose"
        raise InvalidRequestError.of(FieldViolation(str(beside), text))
    return head, beside


async def _check_continued(suite: Suite, path: Path, heads: Heads, key: NoteKey) -> None:
    text, kept = read_checkpoint(path, "FILE")
    if kept.origin != key.name:
        raise _refused(f"{path} is a checkpoint of another log, {kept.origin}; name another file")
    if not Note.parse(text).holds(key, key.name):
        raise _refused(
            f"{path} is not signed by the key that the log has now, {key}: move it away if that was changed on purpose"
        )
    taken, latest = (Checkpoint.parse(Note.parse(note).text) for note in (heads.taken, heads.latest))
    if kept.size > latest.size:
        raise _set_back(path, f"holds its head of size {kept.size}, and the log has size {latest.size} now")
    proof: list[bytes] = []
    if kept.size not in (0, latest.size):
        request = transparency.GetConsistencyProofRequest(first_tree_size=kept.size, second_tree_size=latest.size)
        proof = list((await suite.call(suite.transparency.GetConsistencyProof, request)).proof.path_hashes)
    if not consistency_holds((kept.size, kept.root), (latest.size, latest.root), proof):
        text = f"holds its head of size {kept.size}, and the log of size {latest.size} does not go on from it"
        raise _set_back(path, text)
    if kept.size > taken.size:
        text = f"holds a newer head, of size {kept.size}, than witnesses cosigned, {taken.size}; name another file"
        raise _refused(f"{path} {text}")


def _refused(text: str) -> InvalidRequestError:
    return InvalidRequestError.of(FieldViolation("FILE", text))


def _set_back(path: Path, why: str) -> ChainBrokenError:
    text = (
        f"the log seems rolled back or rewritten: {path} {why}; the file is left as it is, "
        "keep it as evidence and compare the log with a backup"
    )
    return ChainBrokenError(ErrorReason.LOG_INCONSISTENT, text, detail=why)
