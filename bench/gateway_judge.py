"""Hold-back with the real judge: what of falsified answers left, and how long a checked stream lets its reader wait.

    python -m bench.gateway_judge [--answers 200] [--claims 6] [--timed-claims 36] [--tokens-per-s 50]

Answers are those of ``bench.dpe_corpus``: true sentences about invented offices in other words than the facts, which
stand in the system message. In each falsified one a sentence has another office's figure; the policy is ``halt-on
HIGH``. Its first byte at the client counts as released. The same answers without the fault say what hold-back costs
clean ones. The times are of one long clean answer at the pace of a model, against an answer of the same kind
unstreamed, its analysis included; the judge has seen neither before.
"""

import argparse
import asyncio
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx

from bench.commands import Installation
from bench.dpe_corpus import QUESTION, falsified
from bench.gateway import free_port
from bench.paced_provider import PacedProvider
from bench.report import Row, machine, show

POLICY: Final = "halt-on HIGH"
WARNING: Final = "warn-on CRITICAL"
"""Of the timed answers: nothing is withheld, so that what is waited for is the judgement."""
TARGET: Final = 0.35
"""Aimed at, of the unstreamed analysis."""
_SEED: Final = 20261
_TIMED_SEED: Final = 700
"""Of the timed answers, whose sentences no other has."""


@dataclass(frozen=True, slots=True)
class Read:
    """What a client read of a stream: its text, whether it was halted, when its first text and its end came."""

    text: str
    halted: bool
    first_at: float
    ended_at: float


class Door:
    """Asks through the door.

    Args:
        http: of the client.
        root: of the door's API.
    """

    def __init__(self, http: httpx.AsyncClient, root: str) -> None:
        self._http = http
        self._url = f"{root}/chat/completions"

    async def streamed(
        self, said: Sequence[str], facts: Sequence[str], policy: str = POLICY, pace: float = 0.0
    ) -> Read:
        """Return what arrives of an answer that is written at a pace."""
        text, halted, first_at = "", False, 0.0
        async with self._http.stream("POST", self._url, json=_body(said, facts, policy, pace)) as response:
            response.raise_for_status()
            async for line in response.aiter_lines():
                if not line.startswith("data: {"):
                    continue
                for choice in json.loads(line[6:]).get("choices", []):
                    piece = choice.get("delta", {}).get("content") or ""
                    first_at = first_at or (time.perf_counter() if piece else 0.0)
                    text += piece
                    halted = halted or choice.get("finish_reason") == "content_filter"
        return Read(text, halted, first_at, time.perf_counter())

    async def unstreamed_s(self, said: Sequence[str], facts: Sequence[str]) -> float:
        """Return the seconds that an answer takes that is there at once."""
        began = time.perf_counter()
        response = await self._http.post(self._url, json=_body(said, facts, WARNING))
        response.raise_for_status()
        return time.perf_counter() - began


def _body(said: Sequence[str], facts: Sequence[str], policy: str, pace: float | None = None) -> dict[str, Any]:
    messages = [{"role": "system", "content": " ".join(facts)}, {"role": "user", "content": QUESTION}]
    metadata = {"say": " ".join(said), "tokens_per_s": pace or 0.0}
    ours = {"policy": policy, "evidence": False}
    chat = {"model": "scripted", "messages": messages, "metadata": metadata, "groundtrail": ours}
    return {**chat, "stream": pace is not None}


def released(read: Read, said: Sequence[str], false_at: int) -> int:
    """Return how many characters of the false sentence, and of what follows it, left."""
    before = len(" ".join(said[:false_at])) + (1 if false_at else 0)
    return max(0, len(read.text) - before)


async def measure_release(door: Door, answers: int, claims: int) -> list[Row]:
    """Return how much of falsified answers left, and how many clean ones did not."""
    drawn = random.Random(_SEED)  # noqa: S311 - places of faults, the same each time
    leaked, halted, faulted_chars, left_chars, clean = 0, 0, 0, 0, 0
    for seed in range(answers):
        false_at = drawn.randrange(claims)
        said, facts = falsified(claims, seed, false_at=false_at)
        read = await door.streamed(said, facts)
        left = released(read, said, false_at)
        leaked, halted = leaked + (left > 0), halted + read.halted
        left_chars, faulted_chars = left_chars + left, faulted_chars + len(" ".join(said[false_at:]))
        said, facts = falsified(claims, seed, false_at=None)
        clean += (await door.streamed(said, facts)).text == " ".join(said)
    note = f"{answers} answers of {claims} sentences, one false, {POLICY}"
    return [
        Row("falsified answers of which a faulted byte left", float(leaked), "", note=note),
        Row(
            "share of what was faulted that left",
            100.0 * left_chars / faulted_chars,
            "%",
            note="false sentences and what follows",
        ),
        Row("falsified answers that were halted", float(halted), ""),
        Row("clean answers that arrived whole", float(clean), "", note=f"of the same {answers}, without the fault"),
    ]


async def measure_time(door: Door, provider: PacedProvider, asked: argparse.Namespace) -> list[Row]:
    """Return how long a reader waits for a checked stream, as shares of the unstreamed analysis."""
    whole, first, last = list[float](), list[float](), list[float]()
    for number in range(asked.rounds):
        seed = _TIMED_SEED + 2 * number
        whole.append(await door.unstreamed_s(*falsified(asked.timed_claims, seed, false_at=None)))
        said, facts = falsified(asked.timed_claims, seed + 1, false_at=None)
        read = await door.streamed(said, facts, WARNING, asked.tokens_per_s)
        text = " ".join(said)
        writing_s = len(said[0].split()) / asked.tokens_per_s
        first.append(read.first_at - provider.first_at[text] - writing_s)
        last.append(read.ended_at - provider.last_at[text])
    base = statistics.median(whole)
    note = f"{asked.timed_claims} claims, {asked.tokens_per_s:g} tokens/s, {asked.rounds} rounds"
    rows = [Row("the same answer unstreamed", 1000.0 * base, "ms", note=note)]
    for name, found in (("first sentence written to first released", first), ("last token to our last byte", last)):
        median = statistics.median(found)
        aim = f"{median / base:.2f} of the unstreamed; aim: at most {TARGET:g}"
        rows.append(Row(name, 1000.0 * median, "ms", note=aim))
    return rows


async def run(asked: argparse.Namespace, folder: Path) -> None:
    """Serve the suite before the provider, measure, and print each table when it is done."""
    provider, port = PacedProvider(), free_port()
    async with provider.serving() as upstream:
        given = {
            "GROUNDTRAIL_HTTP__PORT": str(port),
            "GROUNDTRAIL_HTTP__CALL_TIMEOUT_S": "300",
            "GROUNDTRAIL_LLM__BASE_URL": upstream,
            "GROUNDTRAIL_CHAT__MODE": "check",
        }
        serving = Installation(sys.executable, folder).serving(given=given)
        await asyncio.to_thread(serving.__enter__)
        try:
            async with httpx.AsyncClient(timeout=600.0, trust_env=False) as http:
                door = Door(http, f"http://127.0.0.1:{port}/v1")
                await door.streamed(*falsified(2, _TIMED_SEED - 1, false_at=None))  # loads the models
                if asked.rounds:
                    show("A checked stream and its reader", await measure_time(door, provider, asked))
                if asked.answers:
                    show("Hold-back with the real judge", await measure_release(door, asked.answers, asked.claims))
        finally:
            await asyncio.to_thread(serving.__exit__, None, None, None)


def main(argv: list[str] | None = None) -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--answers", type=int, default=200, help="falsified answers; 0 = none")
    parser.add_argument("--claims", type=int, default=6, help="sentences of each")
    parser.add_argument("--timed-claims", type=int, default=36, help="sentences of the answers that are timed")
    parser.add_argument("--tokens-per-s", type=float, default=50.0)
    parser.add_argument("--rounds", type=int, default=3, help="timed answers; 0 = none")
    asked = parser.parse_args(argv)
    print(machine())
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(run(asked, Path(folder)))


if __name__ == "__main__":
    main()
