"""Join a grounding encoder and an entailment encoder of one ancestor into where ``training.joint`` begins (ADR 0150).

    python -m training.joined --grounding CHECKPOINT --inference CHECKPOINT --checkpoint DIR

The trunk, the head of support and the tokens' come from the grounding encoder, the head of inference from the other.
Both went on from the same entailment encoder, so that the trunk still knows what that head reads; ``training.joint``
mends the rest.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from torch import no_grad

from training.encoder import JOINT_OUTPUTS, SUPPORT, PairEncoder, load, load_tokenizer, save


def joined(grounding: PairEncoder, inference: PairEncoder) -> PairEncoder:
    """Return one encoder with the heads of both.

    Raises:
        ValueError: one of them has other heads than its task's, or their trunks have different widths.
    """
    if (grounding.head.out_features, inference.head.out_features) != (1, SUPPORT) or grounding.token_head is None:
        raise ValueError("a grounding encoder has one pooled logit and a head per token, an entailment encoder three")
    if grounding.head.in_features != inference.head.in_features:
        raise ValueError("the two encoders have different widths")
    model = PairEncoder(grounding.encoder, JOINT_OUTPUTS, per_token=True)
    tokens = model.token_head
    assert tokens is not None
    with no_grad():
        for own, first, second in (
            (model.head.weight, inference.head.weight, grounding.head.weight),
            (model.head.bias, inference.head.bias, grounding.head.bias),
        ):
            own[:SUPPORT].copy_(first)
            own[SUPPORT:].copy_(second)
        tokens.load_state_dict(grounding.token_head.state_dict())
    return model


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the checkpoint."""
    parser = argparse.ArgumentParser(
        prog="python -m training.joined", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--grounding", type=Path, required=True, help="checkpoint with the heads of grounding")
    parser.add_argument("--inference", type=Path, required=True, help="checkpoint with the head of inference")
    parser.add_argument("--checkpoint", type=Path, required=True, help="folder to write")
    options = parser.parse_args(arguments)
    save(
        joined(load(options.grounding), load(options.inference)), load_tokenizer(options.grounding), options.checkpoint
    )


if __name__ == "__main__":
    main()
