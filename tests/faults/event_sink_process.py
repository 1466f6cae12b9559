"""``python -m tests.faults.event_sink_process DIR URL HOLDER``: a sink over the store in DIR, until it is killed."""

import asyncio
import sys
from pathlib import Path

from tests.fakes.event_sinks import open_store, sink_settings, streaming


async def main(folder: Path, url: str, holder: str) -> None:
    store = await open_store(folder)
    settings = sink_settings(folder, url, batch_events=7, lease_s=1.0)
    async with streaming(store, settings, holder=holder):
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3]))
