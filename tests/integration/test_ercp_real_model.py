"""The ERCP loop with the real language model that GROUNDTRAIL_TEST_LLM_BASE_URL names; unset: skipped.

It has to end and to say how. Whether it converges is the model's affair and is reported, not demanded.
"""

import os
import sys

import pytest

from evaluation.ercp_problems import load
from evaluation.ercp_system import open_system
from services.common.settings import Settings
from services.common.settings.llm import LlmSettings

VARIABLE = "GROUNDTRAIL_TEST_LLM_BASE_URL"
ROUNDS = 3
CONFIG = {"max_iterations": ROUNDS, "max_tokens": 120}
ENDS = {"converged", "infeasible", "partial", "failed"}

pytestmark = [pytest.mark.needs_llm, pytest.mark.timeout(600)]


@pytest.fixture
async def system(tmp_path):
    """Yield the whole suite beside the endpoint."""
    base_url = os.environ.get(VARIABLE, "")
    if not base_url:
        pytest.skip(f"set {VARIABLE} to an OpenAI-compatible endpoint, e.g. http://127.0.0.1:8000/v1")
    given = {
        "api_key": os.environ.get("GROUNDTRAIL_TEST_LLM_API_KEY"),
        "model": os.environ.get("GROUNDTRAIL_TEST_LLM_MODEL"),
    }
    llm = LlmSettings(base_url=base_url, timeout_s=120, **{name: value for name, value in given.items() if value})
    async with open_system(Settings(llm=llm), tmp_path, None) as opened:
        yield opened


async def test_the_loop_ends_and_says_how(system, record_property, capsys):
    problem = next(one for one in load("development") if one.id == "boiling-altitude")
    outcome, answer = await system.run(problem, CONFIG)
    for name, value in (("status", outcome.status), ("reason", outcome.reason), ("iterations", outcome.iterations)):
        record_property(name, value)
    with capsys.disabled():
        told = f"{outcome.status} ({outcome.reason}) after {outcome.iterations} rounds, {outcome.seconds:.1f} s"
        sys.stdout.write(f"\n{problem.id}: {told}\n")
    assert outcome.status in ENDS
    assert outcome.reason
    assert 1 <= outcome.iterations <= ROUNDS
    assert outcome.final_text.strip()
    events = answer["trace_events"]
    assert [event["operator"] for event in events[:2]] == ["OPERATOR_GENERATE", "OPERATOR_VERIFY"]
    assert all(event["node_signature"].startswith("hmac:") for event in events)
    assert all(event["model_fingerprint"].startswith("sha256:") for event in events)
