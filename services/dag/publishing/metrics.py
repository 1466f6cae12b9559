"""What the publisher counts. One writer, the event loop; the registry reads the numbers when it is scraped."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum, unique

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector


@unique
class Result(StrEnum):
    """What became of a head at one place."""

    DELIVERED = "delivered"
    FAILED = "failed"
    """It may succeed later: no answer, no room, a refusal."""
    CONFLICT = "conflict"
    """A witness knows a head that this log does not go on from: the log was cut, rewritten, or forked."""


class Together(Collector):
    """Several collectors of one service.

    Args:
        parts: what they are.
    """

    def __init__(self, parts: Sequence[Collector]) -> None:
        self._parts = parts

    def collect(self) -> Iterator[Metric]:
        """Yield what each of them has."""
        for part in self._parts:
            yield from part.collect()


@dataclass(eq=False)
class PublishingMetrics(Collector):
    """Counts since the process began.

    Attributes:
        heads: by place (``file``, ``endpoint``, a witness's name) and result.
        cosignatures: good ones, by witness.
        behind: records of the logs that no published head covers yet.
        conflicts: tenants whose log a witness does not recognise now.
        sending: whether this process holds the claim.
    """

    heads: Counter[tuple[str, Result]] = field(default_factory=Counter)
    cosignatures: Counter[str] = field(default_factory=Counter)
    behind: int = 0
    conflicts: set[str] = field(default_factory=set)
    sending: bool = False

    def collect(self) -> Iterator[Metric]:
        """Yield what the registry scrapes."""
        prefix = "groundtrail_checkpoints"
        published = CounterMetricFamily(f"{prefix}_published", "Signed heads that were accepted", labels=["target"])
        failed = CounterMetricFamily(f"{prefix}_failed", "Signed heads that were not", labels=["target", "result"])
        for (target, result), count in sorted(self.heads.items()):
            if result is Result.DELIVERED:
                published.add_metric([target], count)
            else:
                failed.add_metric([target, result.value], count)
        yield published
        yield failed
        made = CounterMetricFamily(f"{prefix}_cosignatures", "Good cosignatures", labels=["witness"])
        for witness, count in sorted(self.cosignatures.items()):
            made.add_metric([witness], count)
        yield made
        yield GaugeMetricFamily(f"{prefix}_behind_records", "Records that no published head covers", value=self.behind)
        yield GaugeMetricFamily(
            f"{prefix}_conflicts", "Logs that a witness does not recognise: cut or rewritten", value=len(self.conflicts)
        )
        yield GaugeMetricFamily(f"{prefix}_active", "1 while this process publishes", value=int(self.sending))
