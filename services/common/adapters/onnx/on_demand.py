"""An encoder that is loaded when it is first asked to compute (ADR 0091).

Its files are verified when it is opened, and once more when it is loaded, which may be days later: what computes is
what the manifest pins, whenever that begins.
"""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from typing import Final

from services.common.adapters.encoders.backend import Outputs, TokenIds
from services.common.adapters.onnx.session import OnnxEncoder
from services.common.errors import ErrorReason, UnavailableError
from services.common.free_memory import release_free_memory

RETRY_S: Final = 5.0
"""After a load that failed, calls fail with it for so long; then the next one tries again."""
_LOADING: Final = threading.Lock()
"""One load at a time in a process: each needs some 250 MiB for a moment besides what stays."""
_LOG: Final = logging.getLogger(__name__)


class OnDemandEncoder:
    """Loads once, whoever asks; those who ask meanwhile wait for that one load. Thread-safe; every method may block.

    Args:
        name: of the model.
        load: verifies the files and loads them.
    """

    def __init__(self, name: str, load: Callable[[], OnnxEncoder]) -> None:
        self._name = name
        self._load = load
        self._lock = threading.Lock()
        self._encoder: OnnxEncoder | None = None
        self._cause = ""
        self._retry_at = 0.0

    @property
    def is_loaded(self) -> bool:
        """Say whether it can compute at once."""
        return self._encoder is not None

    @property
    def has_failed(self) -> bool:
        """Say whether the last load failed."""
        return bool(self._cause)

    def open(self) -> OnnxEncoder:
        """Load now, unless that has been done, and return the encoder.

        Raises:
            ModelRepositoryError: a file is not the pinned one, or the parts do not fit together.
        """
        with self._lock:
            if self._encoder is None:
                self._encoder = self._timed_load()
                self._cause = ""
            return self._encoder

    def loaded(self) -> OnnxEncoder:
        """Return the encoder, loading it when it is not; a load that failed is tried again after ``RETRY_S``.

        Raises:
            UnavailableError: MODEL_UNAVAILABLE: it cannot be loaded.
        """
        encoder = self._encoder
        if encoder is not None:
            return encoder
        if self._cause and time.monotonic() < self._retry_at:
            raise self._unavailable()
        try:
            return self.open()
        except Exception as error:
            _LOG.exception("model %s cannot be loaded", self._name)
            self._retry_at = time.monotonic() + RETRY_S
            self._cause = type(error).__name__
            raise self._unavailable() from error

    def encode(self, batch: Sequence[TokenIds]) -> list[Outputs]:
        """Return the outputs of each item, in order.

        Raises:
            UnavailableError: MODEL_UNAVAILABLE: it cannot be loaded, or could not compute.
        """
        return self.loaded().encode(batch)

    def _timed_load(self) -> OnnxEncoder:
        with _LOADING:
            started = time.monotonic()
            try:
                encoder = self._load()
            finally:
                release_free_memory()
        _LOG.info("model %s loaded in %.1f s", self._name, time.monotonic() - started)
        return encoder

    def _unavailable(self) -> UnavailableError:
        return UnavailableError(
            ErrorReason.MODEL_UNAVAILABLE,
            f"Model {self._name} cannot be loaded; the server's log says why. Try again later.",
            retry_after_s=RETRY_S,
            model=self._name,
            cause=self._cause,
        )
