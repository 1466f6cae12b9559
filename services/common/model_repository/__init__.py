"""The model repository: MANIFEST.json, one folder per model, ``config.pbtxt`` as Triton reads it."""

from services.common.model_repository.config import ModelConfig, TensorSpec
from services.common.model_repository.manifest import (
    CalibrationEntry,
    ModelEntry,
    ModelFile,
    OwnEncoder,
    PairLayout,
    ServedBy,
    Tensor,
)
from services.common.model_repository.repository import (
    ModelRepository,
    ModelRepositoryError,
    check_tensors,
    manifest_digest,
    open_repository,
)

__all__ = [
    "CalibrationEntry",
    "ModelConfig",
    "ModelEntry",
    "ModelFile",
    "ModelRepository",
    "ModelRepositoryError",
    "OwnEncoder",
    "PairLayout",
    "ServedBy",
    "Tensor",
    "TensorSpec",
    "check_tensors",
    "manifest_digest",
    "open_repository",
]
