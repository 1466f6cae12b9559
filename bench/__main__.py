"""Every benchmark, one after the other: ``python -m bench [NAME…]`` (``make bench``).

Long ones, those beside servers of other projects, and those that hold bounds, run only when they are named; options go
to the one that is named.
"""

import argparse
import subprocess
import sys
from typing import Final

from bench.report import machine

BENCHMARKS: Final = {
    "commands": "Processor time and memory of the commands, and the memory of each service",
    "rpc_overhead": "A call through the runtime against an empty grpc.aio echo server",
    "edge": "What strangers without a credential cost those who have one, against gRPC's own defaults",
    "embedding": "Embedding through the batcher against bare ONNX Runtime",
    "encoders": "Every encoder through the batching backend against bare ONNX Runtime",
    "ingestion": "Ingestion of documents with the real embedder and stores",
    "documents": "Reading of every kind of document against the bare library of the kind: pages per second, memory",
    "envelope": "Envelopes over up to 100,000 facts against the bare index search, and their ingestion",
    "dpe": "Answers through the provenance engine against bare ONNX Runtime over the same items",
    "guard": "Reviews of the guard against director-ai, and against bare ONNX Runtime; facts found among 10,000",
    "stores": "Vector search and commits of the embedded stores",
    "dag": "Sessions: commits against the disk's fsync, chains against bare hmac, tokens",
    "ercp": "The loop of ERCP without model time against dag's sessions alone",
    "guard_streams": "Token streams under oversight: the kernel, and gRPC against an empty bidirectional echo",
    "gateway": "What the door adds to a call of the provider, analysis off and on, and memory of an open stream",
    "fairness": "Two tenants that saturate a server, and one beside another's flood; fails when a bound is broken",
    "policy_trial": "A safety policy tried on 10,000 stored windows; how much processor time, of 10 s",
    "deadlines": "What calls with a deadline of a second leave behind, in processor time",
    "loop_latency": "An echo beside threads that compute, by their number and the switch interval",
    "ercp_solver": "Consistency of 10 to 300 predicates against Z3 asked once",
}
BESIDE_ENGINES: Final = {
    "vector_engines": "Nearest facts by our own graphs, Qdrant and Chroma beside NumPy over all vectors",
}
"""Those that need engines beside the suite: optional extras, which the development packages bring."""
LONG: Final = {
    "gateway_streams": "500 slow streams through the door: what is shed, what they hold, whether it grows",
    "gateway_judge": "Hold-back with the real judge: what of falsified answers left, how long a reader waits",
}
HELD: Final = {
    "linear": "Every call that takes text with every kind of repetition: linear time, and a tenant beside it",
}
"""Those with bounds of their own that fail; `make test-faults` runs them whole."""
BESIDE_SERVERS: Final = {
    "milvus": "Facts on a real Milvus against NumPy over all vectors",
    "real_stores": "Envelopes over 100,000 facts on a real Milvus and a real Neo4j against bare Milvus search",
}


def main() -> None:
    """Run the named benchmarks, all when none is named."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    known = [*BENCHMARKS, *LONG, *HELD, *BESIDE_ENGINES, *BESIDE_SERVERS]
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(known))
    given, options = parser.parse_known_args()
    names = given.names or list(BENCHMARKS)
    if options and len(names) != 1:
        parser.error(f"{' '.join(options)}: options go to one benchmark")
    unknown = sorted(set(names) - set(known))
    if unknown:
        parser.error(f"{', '.join(unknown)}: the benchmarks are {', '.join(known)}")
    sys.stdout.write(f"{machine()}\n")
    sys.stdout.flush()
    for name in names:  # a process each, so that peak memory is its own
        subprocess.run([sys.executable, "-m", f"bench.{name}", *options], check=True)


if __name__ == "__main__":
    main()
