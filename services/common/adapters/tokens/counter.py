"""Counts tokens as the target model does (SPEC-003 §10.1), without any download.

OpenAI's encodings are compiled into the process; other models are counted with the ``tokenizer.json`` that the
operator names, or approximately, with a margin, where the operator says that a built-in encoding stands in.
"""

import asyncio
import difflib
import fnmatch
import math
import re
import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from tokenizers import Tokenizer

from services.common.adapters.tokens.table import CL100K, MODELS, O200K, OPENAI_PREFIXES, family_of
from services.common.errors import ErrorReason, FieldViolation, InvalidRequestError, StartupError
from services.common.ports.tokens import APPROXIMATE, ModelProfile
from services.common.settings.inference import InferenceSettings, TokenizerSettings

_DATED: Final = re.compile(r"-(?:\d{4}-\d{2}-\d{2}|\d{4})$")
"""Suffix of a dated release, e.g. ``gpt-4o-2024-08-06`` or ``gpt-4-0613``."""

_FINE_TUNED: Final = re.compile(r"ft:([^:]+):.*")
"""A fine-tuned OpenAI model, e.g. ``ft:gpt-4o-mini-2024-07-18:acme::abc``; it has its base model's tokenizer."""
_NEAREST: Final = 5

Count = Callable[[str], int]


class TokenizerFileError(StartupError):
    """A tokenizer file that the operator named cannot be used; the process must not start."""


class BpeTokenCounter:
    """``TokenCounter`` over byte-pair encodings and tokenizer files. Thread-safe.

    Args:
        profiles: what is known of each model; a name with ``*`` stands for every name that it matches.
        counts: for each tokenizer's name the function that counts one text.
        approximate_margin_ratio: what is added to counts of models that a request lets be counted approximately.
    """

    def __init__(
        self, profiles: Mapping[str, ModelProfile], counts: Mapping[str, Count], approximate_margin_ratio: float = 0.25
    ) -> None:
        self._profiles = dict(profiles)
        self._names = tuple(sorted(profiles))
        self._patterns = sorted((name for name in profiles if "*" in name), key=lambda name: (-len(name), name))
        self._counts = dict(counts)
        self._stand_in = ModelProfile(
            APPROXIMATE, O200K, 0, approximate=True, safety_margin_ratio=approximate_margin_ratio
        )

    def profile(self, model: str) -> ModelProfile:
        """Return the model's profile; a dated release or a fine-tuned one of a known model is that model.

        Raises:
            InvalidRequestError: UNKNOWN_MODEL; the message lists the known ones.
        """
        known = self._found(model)
        if known is None:
            raise self._unknown(model)
        return known if known.model == model else replace(known, model=model)

    def stand_in(self, model: str, context_window_tokens: int | None) -> ModelProfile:
        """Return the profile by which a model is counted approximately; its own where the model is known.

        Raises:
            InvalidRequestError: INVALID_FIELD: the model is in no table and no window is given.
        """
        known = self._found(model)
        if known is not None:
            return known if known.model == model else replace(known, model=model)
        family = family_of(model)
        window = family.context_window_tokens if family is not None else context_window_tokens
        if window is None:
            text = f"must be given to count {model!r} approximately: the model is in no table"
            raise InvalidRequestError.of(FieldViolation("context_window_tokens", text))
        return replace(self._stand_in, model=model, context_window_tokens=window, counted_as=APPROXIMATE)

    def count(self, texts: Sequence[str], model: str) -> list[int]:
        """Return the number of tokens of each text; approximate counts are rounded up, their margin included.

        Text that spells a control token (``<|endoftext|>``) is counted as the ordinary text it is.
        """
        profile = self._counting(model)
        count = self._counts[profile.tokenizer]
        exact = [count(text) for text in texts]
        if not profile.approximate:
            return exact
        return [math.ceil(tokens * (1 + profile.safety_margin_ratio)) for tokens in exact]

    async def opened(self, model: str) -> None:
        """Open what counts this model's texts, beside the event loop; returns at once when that was done before.

        Raises:
            InvalidRequestError: UNKNOWN_MODEL.
        """
        count = self._counts[self._counting(model).tokenizer]
        if isinstance(count, _BuiltIn) and not count.is_open:
            await asyncio.to_thread(count.open)

    def load(self) -> None:
        """Open every encoding now, so that no count waits for one."""
        for count in self._counts.values():
            count("")

    def models(self) -> tuple[str, ...]:
        """Return the known model names, sorted."""
        return self._names

    def _counting(self, model: str) -> ModelProfile:
        return self._stand_in if model == APPROXIMATE else self.profile(model)

    def _found(self, model: str) -> ModelProfile | None:
        """Look the model up: by its name, by a pattern of the operator's, by what OpenAI's names are made of."""
        if model in self._profiles and "*" not in model:
            return self._profiles[model]
        for pattern in self._patterns:
            if fnmatch.fnmatchcase(model, pattern):
                return self._profiles[pattern]
        prefix, slash, name = model.rpartition("/")
        name = name if not slash or prefix.rpartition("/")[2] in OPENAI_PREFIXES else model
        name = _FINE_TUNED.sub(r"\1", name)
        return self._profiles.get(name) or self._profiles.get(_DATED.sub("", name))

    def _unknown(self, model: str) -> InvalidRequestError:
        names = self.models()
        near = _nearest(model, names)
        family = family_of(model)
        hint = f" Did you mean {near[0]}?" if near and family is None else ""
        what = (
            f"The tokenizer of {model!r} ({family.provider}, {family.context_window_tokens} tokens) is not built in."
            if family is not None
            else f"The model {model!r} is not known."
        )
        listed = ", ".join(names)
        return InvalidRequestError(
            ErrorReason.UNKNOWN_MODEL,
            f"{what}{hint} Name its tokenizer.json with GROUNDTRAIL_INFERENCE__TOKENIZERS, or ask with "
            f"approximate_tokens. Known are: {listed}.",
            violations=(FieldViolation("model", f"must be one of: {listed}"),),
            model=model,
            nearest=", ".join(near),
            known_models=listed,
        )


@lru_cache(maxsize=256)
def _nearest(model: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names that are most like a model's; a deployment's own models are asked for again and again."""
    return tuple(difflib.get_close_matches(model, names, n=_NEAREST))


async def open_token_counter(settings: InferenceSettings) -> BpeTokenCounter:
    """Load the operator's tokenizers; the built-in encodings now, or each when it first counts, as ``load`` says.

    Raises:
        TokenizerFileError: a ``tokenizer.json`` of the settings cannot be read.
    """
    counter = await asyncio.to_thread(_open, settings.tokenizers, settings.approximate_margin_ratio)
    if settings.load == "start":
        await asyncio.to_thread(counter.load)
    return counter


def _open(tokenizers: Sequence[TokenizerSettings], approximate_margin_ratio: float) -> BpeTokenCounter:
    profiles, files = _profiles(tokenizers)
    counts: dict[str, Count] = {name: _BuiltIn(name) for name in (CL100K, O200K)}
    counts |= {name: _from_file(path, model) for name, (path, model) in files.items()}
    return BpeTokenCounter(profiles, counts, approximate_margin_ratio)


def _profiles(tokenizers: Sequence[TokenizerSettings]) -> tuple[dict[str, ModelProfile], dict[str, tuple[Path, str]]]:
    """Return what is known of each model, and of the operator's tokenizer files the path and the model."""
    profiles: dict[str, ModelProfile] = dict(MODELS)
    files: dict[str, tuple[Path, str]] = {}
    for given in tokenizers:
        if given.path is not None:
            name = f"tokenizer.json of {given.model}"
            files[name] = (given.path, given.model)
            profiles[given.model] = ModelProfile(given.model, name, given.context_window_tokens)
        elif given.encoding is not None:
            profiles[given.model] = ModelProfile(
                given.model,
                given.encoding,
                given.context_window_tokens,
                approximate=True,
                safety_margin_ratio=given.safety_margin_ratio,
            )
    return profiles, files


def open_counter_of(
    model: str, tokenizers: Sequence[TokenizerSettings], approximate_margin_ratio: float
) -> Callable[[Sequence[str]], list[int]]:
    """Return what counts the tokens of texts for one model, with that model's tokenizer alone in memory; blocking.

    Raises:
        InvalidRequestError: UNKNOWN_MODEL.
        TokenizerFileError: its ``tokenizer.json`` cannot be read.
    """
    profiles, files = _profiles(tokenizers)
    name = BpeTokenCounter(profiles, {}, approximate_margin_ratio).profile(model).tokenizer
    count = _from_file(*files[name]) if name in files else _BuiltIn(name)
    counter = BpeTokenCounter(profiles, {name: count}, approximate_margin_ratio)
    return lambda texts: counter.count(texts, model)


class _BuiltIn:
    """Counts by a built-in encoding, whose table of some 60 MB is opened when it first counts. Thread-safe."""

    def __init__(self, encoding: str) -> None:
        self._encoding = encoding
        self._opening = threading.Lock()
        self._tokenizer: Any = None

    @property
    def is_open(self) -> bool:
        """Whether a count waits for nothing."""
        return self._tokenizer is not None

    def open(self) -> Any:
        """Return the tokenizer; the table is opened once, whoever comes first."""
        with self._opening:
            if self._tokenizer is None:
                self._tokenizer = _compiled_core().tokenizer_for_encoding(self._encoding)
            return self._tokenizer

    def __call__(self, text: str) -> int:
        tokenizer = self._tokenizer or self.open()
        try:
            return int(tokenizer.count(text))
        except UnicodeEncodeError:  # a lone surrogate has no UTF-8 form; the provider would see a replacement
            return int(tokenizer.count(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")))


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
