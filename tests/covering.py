"""Where the coverage of pure code is measured: in the tests that are there for it.

Tracing makes Python three quarters slower. So it goes on while the modules under measurement are imported, before
anything is collected, and for those tests alone whose files stand here; whoever runs without ``--cov`` sees nothing of
it. The measured modules and the floor are in pyproject.toml and tools/coverage_floor.py.
"""

import contextlib
import importlib
from pathlib import Path
from typing import Any, Final

import pytest

ROOT: Final = Path(__file__).resolve().parents[1]
MEASURED: Final = ("services/*/domain", "services/common/reading")
COVERING: Final = (
    "tests/property/",
    "tests/rpc/",
    *(f"tests/unit/{service}/" for service in ("dag", "dpe", "envelope", "ercp", "gateway")),
)
BESIDE: Final = (
    *(f"tests/unit/envelope/test_{name}" for name in ("documents_cost", "pdf_")),
    *(
        f"tests/property/test_{name}"
        for name in (
            "dag_mutations", "dag_returning", "dag_session_machine", "envelope_packing", "superseded_knowledge",
        )
    ),
    *(
        f"tests/rpc/test_{name}"
        for name in (
            "dag_budgets", "dag_races", "dag_traces", "dpe_bad_input", "envelope_bad_input", "envelope_build",
            "envelope_erased", "envelope_ingestion", "envelope_knowledge", "envelope_million", "envelope_recovery",
            "envelope_retrieval", "envelope_shared_namespaces", "envelope_sources", "envelope_tiers", "envelope_tokens",
            "ercp_bad_input", "ercp_canonical", "failure_headers", "gateway_breaker", "gateway_envelope",
            "gateway_erasure", "gateway_fan", "gateway_http", "gateway_retrieval", "report_views", "runtime_",
            "stopping", "what_is_stored", "worker_processes",
        )
    ),
)  # fmt: skip
"""What reaches no line of pure code that the others do not reach: counted with ``--cov-context=test``."""


class Covering:
    """Turns the tracer on and off between tests, where it changes."""

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
    def pytest_runtest_protocol(self, item: pytest.Item) -> Any:
        """Trace a test with its fixtures, or do not."""
        self._trace(on=covers(item))
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


def covers(item: pytest.Item) -> bool:
    """Say whether the test is there for coverage too."""
    name = item.nodeid
    return name.startswith(COVERING) and not name.startswith(BESIDE) and not item.get_closest_marker("slow")


def measured_modules() -> list[str]:
    """Return the names of the modules whose coverage is measured."""
    paths = (path for pattern in MEASURED for folder in ROOT.glob(pattern) for path in folder.rglob("*.py"))
    names = (path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".") for path in paths)
    return sorted(name.removesuffix(".__init__") for name in names)
