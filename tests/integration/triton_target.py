"""Which Triton the tests use: the one that GROUNDTRAIL_TEST_TRITON names (``make test-real`` starts one)."""

import os

import pytest

from tools.real_servers.triton import VARIABLE, is_ready


def triton_target() -> str:
    """Return ``host:port``; unset: the test is skipped; set, and nobody is ready there: it fails."""
    target = os.environ.get(VARIABLE, "")
    if not target:
        pytest.skip(f"set {VARIABLE} to host:port of a Triton that serves model_repository/, as make test-real does")
    if not is_ready(target):
        pytest.fail(f"{VARIABLE} is set, and no Triton is ready at {target}")
    return target
