"""What holds for every test.

With REQUIRE_BACKENDS=1 a backend that is not there is a failure, not a skip. A test that sets up logging leaves it as
it was: the configuration belongs to the process. Generated examples are the same in every run, so that a change is
judged by what it changes; ``make test-faults`` sets GROUNDTRAIL_TEST_EXPLORE and looks for new ones.
"""

import logging
import os
import sys

import pytest
import structlog
from hypothesis import settings

VARIABLE = "REQUIRE_BACKENDS"

settings.register_profile("repeatable", derandomize=True)
settings.register_profile("exploring", derandomize=False, print_blob=True)
settings.load_profile("exploring" if os.environ.get("GROUNDTRAIL_TEST_EXPLORE") == "1" else "repeatable")


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
