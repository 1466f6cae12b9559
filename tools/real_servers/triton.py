"""NVIDIA's Triton Inference Server on this machine's CPU, serving the encoders of a model repository.

The binary comes from a package that carries it with the Python backend alone, so that ONNX files are run by our own
backend on top of that (``deploy/triton/onnxruntime_backend``). Results name it exactly: ``NAME``.
"""

import ctypes
import os
import shutil
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import grpc
from tritonclient.grpc import service_pb2, service_pb2_grpc

from services.common.model_repository.config import parse_model_config
from tools.real_servers.processes import ServerProcess, free_ports
from tools.real_servers.provisioning import ROOT, RealServerError, provisioned, virtual_environment

NAME: Final = "Triton 2.51 with an ONNX Runtime Python backend, CPU"
VARIABLE: Final = "GROUNDTRAIL_TEST_TRITON"
"""Names a Triton that serves this model repository, ``host:port``."""
MODEL_REPOSITORY: Final = ROOT / "model_repository"
ONNX_BACKEND: Final = ROOT / "deploy/triton/onnxruntime_backend/model.py"
START_DEADLINE_S: Final = 60.0
READY_ANSWER_S: Final = 1.0
_PYTHON: Final = f"{sys.version_info.major}.{sys.version_info.minor}"


@dataclass(frozen=True, slots=True)
class TritonInstallation:
    """Where the parts lie.

    Attributes:
        environment: the virtual environment whose ``python3`` Triton's backends use.
        distribution: the package's folder of server files.
        libraries: shared libraries that the server was built with.
    """

    environment: Path
    distribution: Path
    libraries: Path


@dataclass(frozen=True, slots=True)
class RunningTriton:
    """A server that is ready.

    Attributes:
        target: ``host:port`` of its gRPC endpoint.
        process: ends it.
        models: what it serves.
    """

    target: str
    process: ServerProcess
    models: tuple[str, ...]


def installation() -> TritonInstallation:
    """Return the installed server, installed now unless it is there.

    Raises:
        RealServerError: it cannot be installed, or does not fit this machine.
    """
    folder = provisioned("triton", "triton.lock", virtual_environment)
    packages = folder / "lib" / f"python{_PYTHON}" / "site-packages"
    return TritonInstallation(folder, packages / "pytriton/tritonserver", packages / "nvidia_pytriton.libs")


def encoders(repository: Path) -> tuple[str, ...]:
    """Return the models of a repository that ONNX Runtime serves, sorted."""
    configs = (parse_model_config(path.read_text(encoding="utf-8")) for path in repository.glob("*/config.pbtxt"))
    return tuple(sorted(config.name for config in configs if config.backend == "onnxruntime"))


@contextmanager
def running(
    repository: Path = MODEL_REPOSITORY, models: tuple[str, ...] = (), port: int | None = None
) -> Iterator[RunningTriton]:
    """Serve a repository on loopback until the block ends; yields when every model is ready.

    Args:
        repository: folder of models; read, never written.
        models: what to load; empty = every encoder in it.
        port: of the gRPC endpoint; ``None`` = a free one.

    Raises:
        RealServerError: no encoder is there, or the server did not get ready; with the end of its log.
    """
    installed = installation()
    chosen = models or encoders(repository)
    if not chosen:
        raise RealServerError(f'{repository} holds no model with backend: "onnxruntime"')
    with tempfile.TemporaryDirectory(prefix="groundtrail-triton-") as folder:
        target = f"127.0.0.1:{port or free_ports(1)[0]}"
        _backends(installed, Path(folder, "backends"))
        process = ServerProcess(
            _command(installed, repository, chosen, target, Path(folder, "backends")),
            environment=_environment(installed),
            log=Path(folder, "triton.log"),
            shared_memory=r"triton_\w+_shm_region_[\w-]+",
        )
        try:
            process.wait_until(partial(is_ready, target), START_DEADLINE_S)
            yield RunningTriton(target, process, chosen)
        finally:
            process.stop()


def is_ready(target: str) -> bool:
    """Whether a Triton answers there that it has every model ready."""
    with grpc.insecure_channel(target) as channel:
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        try:
            return bool(stub.ServerReady(service_pb2.ServerReadyRequest(), timeout=READY_ANSWER_S).ready)
        except grpc.RpcError:
            return False


def _command(
    installed: TritonInstallation, repository: Path, models: tuple[str, ...], target: str, backends: Path
) -> list[str]:
    host, port = target.split(":")
    return [
        str(installed.distribution / "bin/tritonserver"),
        f"--model-repository={repository}",
        f"--backend-directory={backends}",
        "--model-control-mode=explicit",
        *(f"--load-model={model}" for model in models),
        f"--grpc-address={host}",
        f"--grpc-port={port}",
        "--allow-http=false",
        "--allow-metrics=false",
        "--exit-timeout-secs=10",
    ]


def _backends(installed: TritonInstallation, folder: Path) -> None:
    """Lay out the backends: the Python one, and ours beside a copy of its files (the server follows no links)."""
    python = installed.distribution / "backends/python"
    stub = installed.distribution / "python_backend_stubs" / _PYTHON / "triton_python_backend_stub"
    for name in ("python", "onnxruntime"):
        (folder / name).mkdir(parents=True)
        for file in (python / "libtriton_python.so", python / "triton_python_backend_utils.py", stub):
            shutil.copy(file, folder / name)
        (folder / name / stub.name).chmod(0o755)
    shutil.copy(ONNX_BACKEND, folder / "onnxruntime")


def _environment(installed: TritonInstallation) -> dict[str, str]:
    """Return the server's environment: its stub runs the first ``python3`` on PATH and loads libpython."""
    paths = [str(installed.libraries), *_libpython()]
    return {
        "PATH": os.pathsep.join([str(installed.environment / "bin"), os.environ.get("PATH", os.defpath)]),
        "LD_LIBRARY_PATH": os.pathsep.join(paths),
        "HOME": os.environ.get("HOME", "/"),
    }


def _libpython() -> list[str]:
    """Return the folder of the interpreter's shared library, nothing when the loader finds it by itself.

    Raises:
        RealServerError: there is none; the stub would hang without it.
    """
    name = f"libpython{_PYTHON}.so.1.0"
    folder = sysconfig.get_config_var("LIBDIR")
    if folder and Path(folder, name).exists():
        return [folder]
    try:
        ctypes.CDLL(name)
    except OSError:
        raise RealServerError(
            f"Triton's Python backend needs {name}; install it (Debian: libpython{_PYTHON})"
        ) from None
    return []
