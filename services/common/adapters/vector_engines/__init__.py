"""Vector engines beside the graphs of our own, one module each, each an optional extra (ADR 0129).

A module is an engine's name: it holds ``DISTRIBUTION``, what has to be installed, and ``open_engine``. No other module
knows one by name.
"""

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import cast

from services.common.errors import StartupError
from services.common.ports.vector_engine import VectorEngine, VectorEngineError
from services.common.settings.vectors import VectorSettings

_HELPERS = frozenset({"failures"})


def engine_names() -> list[str]:
    """Return the names of the engines that there are adapters for."""
    return sorted(found.name for found in iter_modules(__path__) if found.name not in _HELPERS)


def open_engine(settings: VectorSettings, directory: Path, dimension: int) -> VectorEngine:
    """Connect to the engine that the settings name, or open it in this process.

    Args:
        settings: which, and where.
        directory: of the embedded stores, for an engine that lives in this process.
        dimension: length of every vector.

    Raises:
        StartupError: there is no such engine, it is not installed, or it does not answer.
    """
    module = check_installed(settings)
    opened = cast("Callable[[VectorSettings, Path, int], VectorEngine]", module.open_engine)
    try:
        engine = opened(settings, directory, dimension)
        try:
            engine.check()
        except VectorEngineError:
            engine.close()
            raise
    except VectorEngineError as error:
        raise StartupError(f"the vector engine {settings.engine} cannot be used: {error}") from None
    return engine


def check_installed(settings: VectorSettings) -> ModuleType:
    """Return the adapter of the engine that the settings name.

    Raises:
        StartupError: there is no such engine, or it is not installed.
    """
    if settings.engine not in engine_names():
        known = ", ".join(engine_names())
        raise StartupError(f"GROUNDTRAIL_VECTORS__ENGINE: {settings.engine!r} is none of: {known}; empty = our own.")
    module = import_module(f"{__name__}.{settings.engine}")
    if find_spec(module.MODULE) is None:
        text = f"GROUNDTRAIL_VECTORS__ENGINE={settings.engine} needs {module.DISTRIBUTION}: "
        raise StartupError(f'{text}pip install "groundtrail[{settings.engine}]".')
    return module
