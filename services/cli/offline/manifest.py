"""The signed note over an export: what it says, whose signatures it bears, what it says of its own line (ADR 0102).

Both forms are read: the first one hashes the lines before its own alone, so that a byte of the log line's other
members, or of a signature by a key that was not given, could be changed unseen.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from services.common.encoding import canonical_json, sha256_hex
from services.common.signed_note import Note, NoteKey
from services.common.taxonomy import ChainIntegrity
from services.dag.transparency.exporting import EXPORT_TITLE, FAULT, FIRST_TITLE, INTEGRITY, KEY, LOG_DIGEST

COUNTED: Final = ("events", "analyses", "leaves")
_FIRST: Final = ("session", *COUNTED, "sha256")
_FAULT: Final = re.compile(r"([a-z_]{1,20}) ([\x20-\x7e]{0,200})")
_MOST_KEYS: Final = 8


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a signed note says of an export.

    Attributes:
        counts: lines of each kind.
        sha256: over all lines before the log line, with their line feeds.
        integrity: what the server found; empty in the first form.
        fault: kind and id of the record that does not hold; set exactly when the server found it BROKEN.
        log_sha256: over the log line without the manifest; empty in the first form.
        keys: all that sign the note; none in the first form.
        unknown: names of members that a later version added.
    """

    session_id: str
    counts: Mapping[str, int]
    sha256: str
    integrity: str = ""
    fault: tuple[str, str] | None = None
    log_sha256: str = ""
    keys: tuple[NoteKey, ...] = ()
    unknown: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str, checkpoint: str) -> "Manifest":
        """Read the text of the note, strictly.

        Raises:
            ValueError: it is not what an export writes, or it refers to another checkpoint.
        """
        title = text.partition("\n")[0]
        start = f"{title}\n{checkpoint}"
        if title not in (EXPORT_TITLE, FIRST_TITLE) or not text.startswith(start):
            raise ValueError
        pairs = [line.split(" ", 1) for line in text.removeprefix(start).removesuffix("\n").split("\n")]
        fields = {name: value for name, value in pairs}  # noqa: C416 - pairs of two, which dict() would not check
        known = (*_FIRST, INTEGRITY, FAULT, LOG_DIGEST, KEY)
        unknown = tuple(name for name, _ in pairs if name not in known)
        names = [name for name, _ in pairs if name in known]
        if len(set(unknown)) != len(unknown):
            raise ValueError
        if not all(fields.get(name, "").isdecimal() for name in COUNTED):
            raise ValueError
        counts = {name: int(fields[name]) for name in COUNTED}
        if title == FIRST_TITLE:
            if tuple(names) != _FIRST:
                raise ValueError
            return cls(fields["session"], counts, fields["sha256"], unknown=unknown)
        fault = _FAULT.fullmatch(fields[FAULT]) if FAULT in fields else None
        keys = tuple(NoteKey.parse(value) for name, value in pairs if name == KEY)
        expected = ["session", *COUNTED, INTEGRITY, *([FAULT] if fault else []), "sha256", LOG_DIGEST]
        if names != expected + [KEY] * len(keys) or not 1 <= len(keys) <= _MOST_KEYS:
            raise ValueError
        if (ChainIntegrity(fields[INTEGRITY]) is ChainIntegrity.BROKEN) != (fault is not None):
            raise ValueError
        named = None if fault is None else (fault[1], fault[2])
        said = (fields[INTEGRITY], named, fields[LOG_DIGEST], keys)
        return cls(fields["session"], counts, fields["sha256"], *said, unknown)

    def is_signed(self, note: Note, key: NoteKey, origin: str) -> bool:
        """Say whether the given key signed the note, and every key that it names did, and no other."""
        if not self.keys or not note.holds(key, origin):
            return note.holds(key, origin)
        ids = [(one.name, one.key_id) for one in note.signatures]
        if ids != [(each.name, each.key_id) for each in self.keys] or len(set(ids)) != len(ids):
            return False
        return all(each.name == origin and note.holds(each, origin) for each in self.keys)

    def covers(self, line: Mapping[str, Any]) -> bool:
        """Say whether the log line's other members are as they were exported."""
        rest = {name: value for name, value in line.items() if name != "manifest"}
        return not self.log_sha256 or sha256_hex(canonical_json(rest)) == self.log_sha256
