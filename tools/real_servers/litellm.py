"""LiteLLM's proxy, from its package, in an environment of its own; what stands behind it is the command's own."""

import json
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

from tools.real_servers.processes import ServerProcess, free_ports
from tools.real_servers.provisioning import RealServerError, placed, provisioned, virtual_environment

NAME: Final = "LiteLLM's proxy 1.106.2"
VARIABLE: Final = "GROUNDTRAIL_TEST_LITELLM"
"""Names the program, such as /usr/bin/litellm."""
MASTER_KEY: Final = "sk-loopback"
"""What its own clients show; it listens on loopback for the time of a test."""
START_DEADLINE_S: Final = 120.0
_ANSWER_S: Final = 2.0
_ALONE: Final = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_TELEMETRY": "False", "NO_PROXY": "127.0.0.1"}


def installed() -> Path:
    """Return the program's path; it is installed now unless it is there.

    Raises:
        RealServerError: it cannot be installed.
    """
    return provisioned("litellm", "litellm.lock", virtual_environment) / "bin/litellm"


def found() -> Path:
    """Return the program's path where it was installed before.

    Raises:
        RealServerError: it was not; the message says how it is.
    """
    place = placed("litellm", "litellm.lock")
    if place is None:
        raise RealServerError(
            f"it is not installed; --install-peer does that, or {VARIABLE} names the program of another installation"
        )
    return place / "bin/litellm"


@contextmanager
def running(program: Path, configuration: Mapping[str, Any]) -> Iterator[str]:
    """Run the proxy on loopback until the block ends; yields its URL when it answers.

    Args:
        program: the proxy.
        configuration: of the proxy; a key for its clients is added.

    Raises:
        RealServerError: it ended, or did not get ready; with the end of its log.
    """
    (port,) = free_ports(1)
    with tempfile.TemporaryDirectory(prefix="groundtrail-litellm-") as place:
        written = Path(place, "config.yaml")
        whole = {**configuration, "general_settings": {"master_key": MASTER_KEY}}
        written.write_text(json.dumps(whole), encoding="utf-8")  # JSON is YAML too
        process = ServerProcess(
            [str(program), "--config", str(written), "--host", "127.0.0.1", "--port", str(port)],
            environment={"HOME": place, **_ALONE},
            log=Path(place, "litellm.log"),
        )
        try:
            process.wait_until(partial(_answers, port), START_DEADLINE_S)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.stop()


def _answers(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health/liveliness", timeout=_ANSWER_S):
            return True
    except (urllib.error.URLError, TimeoutError, ConnectionError):
        return False
