"""What stream oversight counts; labels are closed sets, and nothing is counted by tenant."""

from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from services.common.streaming.rules import HaltReason
from services.dpe.guard.oversight import OversightApp


class OversightMetrics(Collector):
    """Reads the counts of stream oversight when it is scraped."""

    def __init__(self, app: OversightApp) -> None:
        self._app = app

    def collect(self) -> Iterator[Metric]:
        """Yield what the registry scrapes."""
        app = self._app
        there = GaugeMetricFamily(
            "groundtrail_guard_streams", "Streams under oversight: open, or kept for a client", labels=["state"]
        )
        there.add_metric(["open"], app.open)
        there.add_metric(["held"], app.held)
        yield there
        streams = CounterMetricFamily(
            "groundtrail_guard_streams_total",
            "Streams that began, were resumed, ended, or broke off with an error",
            labels=["event"],
        )
        for event in ("streams", "resumed", "completed", "broken"):
            streams.add_metric(["begun" if event == "streams" else event], app.counts[event])
        yield streams
        halts = CounterMetricFamily("groundtrail_guard_stream_halts", "Streams that were halted", labels=["reason"])
        for reason in HaltReason:
            halts.add_metric([str(reason).lower()], app.halts[reason])
        yield halts
        for name, text in (("tokens", "Tokens of ended streams"), ("sentences", "Sentences scored in ended streams")):
            counted = CounterMetricFamily(f"groundtrail_guard_stream_{name}", text)
            counted.add_metric([], app.counts[name])
            yield counted
