"""Facts and sources as a request brings them: their ids, given by the caller or made of their order (ADR 0124)."""

from collections.abc import Sequence
from typing import Final

from crp.dpe.v1 import guard_pb2

from services.common.rpc.validation import Violations

FACT: Final = "f"
SOURCE: Final = "s"


def ids_of(texts: Sequence[guard_pb2.GroundingText], letter: str) -> tuple[str, ...]:
    """Return the id of each text: its own, or by its place, "s1", "s2" and so on, where none of them has one.

    Args:
        texts: as ``require_texts`` lets them pass.
        letter: what made ids begin with, ``FACT`` or ``SOURCE``.
    """
    if any(text.id for text in texts):
        return tuple(text.id for text in texts)
    return tuple(f"{letter}{number}" for number in range(1, len(texts) + 1))


def require_texts(
    found: Violations, field: str, texts: Sequence[guard_pb2.GroundingText], most: int, id_chars: int
) -> None:
    """Note what is wrong with the texts: a blank one, an id that is too long or stands twice, ids for some alone.

    Args:
        found: where it is noted.
        field: proto path of the texts.
        texts: as sent; how many there may be is the caller's to say.
        most: so many of them are looked at.
        id_chars: most characters of an id.
    """
    named = any(text.id for text in texts)
    seen: set[str] = set()
    for index, text in enumerate(texts[:most]):
        path = f"{field}[{index}]"
        if named:
            allowed = f"must hold 1 to {id_chars} characters, or be left out of all {field}"
            found.require(0 < len(text.id) <= id_chars, f"{path}.id", allowed)
            found.require(not text.id or text.id not in seen, f"{path}.id", "must be unique in the request")
        found.require(text.content.strip(), f"{path}.content", "must not be empty")
        seen.add(text.id)
