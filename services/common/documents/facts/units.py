"""What the walk over a document's blocks makes, before it is cut to size: one text with its section and place."""

from dataclasses import dataclass, replace

from services.common.documents.document import Place
from services.common.documents.facts.draft import FactKind
from services.common.documents.facts.leaning import MIN_FACT_TOKENS, CountTokens
from services.common.documents.facts.texts import CLOSED
from services.common.names import plain_name


@dataclass(frozen=True, slots=True)
class Unit:
    """A text that can be read alone.

    Attributes:
        text: empty where a footnote stood that may be told elsewhere.
        section: heading path.
        title: the nearest heading.
        joinable: a short neighbour of the same section may join it.
    """

    text: str
    section: str
    title: str
    place: Place
    kind: FactKind
    joinable: bool

    @property
    def location(self) -> str:
        """Return where it stands, for people."""
        where = replace(self.place, path="") if self.place.path.startswith("#") else self.place
        return plain_name(", ".join(part for part in (str(where), self.section) if part))


def join_fragments(units: list[Unit], count: CountTokens) -> list[Unit]:
    """Join paragraphs that are still below 10 tokens to a neighbouring paragraph of the same section."""
    joined: list[list[Unit]] = []
    for unit in units:
        last = joined[-1][0] if joined else None
        fits = last is not None and last.joinable and unit.joinable and last.section == unit.section
        if fits and (count(unit.text) < MIN_FACT_TOKENS or count(_run_on(joined[-1])) < MIN_FACT_TOKENS):
            joined[-1].append(unit)
        else:
            joined.append([unit])
    return [replace(parts[0], text=_run_on(parts)) if len(parts) > 1 else parts[0] for parts in joined]


def _run_on(units: list[Unit]) -> str:
    """Return the texts of units one after the other, each closed before the next."""
    closed = [unit.text if unit.text.endswith(CLOSED) else f"{unit.text}." for unit in units[:-1]]
    return " ".join([*closed, units[-1].text])
