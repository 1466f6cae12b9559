"""When the coverage of pure code is measured: while it is imported and while tests run, not while they are collected.

Collecting took twice as long under the tracer. It cannot be turned off for single tests: threads that compute live
from test to test, and one that began without the tracer never has it. Whoever runs without ``--cov`` sees nothing of
it. The measured modules and the floor are in pyproject.toml and tools/coverage_floor.py.
"""

import contextlib
import importlib
from pathlib import Path
from typing import Any, Final

import pytest

ROOT: Final = Path(__file__).resolve().parents[1]
MEASURED: Final = ("services/*/domain", "services/common/reading")


class Covering:
    """Turns the tracer off while tests are collected."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

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
    def pytest_runtest_protocol(self) -> Any:
        """Trace from the first test on."""
        self._trace(on=True)
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
