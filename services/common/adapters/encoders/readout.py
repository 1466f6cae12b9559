"""What a grounding encoder's outputs say: how far a pair is supported, and which tokens are not.

Our own training gives both as they are needed. An encoder of a user's own (ADR 0120) gives logits of labels: one row a
pair, or one a token. A label's logit becomes log odds: its logit less the logarithm of the sum of the others'
exponentials, so that the logistic function of it is the label's own probability, whatever the number of labels.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from services.common.adapters.encoders.backend import Outputs
from services.common.model_repository import ModelEntry, ModelRepositoryError

NATIVE_SHAPES: Final = ((-1, 1), (-1, -1))
"""``support_logit`` and ``token_logits`` of our own training, the first outputs; those of a further model of the trunk
may follow (ADR 0150)."""
SUPPORTING: Final = ("supported", "entailment")
UNSUPPORTING: Final = ("unsupported",)


class Readout:
    """Reads the outputs of one model.

    Args:
        entry: its manifest entry.

    Raises:
        ModelRepositoryError: its outputs have other shapes, or no label says what is looked for.
    """

    def __init__(self, entry: ModelEntry) -> None:
        shapes = tuple(tensor.shape for tensor in entry.outputs)
        own = entry.own
        self._kind = "native" if own is None else own.readout
        self._label = 0
        if self._kind == "native" or own is None:
            if shapes[: len(NATIVE_SHAPES)] != NATIVE_SHAPES:
                msg = f"MANIFEST.json: the grounding model {entry.name} needs outputs of the shapes {NATIVE_SHAPES}"
                raise ModelRepositoryError(msg)
            return
        count = len(own.labels)
        expected = ((-1, count),) if self._kind == "pair" else ((-1, -1, count),)
        wanted = UNSUPPORTING if self._kind == "tokens" else SUPPORTING
        found = [place for place, label in enumerate(own.labels) if label in wanted]
        if shapes != expected or len(found) != 1:
            raise ModelRepositoryError(
                f"MANIFEST.json: {entry.name} has outputs of the shapes {shapes} and the labels {own.labels}; reading "
                f"it by {self._kind} needs {expected} and one of {', '.join(wanted)}"
            )
        (self._label,) = found

    @property
    def marks_tokens(self) -> bool:
        """Whether it says anything of single tokens."""
        return self._kind in {"native", "tokens"}

    def support(self, outputs: Outputs, places: Sequence[int]) -> float:
        """Return the logit of the pair being supported.

        Args:
            outputs: of one item.
            places: where the tokens of the text that is checked stand in the item.
        """
        if self._kind == "native":
            return float(outputs[0][0])
        if self._kind == "tokens":
            # One word that nothing supports makes the text unsupported.
            doubts = log_odds(outputs[0], self._label)
            return float(-(doubts[list(places)].max() if len(places) else doubts.max()))
        row = outputs[0][0] if self._kind == "first-token" else outputs[0]
        return float(log_odds(row, self._label))

    def doubts(self, outputs: Outputs) -> NDArray[np.float64]:
        """Return each token's logit of being unsupported; only of a model that marks tokens."""
        if self._kind == "native":
            return outputs[1].astype(np.float64)
        return log_odds(outputs[0], self._label)


def log_odds(logits: NDArray[np.float32], label: int) -> NDArray[np.float64]:
    """Return the log odds of one label along the last axis, without overflow."""
    rows = logits.astype(np.float64)
    others = np.delete(rows, label, axis=-1)
    peak = others.max(axis=-1, keepdims=True)
    rest = peak[..., 0] + np.log(np.exp(others - peak).sum(axis=-1))
    return np.asarray(rows[..., label] - rest)
