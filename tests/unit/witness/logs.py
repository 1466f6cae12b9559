"""A small log of numbered leaves, and forks of it, for keepers of heads."""

import hashlib
from dataclasses import dataclass, field

from services.common.merkle import CompactRange, consistency_spans, fold, leaf_hash, places
from services.common.signed_note import Checkpoint, Note, NoteSigner
from services.common.submission import Submission

ORIGIN = "log.example/x"
SIGNER = NoteSigner(ORIGIN, bytes(range(32)))
EMPTY = hashlib.sha256(b"").digest()


@dataclass
class ToyLog:
    """Leaves ``<name> <number>``; with another name a log that forks after ``common`` leaves."""

    name: str = "a"
    common: int = 0
    signer: NoteSigner = SIGNER
    hashes: list[bytes] = field(default_factory=list)

    def grow(self, size):
        for number in range(len(self.hashes), size):
            self.hashes.append(leaf_hash(f"{'a' if number < self.common else self.name} {number}".encode()))
        return self

    def root(self, size):
        return CompactRange().extend(self.grow(size).hashes[:size])[0].root()

    def proof(self, first, second):
        hashes = self.grow(second).hashes
        spans = consistency_spans(first, second)
        return tuple(fold([self._full(hashes, place) for place in places(span)]) for span in spans)

    def _full(self, hashes, place):
        level, index = place
        return CompactRange().extend(hashes[index << level : (index + 1) << level])[0].root()

    def head(self, size):
        return Checkpoint(self.signer.name, size, self.root(size))

    def note(self, size):
        text = str(self.head(size))
        return Note(text, (self.signer.sign(text),))

    def submission(self, old, size, **changes):
        fields = {
            "old_size": old,
            "path": self.proof(old, size) if 0 < old <= size else (),
            "text": str(self.note(size)),
        }
        return bytes(Submission(**(fields | changes)))
