"""Encoders on a real Triton under perf_analyzer: latency and throughput by text length and concurrency.

One text a request, as many requests in flight as the concurrency says; Triton forms the batches. Starts a Triton of its
own unless ``--target`` or GROUNDTRAIL_TEST_TRITON names one. Every run is bounded, so that the whole ends by itself:
about 8 s for each line.

    python -m bench.triton_sweep [--model NAME…] [--tokens 64,128,256] [--concurrency 1,2,4,8,16] [--json]
"""

import argparse
import json
import os
import random
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Final

from rich.console import Console
from rich.table import Table

from bench.report import machine
from tools.real_servers import perf_analyzer, triton
from tools.real_servers.perf_analyzer import Load, Measured, PerfAnalyzer
from tools.real_servers.provisioning import supported

TOKENS: Final = (64, 128, 256)
CONCURRENCY: Final = (1, 2, 4, 8, 16)
SEED: Final = 20_250_101
ORDINARY_IDS: Final = range(1_000, 20_000)
"""Ids of whole words in the vocabularies of all encoders here."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print a table, or with ``--json`` one object."""
    options = _parser().parse_args(arguments)
    reason = supported()
    if reason and options.if_possible:
        print(f"Nothing is measured: {reason}.", file=sys.stderr)
        return 0
    loads = [
        Load(model, tokens, concurrency)
        for model in options.model or triton.encoders(triton.MODEL_REPOSITORY)
        for tokens in options.tokens
        for concurrency in options.concurrency
    ]
    with perf_analyzer.installed(triton.installation()) as analyzer, _server(options.target) as (name, target):
        results = [_measured(analyzer, target, load, quiet=options.json) for load in loads]
    if options.json:
        print(json.dumps({"server": name, "machine": machine(), "results": [asdict(result) for result in results]}))
    else:
        Console(width=120).print(_table(f"{name} ({machine()})", results))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.triton_sweep", description=__doc__)
    parser.add_argument("--model", action="append", default=[], metavar="NAME", help="repeatable; all encoders")
    parser.add_argument("--tokens", type=_numbers, default=TOKENS, metavar="N,N", help="lengths of texts")
    parser.add_argument("--concurrency", type=_numbers, default=CONCURRENCY, metavar="N,N", help="requests in flight")
    parser.add_argument(
        "--target",
        default=os.environ.get(triton.VARIABLE),
        metavar="HOST:PORT",
        help=f"a Triton that runs already (default: the one that {triton.VARIABLE} names)",
    )
    parser.add_argument("--if-possible", action="store_true", help="do nothing where perf_analyzer does not run")
    parser.add_argument("--json", action="store_true", help="one object instead of a table")
    return parser


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(","))


@contextmanager
def _server(target: str | None) -> Iterator[tuple[str, str]]:
    if target:
        yield f"Triton at {target}", target
        return
    with triton.running() as server:
        yield triton.NAME, server.target


def _measured(analyzer: PerfAnalyzer, target: str, load: Load, *, quiet: bool) -> Measured:
    result = analyzer.measure(target, load, _ids(load.tokens))
    if not quiet:
        print(
            f"{load.model} {load.tokens} tokens, {load.concurrency} in flight: {result.inferences_per_s:.1f}/s",
            flush=True,
        )
    return result


def _ids(tokens: int) -> list[int]:
    """Return the ids of a text, the same on every machine."""
    chance = random.Random(SEED)  # noqa: S311 - a fixed workload, no secret
    return [chance.choice(ORDINARY_IDS) for _ in range(tokens)]


def _table(title: str, results: Sequence[Measured]) -> Table:
    table = Table(title=title, title_justify="left")
    for column in ("model", "tokens", "concurrency", "inferences/s", "p50 ms", "p95 ms"):
        table.add_column(column, justify="left" if column == "model" else "right")
    for result in results:
        load = result.load
        figures = (f"{result.inferences_per_s:,.1f}", f"{result.p50_ms:,.1f}", f"{result.p95_ms:,.1f}")
        table.add_row(load.model, str(load.tokens), str(load.concurrency), *figures)
    return table


if __name__ == "__main__":
    sys.exit(main())
