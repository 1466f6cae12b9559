"""A checkpoint on its way to a witness, as C2SP tlog-witness has it (``add-checkpoint``): old size, proof, checkpoint.

The body is the line ``old <size>``, at most 63 lines with a hash in base64 each (RFC 9162 §2.1.4), an empty line, and
the checkpoint. The log's own signer is asked in the same form, with the text that it shall sign behind the empty line.
"""

import base64
import re
from dataclasses import dataclass
from typing import Final, Self

from services.common.merkle import HASH_BYTES, consistency_holds

MAX_PROOF_LINES: Final = 63
MAX_BODY_BYTES: Final = 16 * 1024
"""Far above 63 hashes, a checkpoint and a few dozen signatures."""
SIZE_MEDIA_TYPE: Final = "text/x.tlog.size"
"""Of a 409 that tells the size that the witness knows."""
_OLD: Final = re.compile(r"old (0|[1-9][0-9]{0,18})")
_SIZE: Final = re.compile(r"(0|[1-9][0-9]{0,18})\n?")


@dataclass(frozen=True, slots=True)
class Submission:
    """What is submitted.

    Attributes:
        old_size: that the proof starts from; 0 with an empty proof.
        path: the proof's hashes, 32 bytes each.
        text: everything behind the empty line.
    """

    old_size: int
    path: tuple[bytes, ...]
    text: str

    @classmethod
    def parse(cls, body: bytes) -> Self:
        """Read a body, strictly.

        Raises:
            ValueError: it is none.
        """
        head, empty, text = body.decode("utf-8").partition("\n\n")
        first, *lines = head.split("\n")
        found = _OLD.fullmatch(first)
        if not empty or not text or found is None or len(lines) > MAX_PROOF_LINES:
            msg = "a submission is `old SIZE`, at most 63 proof lines, an empty line and a checkpoint"
            raise ValueError(msg)
        return cls(int(found[1]), tuple(_hash(line) for line in lines), text)

    def __bytes__(self) -> bytes:
        proof = "".join(f"{base64.b64encode(part).decode('ascii')}\n" for part in self.path)
        return f"old {self.old_size}\n{proof}\n{self.text}".encode()


def read_size(body: bytes) -> int | None:
    """Return the size that a 409 tells; ``None`` when it tells none."""
    found = _SIZE.fullmatch(body.decode("ascii", "replace"))
    return int(found[1]) if found else None


def grows(small: tuple[int, bytes], large: tuple[int, bytes], path: tuple[bytes, ...]) -> bool:
    """Say whether the proof shows that the first head's log goes on to the second's; of an empty log nothing is shown.

    Args:
        small: size and root.
        large: size and root.
        path: the proof; empty when the first size is 0 or both are equal.
    """
    if small[0] == 0:
        return not path
    return consistency_holds(small, large, path)


def _hash(line: str) -> bytes:
    raw = base64.b64decode(line, validate=True)
    if len(raw) != HASH_BYTES or base64.b64encode(raw).decode("ascii") != line:
        msg = "a proof line is 32 bytes in base64"
        raise ValueError(msg)
    return raw
