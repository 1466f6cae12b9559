"""Export a Hugging Face sequence classifier for entailment into a folder of the model repository.

    python -m tools.export_classifier --model DIR --name nli-large --repository model_repository \
        --licence MIT --upstream "who made it, and its name" --training-data "what its card says"

``--model`` is a folder, or a name on a machine that has a hub. Needs the dependency group ``training``. The labels are
put into the order entailment, neutral, contradiction; segment ids, where the model was trained with them, are computed
in the graph from the separators; the graph is compared with the model on pairs of several lengths before anything is
written. The temperature is 1 until somebody fits it: probabilities are not calibrated.
"""

import argparse
import copy
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch import Tensor, nn
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from services.common.model_repository.manifest import Origin
from training.entailment_labels import label_order
from training.onnx_graph import to_onnx
from training.parity import COMPANY, Arrays, Encoder
from training.repository_folder import GOLDEN_PAIRS, Delivery, Description, Pair, bare_tokenizer, write_folder
from training.variants import DEFAULT, VARIANTS, Sample, build, version_suffix

LARGEST_BYTES: Final = 2**31 - 2**24
"""An ONNX file is one protobuf message, which ends at 2 GiB; some room is left for the graph."""
COMPANY_TOKENS: Final = 128
_NO_LIMIT: Final = 100_000
"""Tokenizers that know no limit state one far above this."""
_FILLER: Final = "The report of the insurer names the date, the place and the amount of the damage. "
PAIRS: Final[tuple[Pair, ...]] = (
    *GOLDEN_PAIRS,
    (_FILLER, "The date is not named."),
    (_FILLER * 4, "The place is named."),
    (_FILLER * 2_000, "It names the amount."),
)
"""What an export is compared on; the last one is cut to the longest input."""


class ClassifierError(ValueError):
    """A classifier cannot be exported; the message says why, and what would help."""


class Ordered(nn.Module):
    """A classifier that takes ids and mask alone and gives its logits in our order.

    Args:
        classifier: the Hugging Face model.
        order: positions of entailment, neutral and contradiction among its logits.
        separator: the token after which the second segment begins; ``None`` = the model knows no segments.
    """

    order: Tensor

    def __init__(self, classifier: nn.Module, order: tuple[int, int, int], separator: int | None) -> None:
        super().__init__()
        self.classifier = classifier
        self.separator = separator
        self.register_buffer("order", torch.tensor(order))

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> tuple[Tensor]:
        """Return the logits, ``(batch, 3)``, float32."""
        inputs = {"input_ids": input_ids, "attention_mask": attention_mask}
        if self.separator is not None:
            inputs["token_type_ids"] = segments(input_ids, self.separator)
        logits = self.classifier(**inputs).logits
        return (logits.index_select(1, self.order).float(),)


def segments(input_ids: Tensor, separator: int) -> Tensor:
    """Return 0 up to the first separator and 1 after it, int64."""
    ends = (input_ids == separator).to(torch.int64)
    return ((ends.cumsum(1) - ends) > 0).to(torch.int64)


@dataclass(frozen=True, slots=True)
class Classifier:
    """What is exported.

    Attributes:
        model: float32, in evaluation mode.
        tokenizer: cuts at ``max_tokens``, without padding.
        order: positions of entailment, neutral and contradiction among its logits.
        separator: as in ``Ordered``.
        pad_id: the token that fills a batch.
        max_tokens: longest input, special tokens included.
    """

    model: Any
    tokenizer: Tokenizer
    order: tuple[int, int, int]
    separator: int | None
    pad_id: int
    max_tokens: int

    def encoder(self) -> Encoder:
        """Return what the model computes with the segment ids that its own tokenizer gives."""
        encodings = [self.tokenizer.encode(*pair) for pair in PAIRS]
        known = {tuple(encoding.ids): encoding.type_ids for encoding in encodings}

        def compute(ids: NDArray[np.int64], mask: NDArray[np.int64]) -> Arrays:
            inputs = {"input_ids": torch.from_numpy(ids), "attention_mask": torch.from_numpy(mask)}
            if self.separator is not None:
                types = np.zeros_like(ids)
                for row, length in enumerate(mask.sum(axis=1)):
                    types[row, :length] = known[tuple(int(x) for x in ids[row, :length])]
                inputs["token_type_ids"] = torch.from_numpy(types)
            with torch.no_grad():
                return [self.model(**inputs).logits[:, list(self.order)].float().numpy()]

        return Encoder(compute, (False,), self.pad_id)

    def traced(self, *, half: bool = False) -> onnx.ModelProto:
        """Return the graph."""
        model = copy.deepcopy(self.model).half() if half else self.model
        return to_onnx(Ordered(model, self.order, self.separator).eval(), ("logits",), self.max_tokens)

    def sample(self) -> Sample:
        """Return pairs of several lengths, and short ones in company."""
        items = [tuple(self.tokenizer.encode(*pair).ids) for pair in PAIRS]
        short = [item for item in items if len(item) <= COMPANY_TOKENS]
        return Sample(items, [short[index % len(short)] for index in range(COMPANY)])


def load(model: str, labels: Sequence[str] | None, max_tokens: int | None) -> Classifier:
    """Load a classifier and find out how it is to be called.

    Args:
        model: a folder, or a name on a hub.
        labels: as ``label_order`` takes them.
        max_tokens: longest input; ``None`` = what the tokenizer states.

    Raises:
        ClassifierError: it cannot be exported.
        LabelError: its labels cannot be mapped.
    """
    classifier = AutoModelForSequenceClassification.from_pretrained(model, attn_implementation="eager").float().eval()
    if classifier.config.is_encoder_decoder:
        raise ClassifierError(f"{model} is an encoder with a decoder; take a classifier that is an encoder alone.")
    size = sum(parameter.numel() for parameter in classifier.parameters()) * 4
    if size > LARGEST_BYTES:
        raise ClassifierError(f"{model} has {size:,} bytes in float32; an ONNX file holds at most {LARGEST_BYTES:,}.")
    order = label_order(classifier.config.id2label, labels)
    outer = AutoTokenizer.from_pretrained(model)
    if getattr(outer, "backend_tokenizer", None) is None or outer.pad_token_id is None:
        raise ClassifierError(f"{model} has no tokenizer that can be written as tokenizer.json with a padding token.")
    longest = max_tokens if max_tokens is not None else int(min(outer.model_max_length, _NO_LIMIT))
    if longest == _NO_LIMIT:
        raise ClassifierError(f"The tokenizer of {model} states no longest input; name it with --max-tokens.")
    tokenizer = Tokenizer.from_str(bare_tokenizer(outer.backend_tokenizer.to_str()))
    tokenizer.enable_truncation(longest, strategy="longest_first")
    separator = _separator(classifier.config, tokenizer, outer.sep_token_id)
    return Classifier(classifier, tokenizer, order, separator, int(outer.pad_token_id), longest)


def _separator(config: Any, tokenizer: Tokenizer, separator: int | None) -> int | None:
    """Return the token that parts the segments; ``None`` where the model knows but one segment."""
    encodings = [tokenizer.encode(*pair) for pair in PAIRS]
    if (getattr(config, "type_vocab_size", 0) or 0) <= 1 or not any(any(e.type_ids) for e in encodings):
        return None
    for encoding in encodings:
        ids = torch.tensor([encoding.ids])
        if separator is None or segments(ids, separator)[0].tolist() != encoding.type_ids:
            raise ClassifierError(
                "The model was trained with segment ids that do not change at its first separator; its graph cannot be "
                "fed with ids and mask alone."
            )
    return separator


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the folder and say what was measured."""
    options = _options(arguments)
    torch.set_num_threads(options.threads)
    classifier = load(options.model, options.labels.split(",") if options.labels else None, options.max_tokens)
    graph, measured = build(classifier, options.variant)
    description = Description(
        version=options.version,
        title=options.title or f"Three-way entailment encoder: {options.upstream}, {options.variant}",
        licence=options.licence,
        origin=Origin(
            package=options.package or "None: taken from its makers' folder",
            upstream=options.upstream,
            conversion=f"tools/export_classifier.py, {options.variant}",
        ),
        training_data=options.training_data,
    )
    delivery = Delivery(
        name=options.name,
        kind="entailment",
        model=graph,
        tokenizer=classifier.tokenizer.to_str(),
        pad_id=classifier.pad_id,
        max_tokens=classifier.max_tokens,
        description=description,
        variant=version_suffix(options.variant),
        metrics={"export": measured},
    )
    entry = write_folder(options.repository, delivery)
    print(
        json.dumps({"model": entry.fingerprint, "bytes": sum(file.bytes for file in entry.files), **measured}, indent=2)
    )
    print("Temperature 1, not calibrated. Use it with", f"GROUNDTRAIL_INFERENCE__ENTAILMENT_MODEL={options.name}")


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tools.export_classifier",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--model", required=True, help="folder of a Hugging Face classifier, or its name on a hub")
    parser.add_argument("--name", required=True, help="the model's folder in the repository")
    parser.add_argument("--repository", type=Path, required=True, help="folder with (or for) MANIFEST.json")
    parser.add_argument("--licence", required=True, help="SPDX identifier of the weights' licence")
    parser.add_argument("--upstream", required=True, help="the model, and who made it")
    parser.add_argument("--training-data", required=True, help="what it was trained on, as far as its makers say")
    parser.add_argument("--package", help="the registry package that it was taken from, with its version")
    parser.add_argument("--title", help="one line for the manifest")
    parser.add_argument("--version", default="1", help="of the manifest entry (default 1)")
    parser.add_argument("--labels", help="names in the order of the logits, where the model's own say nothing")
    parser.add_argument("--max-tokens", type=int, help="longest input (default: what the tokenizer states)")
    parser.add_argument("--variant", choices=VARIANTS, default=DEFAULT)
    parser.add_argument("--threads", type=int, default=1, help="CPU threads of the comparison with torch")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
