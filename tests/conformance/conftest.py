"""Which server is tested, and with what credential.

``--target embedded`` (the default) starts the suite in one process through its command; ``--target host:port`` tests
any server that speaks the contract, with ``--api-key`` of a tenant that the tests may write to.
"""

import json
from contextlib import contextmanager

import pytest

from tests.conformance import provider
from tests.conformance.levels import MARKER, reached, told
from tests.conformance.wire import DOCUMENT, NEXT_QUESTION, QUESTION, Client
from tests.e2e.processes import command, environment, start

EMBEDDED = "embedded"
PROVIDER_KEY = "key-for-the-provider-alone"
REGION = "EU"


def pytest_addoption(parser):
    group = parser.getgroup("conformance")
    group.addoption("--target", default=EMBEDDED, help="embedded, or host:port of the server to test")
    group.addoption("--api-key", default="", help="credential with the role writer, for a host:port target")


OUTCOMES = pytest.StashKey[list]()


def pytest_configure(config):
    config.addinivalue_line("markers", f"{MARKER}(names): rows of CRP-SPEC-014 that the test shows (levels.py)")
    config.stash[OUTCOMES] = []


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Keep what came of a test with the rows that it belongs to: of its call, or of a setup that ended it."""
    report = yield
    if report.when == "call" or not report.passed:
        rows = [name for mark in item.iter_markers(MARKER) for name in mark.args]
        item.config.stash[OUTCOMES] += [(name, report.outcome) for name in rows]
    return report


def pytest_terminal_summary(terminalreporter, config):
    """Say which level the run has shown."""
    if config.stash[OUTCOMES]:
        terminalreporter.section("CRP-SPEC-014")
        for line in told(reached(config.stash[OUTCOMES])):
            terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def target(request) -> str:
    return request.config.getoption("--target", EMBEDDED)


def _key(folder, env) -> str:
    made = command(folder, "keys", "create", "--label", "conformance", "--role", "writer", "--json", env=env)
    assert made.returncode == 0, made.stdout + made.stderr
    return json.loads(made.stdout)["api_key"]


@contextmanager
def _embedded(folder, **settings: str):
    """Run the suite in one process and yield its address and a key."""
    env = environment(folder / "data", **settings)
    key = _key(folder, env)
    server = start(folder, "conformance", env=env)
    try:
        yield server.address, key
    finally:
        assert server.stop() == 0


@pytest.fixture(scope="session")
def address(request, target, tmp_path_factory):
    """Yield address and credential of the server under test."""
    if target != EMBEDDED:
        yield target, request.config.getoption("--api-key", "")
        return
    with _embedded(tmp_path_factory.mktemp("conformance")) as pair:
        yield pair


@pytest.fixture(scope="session")
def client(address):
    """A writer of a tenant that knows the lighthouse rules."""
    one = Client(*address)
    one.ingest(DOCUMENT, "file:conformance-lighthouse.md")
    yield one
    one.channel.close()


@pytest.fixture(scope="session")
def first(client):
    """The outcome of the first question; nothing may continue it but ``second``."""
    return client.dispatch(QUESTION)


@pytest.fixture(scope="session")
def second(client, first):
    """The outcome of the question that continues the first."""
    return client.dispatch(
        NEXT_QUESTION,
        session_token=first.answer.session_token,
        continuation_ids=[first.answer.continuation_id],
    )


@pytest.fixture(scope="session")
def halted(client):
    """An outcome that every answer has under a policy which halts from the lowest level."""
    return client.dispatch(QUESTION, safety_policy="halt-on LOW")


@pytest.fixture(scope="session")
def not_modified(client, first):
    """The outcome for a caller that already has the envelope."""
    return client.dispatch(QUESTION, if_match=first.answer.envelope.etag)


@pytest.fixture(scope="session")
def llm(target, tmp_path_factory):
    """Yield a fake provider and a client of a server that is configured to use it."""
    if target != EMBEDDED:
        pytest.skip("--target embedded only: another server's provider cannot be watched")
    folder = tmp_path_factory.mktemp("conformance-llm")
    with (
        provider.running() as fake,
        _embedded(
            folder,
            GROUNDTRAIL_LLM__BASE_URL=fake.base_url,
            GROUNDTRAIL_LLM__API_KEY=PROVIDER_KEY,
            GROUNDTRAIL_GATEWAY__DATA_RESIDENCY=REGION,
        ) as pair,
    ):
        one = Client(*pair)
        one.ingest(DOCUMENT, "file:conformance-lighthouse.md")
        yield fake, one
        one.channel.close()
