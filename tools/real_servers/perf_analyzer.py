"""NVIDIA's perf_analyzer: the load generator that the KServe v2 world measures with.

The wheel of its own name has no binary for this C library; an older client wheel carries one that runs. It also wants
two libraries that the server's package brings.
"""

import csv
import json
import os
import subprocess
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tools.real_servers.provisioning import RealServerError, download, provisioned
from tools.real_servers.triton import TritonInstallation

BINARY: Final = "perf_analyzer"
WINDOW_MS: Final = 1500
"""One measurement window."""
STABILITY_PERCENT: Final = 999
"""Windows may differ so much: a busy machine must not make it measure for ever."""
WINDOWS: Final = 3
DEADLINE_S: Final = 180
"""Longest run for one concurrency; it ends by itself long before."""
_LIBRARIES: Final = {"libb64.so.0d": "libb64-*.so.0d", "libcudart.so.12": "libcudart-*.so.12*"}


@dataclass(frozen=True, slots=True)
class Load:
    """What is sent.

    Attributes:
        model: the model's name.
        tokens: length of every request's one text.
        concurrency: requests in flight, each sent when the one before it was answered.
    """

    model: str
    tokens: int
    concurrency: int


@dataclass(frozen=True, slots=True)
class Measured:
    """What was seen.

    Attributes:
        inferences_per_s: answered requests a second.
        p50_ms: half of the answers came within this time.
        p95_ms: 95% of the answers came within this time.
    """

    load: Load
    inferences_per_s: float
    p50_ms: float
    p95_ms: float


@dataclass(frozen=True, slots=True)
class PerfAnalyzer:
    """The installed program.

    Attributes:
        binary: its path.
        libraries: folders that its libraries are loaded from.
    """

    binary: Path
    libraries: tuple[Path, ...]

    def measure(self, target: str, load: Load, ids: Sequence[int]) -> Measured:
        """Load the model on a server and return what was seen.

        Args:
            target: ``host:port`` of the server's gRPC endpoint.
            load: model, tokens, concurrency.
            ids: the token ids of the text, ``load.tokens`` of them.

        Raises:
            RealServerError: it failed, or did not end in time.
        """
        with tempfile.TemporaryDirectory(prefix="groundtrail-perf-") as folder:
            texts, table = Path(folder, "texts.json"), Path(folder, "table.csv")
            tensors = {"input_ids": list(ids), "attention_mask": [1] * len(ids)}
            data = {name: {"content": values, "shape": [len(ids)]} for name, values in tensors.items()}
            texts.write_text(json.dumps({"data": [data]}), encoding="utf-8")
            self._run(
                f"-m {load.model} -i grpc -u {target} -b 1 --concurrency-range {load.concurrency}"
                f" -p {WINDOW_MS} -s {STABILITY_PERCENT} -r {WINDOWS} --percentile 95 --verbose-csv".split()
                + [argument for name in tensors for argument in ("--shape", f"{name}:{load.tokens}")]
                + ["--input-data", str(texts), "-f", str(table)]
            )
            (row,) = csv.DictReader(table.read_text(encoding="utf-8").splitlines())
        return Measured(
            load,
            inferences_per_s=float(row["Inferences/Second"]),
            p50_ms=float(row["p50 latency"]) / 1000,
            p95_ms=float(row["p95 latency"]) / 1000,
        )

    def _run(self, arguments: Sequence[str]) -> None:
        environment = os.environ | {"LD_LIBRARY_PATH": os.pathsep.join(map(str, self.libraries))}
        try:
            done = subprocess.run(
                [str(self.binary), *arguments],
                env=environment,
                capture_output=True,
                text=True,
                timeout=DEADLINE_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise RealServerError(f"{BINARY} did not end within {DEADLINE_S} s") from None
        if done.returncode != 0:
            raise RealServerError(f"{BINARY} failed: {(done.stderr or done.stdout)[-2000:]}")


@contextmanager
def installed(server: TritonInstallation) -> Iterator[PerfAnalyzer]:
    """Yield the program, installed now unless it is there; the block's end removes the links to its libraries.

    Args:
        server: the installed Triton, whose libraries it borrows.

    Raises:
        RealServerError: it cannot be installed.
    """
    folder = provisioned(BINARY, f"{BINARY}.lock", _unpack)
    with tempfile.TemporaryDirectory(prefix="groundtrail-perf-libraries-") as links:
        for name, pattern in _LIBRARIES.items():
            Path(links, name).symlink_to(next(server.libraries.glob(pattern)))
        yield PerfAnalyzer(folder / BINARY, (Path(links), server.libraries))


def _unpack(folder: Path, pins: Path) -> None:
    download(folder, pins)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (member,) = (name for name in archive.namelist() if name.endswith(f"/bin/{BINARY}"))
        (folder / BINARY).write_bytes(archive.read(member))
    (folder / BINARY).chmod(0o755)
    wheel.unlink()
