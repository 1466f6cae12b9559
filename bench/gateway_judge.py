"""Hold-back with the real judge: what of falsified answers left, and how long a checked stream lets its reader wait.

    python -m bench.gateway_judge [--answers 200] [--claims 6] [--within-s S] [--rounds 3] [--timed-claims 36]
        [--tokens-per-s 50] [--each FILE]

Answers are those of ``bench.dpe_corpus``: true sentences about invented offices in other words than the facts, which
stand in the system message. In each falsified one a sentence has another office's figure; the policy is ``halt-on
HIGH``. Its first byte at the client counts as released. The same answers without the fault say what hold-back costs
faithful ones. ``--within-s`` ends that part after so many seconds, and the table says how many answers it is of;
``--each`` writes what left of every answer, falsified and faithful, as lines of JSON. The times are of one long clean
answer at the pace of a model, against an answer of the same kind unstreamed, its analysis included; the judge has seen
neither before. No deadline leaves a stage out, however busy the machine is.
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
from dataclasses import asdict, dataclass
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


@dataclass(frozen=True, slots=True)
class Pair:
    """What left of an answer with one false sentence, and of the same answer without.

    Attributes:
        seed: of the answer.
        false_at: which sentence is false.
        faulted: characters of the false sentence and of what follows it.
        left: so many of them left.
        halted: the stream was ended as withheld.
        faithful: characters of the faithful answer.
        faithful_left: so many of them left.
    """

    seed: int
    false_at: int
    faulted: int
    left: int
    halted: bool
    faithful: int
    faithful_left: int


async def ask_pairs(door: Door, asked: argparse.Namespace) -> list[Pair]:
    """Return what left of each answer; fewer than asked for where the time was over."""
    drawn = random.Random(_SEED)  # noqa: S311 - places of faults, the same each time
    ends_at, found = time.perf_counter() + asked.within_s, list[Pair]()
    for seed in range(asked.answers):
        false_at = drawn.randrange(asked.claims)
        if time.perf_counter() >= ends_at:
            break
        said, facts = falsified(asked.claims, seed, false_at=false_at)
        read = await door.streamed(said, facts)
        true, facts = falsified(asked.claims, seed, false_at=None)
        whole = await door.streamed(true, facts)
        faulted, faithful = len(" ".join(said[false_at:])), len(" ".join(true))
        left = released(read, said, false_at)
        found.append(Pair(seed, false_at, faulted, left, read.halted, faithful, len(whole.text)))
        if asked.each is not None:
            with asked.each.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(found[-1])) + "\n")
    return found


def release_rows(found: Sequence[Pair], asked: argparse.Namespace) -> list[Row]:
    """Return how much of falsified answers left, and how many faithful ones did not."""
    none = sum(not one.left for one in found)
    everything = sum(one.left >= one.faulted for one in found)
    share = 100.0 * sum(one.left for one in found) / sum(one.faulted for one in found)
    whole = sum(one.faithful_left == one.faithful for one in found)
    nothing = sum(not one.faithful_left for one in found)
    kept = 100.0 * sum(one.faithful_left for one in found) / sum(one.faithful for one in found)
    note = f"of {len(found)} answers of {asked.claims} sentences, one false, {POLICY}"
    return [
        Row("falsified: nothing of what is faulted left", float(none), "", note=note),
        Row("falsified: a part left", float(len(found) - none - everything), ""),
        Row("falsified: everything left", float(everything), "", note="the judge found no fault"),
        Row("falsified: ended as withheld", float(sum(one.halted for one in found)), ""),
        Row("share of what was faulted that left", share, "%", note="false sentences and what follows"),
        Row("faithful: arrived whole", float(whole), "", note="of the same answers, without the fault"),
        Row("faithful: a part arrived", float(len(found) - whole - nothing), ""),
        Row("faithful: nothing arrived", float(nothing), ""),
        Row("share of faithful answers that left", kept, "%"),
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
            "GROUNDTRAIL_HTTP__CALL_TIMEOUT_S": "3600",
            "GROUNDTRAIL_HTTP__RUN_TIMEOUT_S": "3600",
            "GROUNDTRAIL_LLM__BASE_URL": upstream,
            "GROUNDTRAIL_CHAT__MODE": "check",
        }
        serving = Installation(sys.executable, folder).serving(given=given)
        await asyncio.to_thread(serving.__enter__)
        try:
            async with httpx.AsyncClient(timeout=3_600.0, trust_env=False) as http:
                door = Door(http, f"http://127.0.0.1:{port}/v1")
                await door.streamed(*falsified(2, _TIMED_SEED - 1, false_at=None))  # loads the models
                if asked.rounds:
                    show("A checked stream and its reader", await measure_time(door, provider, asked))
                if asked.answers and (found := await ask_pairs(door, asked)):
                    show("Hold-back with the real judge", release_rows(found, asked))
        finally:
            await asyncio.to_thread(serving.__exit__, None, None, None)


def main(argv: list[str] | None = None) -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--answers", type=int, default=200, help="falsified answers; 0 = none")
    parser.add_argument("--claims", type=int, default=6, help="sentences of each")
    parser.add_argument("--within-s", type=float, default=float("inf"), help="longest time for the answers, in seconds")
    parser.add_argument("--each", type=Path, help="a file for what left of each answer; lines are added")
    parser.add_argument("--timed-claims", type=int, default=36, help="sentences of the answers that are timed")
    parser.add_argument("--tokens-per-s", type=float, default=50.0)
    parser.add_argument("--rounds", type=int, default=3, help="timed answers; 0 = none")
    asked = parser.parse_args(argv)
    print(machine())
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(run(asked, Path(folder)))


if __name__ == "__main__":
    main()
