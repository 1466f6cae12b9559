"""What ``bench.linear`` finds: costs against their bounds, and a file that keeps them from one run to the next.

The sample takes hours. With ``--kept FILE`` every pair of field and kind is written down as soon as it is measured, and
the next run with the same file measures what is not in it yet. The file says nothing of the code that was measured:
take a new one after a change.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from bench.linear_calls import PLACES, Place
from bench.linear_kinds import KINDS, Kind
from bench.linear_load import Reads

MOST_RATIO: Final = 2.5
MOST_S: Final = 10.0
_PLACES: Final = {place.name: place for place in PLACES}
_KINDS: Final = {kind.name: kind for kind in KINDS}


@dataclass(frozen=True, slots=True)
class Cost:
    """What a kind of text cost at a place.

    Attributes:
        chars: of the shorter text.
        seconds: of processor for it.
        ratio: of the text of twice the length to it; ``None`` where the field takes no text that costs 0.2 s.
        long_s: for 100,000 characters, or all that the field takes; measured or reckoned.
        said: OK or the refusal.
        used_s: processor seconds that it took to measure all of this.
    """

    place: Place
    kind: Kind
    chars: int
    seconds: float
    ratio: float | None
    long_s: float
    said: str
    used_s: float = 0.0

    @property
    def holds(self) -> bool:
        """Whether it is within the bounds."""
        return (self.ratio is None or self.ratio <= MOST_RATIO) and self.long_s <= MOST_S


class Kept:
    """What was measured by this run and, where a file is named, by those before.

    Args:
        path: of the file, which is made when it is not there; ``None`` = nothing is kept.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._costs: dict[tuple[str, str], Cost] = {}
        self.prose: dict[str, str] = {}  # what was said to honest prose, by the name of a place
        self.reads = Reads()
        for line in path.read_text(encoding="utf-8").splitlines() if path is not None and path.exists() else ():
            self._read(json.loads(line))

    def missing(self, pairs: Sequence[tuple[Place, Kind]]) -> list[tuple[Place, Kind]]:
        """Return the pairs that were not measured yet, mixed: what a sitting does not reach is no place of its own."""
        missing = [(place, kind) for place, kind in pairs if (place.name, kind.name) not in self._costs]
        return sorted(missing, key=lambda pair: hashlib.sha256(f"{pair[0].name} {pair[1].name}".encode()).digest())

    def of(self, pairs: Sequence[tuple[Place, Kind]]) -> list[Cost]:
        """Return what was measured of the pairs, in their order."""
        names = [(place.name, kind.name) for place, kind in pairs]
        return [self._costs[name] for name in names if name in self._costs]

    def add(self, cost: Cost) -> None:
        """Keep what one pair cost."""
        self._costs[cost.place.name, cost.kind.name] = cost
        told = {name: getattr(cost, name) for name in ("chars", "seconds", "ratio", "long_s", "said", "used_s")}
        self._write({"place": cost.place.name, "kind": cost.kind.name, **told})

    def add_prose(self, place: Place, said: str) -> None:
        """Keep what was said to honest prose at a place."""
        self.prose[place.name] = said
        self._write({"prose": place.name, "said": said})

    def add_reads(self, reads: Reads) -> None:
        """Keep the times of the other tenant's reads and of the echoes between them."""
        self._take(reads)
        self._write(asdict(reads))

    def _read(self, told: dict[str, object]) -> None:
        if "reads" in told:
            self._take(Reads(**told))  # type: ignore[arg-type]  # as ``add_reads`` wrote it
            return
        if "prose" in told:
            self.prose[str(told["prose"])] = str(told["said"])
            return
        place, kind = _PLACES.get(str(told.pop("place"))), _KINDS.get(str(told.pop("kind")))
        if place is not None and kind is not None:  # a field may have gone since
            self._costs[place.name, kind.name] = Cost(place, kind, **told)  # type: ignore[arg-type]  # as above

    def _take(self, reads: Reads) -> None:
        self.reads.reads.extend(reads.reads)
        self.reads.echoes.extend(reads.echoes)
        self.reads.elsewhere.extend(reads.elsewhere)

    def _write(self, told: dict[str, object]) -> None:
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as sink:
                sink.write(json.dumps(told, ensure_ascii=False) + "\n")
