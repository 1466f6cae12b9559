"""Entities of a stored fact, read from their text when somebody looks at them.

An envelope chooses from hundreds of facts and hands on tens of them: only of those are the entities looked at.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Final, overload

from services.common.ports.recognition import Entity, EntityKind

_KINDS: Final = {kind.value: kind for kind in EntityKind}
NO_ENTITIES: Final = "[]"


class StoredEntities(Sequence[Entity]):
    """Equal to a tuple of the same entities.

    Args:
        text: JSON list of kind, mention, start and end.
    """

    __slots__ = ("_read", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._read: tuple[Entity, ...] | None = None

    def _entities(self) -> tuple[Entity, ...]:
        if self._read is None:
            found = json.loads(self._text)
            self._read = tuple(Entity(_KINDS[kind], mention, start, end) for kind, mention, start, end in found)
        return self._read

    def __len__(self) -> int:
        return len(self._entities())

    def __iter__(self) -> Iterator[Entity]:
        return iter(self._entities())

    @overload
    def __getitem__(self, index: int) -> Entity: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Entity, ...]: ...
    def __getitem__(self, index: int | slice) -> Entity | tuple[Entity, ...]:
        return self._entities()[index]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, StoredEntities):
            return self._text == other._text or self._entities() == other._entities()
        return isinstance(other, tuple) and self._entities() == other

    def __hash__(self) -> int:
        return hash(self._entities())

    def __repr__(self) -> str:
        return repr(self._entities())
