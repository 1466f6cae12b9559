"""Counting tokens as the target model does (SPEC-003 §10.1)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class ModelProfile:
    """What is known of a target model.

    Attributes:
        model: the name that was asked for.
        tokenizer: the encoding's name, e.g. ``o200k_base``.
        context_window_tokens: input and output together.
        approximate: the tokenizer is not the model's own; ``safety_margin_ratio`` of the count is added.
    """

    model: str
    tokenizer: str
    context_window_tokens: int
    approximate: bool = False
    safety_margin_ratio: float = 0.0


class TokenCounter(Protocol):
    """Counts tokens. CPU-bound and fast (microseconds a kilobyte): called in place, off the loop for large batches."""

    def profile(self, model: str) -> ModelProfile:
        """Return the model's profile.

        Raises:
            InvalidRequestError: UNKNOWN_MODEL; the message lists the known ones.
        """
        ...

    def count(self, texts: Sequence[str], model: str) -> list[int]:
        """Return the number of tokens of each text in the model's own tokenizer."""
        ...

    def models(self) -> tuple[str, ...]:
        """Return the known model names, sorted."""
        ...
