"""A share with its 95% interval, as tables and results show it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from evaluation.metrics import Interval, wilson_interval


@dataclass(frozen=True, slots=True)
class Share:
    """So many of so many; ``interval`` is Wilson's."""

    hits: int
    of: int

    @classmethod
    def among(cls, flags: Iterable[bool]) -> "Share":
        """Return the share of flags that are set."""
        some = list(flags)
        return cls(sum(some), len(some))

    @property
    def value(self) -> float | None:
        """The share; ``None`` of nothing."""
        return self.hits / self.of if self.of else None

    @property
    def interval(self) -> Interval | None:
        """Wilson's 95% interval; ``None`` of nothing."""
        return wilson_interval(self.hits, self.of) if self.of else None

    def plain(self) -> dict[str, Any]:
        """Return what a results file holds."""
        return {"hits": self.hits, "of": self.of, "value": self.value, "interval": self.interval}

    def __str__(self) -> str:
        """``3 of 80: 0.037 (0.013 to 0.105)``."""
        if self.interval is None:
            return "-"
        low, high = self.interval
        return f"{self.hits} of {self.of}: {self.hits / self.of:.3f} ({low:.3f} to {high:.3f})"
