"""When the coverage of pure code is measured: while it is imported and while tests run, not while they are collected.

Collecting took twice as long under the tracer. It can be turned off between files, but not on again: threads that
compute live from test to test, and one that began without the tracer never has it. So what ``--traced`` names runs
first in every process, and the tracer goes with the last of it; without ``--traced`` everything is traced. Files that
cover what others cover as well, and take long under the tracer, are left out of it (``--untraced``). Whoever runs
without ``--cov`` sees nothing of all this. The measured modules and the floor are in pyproject.toml and
tools/coverage_floor.py.
"""

import contextlib
import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pytest

ROOT: Final = Path(__file__).resolve().parents[1]
MEASURED: Final = ("services/*/domain", "services/common/reading")


def add_option(parser: pytest.Parser) -> None:
    """Let the command line name what is traced."""
    told = "file or folder of tests to run first and under the tracer of --cov, the others without it; repeatable"
    parser.addoption("--traced", action="append", default=[], metavar="PATH", help=told)
    told = "file of tests in such a folder to run without it all the same; repeatable"
    parser.addoption("--untraced", action="append", default=[], metavar="PATH", help=told)


class Covering:
    """Turns the tracer off while tests are collected, and for good behind the last test that is traced."""

    def __init__(self, config: pytest.Config, traced: Sequence[str], untraced: Sequence[str] = ()) -> None:
        self._config = config
        self._traced = tuple(path.rstrip("/") for path in traced)
        self._untraced = frozenset(untraced)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Put first what is traced; the order is kept otherwise."""
        items.sort(key=lambda item: not self._is_traced(item))

    def _is_traced(self, item: pytest.Item) -> bool:
        file = item.nodeid.partition("::")[0]
        if file in self._untraced:
            return False
        return not self._traced or any(file == path or file.startswith(f"{path}/") for path in self._traced)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        """End the tracer that pytest-cov has begun before it knew that this is one process of several.

        A worker begins one of its own, and wherever that goes the one below would go on; the head runs no tests.
        """
        several = hasattr(self._config, "workerinput") or self._config.pluginmanager.hasplugin("dsession")
        controller = getattr(self._config.pluginmanager.getplugin("_cov"), "cov_controller", None)
        if several and controller is not None:
            controller.pause()

    @pytest.hookimpl(wrapper=True)
    def pytest_collection(self) -> Any:
        """Import what is measured while its lines count, and collect without the tracer."""
        if self._controller() is not None:
            for name in measured_modules():
                with contextlib.suppress(ImportError):  # the tests of the module say it better
                    importlib.import_module(name)
            self._trace(on=False)
        return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Any:
        """Trace from the first test on that is traced, to the last."""
        self._trace(on=self._is_traced(item))
        return (yield)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """Leave the tracer as it was found."""
        self._trace(on=True)

    def _controller(self) -> Any:
        if self._config.pluginmanager.hasplugin("dsession"):
            return None  # the head of a run hands out tests and runs none
        return getattr(self._config.pluginmanager.getplugin("_cov"), "cov_controller", None)

    def _trace(self, *, on: bool) -> None:
        controller = self._controller()
        if controller is None or controller.started is on:
            return
        if on:
            controller.resume()
        else:
            controller.pause()


def measured_modules() -> list[str]:
    """Return the names of the modules whose coverage is measured."""
    paths = (path for pattern in MEASURED for folder in ROOT.glob(pattern) for path in folder.rglob("*.py"))
    names = (path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".") for path in paths)
    return sorted(name.removesuffix(".__init__") for name in names)
