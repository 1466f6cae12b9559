"""What engines' clients raise, as one error of the port."""

from collections.abc import Iterator
from contextlib import contextmanager

from services.common.ports.vector_engine import VectorEngineError


@contextmanager
def translated(name: str, doing: str) -> Iterator[None]:
    """Turn whatever a client raises into ``VectorEngineError``; every client has a family of its own."""
    try:
        yield
    except VectorEngineError:
        raise
    except Exception as error:
        raise VectorEngineError(f"{name} could not {doing}: {type(error).__name__}") from error
