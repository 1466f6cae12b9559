"""Every benchmark in one run: ``python -m bench [NAME…]`` (``make bench``)."""

import argparse
import importlib
import sys
from typing import Final

from bench.report import machine, show

BENCHMARKS: Final = {
    "rpc_overhead": "A call through the runtime against an empty grpc.aio echo server",
    "embedding": "Embedding through the batcher against bare ONNX Runtime",
    "ingestion": "Ingestion of documents with the real embedder and stores",
    "stores": "Vector search and commits of the embedded stores",
}


def main() -> None:
    """Run the named benchmarks, all when none is named."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    names = parser.parse_args().names or list(BENCHMARKS)
    unknown = sorted(set(names) - set(BENCHMARKS))
    if unknown:
        parser.error(f"{', '.join(unknown)}: the benchmarks are {', '.join(BENCHMARKS)}")
    sys.stdout.write(f"{machine()}\n")
    for name in names:
        show(BENCHMARKS[name], importlib.import_module(f"bench.{name}").run())


if __name__ == "__main__":
    main()
