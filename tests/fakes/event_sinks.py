"""Event sinks over real stores and loopback endpoints, with pauses that tests can wait for."""

import asyncio
import contextlib
from dataclasses import dataclass

from services.common.adapters.http import HttpEventEndpoint
from services.common.adapters.sqlite import SqliteSessionStore
from services.common.clock import SystemClock
from services.common.settings.event_sink import EventSinkSettings
from services.common.settings.stores import StoreSettings
from services.dag.sink import EventSink, SinkParts
from services.dag.sink.batching import Batches
from services.dag.sink_composition import MEDIA_TYPE, _ndjson_line, attaching
from tests.fakes.event_receiver import KEY
from tests.patience import patient

PLAIN = StoreSettings(disk_reserve_bytes=0, synchronous="NORMAL")


async def open_store(folder):
    return await SqliteSessionStore.open(folder / "sessions.db", PLAIN)


def sink_settings(folder, url, **changes):
    key = folder / "signing.key"
    if not key.exists():
        key.write_text(KEY)
        key.chmod(0o600)
    values = {
        "url": url,
        "allowed_hosts": ("127.0.0.1",),
        "private_hosts": ("127.0.0.1",),
        "signing_key_file": key,
        "poll_interval_s": 0.02,
        "retry_first_s": 0.02,
        "retry_max_s": 0.1,
        "timeout_s": 5.0,
        "lease_s": 2.0,
    }
    return EventSinkSettings(**(values | changes))


async def eventually(condition, timeout_s=patient(20)):
    """Wait until a condition holds that nothing announces."""
    async with asyncio.timeout(timeout_s):
        while not condition():  # noqa: ASYNC110 - counters and claims announce nothing
            await asyncio.sleep(0.005)


@dataclass
class Running:
    """A sink and what it works with."""

    sink: EventSink
    settings: EventSinkSettings

    @property
    def metrics(self):
        return self.sink.metrics


def build_sink(store, settings, *, holder="me", encode=_ndjson_line, feed=None, share=lambda: 1.0):
    feed = feed or store.event_feed()
    batches = Batches(feed, store, encode, MEDIA_TYPE, settings.batch_bytes, attaching(settings))
    endpoint = HttpEventEndpoint(settings, SystemClock())
    return EventSink(SinkParts(feed, batches, endpoint, SystemClock(), holder, share=share), settings)


@contextlib.asynccontextmanager
async def streaming(store, settings, **changes):
    """Run a sink for a while."""
    running = Running(build_sink(store, settings, **changes), settings)
    running.sink.start()
    try:
        yield running
    finally:
        await running.sink.close()
