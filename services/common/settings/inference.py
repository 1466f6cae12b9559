"""Settings of the models: which ones, what runs them, token counting."""

from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from services.common.settings.second_reading import SecondReadingSettings
from services.common.settings.triton import TritonSettings


class TokenizerSettings(BaseModel):
    """How to count the tokens of one target model that is not in the built-in table.

    Either ``path`` names the model's own ``tokenizer.json``, and counts are exact, or ``encoding`` names a built-in
    encoding that stands in for it, and counts are approximate with ``safety_margin_ratio`` added.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str = Field(min_length=1)
    """The target model's name as requests and the provider spell it; ``*`` stands for any characters, so that one entry
    serves a family (``meta-llama/Llama-3.1-*``). A whole name goes before a pattern, a longer pattern before others."""
    context_window_tokens: int = Field(gt=0)
    """Input and output together, in tokens of the model."""
    path: Path | None = None
    """The model's ``tokenizer.json``; ``None`` when ``encoding`` stands in."""
    encoding: Literal["cl100k_base", "o200k_base"] | None = None
    """The built-in encoding that stands in for the model's own."""
    safety_margin_ratio: float = Field(default=0.15, ge=0.0, le=1.0)
    """Added to an approximate count, as a share of it (0.15 = 15%); unused with ``path``."""

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.path is None) == (self.encoding is None):
            msg = f"tokenizer of {self.model}: set either path (exact) or encoding (approximate)"
            raise ValueError(msg)
        return self


class InferenceSettings(BaseModel):
    """``GROUNDTRAIL_INFERENCE__*``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    backend: Literal["onnx", "triton"] = "onnx"
    """What runs the encoders: ONNX Runtime in the process, or NVIDIA Triton on the same model repository."""
    triton: TritonSettings = TritonSettings()
    """The connection to Triton; unused with ``onnx``."""
    model_repository: Path | None = None
    """Folder with MANIFEST.json and one folder per model; ``None`` = the one that is delivered with Groundtrail."""
    own_models: Path | None = None
    """Folder of the encoders that `groundtrail models add` makes, laid out as the model repository is and read beside
    it; ``None`` = ``models`` under the data directory (ADR 0120)."""
    embedding_model: str = Field(default="embedder", min_length=1)
    """Name of the sentence embedder in the repository; another model means another vector index."""
    entailment_model: str = Field(default="nli", min_length=1)
    """Name of the three-way entailment encoder in the repository, or of one of your own (`groundtrail models list`)."""
    grounding_model: str = Field(default="grounding", min_length=1)
    """Name of the grounding model in the repository, or of one of your own (`groundtrail models list`)."""
    second_reading: SecondReadingSettings = SecondReadingSettings()
    """Encoders that read again what the first ones leave open (ADR 0206)."""
    ner_model: str = Field(default="ner", min_length=1)
    """Name of the entity recogniser in the repository."""
    injection_model: str = Field(default="injection", min_length=1)
    """Name of the classifier of prompt injection in the repository."""
    load: Literal["first-use", "start"] = "first-use"
    """When the encoders in the process are loaded: each when it is first used, which takes up to a second of that call,
    or all at the start, where readiness waits for them. Their files are verified at the start either way. Triton's are
    always waited for. ``first-use`` or ``start``, default ``first-use``."""
    intra_op_threads: int = Field(default=0, ge=0, le=256)
    """Threads that one inference uses; 0 = as many as the process may run on. An embedder's batch is cut into so many
    parts, one for each thread (ADR 0113); a batch of long pairs into two, which share the threads."""
    queue_items: int = Field(default=4096, ge=1, le=1_000_000)
    """Texts of one tenant that may wait per model; beyond it its call is refused (QUEUE_FULL), and nobody else's."""
    ner_queue_texts: int = Field(default=4096, ge=1, le=1_000_000)
    """Texts of one tenant that may wait for entity recognition; beyond it QUEUE_FULL."""
    personal_data_queue_chars: int = Field(default=4_000_000, ge=10_000, le=1_000_000_000)
    """Code points of one tenant that may wait for the search for personal data; beyond it QUEUE_FULL. Default
    4,000,000."""
    personal_data_limit_s: float = Field(default=60.0, gt=0.0, le=3_600.0)
    """Seconds that one search for personal data may compute; beyond it its stage is FAILED. Default 60."""
    tokenizers: tuple[TokenizerSettings, ...] = ()
    """Target models besides the built-in table, as JSON: ``[{"model": …, "context_window_tokens": …, "path": …}]``."""
    approximate_margin_ratio: float = Field(default=0.25, ge=0.0, le=4.0)
    """Added to counts of models that a request lets be counted approximately, as a share. 0-4, default 0.25."""
