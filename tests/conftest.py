"""What holds for every test: with REQUIRE_BACKENDS=1 a backend that is not there is a failure, not a skip."""

import os

import pytest

VARIABLE = "REQUIRE_BACKENDS"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    needs = sorted(mark.name for mark in item.iter_markers() if mark.name.startswith("needs_"))
    if report.skipped and needs and os.environ.get(VARIABLE) == "1" and not hasattr(report, "wasxfail"):
        *_, reason = report.longrepr if isinstance(report.longrepr, tuple) else (str(report.longrepr),)
        report.outcome = "failed"
        report.longrepr = f"{VARIABLE}=1 and {', '.join(needs)} is not there: {reason}"
    return report
