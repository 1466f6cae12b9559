"""From a trained checkpoint to a folder of the model repository.

    python -m training.export --checkpoint DIR --name nli --kind entailment --repository model_repository

The graph is traced, compared with the module at many lengths and paddings, and written in the variant asked for
(``training.variants`` describes them). What is said of the weights is read from ``training/descriptions/NAME.json``
unless ``--description`` names another file. Measure what a variant loses with ``python -m training.variant_loss``.
"""

import argparse
import copy
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import numpy as np
import onnx
import torch
from numpy.typing import NDArray

from training.encoder import JOINT_OUTPUTS, TOKENIZER, PairEncoder, as_delivered, load
from training.onnx_graph import TabulatedMPNet, to_onnx
from training.parity import Arrays, Encoder, mixed_lengths, random_items
from training.repository_folder import Delivery, Description, write_folder
from training.variants import DEFAULT, VARIANTS, Sample, build, version_suffix

OUTPUTS: Final[dict[str, tuple[str, ...]]] = {
    "entailment": ("logits",),
    "grounding": ("support_logit", "token_logits"),
}
JOINT: Final = ("support_logit", "token_logits", "logits")
"""Outputs of a grounding model whose trunk serves inference, too; ``training.share`` makes that model's entry."""
PER_TOKEN: Final = frozenset({"token_logits"})
COMPANY_TOKENS: Final = 256
"""Longest of the items among which results must not change; longer ones would only take time."""
_HEADS: Final = {"entailment": (3, False), "grounding": (1, True)}
_PARITY_LENGTHS: Final = (3, 17, 129, 512)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What is exported.

    Attributes:
        model: float32, as Hugging Face computes it.
        kind: ``entailment`` or ``grounding``.
        max_tokens: longest input of the graph, special tokens included.

    Raises:
        ValueError: the model's heads are not those of the kind.
    """

    model: PairEncoder
    kind: Literal["entailment", "grounding"]
    max_tokens: int

    def __post_init__(self) -> None:
        found = (self.model.head.out_features, self.model.token_head is not None)
        if found != _HEADS[self.kind] and not self.is_joint:
            msg = f"a model for {self.kind} has (outputs, token head) {_HEADS[self.kind]}; this checkpoint has {found}"
            raise ValueError(msg)
        self.model.eval()

    @property
    def is_joint(self) -> bool:
        """Whether it is a grounding model with the heads of inference beside its own."""
        found = (self.model.head.out_features, self.model.token_head is not None)
        return self.kind == "grounding" and found == (JOINT_OUTPUTS, True)

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of what it gives, in order."""
        return JOINT if self.is_joint else OUTPUTS[self.kind]

    @property
    def pad_id(self) -> int:
        """The token that fills a batch."""
        return int(self.model.encoder.config.pad_token_id)

    def sample(self) -> Sample:
        """Return random items, none longer than allowed."""
        vocabulary = int(self.model.encoder.config.vocab_size)
        lengths = [min(length, self.max_tokens) for length in _PARITY_LENGTHS]
        company = mixed_lengths(min(self.max_tokens, COMPANY_TOKENS))
        return Sample(random_items(lengths, vocabulary), random_items(company, vocabulary))

    def encoder(self) -> Encoder:
        """Return what the torch module computes."""

        def compute(ids: NDArray[np.int64], mask: NDArray[np.int64]) -> Arrays:
            with torch.no_grad():
                return [output.numpy() for output in self.model(torch.from_numpy(ids), torch.from_numpy(mask))]

        return Encoder(compute, tuple(name in PER_TOKEN for name in self.outputs), self.pad_id)

    def traced(self, *, half: bool = False) -> onnx.ModelProto:
        """Return the graph; ``half`` computes the trunk in float16."""
        exported = copy.deepcopy(self.model)
        trunk = TabulatedMPNet(exported.encoder, self.max_tokens)
        exported.encoder = trunk.half() if half else trunk
        return to_onnx(exported, self.outputs, self.max_tokens)


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the folder and say what was measured."""
    options = _options(arguments)
    torch.set_num_threads(options.threads)
    checkpoint = Checkpoint(as_delivered(load(options.checkpoint)), options.kind, options.max_tokens)
    described = options.description or Path(__file__).parent / "descriptions" / f"{options.name}.json"
    description = Description.model_validate_json(described.read_bytes())
    graph, measured = build(checkpoint, options.variant)
    delivery = Delivery(
        name=options.name,
        kind=checkpoint.kind,
        model=graph,
        tokenizer=(options.checkpoint / TOKENIZER).read_text(encoding="utf-8"),
        pad_id=checkpoint.pad_id,
        max_tokens=checkpoint.max_tokens,
        description=description,
        variant=version_suffix(options.variant),
        metrics={"export": measured},
    )
    entry = write_folder(options.repository, delivery)
    size = sum(file.bytes for file in entry.files)
    print(json.dumps({"model": entry.fingerprint, "bytes": size, **measured}, indent=2))
    if (options.repository / options.name / "combiner.json").is_file():
        print("combiner.json lies in the folder; if the weights are new, fit it again: python -m training.combiner")


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m training.export", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--checkpoint", type=Path, required=True, help="folder that training wrote")
    parser.add_argument("--name", required=True, help="the model's folder in the repository, e.g. nli")
    parser.add_argument("--kind", choices=sorted(OUTPUTS), required=True)
    parser.add_argument("--repository", type=Path, required=True, help="folder with (or for) MANIFEST.json")
    parser.add_argument("--variant", choices=VARIANTS, default=DEFAULT)
    parser.add_argument("--max-tokens", type=int, default=512, help="longest input, special tokens included")
    parser.add_argument("--description", type=Path, help="JSON: version, title, licence, origin, training_data")
    parser.add_argument("--threads", type=int, default=1, help="CPU threads of the comparison with torch")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
