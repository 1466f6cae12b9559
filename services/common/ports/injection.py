"""Judgement by a trained classifier: how likely is it that a text is an injection (stage 3 of DetectInjection)?"""

from collections.abc import Sequence
from typing import Protocol


class InjectionClassifier(Protocol):
    """A calibrated classifier of whole texts. Thread- and task-safe; concurrent calls are batched together.

    Optional everywhere: without one, stage 3 does not run and the answer says so. It has no say in ``blocked``, which
    the rules alone decide; ``services.common.injection.combining`` joins the two.
    """

    @property
    def fingerprint(self) -> str:
        """Name, version and digest of the weights."""
        ...

    async def score(self, texts: Sequence[str]) -> list[float]:
        """Return for each text, in their order, the calibrated probability in [0, 1] that it is an injection.

        A text of any length up to the limit of requests (100,000 characters) is taken as it was written: the classifier
        normalises and cuts windows itself, and a text is as suspicious as its most suspicious window. The empty text is
        0.0.

        Raises:
            LimitExceededError: QUEUE_FULL.
            UnavailableError: MODEL_UNAVAILABLE; also when the backend returns NaN or another shape.
        """
        ...
