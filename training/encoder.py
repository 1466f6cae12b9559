"""The pair encoder that is trained: an MPNet trunk, a pooled head and, for grounding, a head per token.

The trunk starts from all-mpnet-base-v2, whole (the teacher) or cut to some of its layers (the student). A checkpoint is
a folder with ``model.safetensors``, ``config.json``, ``pair_encoder.json`` and ``tokenizer.json``.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from torch import Tensor, nn, no_grad
from transformers import AutoConfig, AutoModel, PretrainedConfig

WEIGHTS: Final = "model.safetensors"
HEADS: Final = "pair_encoder.json"
TOKENIZER: Final = "tokenizer.json"
SUPPORT: Final = 3
"""Place of the support logit in a joint head, behind entailment, neutral and contradiction."""
JOINT_OUTPUTS: Final = 4
"""Pooled logits of a trunk that serves inference and grounding at once."""


class PairEncoder(nn.Module):
    """Token ids of a pair in, logits out.

    Args:
        encoder: a Hugging Face encoder without pooling layer.
        outputs: how many logits the pooled head has: 3 for inference, 1 for support.
        per_token: whether there is a head per token as well.
    """

    def __init__(self, encoder: nn.Module, outputs: int, *, per_token: bool) -> None:
        super().__init__()
        self.encoder = encoder
        width: int = encoder.config.hidden_size
        self.dropout = nn.Dropout(0.1)
        self.head = nn.Linear(width, outputs)
        self.token_head = nn.Linear(width, 1) if per_token else None

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> tuple[Tensor, ...]:
        """Return the pooled logits, ``(batch, outputs)``, and with a token head its logits, ``(batch, tokens)``."""
        states = self.encoder(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        mask = attention_mask.unsqueeze(-1).to(states.dtype)
        pooled = (states * mask).sum(1) / mask.sum(1).clamp(min=1)
        logits = self.head(self.dropout(pooled))
        if self.token_head is None:
            return (logits,)
        return logits, self.token_head(states).squeeze(-1)


class JointEncoder(PairEncoder):
    """A joint model as it is delivered: the pooled logits of each task apart, support first (ADR 0150)."""

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> tuple[Tensor, ...]:
        """Return logits of support ``(batch, 1)``, of tokens ``(batch, tokens)``, of inference ``(batch, 3)``."""
        logits, tokens = super().forward(input_ids, attention_mask)
        return logits[:, SUPPORT:], tokens, logits[:, :SUPPORT]


def from_base(folder: Path, layers: Sequence[int] | None, outputs: int, *, per_token: bool) -> PairEncoder:
    """Start from a pre-trained base; ``layers`` names those to keep, ``None`` keeps all.

    The trunk's dropout is off: on a CPU it costs half of every step, and rows are seen two or three times only.
    """
    encoder = AutoModel.from_pretrained(folder, add_pooling_layer=False, attn_implementation="eager")
    if layers is not None:
        kept = [encoder.encoder.layer[index] for index in layers]
        encoder.encoder.layer = nn.ModuleList(kept)
        encoder.config.num_hidden_layers = len(kept)
    return PairEncoder(_without_dropout(encoder.float()), outputs, per_token=per_token)


def save(model: PairEncoder, tokenizer: Tokenizer, folder: Path) -> None:
    """Write a checkpoint in float32."""
    folder.mkdir(parents=True, exist_ok=True)
    state = {name: tensor.detach().float().cpu().contiguous() for name, tensor in model.state_dict().items()}
    save_file(state, folder / WEIGHTS)
    model.encoder.config.save_pretrained(folder)
    heads = {"outputs": model.head.out_features, "per_token": model.token_head is not None}
    (folder / HEADS).write_text(json.dumps(heads) + "\n", encoding="utf-8")
    tokenizer.save(str(folder / TOKENIZER))


def load(folder: Path) -> PairEncoder:
    """Read a checkpoint."""
    heads = json.loads((folder / HEADS).read_text(encoding="utf-8"))
    model = _empty(AutoConfig.from_pretrained(folder), heads["outputs"], per_token=heads["per_token"])
    model.load_state_dict(load_file(folder / WEIGHTS))
    return model


def as_delivered(model: PairEncoder) -> PairEncoder:
    """Return a model in the form that is exported; one with joint heads gives the logits of each task apart."""
    if not _is_joint(model):
        return model
    joint = JointEncoder(model.encoder, JOINT_OUTPUTS, per_token=True)
    joint.load_state_dict(model.state_dict())
    return joint


def with_heads(trained: PairEncoder, outputs: int, *, per_token: bool) -> PairEncoder:
    """Return the trunk of a trained model under new heads."""
    return PairEncoder(trained.encoder, outputs, per_token=per_token)


def with_joint_heads(trained: PairEncoder) -> PairEncoder:
    """Return an entailment encoder that also says whether a claim is supported and which of its tokens are not.

    The pooled head has ``JOINT_OUTPUTS`` logits: the three of inference, taken over, then support, which begins as
    entailment against the mean of the other two. A model that has these heads keeps them.
    """
    if _is_joint(trained):
        return trained
    model = PairEncoder(trained.encoder, JOINT_OUTPUTS, per_token=True)
    with no_grad():
        for new, old in ((model.head.weight, trained.head.weight), (model.head.bias, trained.head.bias)):
            new[:SUPPORT].copy_(old)
            new[SUPPORT].copy_(old[0] - (old[1] + old[2]) / 2)
    return model


def load_tokenizer(folder: Path) -> Tokenizer:
    """Read the tokenizer with neither padding nor truncation of its own."""
    tokenizer: Tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def pad_id(tokenizer: Tokenizer) -> int:
    """Return the id that fills up short items.

    Raises:
        ValueError: the tokenizer has no ``<pad>``.
    """
    found: int | None = tokenizer.token_to_id("<pad>")
    if found is None:
        raise ValueError("the tokenizer has no <pad>: it is not MPNet's")
    return found


def _is_joint(model: PairEncoder) -> bool:
    return model.head.out_features == JOINT_OUTPUTS and model.token_head is not None


def _empty(config: PretrainedConfig, outputs: int, *, per_token: bool) -> PairEncoder:
    encoder = AutoModel.from_config(config, add_pooling_layer=False, attn_implementation="eager")
    return PairEncoder(_without_dropout(encoder.float()), outputs, per_token=per_token)


def _without_dropout(encoder: nn.Module) -> nn.Module:
    for module in encoder.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
    return encoder
