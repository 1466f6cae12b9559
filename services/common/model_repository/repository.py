"""Opens the model repository and proves that its files are the pinned ones (SPEC-005 §21.1).

Nothing is loaded from it that is not listed in MANIFEST.json with its digest. A difference stops the process: a model
that was changed would make every report wrong without a trace. The delivered MANIFEST.json is itself pinned by the
code; that of a repository of the operator's own is the operator's.
"""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from services.common.errors import StartupError
from services.common.model_repository.config import ModelConfig, ModelConfigError, TensorSpec, parse_model_config
from services.common.model_repository.delivered import MANIFEST_SHA256
from services.common.model_repository.manifest import Manifest, ModelEntry, ModelFile, Tensor
from services.common.resources import resource_path
from services.common.settings.inference import InferenceSettings

DELIVERED_FOLDER: Final = "model_repository"
MANIFEST_FILE: Final = "MANIFEST.json"
CONFIG_FILE: Final = "config.pbtxt"
VERSION_FOLDER: Final = "1"


class ModelRepositoryError(StartupError):
    """The model repository cannot be used; the process must not start. The message says which file and why."""


class ModelRepository:
    """A folder of models with its manifest.

    Args:
        root: the folder that holds MANIFEST.json.
        manifest: its parsed content.
    """

    def __init__(self, root: Path, manifest: Manifest) -> None:
        self._root = root
        self._entries = {entry.name: entry for entry in manifest.models}
        self._elsewhere: dict[str, Path] = {}

    @classmethod
    def open(cls, root: Path) -> "ModelRepository":
        """Read the manifest; files are verified when a model is asked for.

        Raises:
            ModelRepositoryError: no manifest, or one that cannot be read.
        """
        path = root / MANIFEST_FILE
        try:
            manifest = Manifest.model_validate_json(path.read_bytes())
        except OSError as error:
            raise ModelRepositoryError(f"{path} cannot be read: {error.strerror}") from error
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(str(part) for part in first["loc"]) or "the file"
            raise ModelRepositoryError(f"{path}: {where}: {first['msg']}") from error
        names = [entry.name for entry in manifest.models]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ModelRepositoryError(f"{path}: the model {twice[0]} is listed twice")
        return cls(root, manifest)

    def joined(self, own: "ModelRepository") -> "ModelRepository":
        """Return the repository with the models of another folder beside its own.

        Raises:
            ModelRepositoryError: both hold a model of one name.
        """
        theirs = {entry.name for entry in own.models}
        twice = sorted(self._entries.keys() & theirs)
        if twice:
            raise ModelRepositoryError(
                f"{own.root} and {self._root} both hold a model {twice[0]}; remove or rename one"
            )
        both = ModelRepository(self._root, Manifest(schema_version=1, models=(*self.models, *own.models)))
        both._elsewhere = {**self._elsewhere, **dict.fromkeys(theirs, own.root)}
        return both

    @property
    def root(self) -> Path:
        """The folder; models that were joined lie in another."""
        return self._root

    @property
    def models(self) -> tuple[ModelEntry, ...]:
        """All entries, in the manifest's order."""
        return tuple(self._entries.values())

    def folder(self, name: str) -> Path:
        """Return the model's folder."""
        return self._elsewhere.get(name, self._root) / name

    def entry(self, name: str) -> ModelEntry:
        """Return a model's entry without touching its files.

        Raises:
            ModelRepositoryError: no such model; the message lists those there are.
        """
        if name not in self._entries:
            known = ", ".join(sorted(self._entries)) or "none"
            raise ModelRepositoryError(f"{self._root} holds no model {name}; it holds: {known}")
        return self._entries[name]

    def verified(self, name: str) -> ModelEntry:
        """Return a model's entry after proving that its files are exactly the pinned ones.

        Raises:
            ModelRepositoryError: a file is missing, was changed, or lies in the version folder without being listed.
        """
        entry = self.entry(name)
        folder = self.folder(name)
        for file in entry.files:
            _verify(folder / file.path, file)
        listed = {file.path for file in entry.files}
        present = {path.relative_to(folder).as_posix() for path in _files_below(folder / VERSION_FOLDER)}
        if present - listed:
            stray = folder / min(present - listed)
            raise ModelRepositoryError(f"{stray} is not listed in {MANIFEST_FILE}; remove it or pin it")
        if entry.served_by is not None:
            self._require_served(entry)
        return entry

    def trunk(self, entry: ModelEntry) -> ModelEntry:
        """Return the entry of the model whose graph computes a model: its own, or that which serves it.

        Raises:
            ModelRepositoryError: no such model.
        """
        return entry if entry.served_by is None else self.entry(entry.served_by.model)

    def _require_served(self, entry: ModelEntry) -> None:
        """Prove that the model whose graph computes another is there, the pinned one, and gives its outputs."""
        trunk = self.trunk(entry)
        if trunk.served_by is not None or entry.served_by is None:
            raise ModelRepositoryError(f"{MANIFEST_FILE}: {entry.name} is served by {trunk.name}, which has no graph")
        self.verified(trunk.name)
        if trunk.weights_sha256 != entry.served_by.weights_sha256:
            raise ModelRepositoryError(
                f"{MANIFEST_FILE}: {entry.name} was fitted to other weights of {trunk.name} than those that are there; "
                f"`python -m training.share --model {trunk.name} --name {entry.name}` fits it to them"
            )
        if trunk.inputs != entry.inputs or not set(entry.outputs) <= set(trunk.outputs):
            raise ModelRepositoryError(f"{MANIFEST_FILE}: {trunk.name} does not give the outputs of {entry.name}")

    def config(self, name: str) -> ModelConfig:
        """Return a verified model's parsed ``config.pbtxt``, checked against the manifest.

        Raises:
            ModelRepositoryError: it is not listed, cannot be parsed, or contradicts the manifest.
        """
        entry = self.entry(name)
        path = self.folder(name) / CONFIG_FILE
        if entry.file(CONFIG_FILE) is None:
            raise ModelRepositoryError(f"{path} is not listed in {MANIFEST_FILE}")
        try:
            config = parse_model_config(path.read_text(encoding="utf-8"))
        except (OSError, ModelConfigError) as error:
            raise ModelRepositoryError(f"{path}: {error}") from error
        if config.name != name:
            raise ModelRepositoryError(f"{path}: name is {config.name}, the folder is {name}")
        check_tensors(f"{path}: input", config.inputs, entry.inputs)
        check_tensors(f"{path}: output", config.outputs, entry.outputs)
        return config


def open_repository(settings: InferenceSettings) -> ModelRepository:
    """Open the repository that the settings name, or else the delivered one, with the user's own models beside it.

    Raises:
        ModelRepositoryError: no manifest, one that cannot be read, a delivered one that was changed, or two models of
            one name.
    """
    manifest_digest(settings)
    repository = ModelRepository.open(_root(settings))
    own = settings.own_models
    return repository.joined(ModelRepository.open(own)) if own and (own / MANIFEST_FILE).is_file() else repository


def manifest_digest(settings: InferenceSettings) -> str:
    """Return the SHA-256 of the manifest that the settings lead to, in lower-case hex.

    Raises:
        ModelRepositoryError: it cannot be read, or it is the delivered one and was changed.
    """
    path = _root(settings) / MANIFEST_FILE
    try:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise ModelRepositoryError(f"{path} cannot be read: {error.strerror}") from error
    if settings.model_repository is None and digest != MANIFEST_SHA256:
        raise ModelRepositoryError(
            f"{path} is not the one of this release: expected sha256 {MANIFEST_SHA256}, found {digest}. Restore it; "
            "models of your own go into a folder of their own (GROUNDTRAIL_INFERENCE__MODEL_REPOSITORY), and "
            "tools/update_manifest.py pins a change on purpose."
        )
    return digest


def _root(settings: InferenceSettings) -> Path:
    return settings.model_repository or resource_path(DELIVERED_FOLDER)


def check_tensors(
    where: str, actual: Iterable[TensorSpec], expected: Iterable[Tensor], *, may_be_open: bool = False
) -> None:
    """Compare tensors by name, dtype and shape with what the manifest says.

    Args:
        where: begins the message.
        actual: what was found.
        expected: what the manifest says.
        may_be_open: a size that varies where it was found may be one number in the manifest, which is held at run time.

    Raises:
        ModelRepositoryError: the first difference, with both sides.
    """
    found = {spec.name: spec for spec in actual}
    wanted = {tensor.name: TensorSpec(tensor.name, tensor.dtype, tensor.shape) for tensor in expected}
    if found.keys() != wanted.keys():
        raise ModelRepositoryError(f"{where}: found {sorted(found)}, {MANIFEST_FILE} says {sorted(wanted)}")
    for name, spec in found.items():
        if spec != wanted[name] and not (may_be_open and _opens(spec, wanted[name])):
            raise ModelRepositoryError(
                f"{where} {name}: found {spec.dtype} {list(spec.shape)}, "
                f"{MANIFEST_FILE} says {wanted[name].dtype} {list(wanted[name].shape)}"
            )


def _opens(found: TensorSpec, wanted: TensorSpec) -> bool:
    """Say whether they differ only where what was found is open."""
    return (
        found.dtype == wanted.dtype
        and len(found.shape) == len(wanted.shape)
        and all(size in {-1, fixed} for size, fixed in zip(found.shape, wanted.shape, strict=True))
    )


def _files_below(folder: Path) -> Iterable[Path]:
    return (path for path in folder.rglob("*") if path.is_file())


def _verify(path: Path, pinned: ModelFile) -> None:
    # SPEC-005 §21.1: models are pinned to versions and verified by hash.
    try:
        with path.open("rb") as stream:
            actual = hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise ModelRepositoryError(f"{path} cannot be read: {error.strerror}") from error
    if actual != pinned.sha256:
        raise ModelRepositoryError(
            f"{path} is not the pinned file: expected sha256 {pinned.sha256}, found {actual}. "
            "Restore it, or pin the new one in MANIFEST.json on purpose."
        )
