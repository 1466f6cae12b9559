"""Counting tokens as the target model does (SPEC-003 §10.1)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

APPROXIMATE: Final = "approximate"
"""The name that texts are counted by for a model whose tokenizer is not known, where the caller has asked for that."""


@dataclass(frozen=True, slots=True)
class ModelProfile:
    """What is known of a target model.

    Attributes:
        model: the name that was asked for.
        tokenizer: the encoding's name, e.g. ``o200k_base``.
        context_window_tokens: input and output together.
        approximate: the tokenizer is not the model's own; ``safety_margin_ratio`` of the count is added.
        counted_as: another name that ``count`` knows the model by; empty = its own.
    """

    model: str
    tokenizer: str
    context_window_tokens: int
    approximate: bool = False
    safety_margin_ratio: float = 0.0
    counted_as: str = ""

    @property
    def counting_name(self) -> str:
        """Return the name to count the model's texts under."""
        return self.counted_as or self.model


class TokenCounter(Protocol):
    """Counts tokens. CPU-bound and fast (microseconds a kilobyte): called in place, off the loop for large batches."""

    def profile(self, model: str) -> ModelProfile:
        """Return the model's profile.

        Raises:
            InvalidRequestError: UNKNOWN_MODEL; the message lists the known ones.
        """
        ...

    def stand_in(self, model: str, context_window_tokens: int | None) -> ModelProfile:
        """Return the profile by which a model is counted approximately; its own where the model is known.

        Texts are counted under the profile's ``counting_name``.

        Args:
            model: the target model.
            context_window_tokens: for a model that is in no table; a table's own value holds before it.

        Raises:
            InvalidRequestError: INVALID_FIELD: the model is in no table and no window is given.
        """
        ...

    async def opened(self, model: str) -> None:
        """Open what counts this model's texts, beside the event loop; returns at once when that was done before.

        Whoever counts on the event loop awaits this before: the first count would keep it for half a second.

        Raises:
            InvalidRequestError: UNKNOWN_MODEL.
        """
        ...

    def count(self, texts: Sequence[str], model: str) -> list[int]:
        """Return the number of tokens of each text in the model's own tokenizer."""
        ...

    def models(self) -> tuple[str, ...]:
        """Return the known model names, sorted."""
        ...


def counting_name(tokens: TokenCounter, model: str) -> str:
    """Return the name to count an admitted model's texts by: its own, or the stand-in's where it is not known."""
    return tokens.stand_in(model, 1).counting_name
