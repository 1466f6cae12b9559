"""What decides whether a test that needs a server skips, fails or runs; each case in its own pytest."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conformance import provider
from tests.patience import patient

ROOT = Path(__file__).resolve().parents[2]
VARIABLE = "GROUNDTRAIL_TEST_LLM_BASE_URL"

pytestmark = pytest.mark.slow


def outcome(**variables: str) -> subprocess.CompletedProcess:
    kept = {
        k: v for k, v in os.environ.items() if not k.startswith(("GROUNDTRAIL_TEST_", "REQUIRE_", "COV_", "PYTEST_"))
    }
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/integration/test_llm_endpoint.py"],
        cwd=ROOT,
        env=kept | variables,
        capture_output=True,
        text=True,
        timeout=patient(55),
        check=False,
    )


def test_unset_skips_and_names_the_variable():
    done = outcome()
    assert done.returncode == 0, done.stdout
    assert "2 skipped" in done.stdout
    assert f"set {VARIABLE}" in done.stdout


@pytest.mark.whole
def test_unset_fails_where_backends_are_required():
    done = outcome(REQUIRE_BACKENDS="1")
    assert done.returncode == 1, done.stdout
    assert "REQUIRE_BACKENDS=1 and needs_llm is not there" in done.stdout
    assert f"set {VARIABLE}" in done.stdout


@pytest.mark.whole
def test_set_and_not_to_be_reached_fails():
    done = outcome(**{VARIABLE: "http://127.0.0.1:9/v1"})
    assert done.returncode == 1, done.stdout
    assert f"{VARIABLE} is set, and the endpoint cannot be reached" in done.stdout


@pytest.mark.whole
def test_set_and_there_runs():
    with provider.running() as fake:
        fake.text = "Blue."
        done = outcome(**{VARIABLE: fake.base_url})
    assert done.returncode == 0, done.stdout
    assert "2 passed" in done.stdout
    assert len(fake.completions) == 2
