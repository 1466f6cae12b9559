"""What stands in documents that change: kept beside a deployment, so that its answers can be held against it. Pure.

A document is a mapping from what is spoken of (a topic) to its value; what a topic had before and no document has any
more is outdated. Documents stand in slots, which keep their documents when those are renamed.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

Values: TypeAlias = dict[str, int]
SET: Final = "set"
REMOVE: Final = "remove"
RENAME: Final = "rename"
ERASE: Final = "erase"
SLOTS: Final = ("fees.md", "prices.md")


@dataclass(slots=True)
class Standing:
    """The documents by their names.

    Attributes:
        documents: what stands in each.
        names: the name that a slot's document has now.
        former: what stood in a document that was not erased, and does not now; it may stand in another one.
        renames: how many there were.
    """

    documents: dict[str, Values] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    former: dict[str, set[tuple[str, int]]] = field(default_factory=dict)
    renames: int = 0

    def set(self, slot: str, topic: str, value: int | None) -> str:
        """Change a value, or remove it where there is none; the others stay. Return the document's name."""
        name = self.names.setdefault(slot, slot)
        before = self.documents.get(name, {})
        kept = {key: old for key, old in before.items() if key != topic}
        after = kept if value is None else kept | {topic: value}
        self._note(name, before, after)
        self.documents[name] = after
        return name

    def rename(self, slot: str) -> tuple[str, str] | None:
        """Give a slot's document another name. Return the one that it had and the new one; ``None`` without one."""
        old = self.names.get(slot, "")
        if old not in self.documents:
            return None
        self.renames += 1
        new = f"v{self.renames}-{slot}"
        self.names[slot] = new
        self.documents[new] = self.documents.pop(old)
        self._note(old, self.documents[new], {})
        return old, new

    def erase(self, slot: str) -> str | None:
        """Forget a slot's document. Return its name; ``None`` without one."""
        name = self.names.get(slot, "")
        if name not in self.documents:
            return None
        del self.documents[name]
        self.former.pop(name, None)
        return name

    def holds(self, topic: str, value: int) -> bool:
        """Say whether a document says so now."""
        return any(values.get(topic) == value for values in self.documents.values())

    def held(self, topic: str, value: int) -> bool:
        """Say whether a document that was not erased said so before."""
        return any((topic, value) in values for values in self.former.values())

    def _note(self, name: str, before: Mapping[str, int], after: Mapping[str, int]) -> None:
        for topic, value in before.items():
            if after.get(topic) != value:
                self.former.setdefault(name, set()).add((topic, value))


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that people do to a document; ``value`` is the place of a value among a topic's, for SET alone."""

    kind: str
    slot: str
    value: int | None = None

    def __str__(self) -> str:
        """``set fees.md 0``."""
        return f"{self.kind} {self.slot}" if self.value is None else f"{self.kind} {self.slot} {self.value}"

    def take(self, standing: Standing, topic: str) -> None:
        """Note it in what stands."""
        if self.kind in {SET, REMOVE}:
            standing.set(self.slot, topic, self.value)
        elif self.kind == RENAME:
            standing.rename(self.slot)
        else:
            standing.erase(self.slot)


def orders(length: int, values: int, topic: str = "") -> Iterator[tuple[Step, ...]]:
    """Return every order of so many steps over two documents, those that begin alike behind one another.

    Orders that differ in nothing but the names of the documents or of the values are one: the first document is the
    first slot's, and values come in their order. A value may be set again as it is. What would do nothing is no step.

    Args:
        length: steps, 1 and more; the first one brings a document in.
        values: how many a topic may have.
        topic: what the values are of.
    """

    def beyond(done: tuple[Step, ...]) -> Iterator[tuple[Step, ...]]:
        if len(done) == length:
            yield done
            return
        for step in _next(done, values, topic):
            yield from beyond((*done, step))

    yield from beyond((Step(SET, SLOTS[0], 0),))


def standing_after(steps: tuple[Step, ...], topic: str = "") -> Standing:
    """Return what stands after the steps."""
    standing = Standing()
    for step in steps:
        step.take(standing, topic)
    return standing


def _next(done: tuple[Step, ...], values: int, topic: str) -> Iterator[Step]:
    standing = standing_after(done, topic)
    seen = max(step.value for step in done if step.value is not None)
    for slot in SLOTS:
        document = standing.documents.get(standing.names.get(slot, ""))
        for value in range(min(seen + 2, values)):
            yield Step(SET, slot, value)
        if document is not None and topic in document:
            yield Step(REMOVE, slot)
            yield Step(RENAME, slot)
        if document is not None:
            yield Step(ERASE, slot)
