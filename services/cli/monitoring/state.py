"""What a monitor remembers of a log between two runs: one JSON file for its owner alone, replaced whole."""

import base64
import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from services.cli.monitoring.rules import EntryRules, Finding, FindingKind
from services.common.errors import FieldViolation, InvalidRequestError
from services.common.merkle import CompactRange
from services.common.signed_note import NoteKey

_VERSION: Final = 1
_MODE: Final = 0o600
_HEADS: Final = 1_000
_FINDINGS: Final = 1_000


@dataclass(slots=True)
class MonitorState:
    """A log as it was seen.

    Attributes:
        key: the log's; ``None`` before the first run.
        tree: computed from the leaves that were read.
        checkpoint: the last signed head, as a note.
        heads: sizes and roots that were seen, the last thousand: size, root in base64, moment.
        findings: what was found, the first thousand of them; ``found`` counts all.
    """

    key: NoteKey | None = None
    tree: CompactRange = field(default_factory=CompactRange)
    rules: EntryRules = field(default_factory=EntryRules)
    checkpoint: str = ""
    heads: list[tuple[int, str, str]] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    found: int = 0

    def note(self, findings: list[Finding]) -> list[Finding]:
        """Remember findings and return those that are new: what is seen again at every look is told once."""
        fresh = [one for one in findings if one not in self.findings]
        self.found += len(fresh)
        self.findings += fresh[: max(0, _FINDINGS - len(self.findings))]
        return fresh

    def seen(self, note: str, moment: str) -> None:
        """Remember a head that fits the tree."""
        root = base64.b64encode(self.tree.root()).decode("ascii")
        if not self.heads or self.heads[-1][:2] != (self.tree.size, root):
            self.heads = [*self.heads, (self.tree.size, root, moment)][-_HEADS:]
        self.checkpoint = note


class StateFile:
    """The file.

    Args:
        path: of the file; its folder is made when it is not there.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> MonitorState:
        """Return what was remembered; a fresh state when there is no file.

        Raises:
            InvalidRequestError: INVALID_FIELD: the file holds something else.
        """
        try:
            value = json.loads(self._path.read_bytes())
            return _state(value)
        except FileNotFoundError:
            return MonitorState()
        except OSError as error:
            text = f"{self._path} cannot be read: {error.strerror}; name another file"
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            text = f"{self._path} is not what a monitor wrote; name another file"
        raise InvalidRequestError.of(FieldViolation("--state", text))

    def write(self, state: MonitorState) -> None:
        """Replace the file; it is on the disk when this returns."""
        value = {
            "version": _VERSION,
            "key": _key_text(state.key),
            "size": state.tree.size,
            "peaks": state.tree.to_bytes().hex(),
            "sessions": state.rules.sessions,
            "window": state.rules.window,
            "late": state.rules.late,
            "checkpoint": state.checkpoint,
            "heads": state.heads,
            "findings": [asdict(one) for one in state.findings],
            "found": state.found,
        }
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        fresh = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, _MODE)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(value, file)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self._path)


def _state(value: Any) -> MonitorState:
    if value["version"] != _VERSION:
        msg = "another version"
        raise ValueError(msg)
    window, at = value["window"]
    sessions = {str(name): int(place) for name, place in value["sessions"].items()}
    return MonitorState(
        key=_key(value["key"]),
        tree=CompactRange.of_bytes(int(value["size"]), bytes.fromhex(value["peaks"])),
        rules=EntryRules(sessions, (str(window), int(at)), int(value["late"])),
        checkpoint=str(value["checkpoint"]),
        heads=[(int(size), str(root), str(moment)) for size, root, moment in value["heads"]],
        findings=[Finding(**{**one, "kind": FindingKind(one["kind"])}) for one in value["findings"]],
        found=int(value["found"]),
    )


def _key_text(key: NoteKey | None) -> str:
    """Return a key as ``_key`` reads it: one that was given bare, before a head told its log's name, stays bare."""
    if key is None:
        return ""
    return str(key) if key.name else key.public_key.hex()


def _key(text: str) -> NoteKey | None:
    if text.startswith("+"):  # a bare key in files of before: an id, and the key behind one byte
        text = base64.b64decode(text.rsplit("+", 1)[1], validate=True)[1:].hex()
    return NoteKey.parse(text) if text else None
