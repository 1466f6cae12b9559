"""Milvus standalone on this machine, from the package that carries its binary; and milvus-lite, served on a port.

The binary is unpacked into the installation, its configuration written for every new home: free ports for all its
parts, the embedded etcd's by a file of its own, so that several can run. Milvus binds most of its ports on every
interface; nothing in them is protected, so use it where nobody else is.
"""

import lzma
import os
import re
import shutil
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from tools.real_servers.processes import ServerProcess, free_ports
from tools.real_servers.provisioning import provisioned, virtual_environment

NAME: Final = "Milvus 2.3.5 standalone"
LITE_NAME: Final = "milvus-lite 3.2.2"
VARIABLE: Final = "GROUNDTRAIL_TEST_MILVUS_URI"
"""Names a Milvus in which the tests may make collections of their own, ``http://host:port``."""
LITE_VARIABLE: Final = "GROUNDTRAIL_TEST_MILVUS_LITE_URI"
"""Names a milvus-lite, likewise."""
START_DEADLINE_S: Final = 120.0
READY_ANSWER_S: Final = 5.0
_PYTHON: Final = f"{sys.version_info.major}.{sys.version_info.minor}"
_UNPACKED: Final = "server"
_TICK: Final = ("timeTickInterval: 200 ", "timeTickInterval: 20 ")
"""How often Milvus says which moment it has reached, in ms: what reads that wait for writes wait for. Tests do much of
that; nothing else about Milvus changes, and figures are taken with its own value."""
RECOMMENDED: Final = {"QUERYNODE_SEGCORE_INTERIMINDEX_ENABLEINDEX": "false"}
"""What docs/how-to/milvus.md advises every operator to set."""
_ETCD: Final = """\
name: default
listen-client-urls: http://127.0.0.1:{client}
advertise-client-urls: http://127.0.0.1:{client}
listen-peer-urls: http://127.0.0.1:{peer}
initial-advertise-peer-urls: http://127.0.0.1:{peer}
initial-cluster: default=http://127.0.0.1:{peer}
"""
_EMBEDDED: Final = "    embed: true "
_BLANK: Final = re.compile(r"\{\{\s*(\w+)\s*(?:\(\w+\))?\s*(?::(.*?))?\}\}")


@dataclass(frozen=True, slots=True)
class MilvusHome:
    """One server's data and configuration; it can be started again after its end.

    Attributes:
        folder: holds all that it writes.
        port: where it answers.
        health_port: where it says whether it is ready.
    """

    folder: Path
    port: int
    health_port: int

    @property
    def uri(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}"


def installation() -> Path:
    """Return the folder of the server's files, installed now unless it is there.

    Raises:
        RealServerError: it cannot be installed, or does not fit this machine.
    """
    return provisioned("milvus", "milvus.lock", _install) / _UNPACKED


def new_home(folder: Path, *, impatient: bool = True) -> MilvusHome:
    """Lay out an empty server in a folder; ``impatient`` = with shorter ticks than its own."""
    files = installation()
    text = (files / "config.yaml.template").read_text(encoding="utf-8")
    blanks = [match.group(1) for match in _BLANK.finditer(text)]
    ports = [name for name in blanks if name.endswith("_port")]
    *chosen, health_port, client, peer = free_ports(len(ports) + 3)
    values = dict(zip(ports, map(str, chosen), strict=True)) | {
        "etcd_log_path": str(folder / "logs/etcd.log"),
        "etcd_log_level": "warn",
        "system_log_path": str(folder / "logs"),
        "etcd_data_dir": str(folder / "data/etcd"),
        "local_storage_dir": str(folder / "data"),
        "rocksmq_data_dir": str(folder / "data/rocksmq"),
    }
    for name in ("configs", "data", "logs"):
        (folder / name).mkdir(parents=True)
    filled = _BLANK.sub(lambda match: values.get(match.group(1), (match.group(2) or "").strip()), text)
    etcd = folder / "configs/etcd.yaml"
    etcd.write_text(_ETCD.format(client=client, peer=peer), encoding="utf-8")
    filled = filled.replace("  use:\n" + _EMBEDDED, f"  config:\n    path: {etcd}\n  use:\n" + _EMBEDDED)
    if impatient:
        filled = filled.replace(*_TICK)
    (folder / "configs/milvus.yaml").write_text(filled, encoding="utf-8")
    shutil.copy(files / "glog.conf", folder / "configs/glog.conf")
    return MilvusHome(folder, int(values["proxy_port"]), health_port)


def start(home: MilvusHome) -> ServerProcess:
    """Start a server on its data and return when it answers; the caller ends it.

    Raises:
        RealServerError: it did not get ready; with the end of its log.
    """
    files = installation()
    process = ServerProcess(
        [str(files / "milvus"), "run", "standalone"],
        environment={
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(home.folder),
            "LD_LIBRARY_PATH": str(files),
            "DEPLOY_MODE": "STANDALONE",
            "METRICS_PORT": str(home.health_port),
            "MILVUS_RUN_DIR": str(home.folder / "run"),
            **RECOMMENDED,
        },
        log=home.folder / "milvus.log",
        folder=home.folder,
    )
    process.wait_until(partial(_is_healthy, home), START_DEADLINE_S)
    return process


@contextmanager
def running() -> Iterator[tuple[MilvusHome, ServerProcess]]:
    """Serve an empty Milvus until the block ends, then delete it.

    Raises:
        RealServerError: it cannot be installed or started.
    """
    with tempfile.TemporaryDirectory(prefix="groundtrail-milvus-", ignore_cleanup_errors=True) as folder:
        home = new_home(Path(folder))
        process = start(home)
        try:
            yield home, process
        finally:
            process.kill()  # asked to end it would wait for itself, in vain; its data are deleted anyway


@contextmanager
def running_lite() -> Iterator[tuple[str, ServerProcess]]:
    """Serve an empty milvus-lite until the block ends, then delete it; yields where it listens.

    Raises:
        RealServerError: it cannot be installed or started.
    """
    environment = provisioned("milvus-lite", "milvus_lite.lock", virtual_environment)
    with tempfile.TemporaryDirectory(prefix="groundtrail-milvus-lite-", ignore_cleanup_errors=True) as folder:
        (port,) = free_ports(1)
        uri = f"http://127.0.0.1:{port}"
        process = ServerProcess(
            [
                str(environment / "bin/milvus-lite"),
                *("server", "--data-dir", str(Path(folder, "data")), "--host", "127.0.0.1", "--port", str(port)),
            ],
            environment={"PATH": os.environ.get("PATH", os.defpath), "HOME": folder},
            log=Path(folder, "milvus-lite.log"),
        )
        try:
            process.wait_until(partial(is_ready, uri), START_DEADLINE_S)
            yield uri, process
        finally:
            process.stop()


def is_ready(uri: str) -> bool:
    """Whether a Milvus answers there."""
    from pymilvus import MilvusClient
    from pymilvus.exceptions import MilvusException

    try:
        client = MilvusClient(uri, timeout=READY_ANSWER_S, dedicated=True)
    except MilvusException:
        return False
    client.close()
    return True


def _is_healthy(home: MilvusHome) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{home.health_port}/healthz", timeout=READY_ANSWER_S) as answer:
            healthy = answer.read() == b"OK"
    except (OSError, urllib.error.URLError):
        return False
    return healthy and is_ready(home.uri)


def _install(folder: Path, pins: Path) -> None:
    """Install the package and unpack the binary and its libraries."""
    virtual_environment(folder, pins)
    data = folder / "lib" / f"python{_PYTHON}" / "site-packages/milvus/data"
    unpacked = folder / _UNPACKED
    unpacked.mkdir()
    for packed in sorted((data / "bin").glob("*.lzma")):
        target = unpacked / packed.stem
        with lzma.open(packed) as source, target.open("wb") as sink:
            shutil.copyfileobj(source, sink)
        target.chmod(0o755)
        packed.unlink()
    for name in ("config.yaml.template", "glog.conf"):
        shutil.copy(data / name, unpacked)
