"""Whether any text costs more than linear time: every RPC and route that takes text, every kind of repetition.

    python -m bench.linear [--whole] [--tenth N] [--calls PART…] [--kinds PART…] [--no-recogniser] [--write]
                           [--kept FILE] [--minutes N]

The suite runs in a process of its own, its encoders without their arithmetic (``bench.linear_server``), so that what is
measured is everything but inference. Each call is measured in processor seconds of that process and its children. A
text is lengthened until a call takes 0.2 s; twice that text may then take 2.5 times as long, and what 100,000
characters take, measured or reckoned from there, is at most 10 s. Meanwhile another tenant reads, and between two reads
calls an empty grpc.aio echo that the suite's process serves beside the suite, under the same load: its 99th percentile
is the reads' measure. That of an echo in a process of its own is told too. A fixed sample is measured: every call sees
25 kinds at least, every kind some calls; ``--whole`` measures every kind at every field. The sample takes long: with
``--kept`` and ``--minutes`` it is measured in several sittings (``bench.linear_costs``), each of which is a sample of
all places.
"""

import argparse
import asyncio
import contextlib
import itertools
import math
import multiprocessing
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import grpc
import httpx
import numpy as np
from rich.console import Console
from rich.table import Table

from bench.linear_calls import PLACES, Caller, Place, unplaced
from bench.linear_costs import MOST_RATIO, MOST_S, Cost, Kept
from bench.linear_kinds import KINDS, Kind
from bench.linear_load import Reads, Server, read_on, started
from bench.report import machine

FLOOR_S: Final = 0.2
LONG: Final = 100_000
HONEST: Final = 20_000
LEAST: Final = 25
"""Kinds that every call sees at least."""
FEW: Final = 5
SURE: Final = 0.7
"""What is reckoned to stay below this share of the bound is not measured at 100,000 characters."""
MOST_TIMES_ECHO: Final = 3.0
FIRST: Final = 1_500
TIMEOUT_S: Final = 120.0
DOCS: Final = Path("docs/benchmarks.md")
_HANDBOOK: Final = Path("examples/handbook")
_BEGIN: Final = "<!-- written by python -m bench.linear --write -->"
_END: Final = "<!-- end of what bench.linear writes -->"


class Measure:
    """Calls the suite and reads its processor time.

    Args:
        caller: calls as the tenant that sends hostile texts.
        server: the suite.
        read_s: processor seconds that one read of the other tenant takes.
    """

    def __init__(self, caller: Caller, server: Server, read_s: float = 0.0) -> None:
        self._caller = caller
        self._server = server
        self.read_s = read_s
        self.used_s = 0.0

    async def cost(self, place: Place, kind: Kind) -> Cost:
        """Lengthen the text until a call takes 0.2 s, then double it once more."""
        used, top = self.used_s, min(place.most, LONG)
        chars = min(FIRST, top)
        seconds, said = await self._confirmed(place, kind, chars)
        while seconds < FLOOR_S and chars < top:
            chars = min((4 if seconds < FLOOR_S / 8 else 2) * chars, top)
            seconds, said = await self._confirmed(place, kind, chars)
        if seconds < FLOOR_S:
            return Cost(place, kind, chars, seconds, None, seconds, said, self.used_s - used)
        if 2 * chars > place.most:
            chars = place.most // 2
            seconds, said = await self._made(place, kind, chars)
        twice, said = await self._made(place, kind, 2 * chars)
        if twice / seconds > MOST_RATIO:  # once more: what else goes on can cost once
            seconds = min(seconds, (await self._made(place, kind, chars))[0])
            again, said = await self._made(place, kind, 2 * chars)
            twice = min(twice, again)
            if seconds < FLOOR_S and 4 * chars <= place.most:  # it was less than it seemed: too little to measure
                chars, seconds = 2 * chars, twice
                twice, said = await self._made(place, kind, 2 * chars)
        ratio = twice / max(seconds, 0.01)
        long_s = twice * max(1.0, ratio if ratio > MOST_RATIO else 2.0) ** math.log2(max(1.0, top / (2 * chars)))
        if long_s > MOST_S * SURE and twice < MOST_S and 2 * chars < top:
            long_s, said = await self._made(place, kind, top)
        ratio_told = ratio if seconds >= FLOOR_S / 2 else None
        return Cost(place, kind, chars, seconds, ratio_told, long_s, said, self.used_s - used)

    async def _confirmed(self, place: Place, kind: Kind, chars: int) -> tuple[float, str]:
        """Return what a call costs; what is worth measuring is called twice: what else goes on can cost once."""
        seconds, said = await self._made(place, kind, chars)
        if seconds >= FLOOR_S:
            seconds = min(seconds, (await self._made(place, kind, chars))[0])
        return seconds, said

    async def _made(self, place: Place, kind: Kind, chars: int) -> tuple[float, str]:
        """Return what a call with a text of a kind costs; each text is another one than those before it."""
        return await self.spent(place, another(kind.make(chars), next(_TURNS)))

    async def spent(self, place: Place, text: str) -> tuple[float, str]:
        """Return the processor seconds of a call, the other tenant's reads taken off, and what was said."""
        before, began = self._server.processor_s(), time.perf_counter()
        said = await self._caller.call(place, text, TIMEOUT_S)
        took = time.perf_counter() - began
        seconds = max(0.0, self._server.processor_s() - before - self.read_s * took)
        self.used_s += seconds
        return seconds, said


_TURNS: Final = itertools.cycle(range(10))


def another(text: str, turn: int) -> str:
    """Return a text of the same kind whose sentences are not remembered: other digits, and some characters less.

    With the same digits, half of the sentences of a text twice as long would be known from the shorter one, and the
    ratio of the two would be that of what a cache holds.

    Args:
        text: what is changed.
        turn: by how much each digit is raised, 0-9, and how many characters are left out.
    """
    turned = "".join(str((digit + turn) % 10) for digit in range(10))
    return text[turn:].translate(str.maketrans("0123456789", turned))


@contextlib.asynccontextmanager
async def measuring(*, recogniser: bool) -> AsyncIterator[tuple[Measure, Server, Server]]:
    """Start the suite and the echo; yield what measures, the suite and the echo."""
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        flags = () if recogniser else ("--no-recogniser",)
        suite = stack.enter_context(started("suite", "--folder", folder, *flags))
        echo = stack.enter_context(started("echo"))
        address, options = suite.said["address"], (("grpc.max_receive_message_length", -1),)
        base = f"http://127.0.0.1:{suite.said['http_port']}"
        async with (
            grpc.aio.insecure_channel(address, options) as channel,
            httpx.AsyncClient(base_url=base, trust_env=False) as http,
        ):
            yield Measure(Caller(channel, http, suite.said["keys"]["writes"]), suite), suite, echo


@contextlib.asynccontextmanager
async def beside_a_reader(measure: Measure, suite: Server, echo: Server) -> AsyncIterator[Reads]:
    """Let another tenant read until the block ends; the times are there afterwards."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    arguments = (theirs, suite.said["address"], suite.said["keys"]["reads"], suite.said["echo"], echo.said["address"])
    process = context.Process(target=read_on, args=arguments, daemon=True)
    process.start()
    found = Reads()
    try:
        await asyncio.sleep(3)
        before, began = suite.processor_s(), time.perf_counter()
        await asyncio.sleep(3)
        measure.read_s = (suite.processor_s() - before) / (time.perf_counter() - began)
        yield found
    finally:
        ours.send("stop")
        done = await asyncio.to_thread(ours.poll, 300)
        if done:
            told: Reads = ours.recv()
            found.reads.extend(told.reads)
            found.echoes.extend(told.echoes)
            found.elsewhere.extend(told.elsewhere)
        process.join(10)


def honest(length: int) -> str:
    """Return prose of the handbook, of a length."""
    text = "\n\n".join(page.read_text() for page in sorted(_HANDBOOK.glob("*.md")))
    return (text * (length // len(text) + 1))[:length]


def chosen(
    places: Sequence[Place], kinds: Sequence[Kind], *, whole: bool, tenth: int | None
) -> list[tuple[Place, Kind]]:
    """Return what to measure: a fixed sample or the whole; of it a tenth when asked for.

    The sample walks through the kinds in one fixed order, from place to place, so that they are used equally often. A
    main place sees ``LEAST`` kinds and the others a few, more where the call has no main place.
    """
    if whole or len(kinds) <= LEAST:
        pairs = [(place, kind) for place in places for kind in kinds]
    else:
        step = next(step for step in range(89, 2 * len(kinds)) if math.gcd(step, len(kinds)) == 1)
        walk = itertools.cycle([kinds[at * step % len(kinds)] for at in range(len(kinds))])
        pairs = [(place, next(walk)) for place in places for _ in range(_share(place, places))]
    return pairs if tenth is None else pairs[tenth % 10 :: 10]


def _share(place: Place, places: Sequence[Place]) -> int:
    own = [other for other in places if other.method == place.method]
    if place.main:
        return LEAST
    return FEW if any(other.main for other in own) else max(FEW, math.ceil(LEAST / len(own)))


def p99_ms(times: Sequence[float]) -> float:
    """Return the 99th percentile in milliseconds."""
    return float(np.percentile(times, 99)) * 1_000 if times else math.nan


@dataclass(frozen=True, slots=True)
class Found:
    """What a run found.

    Attributes:
        absent: fields of RPCs that no service answers yet.
        about: what was measured, in words.
    """

    costs: Sequence[Cost]
    reads: Reads
    faults: Sequence[str]
    absent: Sequence[str]
    about: str


async def run(arguments: argparse.Namespace) -> int:
    """Measure, print, write; return the exit status."""
    say = Console(width=150).print
    forgotten = unplaced()
    if forgotten:
        say(f"fields that take text and are not measured: {', '.join(forgotten)}")
        return 1
    places = [place for place in PLACES if _named(place.name, arguments.calls)]
    kinds = [kind for kind in KINDS if _named(kind.name, arguments.kinds)]
    kept = Kept(arguments.kept)
    async with measuring(recogniser=not arguments.no_recogniser) as (measure, suite, echo):
        until = time.monotonic() + 60 * arguments.minutes
        await _ask_prose(measure, [place for place in places if place.name not in kept.prose], kept, until)
        asked = [(place, kept.prose[place.name]) for place in places if place.name in kept.prose]
        refused = [(place, said) for place, said in asked if said != "OK"]
        # A stream to a service that is not there ends in one error or another: its other calls tell.
        unknown = {_service(place) for place, said in refused if said.startswith("UNIMPLEMENTED")}
        absent = [place.name for place, _ in refused if _service(place) in unknown]
        faults = [f"{place.name} refuses honest prose: {said}" for place, said in refused if place.name not in absent]
        served = [place for place in places if place.name not in absent]
        pairs = chosen(served, kinds, whole=arguments.whole, tenth=arguments.tenth)
        missing = kept.missing(pairs) if len(asked) == len(places) else []
        if missing and time.monotonic() < until:
            async with beside_a_reader(measure, suite, echo) as reads:
                for number, (place, kind) in enumerate(missing):
                    if time.monotonic() > until:
                        break
                    cost = await measure.cost(place, kind)
                    kept.add(cost)
                    if not cost.holds or arguments.verbose:
                        say(f"{number}/{len(missing)} {_line(cost)}", markup=False, highlight=False)
                        sys.stdout.flush()
            kept.add_reads(reads)
    costs, reads = kept.of(pairs), kept.reads
    faults += [_line(cost) for cost in costs if not cost.holds]
    times_echo = p99_ms(reads.reads) / p99_ms(reads.echoes) if reads.echoes else math.nan
    if not times_echo <= MOST_TIMES_ECHO:
        faults.append(
            f"another tenant's read: p99 {p99_ms(reads.reads):.1f} ms, {times_echo:.1f} times the echo's "
            f"{p99_ms(reads.echoes):.1f} ms; the bound is {MOST_TIMES_ECHO:.0f}"
        )
    found = Found(costs, reads, faults, absent, _what(arguments))
    _show(found)
    if len(costs) < len(pairs):
        say(f"{len(pairs) - len(costs):,} of {len(pairs):,} pairs are not measured yet: run it again with --kept")
        return 2
    if arguments.write:
        write(found)
    return 1 if faults else 0


async def _ask_prose(measure: Measure, places: Sequence[Place], kept: Kept, until: float) -> None:
    """Send honest prose to places, while there is time, and keep what is said."""
    async for place, said in honestly(measure, places):
        kept.add_prose(place, said)
        if time.monotonic() > until:
            return


async def honestly(measure: Measure, places: Sequence[Place]) -> AsyncIterator[tuple[Place, str]]:
    """Yield what is said to honest prose of 20,000 characters, or all that the field takes, at each place."""
    for place in places:
        text = '{"note": "honest"}' if place.path == "data" else honest(min(HONEST, place.most))
        yield place, (await measure.spent(place, text))[1]


def _service(place: Place) -> str:
    return place.method.split("/")[0]


def _named(name: str, parts: Sequence[str]) -> bool:
    return not parts or any(part in name for part in parts)


def _line(cost: Cost) -> str:
    ratio = "-" if cost.ratio is None else f"{cost.ratio:.2f}"
    return (
        f"{cost.place.name}, {cost.kind.name}: {cost.seconds:.2f} s for {cost.chars:,} characters, twice the text "
        f"{ratio} times, {cost.long_s:.1f} s for the longest; {cost.said[:80]}"
    )


def _rows(costs: Sequence[Cost]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for place in dict.fromkeys(cost.place.name for cost in costs):
        own = [cost for cost in costs if cost.place.name == place]
        ratios = [cost for cost in own if cost.ratio is not None]
        steepest = max(ratios, key=lambda cost: cost.ratio or 0.0, default=None)
        dearest = max(own, key=lambda cost: cost.long_s)
        refused = sum(cost.said != "OK" for cost in own)
        rows.append(
            (
                place,
                str(len(own)),
                str(len(ratios)),
                "-" if steepest is None else f"{steepest.ratio:.2f} ({steepest.kind.name})",
                f"{dearest.long_s:.1f} s ({dearest.kind.name})",
                str(refused),
            )
        )
    return rows


_COLUMNS: Final = (
    "call and field",
    "kinds",
    "above 0.2 s",
    "steepest: twice the text",
    "dearest: longest text",
    "refused",
)


def _show(found: Found) -> None:
    table = Table(title=_about(found), title_justify="left")
    for column in _COLUMNS:
        table.add_column(column)
    for row in _rows(found.costs):
        table.add_row(*(part.replace("[", "\\[") for part in row))
    console = Console(width=150)
    console.print(table)
    for text in (_absent(found), _latency(found.reads)):
        console.print(text, markup=False, highlight=False)
    for fault in found.faults:
        console.print(f"BROKEN: {fault}", markup=False, highlight=False)
    console.print(f"{len(found.faults)} bounds broken" if found.faults else "every bound holds")


def _what(arguments: argparse.Namespace) -> str:
    part = "the whole" if arguments.whole else "the fixed sample"
    if arguments.tenth is not None:
        part = f"tenth {arguments.tenth % 10} of {part}"
    if arguments.calls or arguments.kinds:
        part += ", of calls and kinds that were named"
    return f"{part}; recogniser of names and personal data {'left out' if arguments.no_recogniser else 'included'}"


def _about(found: Found) -> str:
    about = f"{len(found.costs):,} pairs of field and kind, {found.about}"
    used = sum(cost.used_s for cost in found.costs)
    return f"{about}; processor of the process tree without ONNX arithmetic, {used:,.0f} s in all"


def _absent(found: Found) -> str:
    calls = sorted({name.split()[0] for name in found.absent})
    return f"Not served, so not measured: {', '.join(calls)}." if calls else "Every call is served."


def _latency(reads: Reads) -> str:
    return (
        f"Another tenant meanwhile: {len(reads.reads):,} reads (GetState) with a median of "
        f"{float(np.median(reads.reads or [math.nan])) * 1_000:.1f} ms and a p99 of {p99_ms(reads.reads):.1f} ms; "
        f"empty echo in the same process {float(np.median(reads.echoes or [math.nan])) * 1_000:.1f} and "
        f"{p99_ms(reads.echoes):.1f} ms, in a process of its own "
        f"{float(np.median(reads.elsewhere or [math.nan])) * 1_000:.1f} and {p99_ms(reads.elsewhere):.1f} ms."
    )


def write(found: Found) -> None:
    """Put the results into docs/benchmarks.md, in place of those before."""
    text = DOCS.read_text()
    before, begins, rest = text.partition(_BEGIN)
    after = rest.partition(_END)[2]
    if not begins:
        raise SystemExit(f"{DOCS} has no line {_BEGIN}")
    rows = [_COLUMNS, ("---",) * len(_COLUMNS), *_rows(found.costs)]
    body = [
        f"{_about(found)}. {machine()}.",
        "",
        *("| " + " | ".join(part.replace("|", "\\|") for part in row) + " |" for row in rows),
        "",
        _absent(found),
        "",
        _latency(found.reads),
        "",
        "Every bound holds." if not found.faults else f"{len(found.faults)} bounds are broken:\n",
        *(f"- {fault}" for fault in found.faults),
    ]
    DOCS.write_text(f"{before}{_BEGIN}\n" + "\n".join(body).rstrip() + f"\n{_END}{after}")


def main() -> None:
    """Measure what the command line names."""
    parser = argparse.ArgumentParser(prog="python -m bench.linear", description=__doc__.splitlines()[0])
    parser.add_argument("--tenth", type=int, metavar="N", help="measure the N-th tenth alone (0 to 9)")
    parser.add_argument("--whole", action="store_true", help="measure every kind at every field: many hours")
    parser.add_argument("--calls", nargs="*", default=[], metavar="PART", help="fields whose name holds one of these")
    parser.add_argument("--kinds", nargs="*", default=[], metavar="PART", help="kinds whose name holds one of these")
    parser.add_argument("--no-recogniser", action="store_true", help="leave out names and personal data")
    parser.add_argument("--verbose", action="store_true", help="tell every pair")
    parser.add_argument("--kept", type=Path, metavar="FILE", help="keep what was measured there, and do not repeat it")
    parser.add_argument("--minutes", type=float, default=math.inf, metavar="N", help="stop after so long; see --kept")
    parser.add_argument("--write", action="store_true", help="write the results to docs/benchmarks.md")
    raise SystemExit(asyncio.run(run(parser.parse_args())))


if __name__ == "__main__":
    main()
