"""What holds for every test.

With REQUIRE_BACKENDS=1 a backend that is not there is a failure, not a skip. A test that sets up logging leaves it as
it was: the configuration belongs to the process. Generated examples are the same in every run, so that a change is
judged by what it changes; ``make test-faults`` sets GROUNDTRAIL_TEST_EXPLORE and looks for new ones. Of what is long a
fixed tenth runs, and the last lines say how many that were (tests/tenth.py). No test is given up before its time times
GROUNDTRAIL_TEST_PATIENCE is over (tests/patience.py), one that compares times is tried again before it fails
(tests/speed.py), and no process that a test started outlives it (tests/leash.py).
Byte code is kept for all of them, outside the tree where it is not wanted in it (tests/bytecode.py). Coverage is
measured while tests run (tests/covering.py). Files lie in memory (tests/memory_folder.py). Certificates that clients
trust are read once for a process (tests/one_trust.py). Each process of several begins to collect at another place
(tests/beginnings.py).
"""

import gc
import logging
import os
import sys

import pytest
import structlog
from hypothesis import HealthCheck, settings

from tests import beginnings, bytecode, costs, covering, leash, memory_folder, one_trust, speed, tenth
from tests.patience import patient

memory_folder.choose()
bytecode.keep()  # before anything of ours is imported, and before workers are started
one_trust.share()
VARIABLE = "REQUIRE_BACKENDS"

UNHURRIED = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}  # both ask the clock on the wall
settings.register_profile("repeatable", derandomize=True, max_examples=tenth.examples(100), **UNHURRIED)
settings.register_profile("exploring", derandomize=False, print_blob=True, **UNHURRIED)
settings.load_profile("exploring" if os.environ.get("GROUNDTRAIL_TEST_EXPLORE") == "1" else "repeatable")


LONG_FOLDERS = ("tests/e2e/", "tests/conformance/", "tests/faults/")


def pytest_collection_modifyitems(config, items):
    """Take a tenth of what is marked so, give every test its time, and let what takes long begin first."""
    if hasattr(config, "workerinput"):
        beginnings.put_in_order(items)
    if not any("[" in argument for argument in config.args):
        left_out = set(tenth.tenth_of_tests(items, named=any("::" in argument for argument in config.args)))
        config.hook.pytest_deselected(items=list(left_out))
        items[:] = [item for item in items if item not in left_out]
    usual = float(config.getoption("timeout", None) or config.getini("timeout"))
    for item in items:
        mark = item.get_closest_marker("timeout")
        seconds = mark.args[0] if mark else usual
        item.add_marker(pytest.mark.timeout(patient(seconds)), append=False)
        if item.get_closest_marker("timed"):
            item.add_marker(speed.AGAIN)
    items.sort(key=lambda item: not item.nodeid.startswith(LONG_FOLDERS))


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Let the collector of garbage pass over the thousands of tests, and look at what is new less often."""
    gc.disable()
    try:
        return (yield)
    finally:
        from services.common.collector import YOUNG_OBJECTS

        gc.freeze()
        gc.set_threshold(YOUNG_OBJECTS, 10, 10)
        gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config):
    """Run half as many processes more as there are cores: tests wait for servers, time limits and one another."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return cores + (cores + 1) // 2


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Hand out whole files, and the conformance tests, which share one server, as if they were one file."""
    from xdist.scheduler import LoadFileScheduling

    class Files(LoadFileScheduling):
        def _split_scope(self, nodeid):
            return "tests/conformance" if nodeid.startswith("tests/conformance/") else super()._split_scope(nodeid)

    return Files(config, log)


class Tenths:
    """Collects from every process how many of how many cases it took, and says so at the end."""

    def __init__(self):
        self.counts = {}

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node, error):
        self.counts.update(getattr(node, "workeroutput", {}).get("tenths", {}))

    def pytest_sessionfinish(self, session):
        self.counts.update(tenth.counts)
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput["tenths"] = self.counts

    def pytest_terminal_summary(self, terminalreporter):
        for label, (taken, every) in sorted(self.counts.items()):
            terminalreporter.write_line(f"{label}: {taken:,} of {every:,} cases")
        if self.counts and not tenth.WHOLE:
            terminalreporter.write_line(f"{tenth.VARIABLE}=1 or `make test-faults` runs all of them")


class Leash:
    """Ends what a test has left, and keeps what fixtures of modules and of the session started.

    A plugin and no hooks of this file: those are not asked about fixtures of the session, which belong to no folder.
    """

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef):
        with leash.keeping(keep=fixturedef.scope != "function"):
            return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self):
        try:
            return (yield)
        finally:
            leash.end_all()


def pytest_addoption(parser):
    covering.add_option(parser)


def pytest_configure(config):
    config.pluginmanager.register(Tenths())
    config.pluginmanager.register(Leash())
    config.pluginmanager.register(
        covering.Covering(config, config.getoption("--traced"), config.getoption("--untraced"))
    )
    costs.configure(config)
    if hasattr(config, "workerinput"):
        leash.end_with_parent()
        beginnings.begin_elsewhere(config)


def pytest_unconfigure(config):
    if not hasattr(config, "workerinput"):
        bytecode.drop_temporary()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    needs = sorted(mark.name for mark in item.iter_markers() if mark.name.startswith("needs_"))
    if report.skipped and needs and os.environ.get(VARIABLE) == "1" and not hasattr(report, "wasxfail"):
        *_, reason = report.longrepr if isinstance(report.longrepr, tuple) else (str(report.longrepr),)
        report.outcome = "failed"
        report.longrepr = f"{VARIABLE}=1 and {', '.join(needs)} is not there: {reason}"
    # what was captured travels to the parent process as UTF-8, which a lone surrogate of a hostile text is not
    report.sections = [(name, text.encode("utf-8", "backslashreplace").decode()) for name, text in report.sections]
    return report


@pytest.fixture(autouse=True)
def _logging_as_it_was():
    root = logging.getLogger()
    kept, handlers, level = structlog.get_config(), root.handlers[:], root.level
    logs = sys.modules.get("services.common.telemetry.logs")
    state = (logs._shows_content, logs._json_stream) if logs else None
    yield
    structlog.configure(**kept)
    root.handlers[:], root.level = handlers, level
    if logs and state:
        logs._shows_content, logs._json_stream = state
