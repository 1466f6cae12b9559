"""The file of the classifier, and the logits that it gives to windows (ADR 0126).

A window's logit joins two: one of its hashed n-grams and cues, one of the embedder's vectors of it and of the block
that it stands in. A text's probability is that of its most suspicious window, on the scale that was fitted on families
of attacks and of benign texts which the models had not seen.
"""

import io
import json
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from services.common.calibration import PiecewiseLinearCalibration
from services.common.injection_classifier.cues import NAMES, cues
from services.common.injection_classifier.features import BLOCK_BITS, WINDOW_BITS, Values, block_marks, window_marks
from services.common.injection_classifier.windows import Cut

Floats = NDArray[np.float32]

SCHEMA_VERSION: Final = 2
READ_MOST: Final = 128
"""Windows of one text that the embedder reads, at most: those that n-grams and cues find most suspicious."""
_WINDOW_SIZE: Final = 1 << WINDOW_BITS
_SIZE: Final = _WINDOW_SIZE + (1 << BLOCK_BITS)
_FAR: Final = 40.0


class InjectionHeadError(ValueError):
    """The file of the classifier cannot be used; the message says what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Suspects:
    """The windows of a text that are worth the embedder's time.

    Attributes:
        windows: their texts, in the order of the text.
        blocks: of each the block that it stands in.
        logits: of each what n-grams and cues say.
    """

    windows: tuple[str, ...]
    blocks: tuple[str, ...]
    logits: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class InjectionHead:
    """What the file holds.

    Attributes:
        embedder: fingerprint of the embedding model whose vectors the layer weighs.
        version: grows with every change of what it computes.
        grams: weights of a window's marks, and behind them those of a block's.
        gram_bias: of the n-grams' logit.
        hidden: weights of the hidden layer over both vectors; shape ``(2 * width, units)``.
        hidden_bias: of the hidden layer.
        out: weights of the hidden units.
        bias: of the vectors' logit.
        joint: how much each logit counts in a window's, and the bias.
        calibration: from the logistic of a text's logit to its probability.
        cues: weights of a window's cues, added to the n-grams' logit; shape ``(len(cues.NAMES),)``.
    """

    embedder: str
    version: str
    grams: Floats
    gram_bias: float
    hidden: Floats
    hidden_bias: Floats
    out: Floats
    bias: float
    joint: Values
    calibration: PiecewiseLinearCalibration
    cues: Floats = field(default_factory=lambda: np.zeros(len(NAMES), dtype=np.float32))

    @property
    def width(self) -> int:
        """Length of the embedder's vectors."""
        return len(self.hidden) // 2

    def suspects(self, cut: Cut) -> Suspects:
        """Return the windows that the embedder is to read."""
        in_block = [self._weighed(*block_marks(block), _WINDOW_SIZE) for block in cut.blocks]
        of_cues = cues(cut) @ self.cues
        found = [
            self._weighed(*window_marks(window), 0) + in_block[home] + float(of_cues[place]) + self.gram_bias
            for place, (window, home) in enumerate(zip(cut.windows, cut.homes, strict=True))
        ]
        order = sorted(range(len(found)), key=lambda place: -found[place])[:READ_MOST]
        kept = sorted(order)
        return Suspects(
            tuple(cut.windows[place] for place in kept),
            tuple(cut.blocks[cut.homes[place]] for place in kept),
            tuple(found[place] for place in kept),
        )

    def logit(self, gram: float, window: Floats, block: Floats) -> float:
        """Return a window's logit.

        Args:
            gram: what n-grams and cues say of it.
            window: the embedder's vector of it.
            block: that of its block.
        """
        # Row by row, so that a text scores the same bits alone and among others.
        inner = np.tanh(np.concatenate([window, block]) @ self.hidden + self.hidden_bias)
        of_vectors = float(inner @ self.out) + self.bias
        return float(self.joint[0] * gram + self.joint[1] * of_vectors + self.joint[2])

    def probability(self, logits: Sequence[float]) -> float:
        """Return a text's probability from its windows' logits; 0 without any."""
        if not logits:
            return 0.0
        raw = squashed(np.array([max(logits)]))
        return float(self.calibration.apply(raw.astype(np.float32))[0])

    def _weighed(self, ids: NDArray[np.int64], weights: Values, first: int) -> float:
        return float(weights @ self.grams[ids + first])


def squashed(logits: Values) -> Values:
    """Return the logistic of a quarter of the logits: calibration needs room at both ends."""
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(logits / 4.0, -_FAR, _FAR))))


def write_head(head: InjectionHead) -> bytes:
    """Return the file; the same head gives the same bytes."""
    raw, calibrated = head.calibration.knots
    told = {
        "schema_version": SCHEMA_VERSION,
        "version": head.version,
        "embedder": head.embedder,
        "gram_bias": head.gram_bias,
        "bias": head.bias,
        "joint": head.joint.tolist(),
        "raw": raw,
        "calibrated": calibrated,
        "cues": list(NAMES),
    }
    buffer = io.BytesIO()
    np.savez_compressed(
        buffer,
        about=np.frombuffer(json.dumps(told, sort_keys=True).encode(), dtype=np.uint8),
        grams=head.grams.astype(np.float16),
        hidden=head.hidden.astype(np.float32),
        hidden_bias=head.hidden_bias.astype(np.float32),
        out=head.out.astype(np.float32),
        cues=head.cues.astype(np.float32),
    )
    return buffer.getvalue()


def read_head(content: bytes) -> InjectionHead:
    """Read the file.

    Raises:
        InjectionHeadError: it is none, or its parts do not fit together.
    """
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as parts:
            arrays = {name: parts[name] for name in parts.files}
        about = json.loads(arrays["about"].tobytes())
        head = _head(about, arrays)
    except (EOFError, KeyError, OSError, TypeError, ValueError, zipfile.BadZipFile) as error:
        raise InjectionHeadError(f"no classifier of injections: {error}") from error
    units = len(head.out)
    if head.grams.shape != (_SIZE,) or head.hidden.ndim != 2 or head.hidden.shape[1] != units:  # noqa: PLR2004 - a matrix
        raise InjectionHeadError(f"arrays of {head.grams.shape}, {head.hidden.shape} and {units} do not fit together")
    if head.hidden_bias.shape != (units,) or head.joint.shape != (3,) or len(head.hidden) % 2:
        raise InjectionHeadError("the hidden layer's parts do not fit together")
    weights = (head.grams, head.hidden, head.hidden_bias, head.out, head.cues)
    if not all(bool(np.isfinite(each).all()) for each in weights):
        raise InjectionHeadError("a weight is no number")
    return head


def _head(about: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> InjectionHead:
    if about["schema_version"] != SCHEMA_VERSION:
        raise ValueError(f"schema_version: {about['schema_version']} is not {SCHEMA_VERSION}")
    if tuple(about["cues"]) != NAMES or arrays["cues"].shape != (len(NAMES),):
        raise ValueError("its cues are not those that are searched for")
    return InjectionHead(
        embedder=str(about["embedder"]),
        version=str(about["version"]),
        grams=arrays["grams"].astype(np.float32),
        gram_bias=float(about["gram_bias"]),
        hidden=arrays["hidden"].astype(np.float32),
        hidden_bias=arrays["hidden_bias"].astype(np.float32),
        out=arrays["out"].astype(np.float32),
        bias=float(about["bias"]),
        joint=np.array(about["joint"], dtype=np.float64),
        calibration=PiecewiseLinearCalibration(about["raw"], about["calibrated"]),
        cues=arrays["cues"].astype(np.float32),
    )
