"""Many slow streams at once through the door: what arrives, what is shed, what they hold of memory, whether it grows.

    python -m bench.gateway_streams [--open 500] [--seconds 120] [--tokens-per-s 2]

Every stream is one chat of mode check with nothing to check against: the whole way through the door, held back by
sentences, without a judgement, which two processors could not give so often. Streams open over the first tenth of the
time. Memory is that of all processes of the suite, once all are open, and at the end before they close.
"""

import argparse
import asyncio
import json
import resource
import statistics
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx

from bench.commands import Installation, pss_mib
from bench.gateway import ANSWER, QUESTION, free_port
from bench.paced_provider import PacedProvider, tokens_of
from bench.report import Row, machine, show

OPENING_SHARE: Final = 0.1
_FILES: Final = 4
"""Descriptors for a stream, at most: two connections, with room."""


@dataclass
class Seen:
    """What became of the streams, and how late sentences came: seconds behind the provider's last word of each."""

    fates: Counter[str] = field(default_factory=Counter)
    ends_late_s: list[float] = field(default_factory=list)
    characters: int = 0


def said(number: int, words: int) -> str:
    """Return what a stream says: its own number and true sentences, so many words."""
    text = f"Case {number}. " + " ".join([ANSWER] * (words // len(ANSWER.split()) + 1))
    return "".join(tokens_of(text)[:words])


async def one_stream(
    http: httpx.AsyncClient, root: str, provider: PacedProvider, told: dict[str, Any], seen: Seen
) -> None:
    """Read one stream to its end, and note what became of it."""
    body = {"model": "scripted", "messages": [{"role": "user", "content": QUESTION}], "stream": True, "metadata": told}
    got, done = 0, False
    try:
        async with http.stream("POST", f"{root}/chat/completions", json=body) as response:
            if response.status_code != httpx.codes.OK:
                seen.fates[f"shed: {response.status_code}"] += 1
                return
            async for line in response.aiter_lines():
                if line == "data: [DONE]":
                    done = True
                elif line.startswith("data: "):
                    choices = json.loads(line[6:]).get("choices") or [{}]
                    got += len(choices[0].get("delta", {}).get("content") or "")
    except httpx.HTTPError as error:
        seen.fates[f"broken: {type(error).__name__}"] += 1
        return
    whole = done and got == len(told["say"])
    seen.fates["whole" if whole else "cut short"] += 1
    seen.characters += got
    with suppress(KeyError):
        seen.ends_late_s.append(time.perf_counter() - provider.last_at[told["say"]])


async def measure(root: str, pid: int, provider: PacedProvider, asked: argparse.Namespace) -> list[Row]:
    """Return the rows."""
    seen, opening_s = Seen(), asked.seconds * OPENING_SHARE
    words = max(1, int(asked.seconds * asked.tokens_per_s))
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
    async with httpx.AsyncClient(limits=limits, timeout=asked.seconds + 120.0, trust_env=False) as http:
        await asyncio.sleep(opening_s)  # what the start has left behind settles
        before = await asyncio.to_thread(pss_mib, pid)
        running = []
        for number in range(asked.open):
            told = {"say": said(number, words), "tokens_per_s": asked.tokens_per_s}
            running.append(asyncio.create_task(one_stream(http, root, provider, told, seen)))
            await asyncio.sleep(opening_s / asked.open)
        opened = await asyncio.to_thread(pss_mib, pid)
        await asyncio.sleep(max(0.0, asked.seconds - 2.0 * opening_s))
        late = await asyncio.to_thread(pss_mib, pid)
        await asyncio.gather(*running)
    minutes = max(1e-9, (asked.seconds - 2.0 * opening_s) / 60.0)
    fates = ", ".join(f"{count} {fate}" for fate, count in sorted(seen.fates.items()))
    ends = sorted(seen.ends_late_s) or [0.0]
    note = f"{asked.open} streams, {asked.tokens_per_s:g} tokens/s each, {asked.seconds:g} s"
    return [
        Row("streams that arrived whole", float(seen.fates["whole"]), "", note=f"{note}: {fates}"),
        Row("the provider's last word to our last byte: p50", 1000.0 * statistics.median(ends), "ms"),
        Row("the same, slowest", 1000.0 * ends[-1], "ms"),
        Row("memory of an open stream", (opened - before) * 1024.0 / asked.open, "KiB", note="once all are open"),
        Row(
            "growth of a stream in a minute",
            (late - opened) * 1024.0 / asked.open / minutes,
            "KiB",
            note="while all run",
        ),
    ]


def enough_files(streams: int) -> None:
    """Raise this process's own bound of open files, which its children inherit, as far as it may."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, _FILES * streams + 1024)), hard))


async def run(asked: argparse.Namespace, folder: Path) -> list[Row]:
    """Serve the suite before the provider, and measure."""
    provider, port = PacedProvider(), free_port()
    async with provider.serving() as upstream:
        given = {
            "GROUNDTRAIL_HTTP__PORT": str(port),
            "GROUNDTRAIL_LLM__BASE_URL": upstream,
            "GROUNDTRAIL_CHAT__MODE": "check",
            # They all come from one address, of which the door lets in 128 by itself.
            "GROUNDTRAIL_HTTP__MAX_CONNECTIONS_PER_ADDRESS": str(2 * asked.open),
            "GROUNDTRAIL_HTTP__MAX_CONNECTIONS": str(2 * asked.open),
        }
        serving = Installation(sys.executable, folder).serving(given=given)
        pid, _ = await asyncio.to_thread(serving.__enter__)
        try:
            return await measure(f"http://127.0.0.1:{port}/v1", pid, provider, asked)
        finally:
            await asyncio.to_thread(serving.__exit__, None, None, None)


def main(argv: list[str] | None = None) -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--open", type=int, default=500, help="streams at once")
    parser.add_argument("--seconds", type=float, default=120.0, help="how long each lasts")
    parser.add_argument("--tokens-per-s", type=float, default=2.0)
    asked = parser.parse_args(argv)
    enough_files(asked.open)
    with tempfile.TemporaryDirectory() as folder:
        rows = asyncio.run(run(asked, Path(folder)))
    print(machine())
    show("Many slow streams through the door", rows)


if __name__ == "__main__":
    main()
