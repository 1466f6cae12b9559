"""Golden vectors of a user's own encoder: what it said when it was added, asked again before it serves (ADR 0120).

Digests prove that the files are the same. That what computes reads them the same way (another ONNX Runtime, a Triton
that serves another copy, another version of the tokenizers' library) only the model's own answers can show.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from services.common.adapters.encoders.backend import Outputs, TokenIds
from services.common.adapters.encoders.tokenizer import EncoderTokenizer
from services.common.model_repository import ModelEntry, ModelRepository, ModelRepositoryError

GOLDEN_FILE: Final = "golden.json"


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class GoldenCase(_Strict):
    """One pair."""

    pair: tuple[str, str]
    """Premise and hypothesis."""
    token_ids: tuple[int, ...]
    """What the encoder reads of them."""
    outputs: dict[str, tuple[float, ...]]
    """By the output's name what it gave for the pair alone, row by row."""


class GoldenVectors(_Strict):
    """The file."""

    schema_version: int = Field(ge=1, le=1)
    """Version of this format."""
    tolerance: float = Field(gt=0)
    """How far an output may lie from what it was."""
    cases: tuple[GoldenCase, ...] = Field(min_length=1)
    """The pairs."""


def read_golden(repository: ModelRepository, entry: ModelEntry) -> GoldenVectors:
    """Read the golden vectors of a verified model.

    Raises:
        ModelRepositoryError: they are not listed, or cannot be read.
    """
    path = repository.folder(entry.name) / GOLDEN_FILE
    if entry.file(GOLDEN_FILE) is None:
        raise ModelRepositoryError(f"{path} is not listed in MANIFEST.json; add the model again")
    try:
        return GoldenVectors.model_validate_json(path.read_bytes())
    except OSError as error:
        raise ModelRepositoryError(f"{path} cannot be read: {error.strerror}") from error
    except ValidationError as error:
        raise ModelRepositoryError(f"{path} holds no golden vectors: {error.errors()[0]['msg']}") from error


def check_tokens(entry: ModelEntry, golden: GoldenVectors, tokenizer: EncoderTokenizer) -> None:
    """Tokenise the golden pairs again.

    Raises:
        ModelRepositoryError: one gets other token ids than it did.
    """
    for number, case in enumerate(golden.cases):
        if paired(tokenizer, case.pair) != case.token_ids:
            raise ModelRepositoryError(
                f"{entry.name}: golden pair {number} is tokenised in another way than when the model was added; the "
                "tokenizers' library may be another. Add the model again, and calibrate it"
            )


def check_outputs(entry: ModelEntry, golden: GoldenVectors, found: Sequence[Outputs]) -> float:
    """Compare what a backend gives for the golden pairs with what they got; return the largest difference.

    Raises:
        ModelRepositoryError: an output is further away than the tolerance, or has another size.
    """
    largest = 0.0
    for number, (case, outputs) in enumerate(zip(golden.cases, found, strict=True)):
        for tensor, values in zip(entry.outputs, outputs, strict=True):
            expected = np.array(case.outputs.get(tensor.name, ()), dtype=np.float64)
            flat = values.astype(np.float64).ravel()
            difference = float(np.abs(flat - expected).max()) if flat.shape == expected.shape else float("inf")
            largest = max(largest, difference)
            if difference > golden.tolerance:
                raise ModelRepositoryError(
                    f"{entry.name}: golden pair {number} gets {tensor.name} {difference:.3g} away from what it got "
                    f"when the model was added (allowed: {golden.tolerance:g}); what runs is not what was added"
                )
    return largest


def paired(tokenizer: EncoderTokenizer, pair: tuple[str, str]) -> TokenIds:
    """Return what an encoder reads of a pair that fits."""
    premise, hypothesis = tokenizer.ids(list(pair))
    return tokenizer.pair(premise, hypothesis)
