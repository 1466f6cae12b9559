"""The official packages for Node, unchanged, before the real suite: base URL and key are all that is told."""

import os
import shutil
from pathlib import Path

import pytest

from tests.e2e.chat_clients import FEE, seen_by
from tools.real_servers import node_clients

pytestmark = [pytest.mark.needs_node, pytest.mark.timeout(300)]

PROGRAM = Path(__file__).with_name("node_program.mjs")


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """Yield what the program saw; it lies beside the packages, where Node looks for them."""
    packages = os.environ.get(node_clients.VARIABLE, "")
    if not packages:
        pytest.skip(f"set {node_clients.VARIABLE} to a folder with node_modules, as make test-real does")
    folder = tmp_path_factory.mktemp("node")
    (folder / "node_modules").symlink_to(Path(packages, "node_modules").resolve())
    program = shutil.copy(PROGRAM, folder)
    return seen_by(folder, "node", str(program), forms=["LLM", "ANTHROPIC"], cwd=folder)


@pytest.fixture(params=["openai", "anthropic"])
def package(request, seen):
    return request.param, seen[request.param]


def test_a_true_answer_arrives_with_object_and_headers(package):
    _, found = package
    assert found["plain"] == [FEE, "check"]
    header, level = found["header"]
    assert header == level == "LOW"


def test_streams_arrive_whole_and_end_before_what_is_wrong(package):
    name, found = package
    done, halted = {"openai": ("stop", "content_filter"), "anthropic": ("end_turn", "refusal")}[name]
    assert found["stream"] == [FEE, done]
    assert found["halted"] == [FEE, halted]


def test_refusals_are_the_packages_own_errors_with_our_reason(package):
    _, found = package
    assert found["withheld"] == ["APIError", 451, "ANSWER_WITHHELD"]
    assert found["nobody"] == ["AuthenticationError", 401, "CREDENTIAL_INVALID"]
