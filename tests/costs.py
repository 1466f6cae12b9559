"""What the tests cost in processor time, this process's and that of the processes that ended in it.

With GROUNDTRAIL_TEST_COSTS=15 the end of a run says it by folder and for the fifteen dearest files. Time on the wall
depends on who else is at work; this does so hardly at all.
"""

import os
import resource
import time
from collections import Counter
from typing import Any, Final

import pytest

from tests import forked

VARIABLE: Final = "GROUNDTRAIL_TEST_COSTS"


def spent_s() -> float:
    """Return the processor seconds of this process, of its children that were waited for, and of what was forked."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime + forked.spent_s


class Costs:
    """Adds up processor seconds by file, in every process of a run, and says the sums at its end."""

    def __init__(self, files: int) -> None:
        self._files = files
        self.by_file: Any = Counter()  # of floats
        self._own_s = 0.0

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Any:
        """Note what a test costs with all its fixtures."""
        before = spent_s()
        try:
            return (yield)
        finally:
            cost = spent_s() - before
            self._own_s += cost
            self.by_file[item.nodeid.partition("::")[0]] += cost

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take over what another process has noted."""
        self.by_file.update(getattr(node, "workeroutput", {}).get("costs", {}))

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Hand over what this process has noted, and what it spent on everything else."""
        # The children of a process that runs no test itself are the workers, which tell their own costs.
        self.by_file["collection and the rest"] += (spent_s() if self._own_s else time.process_time()) - self._own_s
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput["costs"] = dict(self.by_file)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print the sums."""
        folders: Any = Counter()
        for name, seconds in self.by_file.items():
            parts = name.split("/")
            folders["/".join(parts[: 3 if parts[1:2] == ["unit"] and len(parts) > 3 else 2])] += seconds
        for title, costs in (("folder", folders.most_common()), ("file", self.by_file.most_common(self._files))):
            terminalreporter.section(f"processor seconds by {title}, {sum(self.by_file.values()):,.0f} in all")
            for name, seconds in costs:
                terminalreporter.write_line(f"{seconds:8.1f}  {name}")


def configure(config: pytest.Config) -> None:
    """Have the costs noted when the variable asks for it."""
    if files := int(os.environ.get(VARIABLE) or 0):
        config.pluginmanager.register(Costs(files))
