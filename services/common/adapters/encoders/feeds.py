"""What an encoder reads: token ids, their mask and, where the graph has them, the kinds of their texts, as one batch.

Both backends feed a model by this. What stands at padding is masked, so that one id serves the delivered models of
every vocabulary; an encoder of a user's own is padded with its own token, since its graph may look at it.
"""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from services.common.adapters.encoders.backend import TokenIds
from services.common.model_repository import ModelEntry, ModelRepositoryError

INPUT_IDS: Final = "input_ids"
ATTENTION_MASK: Final = "attention_mask"
TOKEN_TYPE_IDS: Final = "token_type_ids"  # noqa: S105 - a tensor
NEEDED: Final = frozenset({INPUT_IDS, ATTENTION_MASK})
INTEGERS: Final = frozenset({"int64", "int32"})


def check_inputs(entry: ModelEntry) -> None:
    """Refuse a model whose inputs are not those of an encoder, by its manifest entry.

    Raises:
        ModelRepositoryError: they are others; ``token_type_ids`` are for encoders of the user's own.
    """
    found = {tensor.name: tensor.dtype for tensor in entry.inputs}
    allowed = NEEDED if entry.own is None else NEEDED | {TOKEN_TYPE_IDS}
    if not NEEDED <= found.keys() <= allowed or not set(found.values()) <= INTEGERS:
        raise ModelRepositoryError(
            f"MANIFEST.json: {entry.name} reads {found}; an encoder's inputs are {ATTENTION_MASK} and {INPUT_IDS}"
        )


def feeds(entry: ModelEntry, batch: Sequence[TokenIds], width: int) -> dict[str, NDArray[Any]]:
    """Return each input of the manifest with its values, shape ``(len(batch), width)``, padded on the right."""
    layout = None if entry.own is None else entry.own.layout
    ids = np.full((len(batch), width), 0 if layout is None else layout.pad_id, dtype=np.int64)
    mask = np.zeros_like(ids)
    types = np.zeros_like(ids)
    separator = None if layout is None else layout.separator
    for row, item in enumerate(batch):
        ids[row, : len(item)] = item
        mask[row, : len(item)] = 1
        if separator is not None and separator in item:
            types[row, item.index(separator) + 1 : len(item)] = 1
    values = {INPUT_IDS: ids, ATTENTION_MASK: mask, TOKEN_TYPE_IDS: types}
    return {tensor.name: values[tensor.name].astype(tensor.dtype, copy=False) for tensor in entry.inputs}
