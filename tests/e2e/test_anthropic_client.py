"""Anthropic's official package, unchanged, before the real suite, and guarded before a provider of its own."""

import os
from pathlib import Path

import pytest

from tests.e2e.chat_clients import FEE, seen_by
from tools.real_servers import anthropic_client

pytestmark = [pytest.mark.needs_anthropic, pytest.mark.timeout(300)]

PROGRAM = Path(__file__).with_name("anthropic_program.py")


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """Yield what the program saw."""
    interpreter = os.environ.get(anthropic_client.VARIABLE, "")
    if not interpreter:
        pytest.skip(f"set {anthropic_client.VARIABLE} to a Python that has the package, as make test-real does")
    return seen_by(tmp_path_factory.mktemp("anthropic"), interpreter, str(PROGRAM), forms=["ANTHROPIC"])


def test_a_true_answer_arrives_with_object_and_headers(seen):
    assert seen["plain"] == [FEE, "end_turn", "check"]
    header, level = seen["header"]
    assert header == level


def test_a_stream_arrives_whole(seen):
    assert seen["stream"] == [f"{FEE} ", "end_turn"]


def test_a_stream_ends_before_what_is_wrong(seen):
    text, reason = seen["halted"]
    assert (text.strip(), reason) == (FEE, "refusal")


def test_refusals_are_the_packages_own_errors_with_our_reason(seen):
    assert seen["withheld"] == ["APIStatusError", 451, "ANSWER_WITHHELD"]
    assert seen["nobody"] == ["AuthenticationError", 401, "CREDENTIAL_INVALID"]
    assert seen["refused"] == ["BadRequestError", 400, "INVALID_FIELD"]


def test_the_deployments_own_answer_has_its_form(seen):
    assert seen["ground"] == ["message", "ground"]


@pytest.mark.parametrize("kind", ["waiting", "asynchronous"])
def test_a_guarded_client_before_a_provider_of_its_own(seen, kind):
    """Plain, raw, streamed and by ``stream()``: of a wrong answer only what stands before it arrives."""
    guarded = seen[f"guarded {kind}"]
    assert guarded["true"] == [FEE] * 5
    assert guarded["wrong"] == [["", "HIGH"]] * 2 + [[FEE, "HIGH"]] * 3
    assert guarded["around"] == "NOT_GUARDED"
