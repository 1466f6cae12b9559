"""A model's ``config.pbtxt``: the one description of inputs, outputs and batching that every adapter obeys.

The same file configures Triton. What only Triton acts on may stand in it and is left to Triton; a field that is
neither known here nor to Triton is an error, so that a misspelt setting cannot be ignored.
"""

from dataclasses import dataclass
from typing import Final

from services.common.model_repository.textformat import Message, TextFormatError, Value, parse_text_format

DTYPES: Final = {
    "TYPE_INT64": "int64",
    "TYPE_INT32": "int32",
    "TYPE_FP32": "float32",
    "TYPE_FP16": "float16",
    "TYPE_BOOL": "bool",
    "TYPE_STRING": "string",
}
_HONOURED: Final = frozenset(
    {"name", "backend", "max_batch_size", "input", "output", "dynamic_batching", "instance_group"}
)
_TRITON_ONLY: Final = frozenset(
    {
        "platform",
        "version_policy",
        "default_model_filename",
        "parameters",
        "optimization",
        "model_warmup",
        "model_operations",
        "response_cache",
        "model_transaction_policy",
    }
)


class ModelConfigError(ValueError):
    """A ``config.pbtxt`` cannot be used; the message names the field and what is allowed."""


@dataclass(frozen=True, slots=True)
class TensorSpec:
    """One input or output: NumPy dtype name and shape, -1 where it varies; the batch dimension is included."""

    name: str
    dtype: str
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """What ``config.pbtxt`` says.

    Attributes:
        max_batch_size: longest batch; 0 = the model takes no batches.
        preferred_batch_sizes: ascending; a batch goes as soon as the smallest is waiting, and never exceeds the
            largest.
        max_queue_delay_us: how long the first in the queue waits for company, in microseconds.
    """

    name: str
    backend: str
    max_batch_size: int
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    preferred_batch_sizes: tuple[int, ...]
    max_queue_delay_us: int
    instance_count: int


def parse_model_config(text: str) -> ModelConfig:
    """Read a ``config.pbtxt``.

    Raises:
        ModelConfigError: broken syntax, an unknown field, a wrong type or an impossible combination.
    """
    try:
        fields = parse_text_format(text)
    except TextFormatError as error:
        raise ModelConfigError(str(error)) from error
    unknown = sorted(set(fields) - _HONOURED - _TRITON_ONLY)
    if unknown:
        raise ModelConfigError(f"unknown field {unknown[0]}; known are {', '.join(sorted(_HONOURED | _TRITON_ONLY))}")
    largest = _integer(fields, "max_batch_size", default=0, minimum=0)
    batching = _message(fields, "dynamic_batching")
    groups = [_as_message(value, "instance_group") for value in fields.get("instance_group", [])]
    return ModelConfig(
        name=_string(fields, "name"),
        backend=_string(fields, "backend"),
        max_batch_size=largest,
        inputs=_tensors(fields, "input", batched=largest > 0),
        outputs=_tensors(fields, "output", batched=largest > 0),
        preferred_batch_sizes=_preferred(batching, largest),
        max_queue_delay_us=_integer(batching, "max_queue_delay_microseconds", default=0, minimum=0),
        instance_count=sum(_integer(group, "count", default=1, minimum=1) for group in groups) or 1,
    )


def _preferred(batching: Message, largest: int) -> tuple[int, ...]:
    sizes = tuple(
        sorted(_as_integer(value, "preferred_batch_size") for value in batching.get("preferred_batch_size", []))
    )
    if sizes and not (sizes[0] >= 1 and sizes[-1] <= largest):
        raise ModelConfigError(f"preferred_batch_size {list(sizes)} must lie between 1 and max_batch_size {largest}")
    return sizes


def _tensors(fields: Message, name: str, *, batched: bool) -> tuple[TensorSpec, ...]:
    specs = []
    for value in fields.get(name, []):
        tensor = _as_message(value, name)
        dtype = _string(tensor, "data_type")
        if dtype not in DTYPES:
            raise ModelConfigError(f"{name} data_type {dtype} is not one of {', '.join(DTYPES)}")
        dims = tuple(_as_integer(dim, "dims") for dim in tensor.get("dims", []))
        specs.append(TensorSpec(_string(tensor, "name"), DTYPES[dtype], (-1, *dims) if batched else dims))
    if not specs:
        raise ModelConfigError(f"{name} is missing")
    return tuple(specs)


def _message(fields: Message, name: str) -> Message:
    values = fields.get(name, [])
    if len(values) > 1:
        raise ModelConfigError(f"{name} is given twice")
    return _as_message(values[0], name) if values else {}


def _as_message(value: Value, name: str) -> Message:
    if not isinstance(value, dict):
        raise ModelConfigError(f"{name} must be a message in braces")
    return value


def _as_integer(value: Value, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ModelConfigError(f"{name} must be an integer, not {value!r}")
    return value


def _string(fields: Message, name: str) -> str:
    values = fields.get(name, [])
    if len(values) != 1 or not isinstance(values[0], str) or not values[0]:
        raise ModelConfigError(f"{name} must be given once, as text")
    return values[0]


def _integer(fields: Message, name: str, *, default: int, minimum: int) -> int:
    values = fields.get(name, [default])
    if len(values) != 1:
        raise ModelConfigError(f"{name} is given {len(values)} times")
    value = _as_integer(values[0], name)
    if value < minimum:
        raise ModelConfigError(f"{name} must be at least {minimum}, not {value}")
    return value
