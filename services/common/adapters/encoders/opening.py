"""From settings to a backend: which model, proven to be the pinned one, run by what."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, TypeVar

from services.common.adapters.encoders.backend import EncoderBackend
from services.common.adapters.encoders.golden import check_outputs, check_tokens, read_golden
from services.common.adapters.encoders.tokenizer import EncoderTokenizer
from services.common.adapters.encoders.trunks import OutputView, SharedBackends
from services.common.model_repository import ModelEntry, ModelRepository, ModelRepositoryError
from services.common.settings.inference import InferenceSettings

EncoderKind: TypeAlias = Literal["embedding", "entailment", "grounding", "injection"]

COMMANDS: Final[dict[EncoderKind, str]] = {
    "embedding": "python tools/convert_embedder.py",
    "entailment": "python -m training.nli",
    "grounding": "python -m training.grounding",
    "injection": "python -m training.injection",
}
"""The command that makes a model of a kind."""

ModelT = TypeVar("ModelT")
_LOG: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """Which model to open.

    Attributes:
        name: the model.
        kind: what it must be for.
        named_by: the setting that names it, for messages; ``None`` = the one for its kind.
    """

    name: str
    kind: EncoderKind
    named_by: str | None = None


async def open_backend(
    settings: InferenceSettings,
    repository: ModelRepository,
    name: str,
    kind: EncoderKind,
    shared: SharedBackends | None = None,
    named_by: str | None = None,
) -> EncoderBackend:
    """Verify a model's files and return what runs it, ready to serve.

    Args:
        settings: choose ONNX Runtime in the process or Triton.
        repository: where the model lies; both backends read the same one.
        name: the model.
        kind: what it must be for.
        shared: the process's backends, so that models of one trunk use one; ``None`` = one of its own.
        named_by: as ``verified_entry``.

    Raises:
        ModelRepositoryError: the model is not there (the message names the command that makes it), is of another kind,
            or a file of it is not the pinned one.
        StartupError: Triton did not have the model ready in time.
    """
    entry = await asyncio.to_thread(verified_entry, repository, name, kind, named_by)
    trunk = repository.trunk(entry)

    async def opened() -> EncoderBackend:
        return await _open_trunk(settings, repository, trunk)

    backend = await opened() if shared is None else await shared.lease(trunk.name, opened)
    return backend if entry.served_by is None else OutputView(backend, entry)


async def _open_trunk(settings: InferenceSettings, repository: ModelRepository, entry: ModelEntry) -> EncoderBackend:
    if settings.backend == "triton":
        from services.common.adapters.triton.backend import open_triton_backend

        return await open_triton_backend(settings, repository, entry)
    from services.common.adapters.onnx.backend import open_onnx_backend

    return await open_onnx_backend(settings, repository, entry)


async def open_model(
    settings: InferenceSettings,
    repository: ModelRepository,
    choice: ModelChoice,
    build: Callable[[EncoderBackend, EncoderTokenizer], ModelT],
    shared: SharedBackends | None = None,
) -> ModelT:
    """Open a model's backend, load its tokenizer, and build the text model over both.

    Args:
        settings: choose the backend.
        repository: where the model lies.
        choice: the model.
        build: takes backend and tokenizer; when it fails the backend is closed.
        shared: the process's backends; ``None`` = one of its own.

    Raises:
        ModelRepositoryError: as ``open_backend``, or the tokenizer cannot be used.
        StartupError: Triton did not have the model ready in time.
    """
    backend = await open_backend(settings, repository, choice.name, choice.kind, shared, choice.named_by)
    try:
        tokenizer = await asyncio.to_thread(EncoderTokenizer.load, repository, choice.name)
        if backend.entry.own is not None:
            await _check_own(repository, backend, tokenizer, settings)
        return build(backend, tokenizer)
    except Exception:
        await backend.close()
        raise


async def _check_own(
    repository: ModelRepository, backend: EncoderBackend, tokenizer: EncoderTokenizer, settings: InferenceSettings
) -> None:
    """Hold an encoder of the user's own against its golden vectors, and say when nobody calibrated it.

    ONNX Runtime in the process compares the outputs when it loads the model.
    """
    entry = backend.entry
    golden = await asyncio.to_thread(read_golden, repository, entry)
    check_tokens(entry, golden, tokenizer)
    if settings.backend == "triton":
        check_outputs(entry, golden, await backend.run([case.token_ids for case in golden.cases]))
    if not entry.calibrated:
        _LOG.warning(
            "the %s model %s is not calibrated; `groundtrail models calibrate` fits it on pairs of yours",
            entry.kind,
            entry.name,
        )


def verified_entry(
    repository: ModelRepository, name: str, kind: EncoderKind, named_by: str | None = None
) -> ModelEntry:
    """Return the entry of a model whose files are all there and the pinned ones.

    Args:
        repository: where the model lies.
        name: the model.
        kind: what it must be for.
        named_by: the setting that names it, for the message; ``None`` = the one for its kind.

    Raises:
        ModelRepositoryError: as ``open_backend``.
    """
    setting = named_by or f"GROUNDTRAIL_INFERENCE__{kind.upper()}_MODEL"
    remedy = f"`{COMMANDS[kind]}` makes the {kind} model; {setting} names another"
    try:
        entry = repository.entry(name)
    except ModelRepositoryError as error:
        raise ModelRepositoryError(f"{error}. {remedy}.") from error
    if entry.kind != kind:
        raise ModelRepositoryError(f"{name} is a model for {entry.kind}, not for {kind}; set {setting}")
    folder = repository.folder(name)
    absent = next((file.path for file in entry.files if not (folder / file.path).is_file()), None)
    if absent is not None:
        raise ModelRepositoryError(f"{folder / absent} is not there. {remedy}.")
    return repository.verified(name)
