"""Counts tokens as the target model does (SPEC-003 §10.1), without any download.

OpenAI's encodings are compiled into the process; other models are counted with the ``tokenizer.json`` that the
operator names, or approximately, with a margin, where the operator says that a built-in encoding stands in.
"""

import asyncio
import difflib
import math
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from tokenizers import Tokenizer

from services.common.adapters.tokens.table import CL100K, MODELS, O200K
from services.common.errors import ErrorReason, FieldViolation, InvalidRequestError, StartupError
from services.common.ports.tokens import ModelProfile
from services.common.settings.inference import InferenceSettings, TokenizerSettings

_DATED: Final = re.compile(r"-(?:\d{4}-\d{2}-\d{2}|\d{4})$")
"""Suffix of a dated release, e.g. ``gpt-4o-2024-08-06`` or ``gpt-4-0613``."""

Count = Callable[[str], int]


class TokenizerFileError(StartupError):
    """A tokenizer file that the operator named cannot be used; the process must not start."""


class BpeTokenCounter:
    """``TokenCounter`` over byte-pair encodings. Thread-safe.

    Args:
        profiles: what is known of each model.
        counts: for each tokenizer's name the function that counts one text.
    """

    def __init__(self, profiles: Mapping[str, ModelProfile], counts: Mapping[str, Count]) -> None:
        self._profiles = dict(profiles)
        self._counts = dict(counts)

    def profile(self, model: str) -> ModelProfile:
        """Return the model's profile; a dated release of a known model is that model.

        Raises:
            InvalidRequestError: UNKNOWN_MODEL; the message lists the known ones.
        """
        known = self._profiles.get(model) or self._profiles.get(_DATED.sub("", model))
        if known is None:
            raise self._unknown(model)
        if known.model == model:
            return known
        return ModelProfile(
            model, known.tokenizer, known.context_window_tokens, known.approximate, known.safety_margin_ratio
        )

    def count(self, texts: Sequence[str], model: str) -> list[int]:
        """Return the number of tokens of each text; approximate counts are rounded up, their margin included.

        Text that spells a control token (``<|endoftext|>``) is counted as the ordinary text it is.
        """
        profile = self.profile(model)
        count = self._counts[profile.tokenizer]
        exact = [count(text) for text in texts]
        if not profile.approximate:
            return exact
        return [math.ceil(tokens * (1 + profile.safety_margin_ratio)) for tokens in exact]

    def models(self) -> tuple[str, ...]:
        """Return the known model names, sorted."""
        return tuple(sorted(self._profiles))

    def _unknown(self, model: str) -> InvalidRequestError:
        names = self.models()
        near = difflib.get_close_matches(model, names, n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        listed = ", ".join(names)
        return InvalidRequestError(
            ErrorReason.UNKNOWN_MODEL,
            f"The model {model!r} is not known.{hint} Known are: {listed}. "
            "Others are added with GROUNDTRAIL_INFERENCE__TOKENIZERS.",
            violations=(FieldViolation("model", f"must be one of: {listed}"),),
            model=model,
            known_models=listed,
        )


async def open_token_counter(settings: InferenceSettings) -> BpeTokenCounter:
    """Load the built-in encodings and the operator's tokenizers.

    Raises:
        TokenizerFileError: a ``tokenizer.json`` of the settings cannot be read.
    """
    return await asyncio.to_thread(_open, settings.tokenizers)


def _open(tokenizers: Sequence[TokenizerSettings]) -> BpeTokenCounter:
    profiles = dict(MODELS)
    counts = {name: _built_in(name) for name in (CL100K, O200K)}
    for given in tokenizers:
        if given.path is not None:
            name = f"tokenizer.json of {given.model}"
            counts[name] = _from_file(given.path, given.model)
            profiles[given.model] = ModelProfile(given.model, name, given.context_window_tokens)
        elif given.encoding is not None:
            profiles[given.model] = ModelProfile(
                given.model,
                given.encoding,
                given.context_window_tokens,
                approximate=True,
                safety_margin_ratio=given.safety_margin_ratio,
            )
    return BpeTokenCounter(profiles, counts)


def _built_in(encoding: str) -> Count:
    tokenizer = _compiled_core().tokenizer_for_encoding(encoding)

    def count(text: str) -> int:
        try:
            return int(tokenizer.count(text))
        except UnicodeEncodeError:  # a lone surrogate has no UTF-8 form; the provider would see a replacement
            return int(tokenizer.count(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")))

    return count


def _compiled_core() -> Any:
    """Return the package's compiled core: its wrapper refuses texts of more than 200,000 tokens and lists their ids."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # how the package opens its tables
        from bpe_openai import _bindings

    return _bindings


def _from_file(path: Path, model: str) -> Count:
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises bare Exception
        raise TokenizerFileError(f"tokenizer of {model}: {path} cannot be loaded: {error}") from error
    tokenizer.no_padding()
    tokenizer.no_truncation()

    def count(text: str) -> int:
        # Special tokens frame a whole prompt, not each of its parts.
        return len(tokenizer.encode(text, add_special_tokens=False))

    return count
