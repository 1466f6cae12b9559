"""What a backend may give back: NaN or another shape is an error that names model and output, never a score."""

import numpy as np
import pytest

from services.common.adapters.encoders.outputs import checked
from services.common.errors import ErrorReason, UnavailableError
from services.common.model_repository import ModelRepository
from tests.fakes.tiny_encoders import TinyEncoder, write_repository


@pytest.fixture(scope="module")
def entry(tmp_path_factory):
    root = tmp_path_factory.mktemp("repository")
    write_repository(root, TinyEncoder("grounding", "grounding"))
    return ModelRepository.open(root).entry("grounding")


SUPPORT = np.array([[1.0], [2.0]], dtype=np.float32)
TOKENS = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], dtype=np.float32)


def test_items_get_their_rows_and_no_padding(entry):
    first, second = checked(entry, [SUPPORT, TOKENS], [3, 2])
    assert [part.tolist() for part in first] == [[1.0], [1.0, 2.0, 3.0]]
    assert [part.tolist() for part in second] == [[2.0], [4.0, 5.0]]


def test_padding_beyond_the_longest_item_is_stated(entry):
    ((_, tokens),) = checked(entry, [SUPPORT[:1], TOKENS[:1]], [1], width=3)
    assert tokens.tolist() == [1.0]


def test_half_precision_is_widened(entry):
    ((support, _),) = checked(entry, [SUPPORT[:1].astype(np.float16), TOKENS[:1]], [3])
    assert support.dtype == np.float32


def test_nothing_asked_is_nothing_given(entry):
    assert checked(entry, [np.zeros((0, 1)), np.zeros((0, 0))], []) == []


def test_what_stands_at_padding_is_not_looked_at(entry):
    tokens = TOKENS.copy()
    tokens[1, 2] = np.nan
    assert checked(entry, [SUPPORT, tokens], [3, 2])[1][1].tolist() == [4.0, 5.0]


def with_value(array, place, value):
    changed = array.copy()
    changed[place] = value
    return changed


@pytest.mark.parametrize(
    ("outputs", "message", "output"),
    [
        ([SUPPORT], "1 outputs instead of 2", "outputs"),
        ([SUPPORT[:1], TOKENS], r"the shape \[1, 1\] instead of \[2, 1\]", "support_logit"),
        ([SUPPORT, TOKENS[:, :2]], r"the shape \[2, 2\] instead of \[2, 3\]", "token_logits"),
        ([SUPPORT[:, 0], TOKENS], r"the shape \[2\] instead of \[2, 1\]", "support_logit"),
        ([SUPPORT.astype(np.int64), TOKENS], "elements of type int64", "support_logit"),
        ([with_value(SUPPORT, (1, 0), np.nan), TOKENS], "not a finite number", "support_logit"),
        ([SUPPORT, with_value(TOKENS, (0, 2), np.inf)], "not a finite number", "token_logits"),
        ([SUPPORT, with_value(TOKENS, (1, 0), -np.inf)], "not a finite number", "token_logits"),
    ],
    ids=[
        "an output is missing",
        "too few items",
        "too few tokens",
        "a dimension is missing",
        "integers",
        "NaN",
        "infinity",
        "minus infinity",
    ],
)
def test_unreadable_outputs_are_unavailability(entry, outputs, message, output):
    with pytest.raises(UnavailableError, match=rf"Model grounding returned .*{message}") as caught:
        checked(entry, outputs, [3, 2])
    assert caught.value.reason is ErrorReason.MODEL_UNAVAILABLE
    assert caught.value.metadata == {"model": "grounding", "output": output}
