"""The folder of a user's own models: laid out as the model repository is, changed in steps that leave it whole.

A model is made in a folder beside the others and gets its name by one rename; ``MANIFEST.json`` is written anew and
takes the old one's place by another. What a crash leaves between the two is a folder that no manifest lists: nobody
loads it, and the next model of that name takes its place. A calibration writes a file of a new name first, then the
manifest.
"""

import fcntl
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from services.common.adapters.own_encoders.refusals import OwnModelError, Refusal
from services.common.model_repository import ModelEntry, ModelFile, ModelRepository
from services.common.model_repository.manifest import Manifest
from services.common.model_repository.repository import MANIFEST_FILE, VERSION_FOLDER

STAGE_PREFIX: Final = ".adding-"
LOCK_FILE: Final = ".lock"
READABLE: Final = 0o644
"""Weights are no secret, and another user's Triton may have to read them; the data directory decides."""
_ROLES: Final = {"tokenizer.json": "tokenizer", "config.pbtxt": "config", "golden.json": "golden"}


class Shelf:
    """The folder; safe against other processes that change it at the same time.

    Args:
        root: where it lies; made by the first change.
    """

    def __init__(self, root: Path) -> None:
        self.root: Final = root
        """Where it lies."""

    def opened(self) -> ModelRepository:
        """Return its models.

        Raises:
            ModelRepositoryError: its manifest cannot be read.
        """
        if not (self.root / MANIFEST_FILE).is_file():
            return ModelRepository(self.root, Manifest(schema_version=1, models=()))
        return ModelRepository.open(self.root)

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Let nobody else change it meanwhile; what stays of a change that was cut off is cleared away."""
        self.root.mkdir(parents=True, exist_ok=True)
        with (self.root / LOCK_FILE).open("w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            for left in self.root.glob(f"{STAGE_PREFIX}*"):
                shutil.rmtree(left, ignore_errors=True)
            yield

    @contextmanager
    def stage(self) -> Iterator[Path]:
        """Give a new folder on the same disk; removed at the end."""
        folder = Path(tempfile.mkdtemp(prefix=STAGE_PREFIX, dir=self.root))
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def put(self, staged: Path, entry: ModelEntry) -> None:
        """Give a finished folder its name and list it.

        Raises:
            OwnModelError: NAME_TAKEN.
        """
        if entry.name in {model.name for model in self.opened().models}:
            raise OwnModelError(
                Refusal.NAME_TAKEN, f"a model {entry.name} is there; choose another --name, or remove it first"
            )
        place = self.root / entry.name
        if place.exists():  # listed nowhere: what a crash left
            shutil.rmtree(place)
        staged.rename(place)
        self.list_anew({entry.name: entry})

    def list_anew(self, changed: Mapping[str, ModelEntry | None]) -> None:
        """Write the manifest with some entries new, changed or (``None``) gone."""
        entries: dict[str, ModelEntry | None] = {model.name: model for model in self.opened().models}
        entries.update(changed)
        models = tuple(entry for _, entry in sorted(entries.items()) if entry is not None)
        manifest = Manifest(schema_version=1, models=models)
        write_whole(self.root / MANIFEST_FILE, json.dumps(manifest.model_dump(mode="json"), indent=2) + "\n")

    def remove(self, name: str) -> None:
        """Take a model away.

        Raises:
            OwnModelError: MODEL_UNKNOWN.
        """
        if name not in {model.name for model in self.opened().models}:
            raise OwnModelError(Refusal.MODEL_UNKNOWN, f"{self.root} holds no model {name}")
        self.list_anew({name: None})
        shutil.rmtree(self.root / name, ignore_errors=True)


def write_whole(path: Path, text: str) -> None:
    """Write a text file so that it is there whole or as it was before, also after the power went."""
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, prefix=".new-", delete=False) as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
        os.fchmod(stream.fileno(), READABLE)
    Path(stream.name).replace(path)


def described(folder: Path, combiner: str | None) -> tuple[ModelFile, ...]:
    """Return the entries of a model's files, by path."""
    names = [name for name in (*_ROLES, *([combiner] if combiner else [])) if (folder / name).is_file()]
    names += [path.relative_to(folder).as_posix() for path in (folder / VERSION_FOLDER).rglob("*") if path.is_file()]
    roles = _ROLES | ({combiner: "combiner"} if combiner else {})
    return tuple(
        ModelFile.model_validate(
            {
                "path": name,
                "role": roles.get(name, "weights"),
                "bytes": (folder / name).stat().st_size,
                "sha256": digest_of(folder / name),
            }
        )
        for name in sorted(names)
    )


def digest_of(path: Path) -> str:
    """Return a file's SHA-256, lower-case hex."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
